# SPDX-License-Identifier: Apache-2.0
"""A reset or a last release replaces the primary context; memory of pools survives."""

import os
import subprocess
import sys

import pytest
from cuda.core import emulation

pytestmark = pytest.mark.skipif(not emulation.is_active(), reason="about the emulated driver")

BEGIN = """
from cuda.bindings import driver, runtime
from cuda.core import emulation

def check(status, *results):
    assert status == 0, status
    return results[0] if results else None

check(*driver.cuInit(0))
context = check(*driver.cuDevicePrimaryCtxRetain(0))
check(*driver.cuCtxSetCurrent(context))
first = check(*driver.cuCtxGetId(context))
free = driver.cuMemGetInfo()[1]
stream = check(*driver.cuStreamCreate(0))
event = check(*driver.cuEventCreate(0))
memory = check(*driver.cuMemAlloc(1 << 20))
pooled = check(*driver.cuMemAllocAsync(1 << 20, stream))
own = check(*driver.cuStreamGetId(2))  # of the per-thread default stream
pool = check(*driver.cuDeviceGetMemPool(0))

def reserved():
    attribute = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
    return int(check(*driver.cuMemPoolGetAttribute(pool, attribute)))
"""
END = """
current = check(*driver.cuDevicePrimaryCtxRetain(0))
check(*driver.cuCtxSetCurrent(current))
assert check(*driver.cuCtxGetId(current)) != first
assert check(*driver.cuStreamGetId(2)) != own
assert driver.cuMemGetInfo()[1] == free - reserved(), "only memory of pools is left"
assert not emulation.faults()
assert driver.cuStreamQuery(stream)[0] != 0
assert driver.cuEventQuery(event)[0] != 0
assert driver.cuMemFree(memory)[0] != 0
assert driver.cuMemFreeAsync(pooled, 0)[0] == 0
check(*driver.cuCtxSynchronize())
assert reserved() == 0 and driver.cuMemGetInfo()[1] == free
print(",".join(fault.kind for fault in emulation.faults()))
"""
WAYS = {
    "cuDevicePrimaryCtxReset": "check(*driver.cuDevicePrimaryCtxReset(0))",
    "cudaDeviceReset": "assert runtime.cudaDeviceReset()[0] == 0",
    "the last release": "check(*driver.cuDevicePrimaryCtxRelease(0))",
}


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HALFWARP_BACKEND": "emulator", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("end", WAYS.values(), ids=WAYS)
def test_a_reset_frees_all_but_pool_memory_and_later_uses_are_reported(end):
    kinds = run(BEGIN + end + END).strip().split(",")
    assert kinds == ["destroyed-handle", "destroyed-handle", "double-free"]


def test_cu_init_may_run_the_fork_handlers():
    code = """
import os
seen = []
os.register_at_fork(before=lambda: seen.append(1))
import ctypes
handler = ctypes.CFUNCTYPE(None)(lambda: seen.append(2))
ctypes.CDLL(None).__register_atfork(handler, None, None, None)
from cuda.bindings import driver
assert driver.cuInit(0)[0] == 0
print(seen)
"""
    assert run(code, HALFWARP_EMULATOR_FORK_IN_INIT="0") == "[]\n"
    assert run(code, HALFWARP_EMULATOR_FORK_IN_INIT="1") == "[2]\n"


def test_pinned_memory_is_freed_without_a_current_context():
    run("""
from cuda.bindings import driver
driver.cuInit(0)
context = driver.cuCtxCreate(None, 0, 0)[1]
memory = driver.cuMemAllocHost(64)[1]
driver.cuCtxPopCurrent()
assert driver.cuMemFreeHost(memory)[0] == 0
""")

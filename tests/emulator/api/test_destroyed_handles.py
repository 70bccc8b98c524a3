# SPDX-License-Identifier: Apache-2.0
"""Uses of destroyed handles and freed memory are reported, for each kind and each option."""

import ctypes
import os
import subprocess
import sys
import threading

import pytest
from cuda.bindings import driver
from cuda.core import Device, emulation

pytestmark = pytest.mark.skipif(
    not emulation.is_active(), reason="a GPU's driver may end the process"
)
INVALID_HANDLE = driver.CUresult.CUDA_ERROR_INVALID_HANDLE
INVALID_VALUE = driver.CUresult.CUDA_ERROR_INVALID_VALUE
PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry nothing() { ret; }
"""


@pytest.fixture(autouse=True)
def context():
    Device(0).set_current()


def check(status, *handles):
    assert status == 0
    return handles[0] if handles else None


def dead_stream():
    stream = check(*driver.cuStreamCreate(0))
    check(*driver.cuStreamDestroy(stream))
    return stream


def dead_event():
    event = check(*driver.cuEventCreate(0))
    check(*driver.cuEventDestroy(event))
    return event


def dead_pool():
    properties = driver.CUmemPoolProps()
    properties.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    pool = check(*driver.cuMemPoolCreate(properties))
    check(*driver.cuMemPoolDestroy(pool))
    return pool


def dead_module():
    module = check(*driver.cuModuleLoadData(PTX))
    check(*driver.cuModuleUnload(module))
    return module


def dead_function():
    module = check(*driver.cuModuleLoadData(PTX))
    function = check(*driver.cuModuleGetFunction(module, b"nothing"))
    check(*driver.cuModuleUnload(module))
    return function


def dead_kernel():
    library = check(*driver.cuLibraryLoadData(PTX, [], [], 0, [], [], 0))
    kernel = check(*driver.cuLibraryGetKernel(library, b"nothing"))
    check(*driver.cuLibraryUnload(library))
    return kernel


def dead_library():
    library = check(*driver.cuLibraryLoadData(PTX, [], [], 0, [], [], 0))
    check(*driver.cuLibraryUnload(library))
    return library


def dead_context():
    current = check(*driver.cuCtxGetCurrent())
    context = check(*driver.cuCtxCreate(None, 0, 0))
    check(*driver.cuCtxDestroy(context))
    check(*driver.cuCtxSetCurrent(current))
    return context


USES = {
    "stream": (dead_stream, driver.cuStreamSynchronize, "cuStreamDestroy"),
    "stream twice": (dead_stream, driver.cuStreamDestroy, "cuStreamDestroy"),
    "event": (dead_event, driver.cuEventQuery, "cuEventDestroy"),
    "event recorded": (dead_event, lambda event: driver.cuEventRecord(event, 0), "cuEventDestroy"),
    "pool": (dead_pool, lambda pool: driver.cuMemPoolTrimTo(pool, 0), "cuMemPoolDestroy"),
    "module": (dead_module, lambda m: driver.cuModuleGetFunction(m, b"nothing"), "cuModuleUnload"),
    "function": (dead_function, driver.cuFuncGetParamCount, "cuModuleUnload"),
    "kernel": (dead_kernel, driver.cuKernelGetParamCount, "cuLibraryUnload"),
    "library": (dead_library, driver.cuLibraryGetKernelCount, "cuLibraryUnload"),
    "context": (dead_context, driver.cuCtxSetCurrent, "cuCtxDestroy"),
}


@pytest.mark.parametrize("make, use, destroyer", USES.values(), ids=USES)
def test_the_use_of_a_destroyed_handle_is_a_fault(make, use, destroyer):
    handle = make()
    with emulation.expect_fault("destroyed-handle") as expected:
        assert use(handle)[0] != 0
    text = str(expected.fault)
    assert f"was destroyed by {destroyer}" in text
    assert f"on thread {threading.get_native_id()}, was given the handle of" in text
    assert expected.fault.is_of_lifetime


def test_a_handle_is_reported_once_for_each_function():
    event = dead_event()
    with emulation.expect_fault("destroyed-handle"):
        for _ in range(3):
            assert driver.cuEventQuery(event)[0] == INVALID_HANDLE
            assert driver.cuEventSynchronize(event)[0] == INVALID_HANDLE
        assert len(emulation.faults()) == 2


def test_live_and_invented_handles_are_no_such_fault():
    event = check(*driver.cuEventCreate(0))
    assert driver.cuEventQuery(event)[0] == 0
    assert driver.cuEventQuery(driver.CUevent(0xDEAD0))[0] == INVALID_HANDLE
    check(*driver.cuEventDestroy(event))
    assert emulation.faults() == []


def test_freeing_twice_and_copying_freed_memory_are_faults():
    memory = check(*driver.cuMemAlloc(64))
    check(*driver.cuMemFree(memory))
    with emulation.expect_fault("double-free"):
        assert driver.cuMemFree(memory)[0] == INVALID_VALUE
    with emulation.expect_fault("freed-memory"):
        assert driver.cuMemcpyDtoH(bytearray(64), memory, 64)[0] == INVALID_VALUE


def test_destroying_a_handle_in_use_by_a_waiting_thread_is_a_fault():
    started, go = threading.Event(), threading.Event()
    hold = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: (started.set(), go.wait(30)))
    stream = check(*driver.cuStreamCreate(0))
    check(*driver.cuLaunchHostFunc(stream, ctypes.cast(hold, ctypes.c_void_p).value, 0))
    waiter = threading.Thread(target=driver.cuStreamSynchronize, args=(stream,))
    calls = emulation.stats()["calls"].get("cuStreamSynchronize", 0)
    waiter.start()
    started.wait(30)
    while emulation.stats()["calls"].get("cuStreamSynchronize", 0) == calls:
        pass
    check(*driver.cuStreamDestroy(stream))
    go.set()
    waiter.join()
    (fault,) = emulation.faults()
    emulation.repair()
    # The waiting call has looked up its stream, or is about to.
    assert fault.kind in ("destroyed-in-use", "destroyed-handle")
    assert "cuStreamDestroy on thread" in str(fault)
    assert f"cuStreamSynchronize on thread {waiter.native_id}" in str(fault)
    assert "was using it" in str(fault) or "destroyed during this call" in str(fault)


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "HALFWARP_BACKEND": "emulator", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


USE_AFTER_DESTROY = """
from cuda.bindings import driver
driver.cuInit(0)
driver.cuCtxCreate(None, 0, 0)
event = driver.cuEventCreate(0)[1]
driver.cuEventDestroy(event)
print(int(driver.cuEventQuery(event)[0]))
from cuda.core import emulation
print(len(emulation.faults()))
"""


def test_option_abort_terminates_the_process_after_the_report():
    done = run(USE_AFTER_DESTROY, HALFWARP_EMULATOR_DESTROYED="abort")
    assert done.returncode == -6
    assert "destroyed-handle: cuEventQuery on thread" in done.stderr
    assert done.stdout == ""


def test_option_answer_returns_the_error_code_and_prints_a_note():
    done = run(USE_AFTER_DESTROY, HALFWARP_EMULATOR_DESTROYED="answer")
    assert done.returncode == 0
    assert done.stdout.split() == ["400", "0"]
    assert "destroyed-handle: cuEventQuery on thread" in done.stderr


def test_option_report_is_the_default():
    done = run(USE_AFTER_DESTROY)
    assert done.returncode == 0
    assert done.stdout.split() == ["400", "1"]

# SPDX-License-Identifier: Apache-2.0
"""Answers of a driver that frees memory during captures and after resets, one line per question.

``python tests/core/lifetime/hardware_facts.py`` on a GPU prints the answers that the emulator must
give. Each question runs in its own process, since some may crash it.
"""

import subprocess
import sys
import textwrap

START = """
from cuda.bindings import driver as d
def go(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]
def name(result):
    return d.CUresult(result[0]).name.removeprefix("CUDA_")
go(d.cuInit(0))
context = go(d.cuDevicePrimaryCtxRetain(0))
go(d.cuCtxSetCurrent(context))
MODES = {m.name.rpartition("_")[2]: m for m in d.CUstreamCaptureMode}
def status(stream):
    code, state = d.cuStreamIsCapturing(stream)
    return state.name.rpartition("STATUS_")[2] if code == 0 else name((code,))
def relaxed(call, *arguments):
    mode = go(d.cuThreadExchangeStreamCaptureMode(MODES["RELAXED"]))
    result = call(*arguments)
    go(d.cuThreadExchangeStreamCaptureMode(mode))
    return result
"""

CAPTURE = """
for mode in MODES.values():
    for is_relaxed in (False, True):
        for flags in (0, 1):
            def ask(question, call, *arguments):
                stream = go(d.cuStreamCreate(flags))
                go(d.cuStreamBeginCapture(stream, mode))
                values = [stream if each == "own" else each for each in arguments]
                answer = name(relaxed(call, *values) if is_relaxed else call(*values))
                after = status(stream)
                ended = name(d.cuStreamEndCapture(stream))
                print(mode.name[23:], "relaxed" if is_relaxed else "as is", "flags", flags,
                      question, "->", answer, "| capture", after, "| end", ended)
            other = go(d.cuStreamCreate(1))
            def memory():
                pointer = go(d.cuMemAllocAsync(64, other)); go(d.cuStreamSynchronize(other))
                return pointer
            ask("free on another stream", d.cuMemFreeAsync, memory(), other)
            ask("free on the capturing stream", d.cuMemFreeAsync, memory(), "own")
            ask("free on the legacy stream", d.cuMemFreeAsync, memory(), d.CUstream(1))
            ask("free on the per-thread stream", d.cuMemFreeAsync, memory(), d.CUstream(2))
            ask("IsCapturing of the legacy stream", lambda s: d.cuStreamIsCapturing(s)[:1],
                d.CUstream(1))
            ask("cuMemFree of pool memory", d.cuMemFree, memory())
            ask("cuMemFree", d.cuMemFree, go(d.cuMemAlloc(64)))
            ask("cuMemFreeHost", d.cuMemFreeHost, go(d.cuMemAllocHost(64)))
            ask("cuEventDestroy", d.cuEventDestroy, go(d.cuEventCreate(0)))
            ask("cuStreamDestroy", d.cuStreamDestroy, go(d.cuStreamCreate(1)))
            ask("cuMemPoolTrimTo", d.cuMemPoolTrimTo, go(d.cuDeviceGetMemPool(0)), 0)
            ask("cuEventQuery of an earlier event", d.cuEventQuery, go(d.cuEventCreate(0)))
"""

# Calls after a reset, first with the context inactive, then with the context retained again.
RESET = """
pool = go(d.cuDeviceGetMemPool(0))
USED = d.CUmemPool_attribute.CU_MEMPOOL_ATTR_USED_MEM_CURRENT
go(d.cuMemPoolSetAttribute(pool, d.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                           d.cuuint64_t(2**64 - 1)))
stream = go(d.cuStreamCreate(1))
event = go(d.cuEventCreate(0))
pointer = go(d.cuMemAllocAsync(1 << 20, stream))
plain = go(d.cuMemAlloc(1 << 20))
host = go(d.cuMemAllocHost(64))
go(d.cuStreamSynchronize(stream))
def used():
    code, value = d.cuMemPoolGetAttribute(pool, USED)
    return name((code,)) if code else int(value)
def show(when):
    print(when, "state", d.cuDevicePrimaryCtxGetState(0)[1:], "id", *d.cuCtxGetId(context),
          "pool uses", used(), flush=True)
show("before")
print("reset", name(d.cuDevicePrimaryCtxReset(0)))
show("after")
if ANEW:
    retained = go(d.cuDevicePrimaryCtxRetain(0))
    go(d.cuCtxSetCurrent(retained))
    print("the same address:", int(retained) == int(context))
    show("anew")
print("CALL ->", name(CALL), flush=True)
show("then")
"""
CALLS = (
    "d.cuStreamQuery(stream)",
    "d.cuStreamDestroy(stream)",
    "d.cuEventDestroy(event)",
    "d.cuMemFreeAsync(pointer, stream)",
    "d.cuMemFreeAsync(pointer, d.CUstream(1))",
    "d.cuMemFree(pointer)",
    "d.cuMemFree(plain)",
    "d.cuMemFreeHost(host)",
    "d.cuDevicePrimaryCtxRelease(0)",
    "d.cuCtxPushCurrent(context)",
)


def run(title, code):
    print(f"=== {title}", flush=True)
    done = subprocess.run([sys.executable, "-c", START + textwrap.dedent(code)], timeout=120)
    if done.returncode:
        print(f"!!! ends with {done.returncode}", flush=True)


if __name__ == "__main__":
    run("capture", CAPTURE)
    for is_anew in (False, True):
        for call in CALLS:
            text = RESET.replace("ANEW", str(is_anew)).replace("CALL ->", f"{call} ->")
            run(
                f"reset, {'made anew' if is_anew else 'inactive'}: {call}",
                text.replace("CALL", call),
            )

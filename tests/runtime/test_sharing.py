# SPDX-License-Identifier: Apache-2.0
"""Memory, events and pools of the runtime between two processes."""

import os
import subprocess
import sys
import textwrap

import pytest
from cuda.bindings import runtime

from .conftest import ok

Error = runtime.cudaError_t
Kind = runtime.cudaMemAllocationHandleType.cudaMemHandleTypePosixFileDescriptor
START = """
import ctypes, os
from cuda.bindings import runtime
def ok(result):
    code, *outputs = result
    assert int(code) == 0, repr(code)
    return outputs[0] if outputs else None
def contents(address, size):
    back = (ctypes.c_ubyte * size)()
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    ok(runtime.cudaMemcpy(ctypes.addressof(back), address, size, kind))
    return bytes(back)
def named(cls, text):
    made = cls()
    ctypes.memmove(made.getPtr(), bytes.fromhex(text), len(text) // 2)
    return made
"""


def in_another_process(code, *, pass_fds=(), **names):
    """What the code prints; its variables are the texts that are given."""
    done = subprocess.run(
        [sys.executable, "-c", START + textwrap.dedent(code)],
        env=os.environ | names,
        pass_fds=pass_fds,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def text_of(handle):
    return bytes(handle.reserved).hex()


def test_memory_is_opened_written_and_closed(memory):
    address = memory(64)
    ok(runtime.cudaMemset(address, 7, 64))
    ok(runtime.cudaDeviceSynchronize())
    handle = ok(runtime.cudaIpcGetMemHandle(address))
    said = in_another_process(
        """
        handle = named(runtime.cudaIpcMemHandle_t, os.environ["HANDLE"])
        lazily = runtime.cudaIpcMemLazyEnablePeerAccess
        at = ok(runtime.cudaIpcOpenMemHandle(handle, lazily))
        assert contents(at, 64) == bytes([7]) * 64
        ok(runtime.cudaMemset(at, 9, 32))
        ok(runtime.cudaDeviceSynchronize())
        ok(runtime.cudaIpcCloseMemHandle(at))
        code = runtime.cudaIpcCloseMemHandle(at)[0]
        print(code.name, runtime.cudaGetLastError()[0].name)
        """,
        HANDLE=text_of(handle),
    )
    assert said == "cudaErrorInvalidValue cudaErrorInvalidValue"
    back = (runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost, bytearray(64))
    ok(runtime.cudaMemcpy(back[1], address, 64, back[0]))
    assert back[1] == b"\x09" * 32 + b"\7" * 32


def test_the_process_that_has_it_does_not_open_it(memory):
    handle = ok(runtime.cudaIpcGetMemHandle(memory(64)))
    flags = runtime.cudaIpcMemLazyEnablePeerAccess
    assert runtime.cudaIpcOpenMemHandle(handle, flags)[0] == Error.cudaErrorDeviceUninitialized


def test_what_is_no_memory_has_no_handle():
    assert runtime.cudaIpcGetMemHandle(16)[0] == Error.cudaErrorInvalidValue


def test_an_event_is_waited_for_by_another_process():
    flags = runtime.cudaEventDisableTiming | runtime.cudaEventInterprocess
    event = ok(runtime.cudaEventCreateWithFlags(flags))
    ok(runtime.cudaEventRecord(event, 0))
    handle = ok(runtime.cudaIpcGetEventHandle(event))
    said = in_another_process(
        """
        handle = named(runtime.cudaIpcEventHandle_t, os.environ["HANDLE"])
        event = ok(runtime.cudaIpcOpenEventHandle(handle))
        ok(runtime.cudaEventSynchronize(event))
        ok(runtime.cudaEventDestroy(event))
        print("done")
        """,
        HANDLE=text_of(handle),
    )
    assert said == "done"
    ok(runtime.cudaEventDestroy(event))


@pytest.fixture
def pool():
    how = runtime.cudaMemPoolProps()
    how.allocType = runtime.cudaMemAllocationType.cudaMemAllocationTypePinned
    how.handleTypes = Kind
    how.location.type = runtime.cudaMemLocationType.cudaMemLocationTypeDevice
    how.location.id = 0
    made = ok(runtime.cudaMemPoolCreate(how))
    yield made
    ok(runtime.cudaDeviceSynchronize())
    ok(runtime.cudaMemPoolDestroy(made))


def test_memory_of_a_pool_is_imported(pool):
    address = ok(runtime.cudaMallocFromPoolAsync(64, pool, 0))
    ok(runtime.cudaMemset(address, 5, 64))
    ok(runtime.cudaDeviceSynchronize())
    descriptor = ok(runtime.cudaMemPoolExportToShareableHandle(pool, Kind, 0))
    data = ok(runtime.cudaMemPoolExportPointer(address))
    os.set_inheritable(descriptor, True)
    said = in_another_process(
        """
        kind = runtime.cudaMemAllocationHandleType.cudaMemHandleTypePosixFileDescriptor
        pool = ok(runtime.cudaMemPoolImportFromShareableHandle(int(os.environ["FD"]), kind, 0))
        data = named(runtime.cudaMemPoolPtrExportData, os.environ["DATA"])
        at = ok(runtime.cudaMemPoolImportPointer(pool, data))
        assert contents(at, 64) == bytes([5]) * 64
        ok(runtime.cudaMemset(at, 6, 64))
        ok(runtime.cudaDeviceSynchronize())
        ok(runtime.cudaFreeAsync(at, 0))
        ok(runtime.cudaDeviceSynchronize())
        print("done")
        """,
        pass_fds=[descriptor],
        FD=str(descriptor),
        DATA=text_of(data),
    )
    os.close(descriptor)
    assert said == "done"
    back = bytearray(64)
    ok(runtime.cudaMemcpy(back, address, 64, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost))
    assert back == b"\6" * 64
    ok(runtime.cudaFreeAsync(address, 0))

# SPDX-License-Identifier: Apache-2.0
"""Memory, events and pools of the runtime between two processes."""

import os
import subprocess
import sys
import textwrap

import pytest
from cuda.bindings import runtime
from cuda.core import emulation

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
    copied = (ctypes.c_ubyte * size)()
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    ok(runtime.cudaMemcpy(ctypes.addressof(copied), address, size, kind))
    return bytes(copied)
def named(cls, text):
    handle = cls()
    ctypes.memmove(handle.getPtr(), bytes.fromhex(text), len(text) // 2)
    return handle
"""


def in_another_process(code, *, pass_fds=(), **names):
    """Run the code, with texts as its variables; return its output."""
    done = subprocess.run(
        [sys.executable, "-c", START + textwrap.dedent(code)],
        env=os.environ | names,
        pass_fds=pass_fds,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def text_of(handle):
    return bytes(handle.reserved).hex()


WRITING = """
.version 7.0
.target sm_50
.address_size 64
.visible .entry write(.param .u64 place) {
  .reg .u64 %a;
  ld.param.u64 %a, [place];
  st.global.u8 [%a], 9;
  ret;
}
"""


def test_kernels_of_another_device_access_opened_memory(memory):
    """The flag enables the access of the current device's kernels."""
    if not emulation.is_active() and ok(runtime.cudaGetDeviceCount()) < 2:
        pytest.skip("needs two devices")
    address = memory(64)
    handle = ok(runtime.cudaIpcGetMemHandle(address))
    output = in_another_process(
        """
        from cuda.bindings import driver
        handle = named(runtime.cudaIpcMemHandle_t, os.environ["HANDLE"])
        ok(runtime.cudaSetDevice(1))
        at = ok(runtime.cudaIpcOpenMemHandle(handle, runtime.cudaIpcMemLazyEnablePeerAccess))
        library = ok(driver.cuLibraryLoadData(os.environ["PTX"].encode(), [], [], 0, [], [], 0))
        kernel = driver.CUfunction(int(ok(driver.cuLibraryGetKernel(library, b"write"))))
        place = ((at,), (ctypes.c_void_p,))
        ok(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, place, 0))
        print(contents(at, 1)[0])
        """,
        HANDLE=text_of(handle),
        PTX=WRITING,
        HALFWARP_EMULATOR_DEVICES="2",
    )
    assert output == "9"


def test_memory_is_opened_written_and_closed(memory):
    address = memory(64)
    ok(runtime.cudaMemset(address, 7, 64))
    ok(runtime.cudaDeviceSynchronize())
    handle = ok(runtime.cudaIpcGetMemHandle(address))
    output = in_another_process(
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
    assert output == "cudaErrorInvalidValue cudaErrorInvalidValue"
    readback = (runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost, bytearray(64))
    ok(runtime.cudaMemcpy(readback[1], address, 64, readback[0]))
    assert readback[1] == b"\x09" * 32 + b"\7" * 32


def test_the_exporting_process_cannot_open_its_memory(memory):
    handle = ok(runtime.cudaIpcGetMemHandle(memory(64)))
    flags = runtime.cudaIpcMemLazyEnablePeerAccess
    assert runtime.cudaIpcOpenMemHandle(handle, flags)[0] == Error.cudaErrorDeviceUninitialized


def test_invalid_memory_has_no_handle():
    assert runtime.cudaIpcGetMemHandle(16)[0] == Error.cudaErrorInvalidValue


def test_another_process_waits_for_an_event():
    flags = runtime.cudaEventDisableTiming | runtime.cudaEventInterprocess
    event = ok(runtime.cudaEventCreateWithFlags(flags))
    ok(runtime.cudaEventRecord(event, 0))
    handle = ok(runtime.cudaIpcGetEventHandle(event))
    output = in_another_process(
        """
        handle = named(runtime.cudaIpcEventHandle_t, os.environ["HANDLE"])
        event = ok(runtime.cudaIpcOpenEventHandle(handle))
        ok(runtime.cudaEventSynchronize(event))
        ok(runtime.cudaEventDestroy(event))
        print("done")
        """,
        HANDLE=text_of(handle),
    )
    assert output == "done"
    ok(runtime.cudaEventDestroy(event))


@pytest.fixture
def pool():
    properties = runtime.cudaMemPoolProps()
    properties.allocType = runtime.cudaMemAllocationType.cudaMemAllocationTypePinned
    properties.handleTypes = Kind
    properties.location.type = runtime.cudaMemLocationType.cudaMemLocationTypeDevice
    properties.location.id = 0
    new_pool = ok(runtime.cudaMemPoolCreate(properties))
    yield new_pool
    ok(runtime.cudaDeviceSynchronize())
    ok(runtime.cudaMemPoolDestroy(new_pool))


def test_memory_of_a_pool_is_imported(pool):
    address = ok(runtime.cudaMallocFromPoolAsync(64, pool, 0))
    ok(runtime.cudaMemset(address, 5, 64))
    ok(runtime.cudaDeviceSynchronize())
    descriptor = ok(runtime.cudaMemPoolExportToShareableHandle(pool, Kind, 0))
    data = ok(runtime.cudaMemPoolExportPointer(address))
    os.set_inheritable(descriptor, True)
    output = in_another_process(
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
    assert output == "done"
    readback = bytearray(64)
    ok(runtime.cudaMemcpy(readback, address, 64, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost))
    assert readback == b"\6" * 64
    ok(runtime.cudaFreeAsync(address, 0))

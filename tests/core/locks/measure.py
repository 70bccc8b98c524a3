# SPDX-License-Identifier: Apache-2.0
"""Measures which driver calls wait while another thread's cuMemFree waits for a host function.

Run on a GPU as ``python -m tests.core.locks.measure [LIBRARY]``; LIBRARY is the driver to measure.
The context lock is held for `HELD` seconds during each call. Enter the results as `waits` in
`generator/overrides/driver.toml`; a call that differs from that file is marked. The emulator has no
such lock: there, the command only checks the calls themselves.
"""

import ctypes
import sys
import threading
import time
from ctypes import byref
from ctypes import c_size_t as size_t
from functools import partial

from ...context_lock import RETURNS_AT_ONCE, WAITS

HELD = 0.15
PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .b8 g[16];
.visible .entry k0() { ret; }
.visible .entry k1(.param .u64 a) { ret; }
"""
NEWER = {  # functions whose plain name in the library is an older variant
    **{f"cuCtx{name}Current": f"cuCtx{name}Current_v2" for name in ("Push", "Pop")},
    **{f"cuMem{name}": f"cuMem{name}_v2" for name in ("Alloc", "Free", "AllocHost", "GetInfo")},
    **{f"cu{name}Destroy": f"cu{name}Destroy_v2" for name in ("Event", "Stream")},
    "cuDeviceGetUuid": "cuDeviceGetUuid_v2",
    "cuDeviceTotalMem": "cuDeviceTotalMem_v2",
    "cuDevicePrimaryCtxRelease": "cuDevicePrimaryCtxRelease_v2",
}


class Driver:
    """The driver's functions, which raise for a status that is not 0."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def __getattr__(self, name):
        function = self.library[NEWER.get(name, name)]

        def call(*arguments):
            if code := function(*arguments):
                raise OSError(f"{name}: {code}")

        return call

    def create(self, name, *arguments):
        """Return the handle that a function writes to its first parameter."""
        handle = ctypes.c_void_p()
        getattr(self, name)(byref(handle), *arguments)
        return handle


class Measurement:
    def __init__(self, path):
        cu = self.cu = Driver(path)
        libc = ctypes.CDLL(None)
        self.usleep = ctypes.cast(libc.usleep, ctypes.c_void_p)
        self.nothing = ctypes.cast(libc.getpid, ctypes.c_void_p)
        cu.cuInit(0)
        self.context = cu.create("cuDevicePrimaryCtxRetain", 0)
        cu.cuCtxSetCurrent(self.context)
        self.held, self.idle = cu.create("cuStreamCreate", 1), cu.create("cuStreamCreate", 1)
        self.event = cu.create("cuEventCreate", 0)
        cu.cuEventRecord(self.event, self.idle)
        self.library = self.load()
        self.kernel = cu.create("cuLibraryGetKernel", self.library, b"k1")
        self.function = cu.create("cuKernelGetFunction", self.kernel)
        self.pool = cu.create("cuDeviceGetDefaultMemPool", 0)
        self.memory, self.host = self.allocate(), cu.create("cuMemAllocHost", 4096)
        self.config = (ctypes.c_uint * 64)(1, 1, 1, 1, 1, 1)  # CUlaunchConfig of one thread
        self.out = [(ctypes.c_uint64 * 512)() for _ in range(3)]

    def load(self):
        return self.cu.create("cuLibraryLoadData", PTX, None, None, 0, None, None, 0)

    def new_kernel(self):
        return self.cu.create("cuLibraryGetKernel", self.load(), b"k1")

    def allocate(self):
        return self.cu.create("cuMemAlloc", size_t(1 << 20))

    def streams_and_events(self):
        a, held, idle, event = self.out[0], self.held, self.idle, self.event
        yield "cuStreamQuery", idle
        for default, stream in (("", held), ("(default)", None)):
            yield f"cuStreamIsCapturing{default}", stream, a
            yield f"cuStreamGetCaptureInfo{default}", stream, a, *[None] * 5
            yield f"cuStreamGetFlags{default}", stream, a
            yield f"cuStreamGetId{default}", stream, a
            yield f"cuStreamGetPriority{default}", stream, a
            yield f"cuStreamGetCtx{default}", stream, a
        yield "cuStreamWaitEvent", idle, event, 0
        yield "cuStreamCreate", a, 1
        yield "cuEventCreate", a, 0
        yield "cuEventQuery", event
        yield "cuEventElapsedTime", a, event, event
        yield "cuEventRecord", event, idle
        yield "cuLaunchHostFunc", idle, self.nothing, None

    def contexts_and_devices(self):
        a, b, _ = self.out
        yield "cuCtxGetCurrent", a
        yield "cuCtxSetCurrent", self.context
        yield "cuCtxGetDevice", a
        yield "cuCtxGetId", self.context, a
        yield "cuCtxGetFlags", a
        yield "cuCtxGetApiVersion", self.context, a
        yield "cuCtxGetStreamPriorityRange", a, b
        yield "cuCtxGetLimit", a, 0
        yield "cuDeviceGet", a, 0
        yield "cuDeviceGetAttribute", a, 1, 0
        yield "cuDeviceGetName", a, 100, 0
        yield "cuDeviceTotalMem", a, 0
        yield "cuDeviceCanAccessPeer", a, 0, 0
        yield "cuDeviceGetPCIBusId", a, 100, 0
        yield "cuDeviceGetUuid", a, 0
        yield "cuDeviceGetCount", a
        yield "cuDeviceGetMemPool", a, 0
        yield "cuDevicePrimaryCtxGetState", 0, a, b
        yield "cuDriverGetVersion", a
        yield "cuGetErrorName", 1, a
        yield "cuInit", 0

    def kernels(self):
        a, b, c = self.out
        kernel, function, none = self.kernel, self.function, size_t(0)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(c))
        yield "cuFuncGetName", a, function
        yield "cuKernelGetAttribute", a, 0, kernel, 0
        yield "cuKernelGetParamInfo", kernel, none, a, b
        yield "cuKernelSetAttribute", 8, 0, kernel, 0
        yield "cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, self.idle, arguments, None
        yield "cuLibraryGetModule", a, self.library
        yield "cuLibraryGetGlobal", a, b, self.library, b"g"
        yield "cuOccupancyAvailableDynamicSMemPerBlock", a, function, 1, 128
        yield "cuOccupancyMaxActiveBlocksPerMultiprocessor", a, function, 128, none
        yield "cuOccupancyMaxActiveClusters", a, function, self.config
        yield "cuOccupancyMaxPotentialBlockSize", a, b, function, None, none, 0

    def memory_and_pools(self):
        a, b, c = self.out
        memory, idle = self.memory, self.idle
        yield "cuMemAlloc", a, size_t(4096)
        yield "cuMemAllocAsync", a, size_t(1024), idle
        yield "cuMemAllocHost", a, size_t(4096)
        yield "cuMemGetInfo", a, b
        yield "cuMemPoolGetAttribute", self.pool, 5, a
        yield "cuMemPoolSetAttribute", self.pool, 4, c
        yield "cuMemPoolTrimTo", self.pool, size_t(1 << 30)
        yield "cuMemcpyAsync", memory, memory, size_t(16), idle
        yield "cuMemsetD8Async", memory, 0, size_t(16), idle
        yield "cuPointerGetAttribute", a, 2, memory

    def calls(self):
        """Yield the name of a call, the call, and the factory of its argument or None."""
        cu, a, b = self.cu, *self.out[:2]
        groups = self.streams_and_events, self.contexts_and_devices, self.kernels
        for group in (*groups, self.memory_and_pools):
            for name, *arguments in group():
                function = getattr(cu, name.partition("(")[0])
                yield name, partial(function, *arguments), None
        creators = {
            "cuEventDestroy": partial(cu.create, "cuEventCreate", 0),
            "cuStreamDestroy": partial(cu.create, "cuStreamCreate", 1),
            "cuMemFree": self.allocate,
            "cuMemFreeHost": partial(cu.create, "cuMemAllocHost", size_t(4096)),
            "cuLibraryUnload": self.load,
        }
        for name, maker in creators.items():
            yield name, getattr(cu, name), maker
        yield "cuLibraryLoadData", self.load, None
        first_uses = {
            "cuKernelGetAttribute": lambda kernel: cu.cuKernelGetAttribute(a, 0, kernel, 0),
            "cuKernelGetParamInfo": lambda kernel: cu.cuKernelGetParamInfo(kernel, size_t(0), a, b),
            "cuKernelGetFunction": lambda kernel: cu.cuKernelGetFunction(a, kernel),
        }
        for name, call in first_uses.items():
            yield f"{name}(first use)", call, self.new_kernel

    def waits(self, call, factory):
        """Return whether a call took about as long as the lock was held."""
        cu, victim = self.cu, self.allocate()
        arguments = [factory()] if factory else []
        cu.cuStreamSynchronize(self.idle)
        cu.cuLaunchHostFunc(self.held, self.usleep, ctypes.c_void_p(int(HELD * 1e6)))

        def free():
            cu.cuCtxSetCurrent(self.context)
            cu.cuMemFree(victim)

        free_thread = threading.Thread(target=free)
        free_thread.start()
        time.sleep(HELD / 5)
        begin = time.perf_counter()
        call(*arguments)
        duration = time.perf_counter() - begin
        free_thread.join()
        cu.cuStreamSynchronize(self.held)
        return duration > HELD / 3


def main(path="libcuda.so.1"):
    measurement = Measurement(path)
    for name, call, factory in measurement.calls():
        waits = measurement.waits(call, factory)
        function = name.partition("(")[0]
        differs = function in (RETURNS_AT_ONCE if waits else WAITS)
        print(f"{name:50} {'waits' if waits else '-'}{'   NOT AS WRITTEN' if differs else ''}")


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""CuPy: streams, events, functions and arrays are exchanged in both directions, at both layers."""

import cupy
import numpy as np
from axpy import CONFIG, SOURCE, N, checked, compile_for
from cuda.bindings import driver, runtime
from cuda.core import Buffer, Device, ObjectCode, launch


def their_arrays_on_our_stream(kernel):
    ours = device.create_stream()
    with cupy.cuda.Stream.from_external(ours):
        x, y = cupy.arange(N, dtype=cupy.float32), cupy.ones(N, cupy.float32)
        launch(ours, CONFIG, kernel, 2.0, x, y, N)
        launch(ours, CONFIG, kernel, cupy.float32(1.0), x.data.ptr, y.data.ptr, np.uint32(N))
        return cupy.asnumpy(y)


def our_memory_on_their_stream(kernel):
    theirs = cupy.cuda.Stream(non_blocking=True)
    ours = device.create_stream(theirs)
    assert int(ours.handle) == theirs.ptr
    x, y = (device.allocate(4 * N, stream=ours) for _ in range(2))
    with theirs:
        through_dlpack = cupy.from_dlpack(x).view(cupy.float32)
        through_interface = cupy.asarray(y).view(cupy.float32)
        assert through_dlpack.data.ptr == int(x.handle)
        assert through_interface.data.ptr == int(y.handle)
        through_dlpack[:] = cupy.arange(N)
        through_interface[:] = 1.0
        launch(ours, CONFIG, kernel, 3.0, x, y, N)
        copy = cupy.empty(N, cupy.float32)
        y.copy_to(copy, stream=ours)
        view = Buffer.from_handle(copy.data.ptr, copy.nbytes, owner=copy)
        assert view.device_id == device.device_id
        return cupy.asnumpy(copy)


def their_handles_at_the_low_layer():
    function = cupy.RawKernel(SOURCE, "axpy").kernel.ptr
    stream, event = checked(driver.cuStreamCreate(0)), cupy.cuda.Event()
    with cupy.cuda.ExternalStream(int(stream)):
        x, y = cupy.arange(N, dtype=cupy.float32), cupy.ones(N, cupy.float32)
        arguments = [np.float32(3.0), x.data.ptr, y.data.ptr, np.uint32(N)]
        packed = [np.array([each]) for each in arguments]
        addresses = np.array([each.ctypes.data for each in packed])
        shape = (*CONFIG.grid, *CONFIG.block)
        checked(driver.cuLaunchKernel(function, *shape, 0, stream, addresses, 0))
        event.record()
    checked(driver.cuEventSynchronize(event.ptr))
    checked(runtime.cudaStreamSynchronize(stream))
    host = np.empty(N, np.float32)
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    checked(runtime.cudaMemcpy(host.ctypes.data, y.data.ptr, host.nbytes, kind))
    return host


device = Device()
device.set_current()
code = compile_for(device)
assert isinstance(code, ObjectCode)
kernel = code.get_kernel("axpy")
expected = 1.0 + 3.0 * np.arange(N)
assert np.array_equal(their_arrays_on_our_stream(kernel), expected)
assert np.array_equal(our_memory_on_their_stream(kernel), expected)
assert np.array_equal(their_handles_at_the_low_layer(), expected)
print(f"CuPy both ways, sum {expected.sum():.0f}")

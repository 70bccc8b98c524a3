# SPDX-License-Identifier: Apache-2.0
"""Calls of cuda.bindings.driver."""

import ctypes

from rows import PYTHON_SIDE, Struct, call, row


def driver_in_use():
    """Return the module in its usual state, after a class was accessed.

    The first access creates our classes; before, a `__getattr__` slows down each access.
    """
    from cuda.bindings import driver

    assert driver.CUresult.CUDA_SUCCESS == 0
    return driver


def handles(world):
    """Return the driver module, and the stream and a new event as its handles."""
    driver = driver_in_use()
    world.event = world.device.create_event()
    return (
        driver,
        driver.CUstream(int(world.stream.handle)),
        driver.CUevent(int(world.event.handle)),
    )


@row("cuCtxGetCurrent()", target=20, twin="ctx_get_current")
def ctx_get_current(world):
    driver = driver_in_use()
    return call("driver.cuCtxGetCurrent()", driver=driver)


@row("cuDeviceGetAttribute(enum, 0)", target=20, twin="device_get_attribute")
def device_get_attribute(world):
    from cuda.bindings import driver

    attribute = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE
    return call("driver.cuDeviceGetAttribute(attribute, 0)", driver=driver, attribute=attribute)


@row("cuStreamQuery(h)", target=45, twin="stream_query")
def stream_query(world):
    from cuda.bindings import driver

    world.idle = world.device.create_stream()  # without submitted work, like the C twin's
    stream = driver.CUstream(int(world.idle.handle))
    return call("driver.cuStreamQuery(stream)", driver=driver, stream=stream)


@row("cuEventRecord(h, h)", target=50, twin="event_record")
def event_record(world):
    driver, stream, event = handles(world)
    return call("driver.cuEventRecord(event, stream)", driver=driver, event=event, stream=stream)


@row("cuMemAllocAsync + cuMemFreeAsync", target=100, twin="alloc_free_async")
def alloc_free(world):
    driver, stream, _ = handles(world)
    text = "driver.cuMemFreeAsync(driver.cuMemAllocAsync(1024, stream)[1], stream)"
    return call(text, driver=driver, stream=stream)


def low_launch(world, kernel_name, arguments):
    driver, stream, _ = handles(world)
    error, function = driver.cuKernelGetFunction(
        driver.CUkernel(int(world.kernel(kernel_name).handle))
    )
    assert error == driver.CUresult.CUDA_SUCCESS, error
    names = {"function": function, "stream": stream, "arguments": arguments}
    text = "driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, 0)"
    return call(text, driver=driver, **names)


@row("cuLaunchKernel, 0 args", target=75, twin="launch_0")
def launch_0(world):
    return low_launch(world, "k0", ((), ()))


@row("cuLaunchKernel, 4 args", target=90, twin="launch_4")
def launch_4(world):
    pointer = int(world.buffer.handle)
    types = (ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong)
    return low_launch(world, "k4_buffers", ((2.0, pointer, pointer, 7), types))


@row("cuLaunchKernel, 16 args", target=125, twin="launch_16")
def launch_16(world):
    pointer = int(world.buffer.handle)
    return low_launch(world, "k16_buffers", ((pointer,) * 16, (ctypes.c_void_p,) * 16))


def low_launch_in_place(world, values):
    """Launch with values that have no type: their own memory is the parameter."""
    return low_launch(world, "k4_structs", (tuple(values), (None,) * 4))


@row("cuLaunchKernel, 4 ctypes structs", target=300, twin="launch_4", backends=PYTHON_SIDE)
def launch_4_structs(world):
    return low_launch_in_place(world, (Struct(i, 0, 1) for i in range(4)))


@row("cuLaunchKernel, 4 ctypes scalars", target=150, twin="launch_4", backends=PYTHON_SIDE)
def launch_4_ctypes_scalars(world):
    types = (ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong)
    return low_launch(world, "k4_buffers", (tuple(kind(1) for kind in types), types))


@row("cuLaunchKernel, 4 structs with getPtr", target=500, twin="launch_4", backends=PYTHON_SIDE)
def launch_4_objects(world):
    class Packed:
        def __init__(self):
            self.content = Struct(1, 2, 3)
            self.address = ctypes.addressof(self.content)

        def getPtr(self):
            return self.address

    return low_launch_in_place(world, (Packed() for _ in range(4)))


@row(
    "cuLaunchKernel, 4 structs of cuda.bindings", target=150, twin="launch_4", backends=PYTHON_SIDE
)
def launch_4_bindings_structs(world):
    driver = driver_in_use()
    return low_launch_in_place(world, (driver.CUDA_MEMCPY3D() for _ in range(4)))


@row("cuLaunchKernel, an array of addresses", target=100, twin="launch_4", backends=PYTHON_SIDE)
def launch_4_addresses(world):
    import numpy as np

    world.struct = Struct(1, 2, 3)
    return low_launch(world, "k4_structs", np.full(4, ctypes.addressof(world.struct), np.uint64))


@row("enum from int", target=18)
def enum_from_int(world):
    from cuda.bindings import driver

    return call("driver.CUdevice_attribute(10)", driver=driver)


@row("handle from int", target=22)
def handle_from_int(world):
    from cuda.bindings import driver

    return call("driver.CUdeviceptr(0x7F0000000000)", driver=driver)


@row("struct: make, set 2, read 1", target=80)
def struct(world):
    from cuda.bindings import driver

    def make():
        node = driver.CUDA_KERNEL_NODE_PARAMS()
        node.gridDimX = 1
        node.blockDimX = 32
        return node.gridDimX

    return make

# SPDX-License-Identifier: Apache-2.0
"""Arrays, textures and surfaces of the driver, and kernels that read them at points."""

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions
from cuda.core import launch as launch_kernel

LAYERED, SURFACE, CUBE, GATHER = 1, 2, 4, 8
WRAP, CLAMP, MIRROR, BORDER = range(4)
BORDER_COLOR = (0.5, 1.5, 2.5, 3.5)


def ok(result):
    assert result[0] == 0, result
    return result[1] if len(result) == 2 else result[1:]


class Bench:
    """A device, a stream, and code whose kernels read a texture or surface at points."""

    def __init__(self, kernels, first):
        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.code = self.load(kernels, first)
        self.memory = LegacyPinnedMemoryResource()

    def load(self, source, first):
        options = ProgramOptions(arch=f"sm_{self.device.arch}")
        code = Program(source, "c++", options).compile("cubin")
        code.get_kernel(first)  # load it before a test counts live objects
        return code

    def run(self, kernel, handle, points, code=None, width=4):
        """Return a row of four numbers for each point; the kernel receives `width` numbers per
        point."""
        points = np.asarray(points, np.float32)
        padded = np.zeros((len(points), width), np.float32)
        padded[:, : points.shape[1]] = points
        with (
            self.memory.allocate(padded.nbytes) as at,
            self.memory.allocate(16 * len(points)) as to,
        ):
            np.from_dlpack(at).view(np.float32)[:] = padded.ravel()
            entry = (code or self.code).get_kernel(kernel)
            config = LaunchConfig(grid=1, block=len(points))
            launch_kernel(self.stream, config, entry, int(handle), at, to, len(points))
            self.stream.sync()
            return np.from_dlpack(to).view(np.float32).copy().reshape(-1, 4)


class Array:
    """An array of the driver's with data of shape (depth, height, width)."""

    def __init__(self, data, extents, flags=0):
        descriptor = driver.CUDA_ARRAY3D_DESCRIPTOR()
        descriptor.Width, descriptor.Height, descriptor.Depth = extents
        is_float = data.dtype == np.float32
        kind = {1: 0x01, 4: 0x20 if is_float else 0x03}[data.itemsize]
        descriptor.Format = driver.CUarray_format(kind)
        descriptor.NumChannels, descriptor.Flags = 1, flags
        self.handle = ok(driver.cuArray3DCreate(descriptor))
        self.data = np.ascontiguousarray(data)
        self.copy(True)

    def copy(self, is_filled):
        width, height, depth = (*self.data.shape[::-1], 1, 1)[:3]
        copy = driver.CUDA_MEMCPY3D()
        array, host = ("dst", "src") if is_filled else ("src", "dst")
        setattr(copy, f"{array}MemoryType", driver.CUmemorytype.CU_MEMORYTYPE_ARRAY)
        setattr(copy, f"{array}Array", self.handle)
        setattr(copy, f"{host}MemoryType", driver.CUmemorytype.CU_MEMORYTYPE_HOST)
        setattr(copy, f"{host}Host", self.data.ctypes.data)
        setattr(copy, f"{host}Pitch", width * self.data.itemsize)
        setattr(copy, f"{host}Height", height)
        copy.WidthInBytes, copy.Height, copy.Depth = width * self.data.itemsize, height, depth
        ok(driver.cuMemcpy3D(copy))
        return self.data

    def resource(self):
        descriptor = driver.CUDA_RESOURCE_DESC()
        descriptor.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
        descriptor.res.array.hArray = self.handle
        return descriptor

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        ok(driver.cuArrayDestroy(self.handle))


class Levels:
    """A mipmapped array, each level filled from one of `data`."""

    def __init__(self, data, extents, flags=0):
        shape = driver.CUDA_ARRAY3D_DESCRIPTOR()
        shape.Width, shape.Height, shape.Depth = extents
        shape.Format, shape.NumChannels = driver.CUarray_format.CU_AD_FORMAT_FLOAT, 1
        shape.Flags = flags
        self.handle = ok(driver.cuMipmappedArrayCreate(shape, len(data)))
        for number, each in enumerate(data):
            level = Array.__new__(Array)
            level.handle = ok(driver.cuMipmappedArrayGetLevel(self.handle, number))
            level.data = np.ascontiguousarray(each, np.float32)
            level.copy(True)

    def resource(self):
        descriptor = driver.CUDA_RESOURCE_DESC()
        descriptor.resType = driver.CUresourcetype.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
        descriptor.res.mipmap.hMipmappedArray = self.handle
        return descriptor

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        ok(driver.cuMipmappedArrayDestroy(self.handle))


class Texture:
    """A texture object; `extra`: further fields of ``CUDA_TEXTURE_DESC``."""

    def __init__(self, resource, mode=CLAMP, is_linear=False, flags=0, **extra):
        options = driver.CUDA_TEXTURE_DESC()
        options.addressMode = [driver.CUaddress_mode(mode)] * 3
        options.filterMode = driver.CUfilter_mode(int(is_linear))
        options.flags = flags
        options.borderColor = list(BORDER_COLOR)
        for name, value in extra.items():
            setattr(options, name, value)
        self.handle = ok(driver.cuTexObjectCreate(resource, options, None))

    def __enter__(self):
        return self.handle

    def __exit__(self, *exc_info):
        ok(driver.cuTexObjectDestroy(self.handle))


class Surface:
    def __init__(self, resource):
        self.handle = ok(driver.cuSurfObjectCreate(resource))

    def __enter__(self):
        return self.handle

    def __exit__(self, *exc_info):
        ok(driver.cuSurfObjectDestroy(self.handle))

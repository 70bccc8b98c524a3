# SPDX-License-Identifier: Apache-2.0
"""Arrays, textures, surfaces, and the checkpoints of processes."""

import os

import numpy as np
from cuda.core import Device, GraphicsResource
from cuda.core import texture as t
from cuda.core.checkpoint import Process
from describing import Names

device = Device(0)
device.set_current()
stream = device.create_stream()
data = np.arange(12, dtype=np.float32).reshape(3, 4)
A, M, T, R = (
    t.OpaqueArrayOptions,
    t.MipmappedArrayOptions,
    t.TextureObjectOptions,
    t.ResourceDescriptor,
)
array = device.create_opaque_array(A((4, 3), "float32", 1, True))
plain = device.create_opaque_array(A((4, 3), "uint8", 1))
levels = device.create_mipmapped_array(M((8, 8), "uint8", 4, 3))
closed = device.create_opaque_array(A((4,), "uint8", 1))
closed.close()
buffer = device.allocate(4096, stream=stream)
small = device.allocate(40, stream=stream)
of_array = R.from_opaque_array(array)
own = Process(os.getpid())
PLANE = {"format": "uint8", "num_channels": 1}


def copied():
    back = np.zeros_like(data)
    array.copy_from(data, stream=stream)
    array.copy_to(back, stream=stream)
    stream.sync()
    return back.tolist()


def texture(**options):
    with device.create_texture_object(resource=of_array, options=options) as created:
        return created.options, created.resource is of_array


def after_closing():
    created = device.create_texture_object(resource=of_array, options=None)
    created.close()
    created.close()
    return created.handle, created.is_closed, created.resource, repr(created)


def a_level_outlives_its_array():
    mipmapped = device.create_mipmapped_array(M((8, 8), "uint8", 4, 3))
    level = mipmapped.get_level(1)
    mipmapped.close()
    return mipmapped.is_closed, level.is_closed, level.shape


CASES = [
    copied,
    after_closing,
    a_level_outlives_its_array,
    lambda: t.__all__,
    lambda: Names(each for each in dir(t.OpaqueArray) if not each.startswith("_")),
    lambda: Names(each for each in dir(t.MipmappedArray) if not each.startswith("_")),
    lambda: Names(each for each in dir(R) if not each.startswith("_")),
    lambda: Names(each for each in dir(t.TextureObject) if not each.startswith("_")),
    lambda: Names(each for each in dir(t.SurfaceObject) if not each.startswith("_")),
    lambda: Names(each for each in dir(GraphicsResource) if not each.startswith("_")),
    lambda: A((1, 2), "uint8", 1),
    lambda: A([3], np.float32, 2),
    lambda: A((1, 2), "u1", 1),
    lambda: A((1, 2), object(), 1),
    lambda: A((1, 2), np.float64, 1),
    lambda: A((1, 2), np.dtype(">u2"), 1),
    lambda: A((1, 2), "uint8", 3),
    lambda: A((1, 2), "uint8", True),
    lambda: A((1,), "uint8", 2.0).num_channels == 2,
    lambda: A((0, 2), "uint8", 1),
    lambda: A((1, 2, 3, 4), "uint8", 1),
    lambda: A(5, "uint8", 1),
    lambda: A("ab", "uint8", 1),
    lambda: A((1.5,), "uint8", 1).shape,
    lambda: A((1,), None, 1),
    lambda: M((8, 8), "uint8", 1, 0),
    lambda: M((8, 8), "uint8", 1, True).num_levels,
    lambda: M((8, 8), "uint8", 1, "a"),
    lambda: T(),
    lambda: T(filter_mode="foo"),
    lambda: T(read_mode=3),
    lambda: T(mipmap_filter_mode="q"),
    lambda: T(border_color=(1, 2)).border_color,
    lambda: t.OpaqueArray(),
    lambda: R(),
    lambda: array,
    lambda: levels,
    lambda: closed,
    lambda: (closed.handle, closed.is_closed, closed.shape, closed.size_bytes),
    lambda: (array.size_bytes, array.element_bytes, array.is_surface_load_store, array.format),
    lambda: array.device == device,
    lambda: device.create_opaque_array(None),
    lambda: device.create_opaque_array(3),
    lambda: device.create_opaque_array({"shape": (4,), "format": "int8", "num_channels": 1}),
    lambda: device.create_opaque_array({"shapes": (4,)}),
    lambda: device.create_mipmapped_array(M((8, 4), "uint8", 1, 9)),
    lambda: array.copy_from(data[:2], stream=stream),
    lambda: array.copy_from(np.zeros((3, 8), np.float32)[:, ::2], stream=stream),
    lambda: array.copy_from(np.asfortranarray(data), stream=stream),
    lambda: array.copy_from(bytes(64), stream=stream),
    lambda: array.copy_from(object(), stream=stream),
    lambda: array.copy_from(small, stream=stream),
    lambda: array.copy_from(buffer, stream=stream),
    lambda: array.copy_from(data, stream=None),
    lambda: array.copy_to(bytes(48), stream=stream),
    lambda: array.copy_to(buffer, stream=stream) is buffer,
    lambda: closed.copy_from(data, stream=stream),
    lambda: levels.get_level(2),
    lambda: levels.get_level(-1),
    lambda: levels.get_level(3),
    lambda: levels.get_level("a"),
    lambda: levels.get_level(1.0),
    lambda: of_array,
    lambda: (of_array.kind, of_array.source is array, of_array.format, of_array.width),
    lambda: R.from_opaque_array(3),
    lambda: R.from_opaque_array(closed),
    lambda: R.from_mipmapped_array(levels),
    lambda: R.from_mipmapped_array(array),
    lambda: R.from_linear(buffer, **PLANE),
    lambda: R.from_linear(b"x", **PLANE),
    lambda: R.from_linear(buffer, size_bytes=9999, **PLANE),
    lambda: R.from_linear(buffer, format="float32", num_channels=4, size_bytes=8),
    lambda: R.from_linear(buffer, format="float32", num_channels=4, size_bytes=24),
    lambda: R.from_linear(buffer, format="x", num_channels=4),
    lambda: R.from_pitch2d(buffer, width=100, height=10, pitch_bytes=128, **PLANE),
    lambda: R.from_pitch2d(buffer, width=0, height=10, pitch_bytes=128, **PLANE),
    lambda: R.from_pitch2d(buffer, width=100, height=10, pitch_bytes=12, **PLANE),
    lambda: R.from_pitch2d(buffer, width=100, height=100, pitch_bytes=128, **PLANE),
    texture,
    lambda: texture(filter_mode="linear"),
    lambda: texture(address_mode=("wrap", "border")),
    lambda: texture(address_mode="foo"),
    lambda: texture(address_mode=5),
    lambda: texture(address_mode=()),
    lambda: texture(address_mode=(1,)),
    lambda: texture(max_anisotropy=-1),
    lambda: texture(border_color=(1,)),
    lambda: device.create_texture_object(resource=array, options=None),
    lambda: device.create_surface_object(resource=R.from_opaque_array(plain)),
    lambda: device.create_surface_object(resource=R.from_linear(buffer, **PLANE)),
    lambda: device.create_surface_object(resource=3),
    lambda: GraphicsResource(),
    lambda: GraphicsResource.from_gl_buffer(1),
    lambda: GraphicsResource.from_gl_buffer(1, flags="x"),
    lambda: GraphicsResource.from_gl_image(1, 3553),
    lambda: Process(True),
    lambda: Process(0),
    lambda: Process("1"),
    lambda: own.state,
    lambda: own.lock(-1),
    lambda: own.lock("a"),
    lambda: own.checkpoint(),
    lambda: own.unlock(),
    lambda: own.restore(5),
    lambda: own.restore({1: 2}),
    lambda: own.restore({"a": "b"}),
    lambda: (own.lock(), own.state, own.checkpoint(), own.state),
    lambda: (own.restore({}), own.state, own.unlock(), own.state),
    lambda: own.restore_thread_id == os.getpid(),
    lambda: setattr(own, "x", 1),
]

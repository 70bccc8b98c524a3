# SPDX-License-Identifier: Apache-2.0
"""Tensor maps: options, refusals, and the bytes that reach a kernel."""

import ctypes

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
    launch,
)
from cuda.core import _tensor_map as tm
from cuda.core.utils import StridedMemoryView

device = Device(0)
device.set_current()
stream = device.create_stream()
buffer = device.allocate(65536, stream=stream)
block = LegacyPinnedMemoryResource().allocate(128)
COPIES = "\n".join(
    f"ld.param.u64 %rd2, [map+{i}]; st.global.u64 [%rd1+{i}], %rd2;" for i in range(0, 128, 8)
)
KERNEL = ObjectCode.from_ptx(
    f"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out, .param .align 64 .b8 map[128])
{{
    .reg .u64 %rd<3>;
    ld.param.u64 %rd1, [out];
    {COPIES}
    ret;
}}
""".encode()
).get_kernel("store")


def view(shape, dtype="f4", strides=None):
    return StridedMemoryView.from_buffer(buffer, shape, strides, dtype=np.dtype(dtype))


def content(descriptor):
    """Return the bytes that a kernel receives, without the address."""
    launch(stream, LaunchConfig(grid=1, block=1), KERNEL, block, descriptor)
    stream.sync()
    return ctypes.string_at(block.handle, 128)[8:].hex()


def tiled(shape, box, dtype="f4", strides=None, **options):
    return content(view(shape, dtype, strides).as_tensor_map(box, **options))


def im2col(shape, *arguments, **options):
    return content(TensorMapDescriptor._from_im2col(view(shape), *arguments, **options))


def replaced():
    descriptor = view((64, 64)).as_tensor_map((16, 16))
    before = content(descriptor)
    part = StridedMemoryView.from_buffer(buffer, (64, 64), dtype=np.dtype("f4"))
    return (
        descriptor.replace_address(part),
        content(descriptor) == before,
        descriptor.device.device_id,
    )


plain = view((64, 64))
host = StridedMemoryView.from_dlpack(np.zeros((64, 64), np.float32), -1)
untyped = StridedMemoryView.from_buffer(buffer, (64, 64), itemsize=4)
Options = TensorMapDescriptorOptions
T = tm

CASES = [
    replaced,
    lambda: tiled((64,), (16,)),
    lambda: tiled((64, 32), (16, 8)),
    lambda: tiled((4, 64, 32), (2, 16, 8)),
    lambda: tiled((2, 4, 8, 32), (1, 2, 4, 8)),
    lambda: tiled((2, 2, 4, 8, 32), (1, 1, 2, 4, 8)),
    lambda: tiled((16, 32), (16, 8), strides=(64, 1)),
    lambda: [tiled((64, 64), (16, 32), code) for code in ("u1", "u2", "u4", "i4", "f2")],
    lambda: [tiled((64, 64), (16, 32), code) for code in ("u8", "i8", "f8")],
    lambda: tiled((64, 64), (16, 16), element_strides=(2, 1)),
    lambda: tiled((64, 64), (16, 16), data_type=T.TensorMapDataType.TFLOAT32),
    lambda: tiled((64, 64), (16, 16), data_type="float32"),
    lambda: tiled((64, 64), (16, 16), swizzle=T.TensorMapSwizzle.SWIZZLE_64B),
    lambda: tiled((64, 64), (16, 16), swizzle=T.TensorMapSwizzle.SWIZZLE_32B),
    lambda: tiled((64, 64), (16, 16), l2_promotion=T.TensorMapL2Promotion.L2_256B),
    lambda: tiled((64, 64), (16, 16), oob_fill=T.TensorMapOOBFill.NAN_REQUEST_ZERO_FMA),
    lambda: tiled((8, 8, 8), (2, 2, 8), interleave=T.TensorMapInterleave.INTERLEAVE_16B),
    lambda: tiled((64, 64), (16, 16), element_strides=(1, 9)),
    lambda: tiled((64, 64), (16, 3)),
    lambda: tiled((4, 3), (2, 4)),
    lambda: tiled((64, 64), (16,)),
    lambda: tiled((64, 64), (16, 257)),
    lambda: tiled((64, 64), (0, 16)),
    lambda: tiled((64, 64), (16, 16), element_strides=(1,)),
    lambda: tiled((2,) * 6, (1,) * 6),
    lambda: tiled((), ()),
    lambda: tiled((64,), (16,), "i1"),
    lambda: im2col((4, 8, 16), (0,), (0,), 4, 4),
    lambda: im2col((2, 4, 8, 16), (1, -2), (-3, 4), 4, 4),
    lambda: im2col((2, 4, 4, 8, 16), (1, -2, 3), (-3, 4, -5), 256, 1024),
    lambda: im2col((2, 4, 8, 16), (0, 0), (0, 0), 4, 4, element_strides=(1, 2, 2, 1)),
    lambda: im2col((2, 4, 8, 16), (0, 0), (0, 0), 257, 4),
    lambda: im2col((2, 4, 8, 16), (0, 200), (0, 0), 4, 4),
    lambda: im2col((8, 16), (), (), 4, 4),
    lambda: im2col((4, 8, 16), (0, 0), (0,), 4, 4),
    lambda: im2col((4, 8, 16), (0,), (), 4, 4),
    lambda: TensorMapDescriptor._from_im2col_wide(view((4, 8, 16)), 0, 0, 4, 4),
    lambda: TensorMapDescriptor._from_im2col_wide(plain, 0, 0, 4, 4),
    lambda: TensorMapDescriptor(),
    lambda: repr(plain.as_tensor_map((16, 16))),
    lambda: repr(TensorMapDescriptor._from_im2col(view((4, 8, 16)), (0,), (0,), 4, 4)),
    lambda: content(plain.as_tensor_map(options=Options((16, 16)))),
    lambda: content(plain.as_tensor_map(options={"box_dim": (16, 8)})),
    lambda: content(TensorMapDescriptor._from_tiled(plain, (16, 16))),
    lambda: plain.as_tensor_map(),
    lambda: plain.as_tensor_map((16, 16), options=Options((1, 1))),
    lambda: plain.as_tensor_map(options=3),
    lambda: untyped.as_tensor_map((16, 16)),
    lambda: content(untyped.as_tensor_map((16, 16), data_type="f4")),
    lambda: host.as_tensor_map((16, 16)),
    lambda: (
        StridedMemoryView.from_dlpack(buffer, -1)
        .view(StridedMemoryView.from_dlpack(buffer, -1)._layout[4:])
        .as_tensor_map((16,))
    ),
    lambda: plain.as_tensor_map((16, 16), interleave=3),
    lambda: plain.as_tensor_map((16, 16)).replace_address(host),
    lambda: plain.as_tensor_map((16, 16)).replace_address(3),
    lambda: plain.as_tensor_map((16, 16)) == plain.as_tensor_map((16, 16)),
    lambda: repr(Options((1, 2))),
    lambda: repr(Options([1, 2], data_type=np.float32)),
    lambda: Options(3),
    lambda: Options((1.5,)),
    lambda: Options("ab"),
    lambda: Options((1,), swizzle=1),
    lambda: Options((1,), data_type=3),
    lambda: Options((1,), data_type="zz"),
    lambda: Options((1,), element_strides=3),
    lambda: Options(box_dim=(1,), oob_fill=T.TensorMapInterleave.NONE),
    lambda: Options(),
    lambda: hash(Options((1,))),
    lambda: Options((1,)) == Options((1,)),
    lambda: [list(T.TensorMapDataType), list(T.TensorMapInterleave), list(T.TensorMapSwizzle)],
    lambda: [list(T.TensorMapL2Promotion), list(T.TensorMapOOBFill)],
    lambda: list(T.TensorMapIm2ColWideMode),
]

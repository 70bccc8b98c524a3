# SPDX-License-Identifier: Apache-2.0
"""launch: order of its arguments, and the bytes that a kernel receives for each Python type."""

import ctypes
import enum

import numpy as np
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
from cuda.core._kernel_arg_handler import ParamHolder

device = Device(0)
device.set_current()
stream = device.create_stream()
config = LaunchConfig(grid=1, block=1)
block = LegacyPinnedMemoryResource().allocate(64)


def store(size):
    # A structure takes no numbers, so the short parameters have no declared kind.
    value = f".b{8 * size} value" if size <= 8 else f".align 16 .b8 value[{size}]"
    copies = "\n".join(
        f"ld.param.u8 %rs1, [value+{i}]; st.global.u8 [%rd1+{i}], %rs1;" for i in range(size)
    )
    ptx = f"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out, .param {value})
{{
    .reg .u64 %rd<2>;
    .reg .u16 %rs<2>;
    ld.param.u64 %rd1, [out];
    {copies}
    ret;
}}
"""
    return ObjectCode.from_ptx(ptx.encode()).get_kernel("store")


KERNELS = {size: store(size) for size in (1, 2, 4, 8, 16)}


def got(size, value):
    ctypes.memset(block.handle, 0xEE, 64)
    launch(stream, config, KERNELS[size], block, value)
    stream.sync()
    return ctypes.string_at(block.handle, size)


class Integer(int):
    pass


class Real(float):
    pass


class Numbered(enum.IntEnum):
    SEVEN = 7


class CInt(ctypes.c_int32):
    pass


class Foreign:
    def __cuda_stream__(self):
        return (0, int(stream.handle))


def closed_stream():
    stream = device.create_stream()
    stream.close()
    return stream


def pointers(*arguments):
    holder = ParamHolder(arguments)
    return holder.ptr != 0


def held(ctype, value):
    holder = ParamHolder([value])
    address = ctypes.c_void_p.from_address(holder.ptr).value
    return ctype.from_address(address).value


CASES = [
    lambda: got(8, 5),
    lambda: got(8, -5),
    lambda: got(8, 2**63 - 1),
    lambda: got(8, -(2**63)),
    lambda: got(8, 2**63),
    lambda: got(8, 2**64),
    lambda: got(8, -(2**63) - 1),
    lambda: got(8, Integer(5)),
    lambda: got(8, Numbered.SEVEN),
    lambda: got(1, True),
    lambda: got(1, False),
    lambda: got(1, np.bool_(True)),
    lambda: got(1, ctypes.c_bool(True)),
    lambda: got(8, 1.5),
    lambda: got(8, Real(1.5)),
    lambda: got(16, 1 + 2j),
    lambda: got(16, np.complex128(1 + 2j)),
    lambda: got(8, np.complex64(1 + 2j)),
    lambda: got(1, np.int8(-3)),
    lambda: got(2, np.int16(-3)),
    lambda: got(4, np.int32(-3)),
    lambda: got(8, np.int64(-3)),
    lambda: got(1, np.uint8(3)),
    lambda: got(2, np.uint16(3)),
    lambda: got(4, np.uint32(3)),
    lambda: got(8, np.uint64(3)),
    lambda: got(2, np.float16(1.5)),
    lambda: got(4, np.float32(1.5)),
    lambda: got(8, np.float64(1.5)),
    lambda: got(1, ctypes.c_int8(-3)),
    lambda: got(2, ctypes.c_int16(-3)),
    lambda: got(4, ctypes.c_int32(-3)),
    lambda: got(8, ctypes.c_int64(-3)),
    lambda: got(1, ctypes.c_uint8(3)),
    lambda: got(2, ctypes.c_uint16(3)),
    lambda: got(4, ctypes.c_uint32(3)),
    lambda: got(8, ctypes.c_uint64(3)),
    lambda: got(8, ctypes.c_size_t(3)),
    lambda: got(8, ctypes.c_long(3)),
    lambda: got(4, CInt(3)),
    lambda: got(4, ctypes.c_float(1.5)),
    lambda: got(8, ctypes.c_double(1.5)),
    lambda: got(8, driver.CUgraphConditionalHandle(9)),
    lambda: got(8, block) == block.handle.to_bytes(8, "little"),
    lambda: got(8, "text"),
    lambda: got(8, b"bytes"),
    lambda: got(8, [1]),
    lambda: got(8, None),
    lambda: got(8, np.zeros(1)),
    lambda: got(8, object()),
    lambda: got(8, ctypes.c_void_p(5)),
    lambda: got(8, driver.CUdeviceptr(5)),
    lambda: got(8, np.longlong(5)),
    lambda: got(8, stream),
    lambda: launch(None, config, KERNELS[8], block, 5),
    lambda: launch(stream, None, KERNELS[8], block, 5),
    lambda: launch(stream, config, None, block, 5),
    lambda: launch(stream, KERNELS[8], config, block, 5),
    lambda: launch(KERNELS[8], config, stream),
    lambda: launch(3, config, KERNELS[8], block, 5),
    lambda: launch(stream, config),
    lambda: launch(closed_stream(), config, KERNELS[8], block, 5),
    lambda: launch(Foreign(), config, KERNELS[8], block, 5),
    lambda: launch(stream, {"grid": 1, "block": 1}, KERNELS[8], block, 5),
    lambda: launch(stream, LaunchConfig(grid=1, block=2048), KERNELS[8], block, 5),
    lambda: launch(device.default_stream, config, KERNELS[8], block, 5),
    lambda: launch(
        stream, LaunchConfig(grid=10**6, block=1, is_cooperative=True), KERNELS[8], block, 5
    ),
    lambda: ParamHolder(()).ptr,
    lambda: ParamHolder([]).ptr,
    lambda: pointers(1, 2.0),
    lambda: ParamHolder(["text"]),
    lambda: held(ctypes.c_int64, 7),
    lambda: held(ctypes.c_double, 7.5),
    lambda: held(ctypes.c_int32, np.int32(-7)),
    lambda: held(ctypes.c_bool, True),
]

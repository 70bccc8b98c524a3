# SPDX-License-Identifier: Apache-2.0
"""Objects that the wrong calls use; their code runs in the namespace of this file."""

import ctypes  # noqa: F401
import pathlib  # noqa: F401

import numpy as np
from cuda.core import *  # noqa: F403
from cuda.core import Device, ObjectCode, Program, ProgramOptions
from cuda.core.utils import StridedMemoryView

SOURCE = 'extern "C" __global__ void scale(float* data, float factor, int count) {}'
PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 data, .param .f32 factor, .param .u32 count) { ret; }
"""
device = Device(0)
device.set_current()
arch = f"sm_{device.arch}"
stream = device.create_stream()
other_stream = device.create_stream()
buffer = device.allocate(4096, stream=stream)
stream.sync()
code = ObjectCode.from_ptx(PTX)
kernel = code.get_kernel("scale")
array = np.zeros(1024, np.float32)
view = StridedMemoryView.from_buffer(buffer, (32, 32), dtype=np.dtype(np.float32))


def closed(item):
    item.close()
    return item


def compiled(source, **options):
    return Program(source, "c++", ProgramOptions(arch=arch, **options)).compile("cubin")

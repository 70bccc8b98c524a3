# SPDX-License-Identifier: Apache-2.0
"""Likely mistakes whose cause neither the driver nor a library names: the message adds a hint."""

import re

import cuda.core
import numpy as np
import pytest
from cuda.core import ContextOptions, Device, Linker, LinkerOptions, Program
from cuda.core.utils import InMemoryProgramCache, StridedMemoryView

KERNEL = 'extern "C" __global__ void f(float* a) { a[threadIdx.x] = 1; }'
CALLER = 'extern "C" __device__ int g(); extern "C" __global__ void h(int* a) { *a = g(); }'

MISTAKES = {
    "device.create_context(ContextOptions(resources=8))": (
        "ContextOptions.resources must be a sequence of SMResource and WorkqueueResource"
    ),
    "Program(KERNEL, 'ptx', {'arch': ARCH}).compile('cubin')": "begins with .version; compile C++",
    "Linker(code, options={'arch': ARCH}).link('ltoir')": (
        "requires LTO-IR inputs and link_time_optimization=True"
    ),
    "Linker(code, options={'arch': ARCH}).link('ptx')": "link_time_optimization=True and ptx=True",
    "Linker(code, options=LinkerOptions(arch='90'))": "got '90': write 'sm_90'",
    "Linker(code, options=LinkerOptions(arch=90))": "got 90: write 'sm_90'",
    "Linker(code, options={'arch': ARCH, 'link_time_optimization': True}).link('cubin')": (
        "requires at least one LTO-IR input"
    ),
    "Linker(caller, options={'arch': ARCH}).link('cubin')": "no input defines the symbol",
    "InMemoryProgramCache(max_size_bytes='1G')": "must be an int, a number of bytes, or None",
    "view.as_tensor_map(box_dim=(16, 3))": "is 12 bytes, but must be a multiple of 16 bytes",
    "view.as_tensor_map(box_dim=(16, 16), swizzle=TILES.SWIZZLE_32B)": (
        "is 64 bytes, but SWIZZLE_32B supports up to 32 bytes"
    ),
    "narrow.as_tensor_map(box_dim=(4, 4))": "pitch of axis 0 is 12 bytes, but must be a multiple",
    "cuda.core.system.Device(index=700)": "no device 700; it has",
    "cuda.core.system.Device(uuid='GPU-x')": "no device 'GPU-x'",
}


@pytest.fixture(scope="module")
def names():
    """Names that the mistakes use."""
    device = Device(0)
    device.set_current()
    arch = f"sm_{device.arch}"
    options = {"arch": arch, "relocatable_device_code": True}
    with device.create_stream() as stream, device.allocate(1024, stream=stream) as buffer:
        yield {
            "ARCH": arch,
            "KERNEL": KERNEL,
            "TILES": cuda.core.TensorMapSwizzle,
            "ContextOptions": ContextOptions,
            "InMemoryProgramCache": InMemoryProgramCache,
            "Linker": Linker,
            "LinkerOptions": LinkerOptions,
            "Program": Program,
            "cuda": cuda,
            "device": device,
            "code": Program(KERNEL, "c++", options).compile("cubin"),
            "caller": Program(CALLER, "c++", options).compile("cubin"),
            "view": StridedMemoryView.from_buffer(buffer, (16, 16), dtype=np.float32),
            "narrow": StridedMemoryView.from_buffer(buffer, (16, 3), dtype=np.float32),
        }


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_cause_is_named(names, mistake):
    with pytest.raises(Exception) as caught:
        eval(mistake, names)
    message = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert re.search(MISTAKES[mistake], message), message

# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the object layer's tests: device, stream, kernels, a new thread."""

import ctypes

import pytest
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch

from ..threads import run_together


@pytest.fixture
def device():
    """Device 0, its primary context current on this thread."""
    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def stream(device):
    with device.create_stream() as stream:
        yield stream


@pytest.fixture
def emulation(device):
    """`cuda.core.emulation`, for tests that count objects and make calls fail."""
    from cuda.core import emulation

    if not emulation.is_active():
        pytest.skip("only the emulator can make driver calls fail and count objects")
    return emulation


@pytest.fixture
def two_devices():
    """Environment variables for a program with two devices: two GPUs if present, else emulated."""
    from cuda.core import emulation

    if emulation.is_active() or len(Device.get_all_devices()) != 2:
        return {"HALFWARP_BACKEND": "emulator", "HALFWARP_EMULATOR_DEVICES": "2"}
    return {"HALFWARP_BACKEND": "driver"}


@pytest.fixture
def in_new_thread():
    """Run a function on a new thread, where no device is initialized, and return its result."""
    return lambda function: run_together(function)[0]


def writer_ptx(declaration, size):
    """Return PTX of a kernel `store(out, value)` that writes the bytes of its parameter `value`.

    `declaration` is the PTX declaration of the parameter: ``".u32 value"``.
    """
    copies = "\n".join(
        f"ld.param.u8 %rs1, [value+{i}]; st.global.u8 [%rd1+{i}], %rs1;" for i in range(size)
    )
    return f"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out, .param {declaration})
{{
    .reg .u64 %rd<2>;
    .reg .u16 %rs<2>;
    ld.param.u64 %rd1, [out];
    {copies}
    ret;
}}
"""


@pytest.fixture
def pinned_block():
    """Sixteen kilobytes that host and device can read and write."""
    with LegacyPinnedMemoryResource().allocate(16384) as block:
        yield block


@pytest.fixture
def argument_in_kernel(device, stream, pinned_block):
    """Launch a kernel with one argument and return the bytes that it received."""
    config = LaunchConfig(grid=1, block=1)

    def run(value, size, declaration=None):
        # Numbers are refused for a structure, so parameters of their sizes have no declared kind.
        untyped = f".b{8 * size} value" if size in (1, 2, 4, 8) else None
        declaration = declaration or untyped or f".align 16 .b8 value[{size}]"
        kernel = ObjectCode.from_ptx(writer_ptx(declaration, size)).get_kernel("store")
        launch(stream, config, kernel, pinned_block, value)
        stream.sync()
        return ctypes.string_at(pinned_block.handle, size)

    return run


@pytest.fixture
def load_kernel(device):
    """Load the kernel `name` of a PTX body: parameters and instructions of an entry."""

    def load(parameters="", body="", name="kernel", module=""):
        text = (
            f".version 8.0\n.target sm_75\n.address_size 64\n{module}\n"
            f".visible .entry {name}({parameters})\n{{\n{body}\nret;\n}}\n"
        )
        return ObjectCode.from_ptx(text).get_kernel(name)

    return load


STORE = """
    .reg .u64 %rd<2>;
    .reg .u32 %r<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
"""


@pytest.fixture
def load_store(load_kernel):
    """Load a kernel `store(out, value)` that writes a 32-bit number."""
    return lambda: load_kernel(".param .u64 out, .param .u32 value", STORE, name="store")


@pytest.fixture
def store(load_store):
    return load_store()

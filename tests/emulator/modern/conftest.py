# SPDX-License-Identifier: Apache-2.0
"""Fixtures that run a few PTX instructions on the words of each thread."""

import numpy as np
import pytest
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    launch,
)

HEAD = ".version {version}\n.target {target}\n.address_size 64\n"
SHARED_BYTES = 4096


def kernel_text(
    body, inputs, outputs, declarations="", version="8.4", target="sm_90", variables=""
):
    """Return a kernel that reads i0, i1, ..., executes the body and stores o0, o1, ..."""
    loads = "".join(f"ld.global.b32 i{n}, [from+{4 * n}];" for n in range(inputs))
    stores = "".join(f"st.global.b32 [to+{4 * n}], o{n};" for n in range(outputs))
    return f"""{HEAD.format(version=version, target=target)}
{variables}
.visible .entry run(.param .u64 source, .param .u64 target) {{
    .shared .align 128 .b8 memory[{SHARED_BYTES}];
    .reg .b32 t, i<{inputs + 1}>, o<{outputs + 1}>; .reg .b64 from, to, step, base;
    .reg .pred p, q;
    {declarations}
    ld.param.u64 from, [source]; ld.param.u64 to, [target]; mov.u32 t, %tid.x;
    mov.u64 base, from;
    mul.wide.u32 step, t, {4 * inputs}; add.s64 from, from, step;
    mul.wide.u32 step, t, {4 * outputs}; add.s64 to, to, step;
    {loads}
    {body}
    {stores}
    ret;
}}"""


@pytest.fixture
def run_words():
    """Run a body over an array of words, one row for each thread; return the rows of results."""
    device = Device()
    device.set_current()

    def run(body, inputs, outputs, **options):
        inputs = np.ascontiguousarray(inputs, np.uint32)
        threads, count = inputs.shape
        text = kernel_text(body, count, outputs, **options)
        kernel = ObjectCode.from_ptx(text.encode()).get_kernel("run")
        memory = LegacyPinnedMemoryResource()
        with (
            memory.allocate(inputs.nbytes) as source,
            memory.allocate(4 * threads * outputs) as target,
            device.create_stream() as stream,
        ):
            np.from_dlpack(source).view(np.uint32)[:] = inputs.ravel()
            launch(stream, LaunchConfig(grid=1, block=threads), kernel, source, target)
            stream.sync()
            return np.from_dlpack(target).view(np.uint32).reshape(threads, outputs).copy()

    return run


@pytest.fixture
def load_words():
    """Load a kernel with a body, which need not run."""
    device = Device()
    device.set_current()

    def load(body, **options):
        text = kernel_text(body, 1, 1, **options)
        return ObjectCode.from_ptx(text.encode()).get_kernel("run")

    return load


FAULTY = """
import sys
from cuda.core import Device, LaunchConfig, ObjectCode, launch
device = Device()
device.set_current()
kernel = ObjectCode.from_ptx(sys.argv[1]).get_kernel("run")
stream = device.create_stream()
launch(stream, LaunchConfig(grid=1, block=int(sys.argv[2])), kernel)
try:
    stream.sync()
except Exception as error:
    print(error, *getattr(error, "__notes__", ()))
"""


@pytest.fixture
def fault_text(run_emulated):
    """Run a kernel without parameters in another process; return its error with the notes."""

    def run(body, threads=32):
        head = HEAD.format(version="8.4", target="sm_90")
        text = f"{head}.visible .entry run() {{\n{body}\nret; }}"
        return run_emulated(FAULTY, text, str(threads)).stdout

    return run

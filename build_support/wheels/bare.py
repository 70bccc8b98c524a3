# SPDX-License-Identifier: Apache-2.0
"""The program that `trial` runs in an empty environment: imports every module, runs a kernel.

The kernel is PTX, since the environment has no compiler.
"""

import importlib
import pkgutil
import sys

import cuda.bindings
import cuda.core
from cuda.core import Device, LaunchConfig, ObjectCode, launch

import halfwarp

TWICE = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 p) {
    .reg .b32 %r<3>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    ld.global.u32 %r2, [%d3];
    add.u32 %r2, %r2, %r2;
    st.global.u32 [%d3], %r2;
    ret;
}
"""


COMMAND, PLUGIN = "__main__", "pytest_plugin"  # not imported: one runs, the other needs pytest


def import_all():
    """Import all modules of the packages, without the emulator's libraries."""
    imported = []
    for package in (cuda.bindings, cuda.core, halfwarp):
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            last = info.name.rpartition(".")[2]
            if last not in (COMMAND, PLUGIN) and not last.startswith("lib"):
                imported.append(importlib.import_module(info.name))
    return imported


def run_kernel():
    """Double the numbers 0 to 31 on the emulated device; return its name."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    data = bytearray(b"".join(n.to_bytes(4, "little") for n in range(32)))
    buffer = device.allocate(len(data), stream=stream)
    buffer.copy_from(data, stream=stream)
    kernel = ObjectCode.from_ptx(TWICE).get_kernel("twice")
    launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer)
    buffer.copy_to(data, stream=stream)
    stream.sync()
    numbers = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]
    assert numbers == [2 * n for n in range(32)], numbers
    return device.name


if __name__ == "__main__":
    modules = import_all()
    assert "numpy" not in sys.modules
    print(len(modules), "modules imported, a kernel run on", run_kernel())

# SPDX-License-Identifier: Apache-2.0
"""The rows: a name, a target in nanoseconds, and a function that returns the call to time."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row of the table. `prepare(world)` returns the call to time; `twin` names the C row."""

    name: str
    target: float
    prepare: Callable
    twin: str | None = None
    ours_only: bool = False
    calls: int = 1  # measured calls per run of the timed function
    backends: tuple = ("null", "gpu")  # backends on which both packages can run it


ROWS: dict[str, Row] = {}


def row(name, *, target, **further):
    """Register the decorated function as the row `name`; `further` are fields of `Row`."""

    def register(prepare):
        ROWS[name] = Row(name, target, prepare, **further)
        return prepare

    return register


def call(text, **names):
    """Return a function that makes the call, with its names as globals, as in a module.

    Closure variables would add two to four nanoseconds to each call.
    """
    return eval(f"lambda: {text}", names)


SIGNATURES = {
    "k0": "",
    "k2": "float* x, int n",
    "k4": "float a, double b, int c, long long d",
    "k4_buffers": "float a, const float* x, float* y, long long n",
    "k16": ", ".join(f"long long a{i}" for i in range(16)),
    "k16_buffers": ", ".join(f"float* a{i}" for i in range(16)),
    "k16_mixed": ", ".join(
        f"float* x{i}, long long a{i}, long long n{i}, double d{i}" for i in range(4)
    ),
    "k4_structs": ", ".join(f"double3 a{i}" for i in range(4)),
    "k64": ", ".join(f"long long a{i}" for i in range(64)),
    "k64_buffers": ", ".join(f"float* a{i}" for i in range(64)),
}


PYTHON_SIDE = ("null",)  # for rows whose cost a driver would hide


class Struct(ctypes.Structure):
    """A double3, the type of the parameters of `k4_structs`."""

    _fields_ = [(name, ctypes.c_double) for name in "xyz"]


class World:
    """Objects shared by rows: device, stream, kernels, buffers; created once per process."""

    def __init__(self):
        from cuda.core import Device, LaunchConfig, Program, ProgramOptions

        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        source = "\n".join(
            f'extern "C" __global__ void {name}({parameters}) {{}}'
            for name, parameters in SIGNATURES.items()
        )
        program = Program(source, "c++", ProgramOptions(arch=f"sm_{self.device.arch}"))
        self.module = program.compile("ptx")
        self.config = LaunchConfig(grid=1, block=1)
        self.buffer = self.device.memory_resource.allocate(1024, stream=self.stream)
        self.other = self.device.memory_resource.allocate(1024, stream=self.stream)

    def kernel(self, name):
        return self.module.get_kernel(name)

# SPDX-License-Identifier: Apache-2.0
"""Compile and launch the planted kernels, and collect what the checks report."""

import contextlib
import importlib
import json
import sys
from typing import NamedTuple

from cuda.bindings import driver
from cuda.core import CUDAError, Device, LaunchConfig, Program, ProgramOptions, emulation, launch

BYTES = 16384


class Case(NamedTuple):
    """A kernel body with ``@``, the text of the mistake, the text of the twin, and the launch."""

    body: str
    mistake: str
    twin: str
    grid: int
    block: int


def source_of(case, text):
    """Return the source of a kernel. `out` is filled with zeros; nobody has written `raw`."""
    body = case.body.replace("@", text).replace("; ", ";\n")
    return f'extern "C" __global__ void kernel(int* out, int* raw) {{\n{body}\n}}'


def findings_of(device, stream, case, text):
    options = ProgramOptions(arch="sm_90", lineinfo=True)
    kernel = Program(source_of(case, text), "c++", options).compile("ptx").get_kernel("kernel")
    emulation.repair()
    out, raw = (device.allocate(BYTES, stream=stream) for _ in range(2))
    with out, raw:
        out.fill(0, stream=stream)
        launch(stream, LaunchConfig(grid=case.grid, block=case.block), kernel, out, raw)
        with contextlib.suppress(CUDAError):  # the reports tell
            stream.sync()
            driver.cuMemcpyDtoH(bytearray(BYTES), int(out.handle), BYTES)
        findings = emulation.faults()
        emulation.repair()
    return [each.text for each in findings]


def main():
    """Run the cases of a module by name, or all, and print the findings of each as JSON."""
    planted = importlib.import_module(f"tests.emulator.checks.planted.{sys.argv[1]}")
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    groups = ("CASES", "LANDINGS", "RACES", "CORRECT")
    cases = {}
    for group in groups:
        cases |= getattr(planted, group, {})
    findings = {}
    for name in sys.argv[2:] or cases:
        case = cases[name]
        texts = {"mistake": case.mistake, "twin": case.twin}
        findings[name] = {
            label: findings_of(device, stream, case, text) for label, text in texts.items()
        }
    print(json.dumps(findings))  # on one line: kernels print too


if __name__ == "__main__":
    main()

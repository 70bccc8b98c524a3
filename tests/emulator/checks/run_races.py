# SPDX-License-Identifier: Apache-2.0
"""Run kernels by name, or all, and print the findings of each as JSON."""

import json
import sys

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, emulation, launch

from .races import CASES, CORRECT

BYTES = 16384


def source_of(case, text):
    body = case.body.replace("@", text).replace("; ", ";\n")
    return f'extern "C" __global__ void kernel(int* out) {{\n{body}\n}}'


def findings_of(device, stream, case, text):
    options = ProgramOptions(arch="sm_90", lineinfo=True)
    kernel = Program(source_of(case, text), "c++", options).compile("ptx").get_kernel("kernel")
    emulation.repair()
    with device.allocate(BYTES, stream=stream) as buffer:
        buffer.fill(0, stream=stream)
        launch(stream, LaunchConfig(grid=case.grid, block=case.block), kernel, buffer)
        stream.sync()
        findings = emulation.faults()
    assert all(each.is_finding and not each.is_sticky for each in findings), findings
    return [each.text for each in findings]


def main():
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    findings = {}
    cases = CASES | CORRECT
    for name in sys.argv[1:] or cases:
        case = cases[name]
        texts = {"mistake": case.mistake, "twin": case.twin}
        findings[name] = {
            label: findings_of(device, stream, case, text) for label, text in texts.items()
        }
    json.dump(findings, sys.stdout)


if __name__ == "__main__":
    main()

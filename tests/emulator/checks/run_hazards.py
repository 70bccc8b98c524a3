# SPDX-License-Identifier: Apache-2.0
"""Run the programs of several streams, and print the findings of each as JSON."""

import json
import sys

from cuda.core import Device, ProgramOptions, emulation
from cuda.core import Program as Compilation

from .planted import hazards, programs


def findings_of(device, kernels, case, is_ordered):
    emulation.repair()
    program = hazards.Program(device, kernels)
    case(program, is_ordered)
    program.close()
    findings = emulation.faults()
    assert all(each.is_finding and not each.is_sticky for each in findings), findings
    return [each.text for each in findings]


def main():
    emulation.enable(devices=2)  # reports name lines of this program
    device = Device(0)
    device.set_current()
    code = Compilation(hazards.SOURCE, "c++", ProgramOptions(arch="sm_90")).compile("ptx")
    kernels = hazards.Kernels(*(code.get_kernel(name) for name in hazards.Kernels._fields))
    cases = hazards.CASES | hazards.CORRECT | programs.CASES
    findings = {}
    names = sys.argv[1:] or [*cases]
    cases |= hazards.OTHERS
    for name in names:
        findings[name] = {
            label: findings_of(device, kernels, cases[name], is_ordered)
            for label, is_ordered in (("mistake", False), ("twin", True))
        }
    print(json.dumps(findings))


if __name__ == "__main__":
    main()

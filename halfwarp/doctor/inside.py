# SPDX-License-Identifier: Apache-2.0
"""What runs in the process of a probe."""

import json
import os
from importlib import import_module

from halfwarp.doctor.findings import REINSTALL, Findings


def answer(probe):
    """Write the findings of a probe to stdout, and nothing else."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # what a library prints must not get among them
        json.dump(vars(run(probe)), answers)


def run(probe):
    """The findings of a probe, in this process."""
    name, _, subject = probe.partition(":")
    arguments = [subject] if subject else []
    return guarded(probe, lambda found: load(name).probe(found, *arguments))


def load(name):
    return import_module(f"halfwarp.doctor.probes.{name}")


def guarded(probe, function):
    """The findings that a function fills; its failure is one of them."""
    findings = Findings()
    try:
        function(findings)
    except Exception as error:
        what = f"the examination of {probe!r} failed: {type(error).__name__}: {error}"
        findings.problem(what, f"{REINSTALL}; if that does not help, report this line")
    return findings

# SPDX-License-Identifier: Apache-2.0
"""Functions that run in the process of a probe."""

import json
import os
from importlib import import_module

from halfwarp.doctor.findings import REINSTALL, Findings


def answer(probe):
    """Write the findings of a probe, and nothing else, to stdout."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)  # redirects output of libraries to stderr
        json.dump(vars(run(probe)), answers)


def run(probe):
    """Run a probe in this process and return its findings."""
    name, _, subject = probe.partition(":")
    arguments = [subject] if subject else []
    return guarded(probe, lambda findings: load(name).probe(findings, *arguments))


def load(name):
    return import_module(f"halfwarp.doctor.probes.{name}")


def guarded(probe, function):
    """Return the findings that a function adds; report its failure as a problem."""
    findings = Findings()
    try:
        function(findings)
    except Exception as error:
        text = f"the examination of {probe!r} failed: {type(error).__name__}: {error}"
        findings.problem(text, f"{REINSTALL}; if that does not help, report this line")
    return findings

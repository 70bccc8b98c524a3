# SPDX-License-Identifier: Apache-2.0
"""Runs each probe in its own process, so that a crash or hang is only reported."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from halfwarp.doctor.findings import Findings
from halfwarp.doctor.probes.libraries import present_here

TIME_LIMIT = 60  # seconds; a driver with many devices needs ten to start
START = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from halfwarp.doctor.inside import answer; answer(sys.argv[1])"
)
WITHOUT_OURS = ("python", "packages", "files")  # work even if our files are damaged
WITH_OURS = ("environment", "driver", "backend")
# The probe examines the installed driver, whatever backend is selected.
VARIABLES = {"driver": {"HALFWARP_BACKEND": "driver"}}


def examine_all():
    """Map each probe to its `Findings`; probes of libraries are named like ``libraries:nvrtc``.

    If our files are damaged, probes that import them are skipped: they would only find effects.
    """
    findings = examine_these(WITHOUT_OURS)
    remaining = [*WITH_OURS, *(f"libraries:{name}" for name in present_here())]
    if findings["files"].facts.get("is_damaged"):
        return findings | {probe: Findings() for probe in remaining}
    return findings | examine_these(remaining)


def examine_these(probes):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(probes, pool.map(examine, probes), strict=True))


def examine(probe, time_limit=TIME_LIMIT):
    """Run a probe in a new process and return its `Findings`."""
    command = [sys.executable, "-c", START, probe, *sys.path]
    environment = {**os.environ, **VARIABLES.get(probe, {})}
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=time_limit,
        )
    except subprocess.TimeoutExpired:
        return failed(probe, f"did not answer within {time_limit} s")
    except OSError as error:
        return failed(probe, f"could not be started: {error}")
    try:
        return Findings(**json.loads(done.stdout))
    except (ValueError, TypeError):
        return failed(probe, ending(done))


def ending(done):
    """Describe how a process without a result ended."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    status = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
    return f"ended with {status}" + (f": {lines[-1]}" if lines else "")


def failed(probe, reason):
    """Return the findings of a probe that did not complete."""
    findings = Findings()
    findings.problem(
        f"the examination of {probe!r} {reason}",
        "run `python -X faulthandler -c 'from halfwarp.doctor.inside import answer; "
        f'answer("{probe}")\'` to see where, and report it with the output',
    )
    return findings

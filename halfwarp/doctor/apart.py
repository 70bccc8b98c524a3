# SPDX-License-Identifier: Apache-2.0
"""Runs each probe in a process of its own, so that one which crashes or hangs is only reported."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from halfwarp.doctor.findings import Findings
from halfwarp.doctor.probes.libraries import present_here

TIME_LIMIT = 60  # seconds; a driver that starts many devices takes ten
START = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from halfwarp.doctor.inside import answer; answer(sys.argv[1])"
)
WITHOUT_OURS = ("python", "packages", "files")  # work whatever is wrong with our files
WITH_OURS = ("environment", "driver", "backend")
# What is installed is asked, whatever is chosen.
VARIABLES = {"driver": {"HALFWARP_BACKEND": "driver"}}


def examine_all():
    """Probe -> `Findings`, of all probes; those of libraries are named ``libraries:nvrtc``.

    Where our files are damaged, probes that import them would find nothing but consequences.
    """
    found = examine_these(WITHOUT_OURS)
    others = [*WITH_OURS, *(f"libraries:{name}" for name in present_here())]
    if found["files"].facts.get("is_damaged"):
        return found | {probe: Findings() for probe in others}
    return found | examine_these(others)


def examine_these(probes):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(probes, pool.map(examine, probes), strict=True))


def examine(probe, time_limit=TIME_LIMIT):
    """The `Findings` of one probe, made in a fresh process."""
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
    """How a process ended that gave no answer."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    how = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
    return f"ended with {how}" + (f": {lines[-1]}" if lines else "")


def failed(probe, how):
    """The findings of a probe that found nothing."""
    findings = Findings()
    findings.problem(
        f"the examination of {probe!r} {how}",
        "run `python -X faulthandler -c 'from halfwarp.doctor.inside import answer; "
        f'answer("{probe}")\'` to see where, and report it with the output',
    )
    return findings

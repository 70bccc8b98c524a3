# SPDX-License-Identifier: Apache-2.0
"""Run planted cases in a process with chosen checks."""

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from .cases import FOLDER

ROOT = Path(__file__).parents[3]


shared_folder = functools.cache(tempfile.TemporaryDirectory)  # until this process ends


def run_all(module, *names, runner="cases", **options):
    """Return the findings of a module's cases, by name and by mistake or twin."""
    arguments = [module, *names] if module else names
    settings = {f"HALFWARP_EMULATOR_{name.upper()}": value for name, value in options.items()}
    done = subprocess.run(
        [sys.executable, "-m", f"tests.emulator.checks.{runner}", *arguments],
        env={**os.environ, "HALFWARP_BACKEND": "emulator", FOLDER: shared_folder().name} | settings,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


def twins_with_reports(findings):
    """Return the reports about correct code."""
    return {name: each["twin"] for name, each in findings.items() if each["twin"]}


def without_addresses(findings):
    """Return the text of findings without numbers that depend on the process."""
    return re.sub(r"0x[0-9a-f]+|stream \d+", "#", json.dumps(findings))

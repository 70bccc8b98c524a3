# SPDX-License-Identifier: Apache-2.0
"""Installs a wheel where there is nothing else, and uses it: no compiler, no NumPy, no GPU."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).with_name("bare.py")


def try_out(wheel: Path, python: Path) -> str:
    """One line on what was done; the end of the program when something fails."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", "--without-pip", folder)
        inside = Path(folder, "bin", "python")
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", inside]
        run(*pip, "install", "--quiet", wheel)  # with cuda-pathfinder, and nothing else
        run(*pip, "check")
        run(Path(folder, "bin", "halfwarp"), "--help", bare=True)
        return run(inside, "-I", PROGRAM, bare=True).strip()


def run(*command: object, bare: bool = False) -> str:
    env = {"PATH": "", "HALFWARP_BACKEND": "emulator"} if bare else None
    line = [str(each) for each in command]
    done = subprocess.run(line, cwd="/", env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(" ".join(line) + f"\n{done.stdout}{done.stderr}")
    return done.stdout

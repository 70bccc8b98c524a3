# SPDX-License-Identifier: Apache-2.0
"""Installs a wheel where there is nothing else, and uses it: no compiler, no NumPy, no GPU."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).with_name("bare.py")


def try_out(wheel: Path, python: Path) -> str:
    """One line on what was done; the end of the program when something fails."""
    with tempfile.TemporaryDirectory() as folder:
        inside = empty_environment(python, Path(folder))
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", inside]
        run(*pip, "install", "--quiet", wheel)  # with cuda-pathfinder, and nothing else
        run(*pip, "check")
        run(Path(folder, "bin", "halfwarp"), "--help", bare=True)
        return run(inside, "-I", PROGRAM, bare=True).strip()


def empty_environment(python: Path, folder: Path) -> Path:
    """Its interpreter."""
    run(python, "-m", "venv", "--without-pip", folder)
    inside = folder / "bin" / "python"
    processor = run(python, "-c", "import platform; print(platform.machine())").strip()
    if processor != platform.machine():  # then `python` is a script that emulates it
        inside.unlink()
        shutil.copy(python, inside)
    return inside


def run(*command: object, bare: bool = False) -> str:
    env = {"PATH": "", "HALFWARP_BACKEND": "emulator"} if bare else None
    line = [str(each) for each in command]
    done = subprocess.run(line, cwd="/", env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(" ".join(line) + f"\n{done.stdout}{done.stderr}")
    return done.stdout

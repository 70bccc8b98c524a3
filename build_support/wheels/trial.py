# SPDX-License-Identifier: Apache-2.0
"""Installs a wheel in an empty environment and tests it: no compiler, no NumPy, no GPU."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(__file__).with_name("bare.py")


def try_out(wheel: Path, python: Path) -> str:
    """Return one line on what was tested; exit on failure."""
    with tempfile.TemporaryDirectory() as folder:
        environment_python = empty_environment(python, Path(folder))
        pip = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "--python",
            environment_python,
        ]
        run(*pip, "install", "--quiet", wheel)  # installs cuda-pathfinder too, nothing else
        run(*pip, "check")
        run(Path(folder, "bin", "halfwarp"), "--help", bare=True)
        return run(environment_python, "-I", PROGRAM, bare=True).strip()


def empty_environment(python: Path, folder: Path) -> Path:
    """Create an environment and return its interpreter."""
    run(python, "-m", "venv", "--without-pip", folder)
    environment_python = folder / "bin" / "python"
    processor = run(python, "-c", "import platform; print(platform.machine())").strip()
    if processor != platform.machine():  # `python` is a script that runs an emulated processor
        environment_python.unlink()
        shutil.copy(python, environment_python)
    return environment_python


def run(*command: object, bare: bool = False) -> str:
    env = {"PATH": "", "HALFWARP_BACKEND": "emulator"} if bare else None
    line = [str(each) for each in command]
    done = subprocess.run(line, cwd="/", env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(" ".join(line) + f"\n{done.stdout}{done.stderr}")
    return done.stdout

# SPDX-License-Identifier: Apache-2.0
"""Programs that are compiled here and run by `emulate exec`."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cuda.core.emulation import library

HERE = Path(__file__).parent
NOTICE = "halfwarp: CUDA is emulated"
OWN = ("HALFWARP_", "LD_LIBRARY_PATH", "LD_PRELOAD", "CUDA_MODULE_LOADING")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Compile a file of this folder against the emulated runtime; skip without a compiler."""
    command = shlex.split(os.environ.get("CXX", "g++"))
    if not shutil.which(command[-1]):
        pytest.skip("there is no C++ compiler")
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name, *options):
        binary = folder / f"{Path(name).stem}-{len(options)}"
        if not binary.exists():
            inputs = [HERE / name, *options, library.runtime_path()]
            command_line = [*command, "-std=c++17", *inputs, "-pthread", "-o", binary]
            subprocess.run([str(part) for part in command_line], check=True)
        return binary

    return compiled


@pytest.fixture
def run(tmp_path):
    """Run a program by `exec`; return its output and the lines on stderr but the notice."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}

    def run(*program, status=0, **variables):
        done = subprocess.run(
            [sys.executable, "-m", "cuda.core.emulation", "exec", *map(str, program)],
            env=clean | {"XDG_CACHE_HOME": str(tmp_path / "cache")} | variables,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == status, done.stdout + done.stderr
        lines = done.stderr.splitlines()
        return done.stdout.strip(), [line for line in lines if not line.startswith(NOTICE)]

    return run


@pytest.fixture(scope="module")
def nvcc_command():
    """Return the path of nvcc; skip without it."""
    command = os.environ.get("HALFWARP_NVCC") or shutil.which("nvcc")
    if not command:
        pytest.skip("there is no nvcc; HALFWARP_NVCC may name one")
    return command


@pytest.fixture(scope="module")
def nvcc(tmp_path_factory, nvcc_command):
    """Build a program with nvcc against the emulated libraries."""
    folder = tmp_path_factory.mktemp("nvcc")
    environment = dict(os.environ, XDG_CACHE_HOME=str(folder))
    path = [sys.executable, "-m", "cuda.core.emulation", "path"]
    libraries = subprocess.check_output(path, env=environment, text=True).strip()

    def nvcc(*inputs):
        binary = folder / "-".join(inputs).replace("/", "_").replace("=", "_")
        if not binary.exists():
            sources = [str(HERE / name) if name.endswith(".cu") else name for name in inputs]
            line = [nvcc_command, "-std=c++17", "-Wno-deprecated-gpu-targets", *sources]
            subprocess.run([*line, f"-L{libraries}", "-o", str(binary)], check=True)
        return binary

    return nvcc

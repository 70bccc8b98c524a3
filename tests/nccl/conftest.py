# SPDX-License-Identifier: Apache-2.0
"""Runs programs with the emulated NCCL, alone and as several processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from cuda.core.emulation import library

PROGRAMS = Path(__file__).with_name("programs")
TIME_LIMIT = 300


@pytest.fixture(autouse=True, scope="session")
def _needs_the_library():
    if not library.communication_path().exists():
        pytest.skip("the emulated NCCL is not built")


@pytest.fixture
def start():
    """Return a function that starts a program with eight devices; it is terminated at the end."""
    processes = []

    def start_program(name, *arguments, variables=None, devices=8, **options):
        chosen = [f"--{key}={value}" for key, value in {"devices": devices, **options}.items()]
        command = [sys.executable, "-m", "cuda.core.emulation", "exec", *chosen]
        program = name if name.startswith("-") else str(PROGRAMS / name)
        command += [sys.executable, program, *map(str, arguments)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command, env=environment | (variables or {}), stdout=pipe, stderr=pipe, text=True
        )
        processes.append(process)
        return process

    yield start_program
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.fixture
def run(start):
    """Return a function that runs a program and returns its output."""

    def run_program(*arguments, **options):
        process = start(*arguments, **options)
        output, errors = process.communicate(timeout=TIME_LIMIT)
        assert process.returncode == 0, errors[-4000:]
        return output

    return run_program


@pytest.fixture
def launch(start, tmp_path):
    """Return a function that starts processes as torchrun does, and returns their outputs."""

    def launch_processes(count, *arguments, **options):
        identity = str(tmp_path / "id")
        processes = [
            start(
                *arguments,
                variables={"RANK": str(i), "WORLD_SIZE": str(count), "NCCL_ID": identity},
                **options,
            )
            for i in range(count)
        ]
        done = [process.communicate(timeout=TIME_LIMIT) for process in processes]
        return [(p.returncode, *texts) for p, texts in zip(processes, done, strict=True)]

    return launch_processes

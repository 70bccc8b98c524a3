# SPDX-License-Identifier: Apache-2.0
"""Random arguments for every function: no crash, no leak, no exception that no user should see."""

import json
import os
import shlex
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
WORKER = HERE / "worker.py"
CALLS = 250  # of one batch
MODES = {"emulator": {}, "null": {"HALFWARP_EMULATOR_MODE": "null"}}
SANITIZED = ROOT / "build" / "sanitized"
EXTENSIONS = "cuda.bindings._loader,cuda.bindings._low,cuda.bindings.libcuda_emulated"

# What is called, and how many functions at least.
TARGETS = [("driver", "emulator", 500), ("driver", "null", 500), ("nvrtc", "null", 26)]
each_target = pytest.mark.parametrize(
    ("library", "mode", "functions"), TARGETS, ids=[f"{t[0]}-{t[1]}" for t in TARGETS]
)


@pytest.fixture
def fuzz(tmp_path):
    """``fuzz(library, mode, first, end)``: the report of those batches, which all ended well."""

    def run(library, mode, first, end, *options, environment=None, timeout=600):
        progress = tmp_path / "progress"
        environment = {**settings(mode), **(environment or {})}
        command = [sys.executable, "-W", "ignore", WORKER, "--library", library]
        batches = "--progress", progress, "--batches", f"{first}:{end}"
        done = worker(tmp_path, environment, *command, *batches, *options, timeout=timeout)
        if done.returncode:
            batch, call = struct.unpack_from("qq", progress.read_bytes())
            once_more = "--trace", "--batches", f"{batch}:{batch + 1}"
            trace = worker(tmp_path, environment, *command, *once_more, *options, timeout=timeout)
            pytest.fail(
                f"batch {batch}, call {call} ended with {done.returncode}\n{done.stderr[-6000:]}\n"
                f"alone, it ends with {trace.returncode} after {trace.stdout.splitlines()[-1:]}"
            )
        return json.loads(done.stdout.splitlines()[-1])

    return run


def settings(mode):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    return {**kept, "HALFWARP_BACKEND": "emulator", **MODES[mode], "PYTHONPATH": str(ROOT)}


def worker(folder, environment, *command, timeout):
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,  # where files go that a call asks for
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
    )


@each_target
def test_random_arguments_end_in_results_or_errors(fuzz, library, mode, functions):
    report = fuzz(library, mode, 0, 12)
    assert report["problems"] == {}
    assert report["functions"] >= functions
    assert sum(report["outcomes"].values()) > 10 * CALLS
    assert {"success", "code", "TypeError", "OverflowError"} <= report["outcomes"].keys()


@pytest.mark.parametrize("library", ["driver", "nvrtc"])
def test_random_arguments_leave_nothing_behind(fuzz, library):
    assert fuzz(library, "null", 0, 3, "--leaks")["problems"] == {}


def test_a_batch_is_the_same_each_time(fuzz):
    assert fuzz("nvrtc", "null", 5, 7) == fuzz("nvrtc", "null", 5, 7)


@pytest.mark.slow
@each_target
def test_a_million_calls_end_in_results_or_errors(fuzz, library, mode, functions):
    step, end = 100, 2000 if library == "driver" else 200
    for first in range(0, end, step):
        assert fuzz(library, mode, first, first + step)["problems"] == {}


@pytest.fixture(scope="session")
def sanitizers():
    """What a process needs to load extensions that were built with sanitizers."""
    if not shutil.which("g++"):
        pytest.skip("no compiler with sanitizers")
    build = {"HALFWARP_SANITIZE": "address,undefined", "HALFWARP_EXTENSIONS": EXTENSIONS}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", str(SANITIZED)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, **build}, check=True)
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    libraries = [
        subprocess.run(
            [*compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan.so", "libubsan.so", "libstdc++.so.6")
    ]
    memory = "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=256"
    return {
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": memory,
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


@pytest.mark.slow
@each_target
def test_sanitizers_find_nothing(fuzz, sanitizers, library, mode, functions):
    extensions = "--extensions", SANITIZED / "cuda" / "bindings"
    step, end = 100, 2000 if library == "driver" else 200
    for first in range(0, end, step):
        report = fuzz(library, mode, first, first + step, *extensions, environment=sanitizers)
        assert report["problems"] == {}

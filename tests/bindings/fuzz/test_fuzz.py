# SPDX-License-Identifier: Apache-2.0
"""Random arguments for every function: no crash, no leak, no exception that users should not
see."""

import importlib.util
import json
import os
import shlex
import shutil
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from ...libraries import open_or_skip
from ...threads import keeps_classes

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
WORKER = HERE / "worker.py"
CALLS = 250  # of one batch
SANITIZED = ROOT / "build" / "sanitized"
EXTENSIONS = "_low", "_runtime", "libcuda_emulated", "libcudart_emulated"

# Module, mode of the C library, minimal number of functions, and batches for a million calls in
# all. "answers": a library of `answering.py`; "found": the installed library; "recorded": a replay
# of NVML.
TARGETS = [
    ("driver", "emulator", 500, 1200),
    ("driver", "null", 500, 1000),
    ("runtime", "emulator", 330, 1200),
    ("nvrtc", "null", 26, 200),
    ("nvjitlink", "answers", 16, 200),
    ("nvjitlink", "found", 16, 100),
    ("nvvm", "answers", 14, 200),
    ("nvvm", "found", 14, 100),
    ("nvfatbin", "answers", 12, 200),
    ("nvfatbin", "found", 12, 100),
    ("nvml", "answers", 370, 1000),
    ("nvml", "recorded", 370, 200),
    ("cufile", "answers", 44, 400),
    ("cudla", "answers", 13, 200),
    ("v2_driver", "null", 480, 1000),
    ("v2_nvrtc", "null", 20, 200),
]
each_target = pytest.mark.parametrize(
    ("library", "mode", "functions", "batches"), TARGETS, ids=[f"{t[0]}-{t[1]}" for t in TARGETS]
)


@pytest.fixture(scope="session")
def answering_library(tmp_path_factory):
    """``answering_library(name)``: the path of a library with random results."""
    if not shutil.which("g++") or not (ROOT / "build" / "generated").exists():
        pytest.skip("a compiler and a build make the library that answers")
    from generator import libraries

    folder = tmp_path_factory.mktemp("answers")
    return cache(lambda name: tool("fuzz", "answering").build(libraries.load(name), ROOT, folder))


@pytest.fixture(scope="session")
def library_environment(tmp_path_factory):
    """``library_environment(name, mode)``: variables with which the loader finds a library of
    that mode."""

    @cache
    def recorded():
        if not shutil.which("gcc"):
            pytest.skip("a compiler makes the library that answers")
        folder = tmp_path_factory.mktemp("recorded")
        recording = json.loads((ROOT / "tests" / "data" / "nvml_recorded.json").read_text())
        tool("exceptions", "replay_nvml").build(recording, folder)
        return {"LD_LIBRARY_PATH": str(folder)}

    def variables(name, mode):
        if mode == "found":
            open_or_skip(name)
        return recorded() if mode == "recorded" else {}

    return variables


def tool(folder, name):
    path = HERE.parent / folder / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def fuzz(tmp_path, request, library_environment):
    """``fuzz(library, mode, first, end)``: the report of those batches, which all succeeded."""

    def answering_library(name):
        return request.getfixturevalue("answering_library")(name)

    def run(library, mode, first, end, *options, environment=None, timeout=600):
        progress = tmp_path / "progress"
        environment = {
            **settings(mode),
            **library_environment(library, mode),
            **(environment or {}),
        }
        command = [sys.executable, "-W", "ignore", WORKER, "--library", library]
        if mode == "answers":
            command += ["--answers", answering_library(library)]
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
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    null = {"HALFWARP_EMULATOR_MODE": "null"} if mode == "null" else {}
    return {**environment, "HALFWARP_BACKEND": "emulator", **null, "PYTHONPATH": str(ROOT)}


def worker(folder, environment, *command, timeout):
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,  # folder for files that calls create
        env=environment,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
    )


@each_target
def test_random_arguments_end_in_results_or_errors(fuzz, library, mode, functions, batches):
    report = fuzz(library, mode, 0, 12)
    assert report["problems"] == {}
    assert report["functions"] >= functions
    assert sum(report["outcomes"].values()) > 10 * CALLS
    assert {"success", "code", "TypeError", "OverflowError"} <= report["outcomes"].keys()


@pytest.mark.skipif(keeps_classes, reason="this Python never frees a class, and batches make some")
@each_target
def test_random_arguments_leak_nothing(fuzz, library, mode, functions, batches):
    assert fuzz(library, mode, 0, 4, "--leaks")["problems"] == {}


def test_a_batch_is_deterministic(fuzz):
    assert fuzz("nvrtc", "null", 5, 7) == fuzz("nvrtc", "null", 5, 7)


@pytest.mark.slow
@each_target
def test_a_million_calls_end_in_results_or_errors(fuzz, library, mode, functions, batches):
    step = 100
    for first in range(0, batches, step):
        assert fuzz(library, mode, first, first + step)["problems"] == {}


@pytest.fixture(scope="session")
def sanitizers():
    """Return the environment for a process that loads extensions built with sanitizers."""
    if not shutil.which("g++"):
        pytest.skip("no compiler with sanitizers")
    names = ",".join(f"cuda.bindings.{name}" for name in EXTENSIONS)
    build = {"HALFWARP_SANITIZE": "address,undefined", "HALFWARP_EXTENSIONS": names}
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
def test_sanitizers_find_nothing(fuzz, sanitizers, library, mode, functions, batches):
    extensions = "--extensions", SANITIZED / "cuda" / "bindings"
    step = 100
    for first in range(0, batches // 4, step):
        report = fuzz(library, mode, first, first + step, *extensions, environment=sanitizers)
        assert report["problems"] == {}

# SPDX-License-Identifier: Apache-2.0
"""Import time above a bare interpreter, installed size, time of a clean build."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
MODULES = {  # targets in ms
    "cuda.bindings.driver": 1.0,
    "cuda.bindings.runtime": 6.0,
    "cuda.bindings.nvrtc": 1.0,
    "cuda.bindings.nvjitlink": 1.0,
    "cuda.bindings.nvvm": 1.0,
    "cuda.bindings.nvfatbin": 1.0,
    "cuda.bindings.nvml": 5.0,
    "cuda.bindings.cufile": 5.0,
    "cuda.bindings.cydriver": 1.0,
    "cuda.bindings.cyruntime": 6.0,
    "cuda.bindings.cynvrtc": 1.0,
    "cuda.bindings.cynvjitlink": 1.0,
    "cuda.bindings.cynvml": 5.0,
    "cuda.core": 20.0,
}
REPEATS = 15

SIZES = """
import importlib.util, json, pathlib
total = 0
for name in ("cuda.bindings", "cuda.core"):
    for place in importlib.util.find_spec(name).submodule_search_locations:
        for path in pathlib.Path(place).rglob("*"):
            built = path.suffix in {".so", ".py", ".pxd", ".pyi"} or path.name == "py.typed"
            if path.is_file() and built and "__pycache__" not in path.parts:
                total += path.stat().st_size
print(json.dumps(total))
"""


def seconds(python, code, env):
    start = perf_counter()
    subprocess.run([python, "-c", code], env=env, check=True, cwd="/")
    return perf_counter() - start


def import_times(python, env):
    """Milliseconds of importing each module, above an interpreter that imports nothing."""
    codes = {"": "pass"} | {m: f"import {m}" for m in MODULES}
    best = {m: min(seconds(python, code, env) for _ in range(REPEATS)) for m, code in codes.items()}
    return {m: round((best[m] - best[""]) * 1e3, 2) for m in MODULES}


def installed_bytes(python, env):
    """Bytes of extensions, modules, declarations and stubs of both packages."""
    done = subprocess.run([python, "-c", SIZES], env=env, check=True, capture_output=True, cwd="/")
    return json.loads(done.stdout)


def clean_build_seconds():
    """Wall seconds of building every extension from what git has, without a compiler cache."""
    env = {k: v for k, v in os.environ.items() if k not in ("CC", "CXX")}
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
        )
        subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
        start = perf_counter()
        build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(build, cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
        return perf_counter() - start

# SPDX-License-Identifier: Apache-2.0
"""Import time above a bare interpreter, installed size, and time of a clean build."""

import json
import os
import statistics
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
    "cuda.bindings._v2.driver": 1.0,
    "cuda.bindings.cydriver": 1.0,
    "cuda.bindings.cyruntime": 6.0,
    "cuda.bindings.cynvrtc": 1.0,
    "cuda.bindings.cynvjitlink": 1.0,
    "cuda.bindings.cynvml": 5.0,
    "cuda.core": 20.0,
    "cuda.core.system": 8.0,
}
# The second target includes the creation of all classes of the module.
CLASSES = {
    "cuda.bindings.driver": ("CUdevice", 5.0),
    "cuda.bindings.runtime": ("cudaError_t", 6.0),
}
# The start of a program whose kernel is in a cache, without the driver's own start.
COLD = """
import sys
from time import process_time as now
start = now()
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import FileStreamProgramCache
opened = now()
driver.cuInit(0)
driver.cuDevicePrimaryCtxRetain(0)
driver_time = now() - opened
device = Device()
device.set_current()
stream = device.create_stream()
source = 'extern "C" __global__ void k() {}'
program = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
code = program.compile("cubin", cache=FileStreamProgramCache(sys.argv[1]))
launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("k"))
stream.sync()
print((now() - start - driver_time) * 1e3)
"""
COLD_ROW = "cold start to a cached launch"
COLD_TARGET = 25.0
ROUNDS = 32
EMPTY = "an empty module"

SIZES = """
import importlib.util, json, pathlib, sysconfig
abi = sysconfig.get_config_var("SOABI")
total = 0
for name in ("cuda.bindings", "cuda.core"):
    for place in importlib.util.find_spec(name).submodule_search_locations:
        for path in pathlib.Path(place).rglob("*"):
            built = path.suffix in {".so", ".py", ".pxd", ".pyi"} or path.name == "py.typed"
            other = ".cpython-" in path.name and abi not in path.name  # of another interpreter
            if path.is_file() and built and not other and "__pycache__" not in path.parts:
                total += path.stat().st_size
print(json.dumps(total))
"""


def import_rows():
    """Map each import row to (code, target in ms)."""
    rows = {f"import {m}": (f"import {m}", target) for m, target in MODULES.items()}
    for module, (name, target) in CLASSES.items():
        rows[f"import {module}, a class"] = (f"from {module} import {name}", target)
    return rows


def milliseconds(python, code, env):
    """Return the processor time of a process, which excludes other load of the machine."""
    process = os.posix_spawn(python, [python, "-P", "-c", code], env)
    _, status, used = os.wait4(process, 0)
    if status:
        raise RuntimeError(f"{python} -c {code!r} ended with status {status}")
    return (used.ru_utime + used.ru_stime) * 1e3


def import_times(python, env):
    """Return the milliseconds of each import above an interpreter without imports.

    Each round runs every import once, because the speed of a shared machine varies by the second.
    EMPTY is the floor.
    """
    with tempfile.TemporaryDirectory() as folder:
        codes = {"": "pass", EMPTY: import_of_nothing(folder)}
        codes |= {row: code for row, (code, _) in import_rows().items()}
        rounds = [
            {row: milliseconds(python, code, env) for row, code in codes.items()}
            for _ in range(ROUNDS)
        ]
    usual = {r: statistics.quantiles([t[r] for t in rounds[1:]], n=4)[0] for r in codes}
    return {row: round(usual[row] - usual[""], 2) for row in codes if row}


def cold_start(python, env, count=ROUNDS // 4):
    """Return the milliseconds of processor time from the imports to the first launch."""
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-P", "-c", COLD, folder]
        runs = [
            float(subprocess.run(command, env=env, check=True, capture_output=True).stdout)
            for _ in range(count + 1)
        ]
    return round(min(runs[1:]), 1)  # the first run compiles


def import_of_nothing(folder):
    """Return code that imports an empty module as deep as ours, found last on the path."""
    package = Path(folder, "halfwarp_empty", "bindings")
    package.mkdir(parents=True)
    for name in ("__init__", "driver"):
        (package / f"{name}.py").touch()
    return f"import sys; sys.path.append({folder!r}); import halfwarp_empty.bindings.driver"


def installed_bytes(python, env):
    """Return the bytes of extensions, modules, declarations and stubs of both packages."""
    done = subprocess.run([python, "-c", SIZES], env=env, check=True, capture_output=True, cwd="/")
    return json.loads(done.stdout)


def clean_build_seconds():
    """Return the wall time of building all tracked extensions without a compiler cache."""
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

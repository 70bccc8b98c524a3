# SPDX-License-Identifier: Apache-2.0
"""Side effects of importing a module of the low layer: itself and its dependencies, nothing
else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import cuda.bindings
import pytest

FOLDER = Path(cuda.bindings.__path__[0])
SOURCES = [*FOLDER.glob("[!_]*.py"), *FOLDER.glob("cy*.so")]
MODULES = sorted({path.name.partition(".")[0] for path in SOURCES})
HEAVY = {"numpy", "ctypes", "typing", "enum", "re", "inspect", "dataclasses", "cuda.pathfinder"}
# Runs an interpreter with the imports of `site`, but no .pth file, and lists the modules that the
# import and its use add.
PROGRAM = """
import json, site, sys
before = set(sys.modules)
import cuda.bindings.{name} as module
imported = set(sys.modules) - before
{use}
used = set(sys.modules) - before - imported
print(json.dumps([sorted(imported), sorted(used)]))
"""
STANDS_ON = {
    "utils": set(),
}


def imported_by(name, use="pass"):
    """Return the modules that an import adds, and those that its use adds; without site's own
    imports."""
    program = PROGRAM.format(name=name, use=use)
    variables = os.environ | {"PYTHONPATH": str(FOLDER.parents[1]), "HALFWARP_BACKEND": "emulator"}
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", MODULES)
def test_importing_a_module_imports_its_extensions_only(name):
    imported, _ = imported_by(name)
    known = STANDS_ON.get(name, {"_low"})
    expected = {"cuda", "cuda.bindings", "cuda.bindings._version"}
    expected |= {"cython_runtime"}  # created by Cython, like the modules of its shared types
    expected |= {"atexit"}  # built in: callbacks end with the interpreter
    expected |= {each for each in imported if "_cython_" in each}
    expected |= {f"cuda.bindings.{each}" for each in known | {name}}
    assert set(imported) <= expected


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("driver", "module.cuInit(0); module.CUresult(0); module.CUlaunchConfig(gridDimX=1)"),
        ("driver", "module.cuStreamCreate('x') if 0 else repr(module.CUstream(5))"),
        ("runtime", "module.cudaError_t(0); module.dim3(); module.cudaGetDeviceCount()"),
        ("nvrtc", "module.nvrtcResult(0); module.nvrtcProgram(0)"),
        ("nvjitlink", "module.Result(0); module.nvJitLinkError(1)"),
    ],
)
def test_using_classes_and_calls_imports_nothing_heavy(name, use):
    _, used = imported_by(name, use)
    assert HEAVY & set(used) == set()


def test_every_module_is_covered():
    assert {"driver", "runtime", "nvrtc", "nvjitlink", "cydriver", "cyruntime"} <= set(MODULES)

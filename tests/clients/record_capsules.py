# SPDX-License-Identifier: Apache-2.0
"""Find out which C functions of `cuda.bindings` the compiled modules of foreign packages look up.

    python tests/clients/record_capsules.py SITE > tests/data/client_capsules.json

SITE is what install.py made; the interpreter has NVIDIA's cuda-bindings, whose functions the
packages were compiled against, and a NumPy that all of them can be imported with. A compiled module
looks a function up in the dictionary `__pyx_capi__` of the module that provides it; the keys put
there notice being compared. What cannot be imported is named on standard error.
"""

import contextlib
import ctypes
import importlib
import io
import json
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

RAISING = ["nvjitlink", "nvvm", "nvfatbin", "cufile", "nvml", "cudla"]
LIBRARIES = ["driver", "runtime", "nvrtc", *RAISING]
PACKAGES = {
    "cuda-core": "cuda.core",
    "cuda-cccl": "cuda.compute",
    "numba-cuda": "numba.cuda",
    "nvmath-python": "nvmath",
    "rmm-cu13": "rmm",
}
BESIDE = ["cuda-core", "librmm-cu13", "rapids-logger", "numba", "llvmlite"]

capsule_name = ctypes.pythonapi.PyCapsule_GetName
capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]


class Key(str):
    """A dictionary key that records comparisons."""

    __slots__ = ("is_compared",)
    __hash__ = str.__hash__

    def __eq__(self, other):
        self.is_compared = True
        return str.__eq__(self, other)


def watch(library):
    """Replace the keys of the provider's functions by recording keys."""
    module = importlib.import_module(f"cuda.bindings.cy{library}")
    module.__pyx_capi__ = {Key(name): capsule for name, capsule in module.__pyx_capi__.items()}
    return module.__pyx_capi__


def signatures(functions):
    """Map each looked-up name to its signature."""
    compared = [
        (str(key), each) for key, each in functions.items() if getattr(key, "is_compared", False)
    ]
    return {name: capsule_name(capsule).decode() for name, capsule in sorted(compared)}


def import_all(package):
    """Import every submodule that can be imported here; print the failures to stderr."""
    root = importlib.import_module(package)
    for module_info in pkgutil.walk_packages(
        root.__path__, f"{package}.", onerror=lambda name: None
    ):
        if {"cu12", "tests", "__main__"} & set(module_info.name.split(".")):
            continue
        try:
            importlib.import_module(module_info.name)
        except Exception as error:
            print(f"{module_info.name}: {error!r:.200}", file=sys.stderr)


def record(package):
    for library in LIBRARIES:  # clients of the same functions, as cuda-core is for the others
        importlib.import_module(f"cuda.bindings.{library}")
    if package != "cuda.core":
        importlib.import_module("cuda.core")
    functions = {library: watch(library) for library in LIBRARIES}
    with contextlib.redirect_stdout(io.StringIO()):
        import_all(package)
    providers = {f"cy{library}": signatures(each) for library, each in functions.items()}
    print(json.dumps({provider: names for provider, names in providers.items() if names}))


def record_in_a_process(site, name):
    folders = [site / name, *(site / other for other in BESIDE if other != name)]
    path = os.pathsep.join([*map(str, folders), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, __file__, "--package", PACKAGES[name], *map(str, folders)]
    environment = os.environ | {"PYTHONPATH": path}
    done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def version_of(site, name):
    (info,) = (site / name).glob(f"{name.replace('-', '_')}-*.dist-info")
    return info.name.removesuffix(".dist-info").rpartition("-")[2]


def main(site):
    recorded = {
        f"{n} {version_of(site, n)}": record_in_a_process(site, n) for n in sorted(PACKAGES)
    }
    print(json.dumps(recorded, indent=1))


if __name__ == "__main__":
    if sys.argv[1] == "--package":
        import site as site_packages

        for folder in sys.argv[3:]:
            site_packages.addsitedir(folder)
        record(sys.argv[2])
    else:
        main(Path(sys.argv[1]).resolve())

# SPDX-License-Identifier: Apache-2.0
"""Run a script as if the folders on PYTHONPATH were site-packages, on our bindings alone.

`run_script.py SCRIPT` runs it; `--import MODULE,...` instead of a script imports them;
`--missing MODULE,... LIBRARY,...` prints which of them cannot be found.
"""

import os
import runpy
import site
import sys
from importlib import import_module
from importlib.machinery import PathFinder


def add_folders():
    """Read their .pth files too: numba-cuda replaces numba.cuda by one."""
    for folder in os.environ["PYTHONPATH"].split(os.pathsep):
        site.addsitedir(folder)


def is_there(module):
    """Return whether the module's file exists; without an import, so that a failing package
    counts."""
    path, parts = None, module.split(".")
    for depth in range(len(parts)):
        spec = PathFinder.find_spec(".".join(parts[: depth + 1]), path)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    return True


def can_be_loaded(library):
    from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

    try:
        return bool(load_nvidia_dynamic_lib(library))
    except DynamicLibNotFoundError:
        return False


def print_missing(modules, libraries):
    absent = [name for name in modules.split(",") if not is_there(name)]
    absent += [name for name in libraries.split(",") if name and not can_be_loaded(name)]
    print(", ".join(absent))


def foreign_modules(*packages):
    """Return modules below `packages` that are located elsewhere than our loader."""
    from cuda.bindings import _low

    ours = os.path.dirname(os.path.dirname(_low.__file__)) + os.sep
    files = {
        name: getattr(module, "__file__", None)
        for name, module in list(sys.modules.items())
        if name.startswith(tuple(f"{package}." for package in packages))
    }
    return [f"{name} ({file})" for name, file in files.items() if file and ours not in file]


def main(script, *args):
    add_folders()
    if script == "--missing":
        return print_missing(*args)
    if script == "--import":
        print(*(import_module(name).__name__ for name in args[0].split(",")))
    else:
        sys.argv[:] = [script, *args]
        sys.path[:1] = [os.path.dirname(script), os.path.join(os.path.dirname(__file__), "shared")]
        runpy.run_path(script, run_name="__main__")
    core = os.environ.get("HALFWARP_CLIENT_CORE") == "ours"
    if strangers := foreign_modules("cuda.bindings", *["cuda.core"] * core):
        sys.exit(f"not ours: {', '.join(strangers)}")


if __name__ == "__main__":
    main(*sys.argv[1:])

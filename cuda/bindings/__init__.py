# SPDX-License-Identifier: Apache-2.0
"""Bindings of the CUDA driver API and related libraries, one module per library.

``__version__`` is the version of the provided API.
"""

import sys as _sys
from os.path import exists as _exists

__version__ = "13.5.0"


def __getattr__(name):
    if name == "utils":
        import importlib

        return importlib.import_module("cuda.bindings.utils")
    raise AttributeError(f"module 'cuda.bindings' has no attribute {name!r}")


if "coverage" in _sys.modules:
    from halfwarp import coverage as _coverage

    _coverage.start_in_program()

# Folders that exist only in NVIDIA's wheels.
for _path in (f"{__path__[0]}/_lib", f"{__path__[0]}/../core/cu13"):
    if _exists(_path):
        from cuda.bindings._internal import _mixed_installation

        _mixed_installation.warn(_path)

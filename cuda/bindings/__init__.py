# SPDX-License-Identifier: Apache-2.0
"""Bindings of the CUDA driver API and the libraries around it, one module per library.

``__version__`` states the level of the API provided.
"""

from os.path import exists as _exists

__version__ = "13.5.0"


def __getattr__(name):
    if name == "utils":
        import importlib

        return importlib.import_module("cuda.bindings.utils")
    raise AttributeError(f"module 'cuda.bindings' has no attribute {name!r}")


# Folders that only NVIDIA's wheels have.
for _path in (f"{__path__[0]}/_lib", f"{__path__[0]}/../core/cu13"):
    if _exists(_path):
        from cuda.bindings._internal import _mixed_installation

        _mixed_installation.warn(_path)

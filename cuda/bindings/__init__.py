# SPDX-License-Identifier: Apache-2.0
"""Bindings of the CUDA driver API and the libraries around it, one module per library.

``__version__`` states the level of the API provided.
"""

__version__ = "13.5.0"


def __getattr__(name):
    if name == "utils":
        import importlib

        return importlib.import_module("cuda.bindings.utils")
    raise AttributeError(f"module 'cuda.bindings' has no attribute {name!r}")

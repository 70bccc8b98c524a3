# SPDX-License-Identifier: Apache-2.0
"""The exceptions of NVML, one for each status; `cuda.bindings.nvml` defines them."""

from importlib import import_module

from cuda.core.system import _HOMES

__all__ = sorted(_HOMES["exceptions"].split())


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module("cuda.bindings.nvml"), name)
    globals()[name] = value
    return value


def __dir__():
    return sorted({*globals(), *__all__})

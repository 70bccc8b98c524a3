# SPDX-License-Identifier: Apache-2.0
"""Private helpers under the paths from which existing code imports them."""

from importlib import import_module

_SUBMODULES = ("cuda_utils", "fork_warning", "transaction", "version")


def __getattr__(name):
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    return getattr(import_module("cuda.core._utils.cuda_utils"), name)

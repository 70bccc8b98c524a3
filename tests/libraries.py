# SPDX-License-Identifier: Apache-2.0
"""The CUDA libraries that this machine has, opened by the loader."""

from importlib import import_module

import pytest


def is_installed(name):
    """Whether the library is there; if so, its function table is filled."""
    from cuda.bindings import _low
    from cuda.pathfinder import DynamicLibNotFoundError

    try:
        _low.load(name)
    except DynamicLibNotFoundError:
        return False
    return True


def open_or_skip(name):
    """The module of a library; the test is skipped where the library is missing."""
    if not is_installed(name):
        pytest.skip(f"{name} is not installed")
    return import_module(f"cuda.bindings.{name}")

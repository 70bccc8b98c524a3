# SPDX-License-Identifier: Apache-2.0
"""CUDA libraries of this machine, opened by the loader."""

from importlib import import_module

import pytest


def is_installed(name):
    """Return whether the library is installed; if so, fill its function table."""
    from cuda.bindings import _low
    from cuda.pathfinder import DynamicLibNotFoundError

    try:
        _low.load(name)
    except DynamicLibNotFoundError:
        return False
    return True


def open_or_skip(name):
    """Return the module of a library, or skip the test where the library is missing."""
    if not is_installed(name):
        pytest.skip(f"{name} is not installed")
    return import_module(f"cuda.bindings.{name}")


def header_options():
    """Return the options with which NVRTC 13.3 and later find the headers of CUDA and CCCL.

    Skip the test where neither the compiler nor the machine has the headers.
    """
    from cuda.bindings import nvrtc
    from cuda.pathfinder import find_nvidia_header_directory

    if nvrtc.nvrtcVersion()[1:] >= (13, 3):
        return {"use_bundled_headers": True}
    folders = [find_nvidia_header_directory(name) for name in ("cudart", "cccl")]
    if None in folders:
        pytest.skip("no headers of CUDA and CCCL: NVRTC has them from 13.3 on")
    return {"include_path": folders}

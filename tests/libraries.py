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


def header_options():
    """Program options by which NVRTC finds the headers of CUDA and CCCL, which it has from 13.3 on.

    The test is skipped where neither the compiler nor the machine has them.
    """
    from cuda.bindings import nvrtc
    from cuda.pathfinder import find_nvidia_header_directory

    if nvrtc.nvrtcVersion()[1:] >= (13, 3):
        return {"use_bundled_headers": True}
    folders = [find_nvidia_header_directory(name) for name in ("cudart", "cccl")]
    if None in folders:
        pytest.skip("no headers of CUDA and CCCL: NVRTC has them from 13.3 on")
    return {"include_path": folders}

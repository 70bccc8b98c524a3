# SPDX-License-Identifier: Apache-2.0
"""Versions as tuples of three numbers."""

import functools
from importlib import import_module

__all__ = ["binding_version", "driver_version", "follows_release"]


@functools.cache
def binding_version():
    """Return the API level of `cuda.bindings` as (major, minor, patch). Host only."""
    version = import_module("cuda.bindings").__version__
    major, minor, patch = [*version.split("."), "0", "0"][:3]
    return int(major), int(minor), int(patch)


@functools.cache
def driver_version():
    """Return the CUDA version of the driver in use as (major, minor, patch). Host only.

    Raises
    ------
    RuntimeError
        If no driver exists.
    """
    version = import_module("cuda.core._core").cuda_driver_version()
    return version // 1000, version % 1000 // 10, version % 10


def follows_release(major, minor):
    """Return whether `cuda.core.__version__` is at least a release of NVIDIA's. Host only.

    Behavior that contradicts an earlier release waits for the version with this function.
    """
    level = import_module("cuda.core").__version__.split(".")[:2]
    return tuple(map(int, level)) >= (major, minor)

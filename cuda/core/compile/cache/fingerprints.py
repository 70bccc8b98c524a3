# SPDX-License-Identifier: Apache-2.0
"""The versions of the compilers and linkers, which are queried once per process."""

import functools
from importlib import import_module


@functools.cache
def nvrtc_version():
    """Return major and minor version of NVRTC."""
    return import_module("cuda.core._compile").nvrtc_version()


@functools.cache
def nvvm_fingerprint():
    """Return the versions of libNVVM and of its IR as a text."""
    nvvm = import_module("cuda.core._compile")._get_nvvm_module()
    return f"lib={_dotted(nvvm.version())};ir={_dotted(nvvm.ir_version())}"


def driver_version():
    """Return the CUDA version of the driver, for example 13050."""
    major, minor, patch = import_module("cuda.core._utils.version").driver_version()
    return major * 1000 + minor * 10 + patch


def linker_is_driver():
    """Return whether the driver links because nvJitLink is missing."""
    return import_module("cuda.core._linker")._decide_nvjitlink_or_driver()


@functools.cache
def nvjitlink_version():
    """Return the version of nvJitLink as a text."""
    return _dotted(import_module("cuda.bindings.nvjitlink").version())


def _dotted(version):
    return ".".join(map(str, version))

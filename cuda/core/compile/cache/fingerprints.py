# SPDX-License-Identifier: Apache-2.0
"""The compiler and its version, as parts of cache keys."""

from importlib import import_module

_fingerprints = {}  # code type: fingerprint; failures are not cached


def compiler_fingerprint(code_type):
    """Return a text that identifies the compiler and its version.

    The library is queried once per process. If the query fails, the text names the class of the
    error: it is stable and never equals a working library's text.
    """
    if code_type not in _fingerprints:
        try:
            _fingerprints[code_type] = _PROBES[code_type]()
        except Exception as error:  # compilation reports the library's problem
            return f"{code_type} unknown: {type(error).__name__}"
    return _fingerprints[code_type]


def linker_is_driver():
    """Return whether the driver links because nvJitLink is missing."""
    return import_module("cuda.core._compile")._decide_nvjitlink_or_driver()


def _nvrtc():
    return f"NVRTC {_dotted(import_module('cuda.core._compile').nvrtc_version())}"


def _nvvm():
    nvvm = import_module("cuda.core._compile")._get_nvvm_module()
    return f"NVVM {_dotted(nvvm.version())} IR {_dotted(nvvm.ir_version())}"


def _linker():
    if linker_is_driver():
        driver = import_module("cuda.core._utils.version").driver_version()
        return f"driver {_dotted(driver)}"
    nvjitlink = import_module("cuda.bindings.nvjitlink")
    return f"nvJitLink {_dotted(nvjitlink.version())}"


def _dotted(version):
    return ".".join(map(str, version))


_PROBES = {"c++": _nvrtc, "nvvm": _nvvm, "ptx": _linker}

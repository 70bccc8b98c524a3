# SPDX-License-Identifier: Apache-2.0
"""By which compiler, and which version of it, a program would be compiled."""

from importlib import import_module

_known = {}  # code type -> what was found; failures are asked for again


def compiler_fingerprint(code_type):
    """A text that is another one where the compiler or its version is.

    Asked of the library once a process. Where the library cannot be asked, it is the class of the
    error: the same each time, and never that of a library that can.
    """
    if code_type not in _known:
        try:
            _known[code_type] = _PROBES[code_type]()
        except Exception as error:  # whatever is wrong with the library, compiling says so
            return f"{code_type} unknown: {type(error).__name__}"
    return _known[code_type]


def linker_is_driver():
    """Whether the driver links, for want of nvJitLink."""
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

# SPDX-License-Identifier: Apache-2.0
"""Utilities for the bindings: native handles, PTX versions, options of NVVM, old drivers.

Importing this package imports its own two files only; each function imports the rest when called.
"""

from cuda.bindings.utils._envvar import envvar_bool
from cuda.bindings.utils._version_check import warn_if_cuda_major_version_mismatch

TYPE_CHECKING = False  # type checkers treat it as True; avoids importing `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

__all__ = [
    "check_nvvm_compiler_options",
    "envvar_bool",
    "get_cuda_native_handle",
    "get_minimal_required_cuda_ver_from_ptx_ver",
    "get_ptx_ver",
    "warn_if_cuda_major_version_mismatch",
]

_getters: "dict[type, Callable[[Any], int]]" = {}

# First CUDA release that supports each PTX version, if the two numbers are unrelated.
_CUDA_OF_PTX = {
    "1.0": "1.0", "1.1": "1.1", "1.2": "2.0", "1.3": "2.1", "1.4": "2.2",
    "2.0": "3.0", "2.1": "3.1", "2.2": "3.2", "2.3": "4.0",
    "3.0": "4.1", "3.1": "5.0", "3.2": "5.5",
    "4.0": "6.0", "4.1": "6.5", "4.2": "7.0", "4.3": "7.5", "5.0": "8.0",
    "6.0": "9.0", "6.1": "9.1", "6.2": "9.2", "6.3": "10.0", "6.4": "10.1", "6.5": "10.2",
    "8.6": "12.7", "8.7": "12.8", "8.8": "12.9",
}  # fmt: skip
# If the minor versions are equal: PTX major -> (CUDA major, last minor).
_CUDA_IN_STEP = {"7": ("11", 8), "8": ("12", 5), "9": ("13", 5)}

# Empty kernel without pointer types, which every dialect of NVVM IR accepts.
_EMPTY_KERNEL = """\
target triple = "nvptx64-nvidia-cuda"
target datalayout = "\
e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-\
v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define ptx_kernel void @empty() {{
  ret void
}}
!nvvmir.version = !{{!0}}
!0 = !{{i32 {}, i32 {}, i32 {}, i32 {}}}
"""


def get_cuda_native_handle(obj: "Any") -> int:
    """Value of a handle object (stream, context, program, ...) as an int. Host only.

    Raises
    ------
    TypeError
        If the type of `obj` is no handle of the C API and is not registered.
    """
    getter = _getters.get(type(obj))
    if getter is not None:
        return getter(obj)
    from cuda.bindings._low import native_handle

    handle = native_handle(obj)
    if handle is None:
        raise TypeError(f"Unknown type: {type(obj)}")
    return handle


def _add_cuda_native_handle_getter(t: type, getter: "Callable[[Any], int]") -> None:
    """Register the function that returns the handle of a `t` object; replaces an earlier one."""
    _getters[t] = getter


def get_ptx_ver(ptx: str) -> str:
    """Version of a PTX text, as in ``"8.8"``. Host only.

    Raises
    ------
    ValueError
        If the text has no ``.version`` directive.
    """
    import re

    match = re.search(r"\.version\s+([0-9]+\.[0-9]+)", ptx)
    if match is None:
        raise ValueError("no '.version X.Y' in the PTX text")
    return match[1]


def get_minimal_required_cuda_ver_from_ptx_ver(ptx_version: str) -> int:
    """First CUDA version whose driver accepts a PTX version: ``"8.8"`` -> 12090. Host only.

    Raises
    ------
    ValueError
        If the PTX version is not known.
    """
    text = ptx_version if isinstance(ptx_version, str) else ""
    release = _CUDA_OF_PTX.get(text)
    ptx_major, _, ptx_minor = text.partition(".")
    if release is None and ptx_major in _CUDA_IN_STEP and ptx_minor.isdecimal():
        major, last = _CUDA_IN_STEP[ptx_major]
        if int(ptx_minor) <= last:
            release = f"{major}.{ptx_minor}"
    if release is None:
        raise ValueError(f"unknown PTX version {ptx_version!r} (known up to 9.5)")
    major, minor = release.split(".")
    return int(major) * 1000 + int(minor) * 10


def check_nvvm_compiler_options(options: "Sequence[str]") -> bool:
    """Whether the NVVM library accepts these options; compiles an empty kernel with them.

    Blocks the host.

    Parameters
    ----------
    options : sequence of str
        As for `cuda.bindings.nvvm.compile_program`: ``["-arch=compute_90", "-opt=3"]``.

    Returns
    -------
    bool
        False if the library does not know an option, or is too old to report it.

    Raises
    ------
    DynamicLibNotFoundError
        If the NVVM library is missing.
    nvvmError
        If the compilation fails for another reason.
    TypeError
        If `options` is a str or no sequence.
    """
    if isinstance(options, (str, bytes)) or not hasattr(options, "__iter__"):
        raise TypeError(f"options must be a sequence of str, got {options!r}")
    from cuda.bindings import nvvm
    from cuda.bindings._internal.utils import FunctionNotFoundError

    options = list(options)
    try:
        program = nvvm.create_program()
        try:
            kernel = _EMPTY_KERNEL.format(*nvvm.ir_version()).encode()
            nvvm.add_module_to_program(program, kernel, len(kernel), "empty.ll")
            nvvm.compile_program(program, len(options), options)
        finally:
            nvvm.destroy_program(program)
    except FunctionNotFoundError:
        return False
    except nvvm.nvvmError as error:
        if error.status == nvvm.Result.ERROR_INVALID_OPTION:
            return False
        raise
    return True

# SPDX-License-Identifier: Apache-2.0
"""Status checks for `cuda.bindings` and small helpers, at a path that existing code imports."""

import functools
import sys
from collections.abc import Sequence
from importlib import import_module

from cuda.core._core import (
    CUDAError,
    NVRTCError,
    check_or_create_options,
    make_driver_error,
    make_nvrtc_error,
)
from cuda.core._utils.fork_warning import check_multiprocessing_start_method, reset_fork_warning
from cuda.core._utils.transaction import Transaction
from cuda.core._utils.version import binding_version as get_binding_version
from cuda.core._utils.version import driver_version as get_driver_version
from cuda.core.execution.records import ComputeCapability

__all__ = [
    "CUDAError",
    "ComputeCapability",
    "NVRTCError",
    "Transaction",
    "cast_to_3_tuple",
    "check_multiprocessing_start_method",
    "check_or_create_options",
    "get_binding_version",
    "get_driver_version",
    "handle_return",
    "is_nested_sequence",
    "is_sequence",
    "precondition",
    "reset_fork_warning",
]


def __getattr__(name):
    if name in ("driver", "runtime", "nvrtc"):
        return import_module(f"cuda.bindings.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def handle_return(result, handle=None):
    """Check the status that a function of `cuda.bindings` returned, and return its values.

    Host only.

    Parameters
    ----------
    result : tuple
        The status, followed by the values.
    handle : nvrtcProgram, optional
        Program whose log becomes part of the exception.

    Returns
    -------
    object
        None without values, a single value, or a tuple of values.

    Raises
    ------
    CUDAError, NVRTCError
        If the status is not success.
    RuntimeError
        If the first element is not a status.
    """
    status, *values = result
    _check_of(status)(status, handle)
    return (None if not values else values[0]) if len(values) < 2 else tuple(values)


def _check_of(status):
    """Return the check for a status by its class; an unloaded module has no instances."""
    for module, name, check in _CHECKS:
        cls = getattr(sys.modules.get(module), name, None)
        if cls is not None and isinstance(status, cls):
            return check
    raise RuntimeError(f"Unknown error type: {status!r}")


def _check_driver_error(error, handle=None):
    """Raise `CUDAError` for a `CUresult` other than success."""
    if int(error) != 0:
        raise make_driver_error(int(error))


def _check_runtime_error(error, handle=None):
    """Raise `CUDAError` for a `cudaError_t` other than success."""
    if int(error) == 0:
        return
    name = getattr(error, "name", None)
    text = f"{name}: {error.__doc__}" if name else f"UNEXPECTED ERROR CODE: {int(error)}"
    raise CUDAError(text, code=int(error), name=name)


def _check_nvrtc_error(error, handle=None):
    """Raise `NVRTCError` for an `nvrtcResult` other than success, with the log of `handle`."""
    if int(error) != 0:
        raise make_nvrtc_error(int(error), log=_program_log(handle))


def _program_log(program):
    """Return the compilation log of an nvrtcProgram; None if the log is empty."""
    if program is None:
        return None
    nvrtc = import_module("cuda.bindings.nvrtc")
    status, size = nvrtc.nvrtcGetProgramLogSize(program)
    if int(status) != 0 or size <= 1:
        return None
    log = bytearray(size)
    nvrtc.nvrtcGetProgramLog(program, log)
    return bytes(log).rstrip(b"\0").decode("utf-8", "backslashreplace")


_CHECKS = (
    ("cuda.bindings.driver", "CUresult", _check_driver_error),
    ("cuda.bindings.runtime", "cudaError_t", _check_runtime_error),
    ("cuda.bindings.nvrtc", "nvrtcResult", _check_nvrtc_error),
)


def cast_to_3_tuple(label, cfg):
    """Return an int or a tuple as a tuple of three, padded with ones. Host only."""
    values = (cfg,) if isinstance(cfg, int) else cfg
    if not isinstance(values, tuple) or len(values) > 3:
        raise ValueError(f"{label} must be an int, or a tuple with up to 3 ints (got {type(cfg)})")
    if any(not isinstance(value, int) for value in values):
        raise ValueError(f"{label} must be an int, or a tuple with up to 3 ints (got {cfg})")
    if any(value < 1 for value in values):
        raise ValueError(f"{label} values must be >= 1 (got {cfg})")
    return values + (1,) * (3 - len(values))


def is_sequence(obj):
    """Return whether an object is a list, a tuple, or another sequence. Host only."""
    return isinstance(obj, Sequence)


def is_nested_sequence(obj):
    """Return whether an object is a sequence that contains a sequence. Host only."""
    return is_sequence(obj) and any(is_sequence(element) for element in obj)


def precondition(checker, what=""):
    """Decorate a method so that ``checker(self, ..., what=what)`` runs before it. Host only."""

    def decorate(function):
        @functools.wraps(function)
        def checked(*args, **kwargs):
            checker(*args, **kwargs, what=what)
            return function(*args, **kwargs)

        return checked

    return decorate


def _handle_boolean_option(option):
    """Return a boolean in the syntax of compiler options."""
    return "true" if option else "false"


def _parse_fill_value(value):
    """Return a fill value, an int of one byte or bytes, as (unsigned int, size in bytes)."""
    if isinstance(value, int):
        if not 0 <= value < 256:
            raise OverflowError(f"value must be in [0, 256), got {value}")
        return value, 1
    data = bytes(memoryview(value))
    if len(data) not in (1, 2, 4):
        raise ValueError(f"value must be 1, 2, or 4 bytes, got {len(data)}")
    return int.from_bytes(data, "little"), len(data)

# SPDX-License-Identifier: Apache-2.0
"""Checking what `cuda.bindings` returns, and small helpers, where existing code looks for them."""

import functools
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
    """Check the status in what a function of `cuda.bindings` returned, and give the rest.

    Host only.

    Parameters
    ----------
    result : tuple
        The status, then the values.
    handle : nvrtcProgram, optional
        Its log becomes part of the exception.

    Returns
    -------
    object
        None for no value, the value if it is one, else a tuple.

    Raises
    ------
    CUDAError, NVRTCError
        If the status is not success.
    RuntimeError
        If the first element is not a status.
    """
    status, *values = result
    check = _CHECKS.get(type(status).__name__)
    if check is None:
        raise RuntimeError(f"Unknown error type: {status!r}")
    check(status, handle)
    return (None if not values else values[0]) if len(values) < 2 else tuple(values)


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
    """The compilation log of an nvrtcProgram; None when there is no text in it."""
    if program is None:
        return None
    nvrtc = import_module("cuda.bindings.nvrtc")
    status, size = nvrtc.nvrtcGetProgramLogSize(program)
    if int(status) != 0 or size <= 1:
        return None
    log = bytearray(size)
    nvrtc.nvrtcGetProgramLog(program, log)
    return bytes(log).rstrip(b"\0").decode("utf-8", "backslashreplace")


_CHECKS = {
    "CUresult": _check_driver_error,
    "cudaError_t": _check_runtime_error,
    "nvrtcResult": _check_nvrtc_error,
}


def cast_to_3_tuple(label, cfg):
    """An int, or a tuple of up to three, as a tuple of three; ones fill up. Host only."""
    values = (cfg,) if isinstance(cfg, int) else cfg
    if not isinstance(values, tuple) or len(values) > 3:
        raise ValueError(f"{label} must be an int, or a tuple with up to 3 ints (got {type(cfg)})")
    if any(not isinstance(value, int) for value in values):
        raise ValueError(f"{label} must be an int, or a tuple with up to 3 ints (got {cfg})")
    if any(value < 1 for value in values):
        raise ValueError(f"{label} values must be >= 1 (got {cfg})")
    return values + (1,) * (3 - len(values))


def is_sequence(obj):
    """Whether an object is a list, a tuple, or another sequence. Host only."""
    return isinstance(obj, Sequence)


def is_nested_sequence(obj):
    """Whether an object is a sequence that holds a sequence. Host only."""
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
    """A flag as compilers read it."""
    return "true" if option else "false"


def _parse_fill_value(value):
    """What to fill with, as (unsigned int, its size in bytes): an int of one byte, or bytes."""
    if isinstance(value, int):
        if not 0 <= value < 256:
            raise OverflowError(f"value must be in [0, 256), got {value}")
        return value, 1
    data = bytes(memoryview(value))
    if len(data) not in (1, 2, 4):
        raise ValueError(f"value must be 1, 2, or 4 bytes, got {len(data)}")
    return int.from_bytes(data, "little"), len(data)

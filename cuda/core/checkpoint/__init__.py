# SPDX-License-Identifier: Apache-2.0
"""Taking what a process has on its GPUs aside, and putting it back: `Process`.

A checkpoint moves the memory and the state of a CUDA process from the GPUs to the memory of the
host, where a tool such as CRIU can save it with the rest of the process.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from importlib import import_module
from typing import Any

__all__ = ["Process"]

_STATES = ("running", "locked", "checkpointed", "failed")
_FIRST_DRIVER = (12, 8)
_MOST = {"pid": 0x7FFFFFFF, "timeout_ms": 0xFFFFFFFF}  # of the driver's own types


class Process:
    """Process(pid)
    --

    A CUDA process, by its number, to be checkpointed and restored.

    It owns nothing: there is nothing to close, and two objects may name one process. The usual
    order is `lock`, `checkpoint`, `restore`, `unlock`. While a process is locked, its CUDA calls
    wait; so a process that does this to itself needs a thread, or another process, for the rest.

    Parameters
    ----------
    pid : int
        The number of the process, at least 1.

    Raises
    ------
    TypeError
        If `pid` is no int.
    ValueError
        If `pid` is not positive.
    """

    __slots__ = ("_pid",)

    def __init__(self, pid: int) -> None:
        self._pid = _integer("pid", pid)

    @property
    def pid(self) -> int:
        """The number of the process. Host only."""
        return self._pid

    @property
    def state(self) -> str:
        """What the process is: ``"running"``, ``"locked"``, ``"checkpointed"`` or ``"failed"``.

        Host only.

        Raises
        ------
        RuntimeError
            If the driver names a state that is none of these.
        CUDAError
            If there is no such process, or it does not use CUDA.

        See Also
        --------
        cuCheckpointProcessGetState : the driver function.
        """
        found = int(_call("cuCheckpointProcessGetState", self._pid))
        if found >= len(_STATES):
            raise RuntimeError(f"Unknown CUDA checkpoint process state: {found}")
        return _STATES[found]

    @property
    def restore_thread_id(self) -> int:
        """The thread of the process that restores it, by its number. Host only.

        See Also
        --------
        cuCheckpointProcessGetRestoreThreadId : the driver function.
        """
        return int(_call("cuCheckpointProcessGetRestoreThreadId", self._pid))

    def lock(self, timeout_ms: int = 0) -> None:
        """Let the process begin no more CUDA calls, and wait for those that are under way.

        Blocks the host.

        Parameters
        ----------
        timeout_ms
            How long to wait at most, in milliseconds; 0 is without end.

        Raises
        ------
        CUDAError
            If the time is over (``CUDA_ERROR_NOT_READY``), or the process is not running
            (``CUDA_ERROR_ILLEGAL_STATE``).

        See Also
        --------
        cuCheckpointProcessLock : the driver function.
        """
        timeout = _integer("timeout_ms", timeout_ms)
        args = _driver().CUcheckpointLockArgs()
        args.timeoutMs = timeout
        _call("cuCheckpointProcessLock", self._pid, args)

    def checkpoint(self) -> None:
        """Move what the process has on its GPUs to the memory of the host.

        Blocks the host. The process must be locked, and lets go of its GPUs.

        Raises
        ------
        CUDAError
            If the process is not locked (``CUDA_ERROR_ILLEGAL_STATE``).

        See Also
        --------
        cuCheckpointProcessCheckpoint : the driver function.
        """
        _call("cuCheckpointProcessCheckpoint", self._pid, _driver().CUcheckpointCheckpointArgs())

    def restore(self, gpu_mapping: Mapping[Any, Any] | None = None) -> None:
        """Move what was checkpointed back to the GPUs. The process is locked afterwards.

        Blocks the host.

        Parameters
        ----------
        gpu_mapping
            To move to other GPUs: for each GPU that the kernel driver sees, the UUID that it was
            checkpointed with, and that of the GPU to restore it on. A UUID is a
            `cuda.bindings.driver.CUuuid`, or a string of 32 hex digits, with hyphens and the
            prefix ``GPU-`` or without. None or empty: every GPU is itself.

        Raises
        ------
        TypeError
            If it is no mapping, or a UUID is of another type.
        ValueError
            If a string is no UUID.
        CUDAError
            If the process is not checkpointed (``CUDA_ERROR_ILLEGAL_STATE``), or a UUID is of no
            GPU.

        See Also
        --------
        cuCheckpointProcessRestore : the driver function.
        """
        pairs = _pairs(gpu_mapping)
        driver = _driver()
        args = driver.CUcheckpointRestoreArgs()
        if pairs:
            args.gpuPairs = [_pair(driver, *each) for each in pairs]
            args.gpuPairsCount = len(pairs)
        _call("cuCheckpointProcessRestore", self._pid, args)

    def unlock(self) -> None:
        """Let the process go on with its CUDA calls.

        Host only.

        Raises
        ------
        CUDAError
            If the process is not locked (``CUDA_ERROR_ILLEGAL_STATE``).

        See Also
        --------
        cuCheckpointProcessUnlock : the driver function.
        """
        _call("cuCheckpointProcessUnlock", self._pid, _driver().CUcheckpointUnlockArgs())


def _integer(name: str, given: object) -> int:
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"{name} must be an int")
    value = int(given)
    least, text = (1, "a positive int") if name == "pid" else (0, ">= 0")
    if value < least:
        raise ValueError(f"{name} must be {text}")
    if value > _MOST[name] and name != "pid":
        raise OverflowError(f"{name} must be at most {_MOST[name]}, got {value}")
    return value


def _pairs(given: object) -> list[tuple[bytes, bytes]]:
    """The UUIDs of the mapping, as bytes. They are converted before the driver is asked."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise TypeError(
            "gpu_mapping must be a mapping from checkpointed GPU UUID to restore GPU UUID"
        )
    return [(_uuid_bytes(old), _uuid_bytes(new)) for old, new in given.items()]


def _uuid_bytes(given: object) -> bytes:
    if isinstance(given, str):
        digits = given.removeprefix("GPU-").replace("-", "")
        try:
            found = bytes.fromhex(digits) if len(digits) == 32 else b""
        except ValueError:
            found = b""
        if len(found) != 16:
            raise ValueError(
                f"GPU UUID string must be 32 hex characters (with optional hyphens), got {given!r}"
            )
        return found
    if not isinstance(given, import_module("cuda.bindings.driver").CUuuid):
        raise TypeError("GPU UUID values must be CUDA UUID objects or UUID strings")
    return bytes(given.bytes)[:16]


def _pair(driver: Any, old: bytes, new: bytes) -> Any:
    pair = driver.CUcheckpointGpuPair()
    ctypes.memmove(pair.getPtr(), old + new, len(old + new))  # the two are all that it has
    return pair


@functools.cache
def _driver() -> Any:
    """The driver's functions, of a driver that can checkpoint; asked once it has said so."""
    core = import_module("cuda.core._core")
    if core.cuda_driver_version() < _FIRST_DRIVER[0] * 1000 + _FIRST_DRIVER[1] * 10:
        raise RuntimeError(_UNSUPPORTED)
    driver = import_module("cuda.bindings.driver")
    _check(driver, "cuInit", *driver.cuInit(0))
    return driver


_UNSUPPORTED = (
    "CUDA checkpointing is not supported by the installed NVIDIA driver. It takes one of CUDA "
    f"{_FIRST_DRIVER[0]}.{_FIRST_DRIVER[1]} or newer, on Linux"
)


def _call(name: str, pid: int, *args: Any) -> Any:
    """Ask the driver; what it does not have is a RuntimeError, what it refuses a CUDAError."""
    driver = _driver()
    if pid > _MOST["pid"]:
        raise OverflowError(f"pid must be at most {_MOST['pid']}, got {pid}")
    return _check(driver, name, *getattr(driver, name)(pid, *args))


def _check(driver: Any, name: str, code: Any, *values: Any) -> Any:
    if code in (
        driver.CUresult.CUDA_ERROR_NOT_FOUND,
        driver.CUresult.CUDA_ERROR_NOT_SUPPORTED,
    ):
        raise RuntimeError(_UNSUPPORTED)
    if code:
        raise import_module("cuda.core._core").make_driver_error(int(code), name.encode())
    return values[0] if values else None

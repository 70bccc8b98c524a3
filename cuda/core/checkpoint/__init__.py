# SPDX-License-Identifier: Apache-2.0
"""Checkpoint and restore of a process's GPU state: `Process`.

A checkpoint moves memory and state of a CUDA process from the GPUs to host memory. A tool such as
CRIU can then save the process.
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
# Limits of the driver's types.
_MAXIMUM_PID = 0x7FFFFFFF
_MAXIMUM_TIMEOUT = 0xFFFFFFFF


class Process:
    """Process(pid)
    --

    A CUDA process that can be checkpointed and restored, identified by its process id.

    The object owns no resource and needs no close; two objects can name one process. The usual
    order is `lock`, `checkpoint`, `restore`, `unlock`. CUDA calls of a locked process block. A
    process that locks itself therefore needs another thread or process for the later calls.

    Parameters
    ----------
    pid : int
        The process id, at least 1.

    Raises
    ------
    TypeError
        If `pid` is not an int.
    ValueError
        If `pid` is not positive.
    """

    __slots__ = ("_pid",)

    def __init__(self, pid: int) -> None:
        self._pid = _integer("pid", pid, 1, "a positive int")

    @property
    def pid(self) -> int:
        """Process id. Host only."""
        return self._pid

    @property
    def state(self) -> str:
        """State: ``"running"``, ``"locked"``, ``"checkpointed"`` or ``"failed"``.

        Host only.

        Raises
        ------
        RuntimeError
            If the driver returns an unknown state.
        CUDAError
            If the process does not exist, or does not use CUDA.

        See Also
        --------
        cuCheckpointProcessGetState : the driver function.
        """
        state = int(_call("cuCheckpointProcessGetState", self._pid))
        if state >= len(_STATES):
            raise RuntimeError(f"Unknown CUDA checkpoint process state: {state}")
        return _STATES[state]

    @property
    def restore_thread_id(self) -> int:
        """Id of the process's thread that restores it. Host only.

        See Also
        --------
        cuCheckpointProcessGetRestoreThreadId : the driver function.
        """
        return int(_call("cuCheckpointProcessGetRestoreThreadId", self._pid))

    def lock(self, timeout_ms: int = 0) -> None:
        """Block new CUDA calls of the process, and wait for calls in progress.

        Blocks the host.

        Parameters
        ----------
        timeout_ms
            Timeout in milliseconds; 0 waits without limit.

        Raises
        ------
        CUDAError
            If the timeout expires (``CUDA_ERROR_NOT_READY``), or the process is not running
            (``CUDA_ERROR_ILLEGAL_STATE``).

        See Also
        --------
        cuCheckpointProcessLock : the driver function.
        """
        timeout = _integer("timeout_ms", timeout_ms, 0, ">= 0")
        _require_at_most(_MAXIMUM_TIMEOUT, "timeout_ms", timeout)
        args = _get_driver().CUcheckpointLockArgs()
        args.timeoutMs = timeout
        _call("cuCheckpointProcessLock", self._pid, args)

    def checkpoint(self) -> None:
        """Move the process's GPU memory and state to host memory.

        Blocks the host. The process must be locked; it releases its GPUs.

        Raises
        ------
        CUDAError
            If the process is not locked (``CUDA_ERROR_ILLEGAL_STATE``).

        See Also
        --------
        cuCheckpointProcessCheckpoint : the driver function.
        """
        args = _get_driver().CUcheckpointCheckpointArgs()
        _call("cuCheckpointProcessCheckpoint", self._pid, args)

    def restore(self, gpu_mapping: Mapping[Any, Any] | None = None) -> None:
        """Move the checkpointed state back to the GPUs. The process remains locked.

        Blocks the host.

        Parameters
        ----------
        gpu_mapping
            Mapping from the checkpointed GPU's UUID to the UUID of the GPU to restore on. It must
            list each GPU that the kernel driver sees. A UUID is a `cuda.bindings.driver.CUuuid`,
            or a string of 32 hex digits, optionally with hyphens and the prefix ``GPU-``. With
            None or an empty mapping, every GPU is restored on itself.

        Raises
        ------
        TypeError
            If `gpu_mapping` is not a mapping, or a UUID has another type.
        ValueError
            If a string is not a UUID.
        CUDAError
            If the process is not checkpointed (``CUDA_ERROR_ILLEGAL_STATE``), or no GPU has a
            UUID.

        See Also
        --------
        cuCheckpointProcessRestore : the driver function.
        """
        pairs = _pairs(gpu_mapping)
        driver = _get_driver()
        args = driver.CUcheckpointRestoreArgs()
        if pairs:
            args.gpuPairs = [_pair(driver, *each) for each in pairs]
            args.gpuPairsCount = len(pairs)
        _call("cuCheckpointProcessRestore", self._pid, args)

    def unlock(self) -> None:
        """Unblock the CUDA calls of the process.

        Host only.

        Raises
        ------
        CUDAError
            If the process is not locked (``CUDA_ERROR_ILLEGAL_STATE``).

        See Also
        --------
        cuCheckpointProcessUnlock : the driver function.
        """
        _call("cuCheckpointProcessUnlock", self._pid, _get_driver().CUcheckpointUnlockArgs())


def _integer(name: str, value: object, minimum: int, condition: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an int")
    number = int(value)
    if number < minimum:
        raise ValueError(f"{name} must be {condition}")
    return number


def _require_at_most(maximum: int, name: str, number: int) -> None:
    if number > maximum:
        raise OverflowError(f"{name} must be at most {maximum}, got {number}")


def _pairs(mapping: object) -> list[tuple[bytes, bytes]]:
    """Return the mapping's UUIDs as bytes, converted before any driver call."""
    if mapping is None:
        return []
    if not isinstance(mapping, Mapping):
        raise TypeError(
            "gpu_mapping must be a mapping from checkpointed GPU UUID to restore GPU UUID"
        )
    return [(_uuid_bytes(old), _uuid_bytes(new)) for old, new in mapping.items()]


def _uuid_bytes(value: object) -> bytes:
    if isinstance(value, str):
        digits = value.removeprefix("GPU-").replace("-", "")
        try:
            uuid = bytes.fromhex(digits) if len(digits) == 32 else b""
        except ValueError:
            uuid = b""
        if len(uuid) != 16:
            raise ValueError(
                f"GPU UUID string must be 32 hex characters (with optional hyphens), got {value!r}"
            )
        return uuid
    if not isinstance(value, import_module("cuda.bindings.driver").CUuuid):
        raise TypeError("GPU UUID values must be CUDA UUID objects or UUID strings")
    return bytes(value.bytes)[:16]


def _pair(driver: Any, old: bytes, new: bytes) -> Any:
    pair = driver.CUcheckpointGpuPair()
    ctypes.memmove(pair.getPtr(), old + new, len(old + new))  # the struct holds only the two UUIDs
    return pair


@functools.cache
def _get_driver() -> Any:
    """Return the driver module after a check that the driver supports checkpoints."""
    core = import_module("cuda.core._core")
    if core.cuda_driver_version() < _FIRST_DRIVER[0] * 1000 + _FIRST_DRIVER[1] * 10:
        raise RuntimeError(_UNSUPPORTED)
    driver = import_module("cuda.bindings.driver")
    _check(driver, "cuInit", *driver.cuInit(0))
    return driver


_UNSUPPORTED = (
    "CUDA checkpointing is not supported by the installed NVIDIA driver. Checkpoints need Linux "
    f"and a driver of CUDA {_FIRST_DRIVER[0]}.{_FIRST_DRIVER[1]} or newer"
)


def _call(name: str, pid: int, *args: Any) -> Any:
    """Call the driver; raise RuntimeError if unsupported, CUDAError if the call fails."""
    driver = _get_driver()
    _require_at_most(_MAXIMUM_PID, "pid", pid)
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

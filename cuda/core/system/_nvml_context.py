# SPDX-License-Identifier: Apache-2.0
"""NVML in this process: opened, and told to begin, when it is first needed."""

import os
import sys
from _thread import allocate_lock  # what `threading` is made of, which takes longer to import
from importlib import import_module

__all__ = ["initialize", "is_initialized", "nvml", "validate"]


class _Nvml:
    """`cuda.bindings.nvml`, imported when the first of its names is used."""

    def __getattr__(self, name):
        value = getattr(import_module("cuda.bindings.nvml"), name)
        setattr(self, name, value)
        return value


TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuda.bindings import nvml
else:
    nvml = _Nvml()
_lock = allocate_lock()
_begun_in = None  # process


def _forget_locks():
    """In the child of a fork, where the thread that held the lock is not there to give it back."""
    global _lock
    _lock = allocate_lock()


os.register_at_fork(after_in_child=_forget_locks)


def is_initialized():
    """Whether NVML has begun in this process for this package. Host only."""
    return _begun_in == os.getpid()


def initialize():
    """Let NVML begin, unless it has: once in a process, and again in the child of a fork.

    Host only. A failure is not remembered: the next call tries again.

    Raises
    ------
    DynamicLibNotFoundError
        If there is no NVML.
    NvmlError
        If NVML cannot begin, for instance because the driver is not loaded.
    """
    global _begun_in
    if is_initialized():
        return
    with _lock:
        if not is_initialized():
            nvml.init_v2()
            _begun_in = os.getpid()


def forget():
    """NVML is another one from now on, where the program has chosen the emulator. Host only."""
    global _begun_in
    _begun_in = None


def validate():
    """Let NVML begin, and see that it knows of a device. Host only.

    Raises
    ------
    NotFoundError
        If it knows of none.
    """
    initialize()
    if not nvml.device_get_count_v2():
        raise nvml.NotFoundError(6)


def release(free, handle, process):
    """Free what NVML made, unless it is the parent's; a failure is one line on stderr."""
    if process != os.getpid() or sys.is_finalizing():
        return
    try:
        free(handle)
    except nvml.NvmlError as error:
        print(f"halfwarp: {free.__name__} failed: {error}", file=sys.stderr)

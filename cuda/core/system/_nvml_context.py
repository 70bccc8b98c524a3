# SPDX-License-Identifier: Apache-2.0
"""NVML in this process, opened and initialized on first use."""

import os
import sys
from _thread import allocate_lock  # faster to import than `threading`
from importlib import import_module

from cuda.bindings._low import new_query

__all__ = [
    "initialize",
    "is_initialized",
    "member",
    "nvml",
    "query",
    "validate",
]


class _Nvml:
    """A proxy of `cuda.bindings.nvml` that imports the module on first use.

    From then on, it has the dictionary of the module, with what a program replaced there.
    """

    def __getattr__(self, name):
        module = import_module("cuda.bindings.nvml")
        self.__dict__ = vars(module)
        return getattr(module, name)


TYPE_CHECKING = False
if TYPE_CHECKING:
    from cuda.bindings import nvml
else:
    nvml = _Nvml()


if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    _F = TypeVar("_F")

    def member(declaration: _F) -> _F:
        return declaration

    def query(
        name: str | None,
        cls: type | None = None,
        target: str = "_data",
        arguments: tuple[str | int, ...] = ("_handle",),
    ) -> Callable[[_F], _F]:
        return member

else:

    def member(declaration):
        """Return the getter of the member of `_data` that has the name of the declaration.

        The getter is C code: a Python function takes 40 to 90 ns.
        """
        return new_query((declaration, ("_data",), declaration.__name__))

    def query(name, cls=None, target="_data", arguments=("_handle",)):
        """Return a decorator whose method or getter calls an NVML function.

        The arguments are attributes of the object and constants. With a class, the method returns
        an object of it with the result as `target`. Without a name, the result is the first
        argument. The method is C code: `object.__new__` takes 60 to 120 ns. A call with arguments
        reaches the decorated function.
        """

        def declared(declaration):
            return new_query((declaration, arguments, name, nvml, cls, target))

        return declared


_lock = allocate_lock()
_initialized_in = None  # process id


def _replace_lock():
    """Replace the lock in a forked child, where its owner thread does not exist."""
    global _lock
    _lock = allocate_lock()


os.register_at_fork(after_in_child=_replace_lock)


def is_initialized():
    """Return whether this package initialized NVML in this process. Host only."""
    return _initialized_in == os.getpid()


def initialize():
    """Initialize NVML once per process, and again in a forked child.

    Host only. The next call after a failure tries again.

    Raises
    ------
    DynamicLibNotFoundError
        If the NVML library is not installed.
    NvmlError
        If initialization fails, for example because the driver is not loaded.
    """
    global _initialized_in
    if is_initialized():
        return
    with _lock:
        if not is_initialized():
            nvml.init_v2()
            _initialized_in = os.getpid()


def reset():
    """Mark NVML as uninitialized after the program selected the emulator. Host only."""
    global _initialized_in
    _initialized_in = None


def validate():
    """Initialize NVML and check that it lists a device. Host only.

    Raises
    ------
    NotFoundError
        If NVML lists no device.
    """
    initialize()
    if not nvml.device_get_count_v2():
        raise nvml.NotFoundError(6)


def release(free, handle, process):
    """Free an NVML object that this process created; report a failure on stderr."""
    if process != os.getpid() or sys.is_finalizing():
        return
    try:
        free(handle)
    except nvml.NvmlError as error:
        print(f"halfwarp: {free.__name__} failed: {error}", file=sys.stderr)

# SPDX-License-Identifier: Apache-2.0
"""Host: host memory as a location."""

from __future__ import annotations

import threading
from typing import Self
from weakref import WeakValueDictionary

from cuda.core.arguments.shown import shown

_instances = WeakValueDictionary()  # one instance for equal arguments
_lock = threading.Lock()


class Host:
    """Host memory as a location, for example of managed memory.

    Host only. Equal arguments return the same object.

    Parameters
    ----------
    numa_id : int, optional
        The NUMA node; None for any.
    is_numa_current : bool
        Whether the location is the NUMA node of the calling thread.

    Raises
    ------
    ValueError
        If `numa_id` is not a non-negative int, or both parameters are passed.
    """

    __slots__ = ("__weakref__", "_is_numa_current", "_numa_id")

    def __new__(cls, numa_id: int | None = None, *, is_numa_current: bool = False) -> Self:
        if numa_id is not None and (
            isinstance(numa_id, bool) or not isinstance(numa_id, int) or numa_id < 0
        ):
            raise ValueError(f"numa_id must be a non-negative int, got {shown(numa_id)}")
        if numa_id is not None and is_numa_current:
            raise ValueError("numa_id and is_numa_current are mutually exclusive")
        key = cls, numa_id, bool(is_numa_current)
        with _lock:
            host = _instances.get(key)
            if host is None:
                host = super().__new__(cls)
                object.__setattr__(host, "_numa_id", numa_id)
                object.__setattr__(host, "_is_numa_current", bool(is_numa_current))
                _instances[key] = host
            return host

    @classmethod
    def numa_current(cls) -> Self:
        """The NUMA node of the calling thread. Host only."""
        return cls(is_numa_current=True)

    @property
    def numa_id(self) -> int | None:
        """The NUMA node as an int; None for any. Host only."""
        return self._numa_id

    @property
    def is_numa_current(self) -> bool:
        """Whether the location is the NUMA node of the calling thread. Host only."""
        return self._is_numa_current

    def __setattr__(self, name, value):
        raise AttributeError(f"Host is immutable: {name!r} cannot be assigned to")

    def __delattr__(self, name):
        raise AttributeError(f"Host is immutable: {name!r} cannot be deleted")

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return _host, (type(self), self._numa_id, self._is_numa_current)

    def __repr__(self):
        if self._is_numa_current:
            return "Host.numa_current()"
        return "Host()" if self._numa_id is None else f"Host(numa_id={self._numa_id})"


def _host(cls, numa_id, is_numa_current):
    return cls(numa_id, is_numa_current=is_numa_current)


Host.__module__ = "cuda.core"

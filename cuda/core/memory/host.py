# SPDX-License-Identifier: Apache-2.0
"""The host as a place where memory may lie."""

import threading
from weakref import WeakValueDictionary

_known = WeakValueDictionary()  # equal arguments give the same object
_lock = threading.Lock()


class Host:
    """Host memory as a location, of managed memory for instance.

    Host only. Equal arguments give the same object.

    Parameters
    ----------
    numa_id : int, optional
        The NUMA node; None for whichever.
    is_numa_current : bool
        Whether the node of the calling thread is meant.

    Raises
    ------
    ValueError
        If `numa_id` is no whole number from 0 on, or both parameters are given.
    """

    __slots__ = ("__weakref__", "_is_numa_current", "_numa_id")

    def __new__(cls, numa_id=None, *, is_numa_current=False):
        if numa_id is not None and (
            isinstance(numa_id, bool) or not isinstance(numa_id, int) or numa_id < 0
        ):
            raise ValueError(f"numa_id must be a non-negative int, got {numa_id!r}")
        if numa_id is not None and is_numa_current:
            raise ValueError("numa_id and is_numa_current are mutually exclusive")
        key = cls, numa_id, bool(is_numa_current)
        with _lock:
            found = _known.get(key)
            if found is None:
                found = super().__new__(cls)
                object.__setattr__(found, "_numa_id", numa_id)
                object.__setattr__(found, "_is_numa_current", bool(is_numa_current))
                _known[key] = found
            return found

    @classmethod
    def numa_current(cls):
        """The NUMA node of the calling thread. Host only."""
        return cls(is_numa_current=True)

    @property
    def numa_id(self):
        """The NUMA node as an int; None for whichever. Host only."""
        return self._numa_id

    @property
    def is_numa_current(self):
        """Whether the node of the calling thread is meant. Host only."""
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

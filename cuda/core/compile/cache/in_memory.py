# SPDX-License-Identifier: Apache-2.0
"""A program cache in the memory of the process."""

from __future__ import annotations

from cuda.core.compile.cache.resource import (
    ProgramCacheResource,
    access_methods,
    access_methods_of,
    check_limit,
    image_bytes,
    key_bytes,
)
from cuda.core.compile.cache.statistics import Counted

TYPE_CHECKING = False  # the import of `typing` takes 3 ms
if TYPE_CHECKING:
    from cuda.core.compile.cache.resource import Key, Value


class InMemoryProgramCache(ProgramCacheResource):
    """A program cache in the memory of this process, for all its threads.

    Host only. The cache evicts the least recently used image first.

    Parameters
    ----------
    max_size_bytes : int, optional
        Limit of the images' total size; None means no limit. An image above the limit is not
        stored.

    Raises
    ------
    ValueError
        If `max_size_bytes` is not positive.
    """

    def __init__(self, *, max_size_bytes: int | None = None) -> None:
        self._max_size_bytes = check_limit(max_size_bytes)
        self._entries = {}  # key: image, names, declarations, in the order of last use
        self._total_bytes = 0
        self._counted = Counted()

    def __getitem__(self, key: Key) -> bytes:
        entry = self._use(key if type(key) is bytes else key_bytes(key))
        if entry is None:
            raise KeyError(key)
        return entry[0]

    def __setitem__(self, key: Key, value: Value) -> None:
        self._put(key_bytes(key), (image_bytes(value), None, None))

    def __delitem__(self, key: Key) -> None:
        name = key_bytes(key)
        with self._counted.lock:
            if not self._remove(name):
                raise KeyError(key)

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        """Remove all images. Host only."""
        with self._counted.lock:
            self._entries.clear()
            self._total_bytes = 0

    def stats(self) -> dict[str, int]:
        """Return statistics and the size of the cache.

        Host only.

        Returns
        -------
        dict of str to int
            The counts ``hits``, ``misses``, ``writes`` and ``evictions``, and the sizes ``entries``
            and ``bytes``.
        """
        with self._counted.lock:
            sizes = {"entries": len(self._entries), "bytes": self._total_bytes}
            return {**self._counted.counts, **sizes}

    def _use(self, name):
        """Return an entry, which becomes the last used one, or None."""
        counted = self._counted
        with counted.lock:
            entry = self._entries.pop(name, None)
            if entry is None:
                counted.counts["misses"] += 1
            else:
                self._entries[name] = entry
                counted.counts["hits"] += 1
        return entry

    def _put(self, name, entry):
        with self._counted.lock:
            self._remove(name)
            self._entries[name] = entry
            self._total_bytes += len(entry[0])
            self._counted.count("writes")
            while self._max_size_bytes is not None and self._total_bytes > self._max_size_bytes:
                self._remove(next(iter(self._entries)))
                self._counted.count("evictions")

    def _remove(self, name):
        entry = self._entries.pop(name, None)
        if entry is not None:
            self._total_bytes -= len(entry[0])
        return entry is not None

    def _load_program(self, key, has_names):
        if access_methods(self) != _ACCESS:
            return super()._load_program(key, has_names)
        return self._use(key)

    def _store_program(self, key, code, names, declarations):
        if access_methods(self) != _ACCESS:
            return super()._store_program(key, code, names, declarations)
        return self._put(key, (image_bytes(code), names, declarations))


_ACCESS = access_methods_of(InMemoryProgramCache)
InMemoryProgramCache.__module__ = "cuda.core.utils"

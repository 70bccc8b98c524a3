# SPDX-License-Identifier: Apache-2.0
"""A program cache in the memory of the process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda.core.compile.cache.resource import (
    ProgramCacheResource,
    check_limit,
    image_bytes,
    key_bytes,
)
from cuda.core.compile.cache.side_file import read
from cuda.core.compile.cache.statistics import Counted

if TYPE_CHECKING:
    from cuda.core.compile.cache.resource import Key, Value


class InMemoryProgramCache(ProgramCacheResource):
    """A program cache in the memory of this process, for all of its threads.

    Host only. The image that was not read or written for the longest time goes first.

    Parameters
    ----------
    max_size_bytes : int, optional
        How many bytes the images may have together; None stands for any number. An image that is
        larger on its own is not kept.

    Raises
    ------
    ValueError
        If `max_size_bytes` is not positive.
    """

    def __init__(self, *, max_size_bytes: int | None = None) -> None:
        self._max_size_bytes = check_limit(max_size_bytes)
        self._entries = {}  # key -> image; the one that was used last is last
        self._side_files = {}  # key -> content, and the image that it was read with, or None
        self._total_bytes = 0
        self._counted = Counted()

    def __getitem__(self, key: Key) -> bytes:
        name = key if type(key) is bytes else key_bytes(key)
        counted = self._counted
        with counted.lock:
            image = self._entries.pop(name, None)
            if image is not None:
                self._entries[name] = image
                counted.counts["hits"] += 1
                return image
            counted.counts["misses"] += 1
        raise KeyError(key)

    def __setitem__(self, key: Key, value: Value) -> None:
        name, image = key_bytes(key), image_bytes(value)
        with self._counted.lock:
            self._total_bytes += len(image) - len(self._entries.pop(name, b""))
            self._entries[name] = image
            self._counted.count("writes")
            self._evict()

    def __delitem__(self, key: Key) -> None:
        name = key_bytes(key)
        with self._counted.lock:
            if name not in self._entries:
                raise KeyError(key)
            self._remove(name)

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        """Remove all images. Host only."""
        with self._counted.lock:
            self._entries.clear()
            self._side_files.clear()
            self._total_bytes = 0

    def stats(self) -> dict[str, int]:
        """What the cache did, and what it has.

        Host only.

        Returns
        -------
        dict of str to int
            ``hits``, ``misses``, ``writes``, ``evictions`` so far; ``entries`` and ``bytes`` now.
        """
        with self._counted.lock:
            now = {"entries": len(self._entries), "bytes": self._total_bytes}
            return {**self._counted.counts, **now}

    def _evict(self):
        while self._max_size_bytes is not None and self._total_bytes > self._max_size_bytes:
            self._remove(next(iter(self._entries)))
            self._counted.count("evictions")

    def _remove(self, name):
        self._total_bytes -= len(self._entries.pop(name))
        self._side_files.pop(name, None)

    def _keep_side_file(self, key, content, has_names):
        self._side_files[key_bytes(key)] = content, None, None

    def _side_file(self, key, image, has_names):
        content, read_with, known = self._side_files.get(key, (None, None, None))
        if read_with is image:  # which nobody changes: it is read once
            return known
        known = read(content, image, has_names)
        with self._counted.lock:
            if key in self._side_files:
                self._side_files[key] = content, image, known
        return known


InMemoryProgramCache.__module__ = "cuda.core.utils"

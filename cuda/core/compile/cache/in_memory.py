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
        self._entries = {}  # key: image, in the order of last use
        self._side_files = {}  # key: content, parsed image or None, parsed result
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

    def _evict(self):
        while self._max_size_bytes is not None and self._total_bytes > self._max_size_bytes:
            self._remove(next(iter(self._entries)))
            self._counted.count("evictions")

    def _remove(self, name):
        self._total_bytes -= len(self._entries.pop(name))
        self._side_files.pop(name, None)

    def _store_side_file(self, key, content, has_names):
        self._side_files[key_bytes(key)] = content, None, None

    def _side_file(self, key, image, has_names):
        content, parsed_image, result = self._side_files.get(key, (None, None, None))
        if parsed_image is image:  # images are immutable, so the content is parsed once
            return result
        result = read(content, image, has_names)
        with self._counted.lock:
            if key in self._side_files:
                self._side_files[key] = content, image, result
        return result


InMemoryProgramCache.__module__ = "cuda.core.utils"

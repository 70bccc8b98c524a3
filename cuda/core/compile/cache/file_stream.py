# SPDX-License-Identifier: Apache-2.0
"""A program cache in a folder that processes share."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

from cuda.core.compile.cache.entry_files import EntryFiles, UseClock, is_stale
from cuda.core.compile.cache.folders import program_cache_folder
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


class FileStreamProgramCache(ProgramCacheResource):
    """A program cache in a folder, for any number of threads and processes.

    Host only. Each image is a separate file below ``entries`` with the compiler's exact output, so
    ``cuobjdump`` and ``nvdisasm`` can read it. Writes are atomic: a reader gets the old or the new
    image, even if the writer was killed. Only its owner may read an image. The cache reads no
    links, and only files whose owner is this user, root or the folder's owner.

    Parameters
    ----------
    path : str or PathLike, optional
        The folder, which is created if missing. None selects ``cuda-python/program-cache`` below
        ``$XDG_CACHE_HOME``, or below ``~/.cache`` if the variable is not set.
    max_size_bytes : int, optional
        Limit of the images' total size; None means no limit. A write above the limit evicts the
        least recently used images, by their access times. Concurrent writes of several processes
        can exceed the limit temporarily.

    Raises
    ------
    ValueError
        If `max_size_bytes` is not positive.
    OSError
        If the folder cannot be created; methods raise it if reading or writing fails.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, max_size_bytes: int | None = None
    ) -> None:
        self._max_size_bytes = check_limit(max_size_bytes)
        if isinstance(path, bytes):
            raise TypeError("path must be str or os.PathLike, got bytes")
        root = program_cache_folder() if path is None else os.fspath(path)
        self._root = os.path.abspath(root)
        uses = UseClock()
        self._images = EntryFiles(self._root, "entries", uses)
        self._symbols = EntryFiles(self._root, "symbols", uses)
        self._counted = Counted()
        os.makedirs(self._root, exist_ok=True)
        self._images.create()
        self._images.sweep()
        self._tracked_size_bytes = 0 if max_size_bytes is None else self._measure()

    def __repr__(self):
        return f"<FileStreamProgramCache {self._root!r}>"

    def __getitem__(self, key: Key) -> bytes:
        image = self._images.read(_digest(key))
        self._counted.count("misses" if image is None else "hits")
        if image is None:
            raise KeyError(key)
        return image

    def __setitem__(self, key: Key, value: Value) -> None:
        new, previous = self._images.write(_digest(key), image_bytes(value))
        self._counted.count("writes")
        self._grow(new - previous)
        self._enforce()

    def __delitem__(self, key: Key) -> None:
        digest = _digest(key)
        size = self._images.remove(digest)
        if size is None:
            raise KeyError(key)
        self._symbols.remove(digest)
        self._grow(-size)

    def __len__(self) -> int:
        return self._images.count()

    def clear(self) -> None:
        """Remove all images.

        Host only. Images that other processes write during the call remain.
        """
        self._images.sweep()
        for files in (self._images, self._symbols):
            for entry in list(files.scan()):
                entry.remove()
            files.remove_empty_groups()
        with self._counted.lock:
            self._tracked_size_bytes = self._measure()

    def prune(self, max_size_bytes: int) -> int:
        """Evict the least recently used images until the total size is at most a limit.

        Host only.

        Parameters
        ----------
        max_size_bytes : int
            Maximum total size in bytes.

        Returns
        -------
        int
            Number of removed images.
        """
        if max_size_bytes < 0:
            raise ValueError(f"max_size_bytes must not be negative, got {max_size_bytes}")
        self._images.sweep()
        removed = self._evict(max_size_bytes)
        self._remove_lone_symbols()
        return removed

    def stats(self) -> dict[str, int]:
        """Return statistics of this object and the size of the folder.

        Host only.

        Returns
        -------
        dict of str to int
            ``hits``, ``misses``, ``writes``, ``evictions`` of this object; ``entries`` and
            ``bytes`` of the folder, including other processes' images.
        """
        sizes = [entry.size for entry in self._images.scan()]
        with self._counted.lock:
            return {**self._counted.counts, "entries": len(sizes), "bytes": sum(sizes)}

    def _measure(self):
        files = [*self._images.scan(), *self._images.temporary_files()]
        return sum(entry.size for entry in files)

    def _grow(self, size):
        with self._counted.lock:
            self._tracked_size_bytes = max(0, self._tracked_size_bytes + size)

    def _enforce(self):
        """Evict images if this process's running total exceeds the limit."""
        if self._max_size_bytes is None or self._tracked_size_bytes <= self._max_size_bytes:
            return
        self._images.sweep()
        self._evict(self._max_size_bytes)
        self._remove_lone_symbols()

    def _evict(self, limit):
        entries = sorted(self._images.scan(), key=lambda e: (e.used, e.modified, e.path))
        total = sum(entry.size for entry in entries)
        total += sum(entry.size for entry in self._images.temporary_files())
        removed = 0
        for entry in entries:
            if total <= limit:
                break
            if entry.remove():
                self._symbols.remove("".join(entry.path.split(os.sep)[-2:]))
                total -= entry.size
                removed += 1
        with self._counted.lock:
            self._tracked_size_bytes = total
        self._counted.count("evictions", removed)
        return removed

    def _remove_lone_symbols(self):
        """Remove old side files without an image; a new one may precede its image."""
        for entry in self._symbols.scan():
            image = os.path.join(self._images.folder, *entry.path.split(os.sep)[-2:])
            if is_stale(entry) and not os.path.lexists(image):
                entry.remove()

    def _store_side_file(self, key, content, has_names):
        self._symbols.write(_digest(key), content, is_durable=False)

    def _side_file(self, key, image, has_names):
        return read(self._symbols.read(_digest(key), is_use=False), image, has_names)


def _digest(key):
    return hashlib.sha256(key_bytes(key)).hexdigest()


FileStreamProgramCache.__module__ = "cuda.core.utils"

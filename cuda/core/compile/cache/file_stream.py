# SPDX-License-Identifier: Apache-2.0
"""A program cache in a folder, shared by any number of processes."""

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

    Host only. An image is a file of its own below ``entries``, exactly as the compiler made it, so
    that ``cuobjdump`` and ``nvdisasm`` read it. It is put in place whole or not at all: a reader
    has the old one or the new one, also where the writer was killed. Only its owner may read it.
    Links, and files of users who own neither the folder nor this process, are not read.

    Parameters
    ----------
    path : str or PathLike, optional
        The folder, which is made if it is missing. None stands for ``cuda-python/program-cache``
        below ``$XDG_CACHE_HOME``, or ``~/.cache`` where that is not set.
    max_size_bytes : int, optional
        How many bytes the images may have together. Writes that pass it remove those that were
        not used for the longest time, by their access times; None stands for any number. The
        limit may be passed for a moment while several processes write.

    Raises
    ------
    ValueError
        If `max_size_bytes` is not positive.
    OSError
        If the folder cannot be made; of reading and writing, if the file system refuses it.
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
        new, before = self._images.write(_digest(key), image_bytes(value))
        self._counted.count("writes")
        self._grow(new - before)
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
        """Remove all images that are there now.

        Host only. Those that other processes write meanwhile stay.
        """
        self._images.sweep()
        for files in (self._images, self._symbols):
            for entry in list(files.scan()):
                entry.remove()
            files.remove_empty_groups()
        with self._counted.lock:
            self._tracked_size_bytes = self._measure()

    def prune(self, max_size_bytes: int) -> int:
        """Remove the images that were not used for the longest time, down to a size.

        Host only.

        Parameters
        ----------
        max_size_bytes : int
            How many bytes may stay.

        Returns
        -------
        int
            How many images were removed.
        """
        if max_size_bytes < 0:
            raise ValueError(f"max_size_bytes must not be negative, got {max_size_bytes}")
        self._images.sweep()
        removed = self._evict(max_size_bytes)
        self._remove_lone_symbols()
        return removed

    def stats(self) -> dict[str, int]:
        """What the cache did in this process, and what the folder has.

        Host only.

        Returns
        -------
        dict of str to int
            ``hits``, ``misses``, ``writes``, ``evictions`` of this object; ``entries`` and
            ``bytes`` of the folder, whoever wrote them.
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
        """Come below the limit, if the running total, which others do not update, is above it."""
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
        """Remove what goes with images that are gone; one that is about to come keeps its own."""
        for entry in self._symbols.scan():
            image = os.path.join(self._images.folder, *entry.path.split(os.sep)[-2:])
            if is_stale(entry) and not os.path.lexists(image):
                entry.remove()

    def _keep_side_file(self, key, content, has_names):
        self._symbols.write(_digest(key), content, is_durable=False)

    def _side_file(self, key, image, has_names):
        return read(self._symbols.read(_digest(key), is_use=False), image, has_names)


def _digest(key):
    return hashlib.sha256(key_bytes(key)).hexdigest()


FileStreamProgramCache.__module__ = "cuda.core.utils"

# SPDX-License-Identifier: Apache-2.0
"""A program cache in a folder that processes share."""

from __future__ import annotations

import functools
import os
import time
import warnings

from cuda.core.compile.cache.earlier_layout import EarlierPrograms
from cuda.core.compile.cache.entry import plain_content, program_content, split
from cuda.core.compile.cache.entry_files import EntryFiles, UseClock
from cuda.core.compile.cache.folders import program_cache_folder
from cuda.core.compile.cache.resource import (
    ProgramCacheResource,
    access_methods,
    access_methods_of,
    check_limit,
    image_bytes,
    key_bytes,
)
from cuda.core.compile.cache.sha256 import sha256
from cuda.core.compile.cache.statistics import Counted

TYPE_CHECKING = False  # the import of `typing` takes 3 ms
if TYPE_CHECKING:
    from cuda.core.compile.cache.resource import Key, Value


SETTLED_SECONDS = 2  # FAT has the coarsest times of modification
MOST_CHECKED = 4096


class FileStreamProgramCache(ProgramCacheResource):
    """A program cache in a folder, for any number of threads and processes.

    Host only. Each entry is one file below ``entries``. It begins with the compiler's exact output,
    so ``cuobjdump`` and ``nvdisasm`` can read it. A program of ``compile`` has its symbols, its
    parameters and a checksum behind the image. Writes are atomic: a reader gets the old or the new
    entry, even if the writer was killed. Only its owner may read a file. The cache reads no links,
    and only files whose owner is this user, root or the folder's owner.

    ``compile`` ignores a damaged file and a file that another package wrote. It warns with
    RuntimeWarning if the file of its result cannot be written.

    Parameters
    ----------
    path : str or PathLike, optional
        The folder, which is created if missing. None selects ``cuda-python/program-cache`` below
        ``$XDG_CACHE_HOME``, or below ``~/.cache`` if the variable is not set.
    max_size_bytes : int, optional
        Limit of the files' total size; None means no limit. A write above the limit evicts the
        least recently used entries, by their access times. Each process measures the folder again
        after it has written a sixteenth of the limit, so several processes can exceed it by that.

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
        self._files = EntryFiles(self._root, "entries", uses)
        self._earlier = EarlierPrograms(self._root)
        self._counted = Counted()
        os.makedirs(self._root, exist_ok=True)
        self._files.create()
        self._files.sweep()
        self._checked = {}  # digest: time of modification and size of a file with a right checksum
        # the size of the folder when it was last measured, and the bytes written since
        self._tracked_size_bytes = 0 if max_size_bytes is None else self._measure()
        self._unmeasured_size_bytes = 0

    def __repr__(self):
        return f"<FileStreamProgramCache {self._root!r}>"

    def __getitem__(self, key: Key) -> bytes:
        digest = _digest(key)
        content, _ = self._files.read(digest)
        image = None if content is None else split(digest, content)[0]
        self._counted.count("misses" if image is None else "hits")
        if image is None:
            raise KeyError(key)
        return image

    def __setitem__(self, key: Key, value: Value) -> None:
        self._put(_digest(key), plain_content(image_bytes(value)))

    def __delitem__(self, key: Key) -> None:
        digest = _digest(key)
        size = self._files.remove(digest)
        if size is None:
            raise KeyError(key)
        self._earlier.remove(digest)
        self._grow(-size)

    def __len__(self) -> int:
        return self._files.count()

    def clear(self) -> None:
        """Remove all images.

        Host only. Images that other processes write during the call remain.
        """
        self._files.sweep()
        self._files.remove_all()
        self._earlier.remove_all()
        with self._counted.lock:
            self._tracked_size_bytes, self._unmeasured_size_bytes = self._measure(), 0

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
        self._files.sweep()
        return self._evict(max_size_bytes)

    def stats(self) -> dict[str, int]:
        """Return statistics of this object and the size of the folder.

        Host only.

        Returns
        -------
        dict of str to int
            ``hits``, ``misses``, ``writes``, ``evictions`` of this object; ``entries`` and
            ``bytes`` of the folder, including other processes' images.
        """
        sizes = [entry.size for entry in self._files.scan()]
        with self._counted.lock:
            return {**self._counted.counts, "entries": len(sizes), "bytes": sum(sizes)}

    def _measure(self):
        files = [*self._files.scan(), *self._files.temporary_files()]
        return sum(entry.size for entry in files)

    def _grow(self, size):
        with self._counted.lock:
            self._tracked_size_bytes = max(0, self._tracked_size_bytes + size)
            self._unmeasured_size_bytes += max(0, size)

    def _enforce(self):
        """Evict images if the folder may have exceeded the limit, also by other processes."""
        limit = self._max_size_bytes
        if limit is None or (
            self._tracked_size_bytes <= limit and self._unmeasured_size_bytes <= limit // 16
        ):
            return
        self._files.sweep()
        self._evict(self._max_size_bytes)

    def _evict(self, limit):
        entries = sorted(self._files.scan(), key=lambda e: (e.used, e.modified, e.path))
        total = sum(entry.size for entry in entries)
        total += sum(entry.size for entry in self._files.temporary_files())
        removed = 0
        for entry in entries:
            if total <= limit:
                break
            if entry.remove():
                self._earlier.remove("".join(entry.path.split(os.sep)[-2:]))
                total -= entry.size
                removed += 1
        with self._counted.lock:
            self._tracked_size_bytes, self._unmeasured_size_bytes = total, 0
        self._counted.count("evictions", removed)
        return removed

    def _put(self, digest, content):
        new, previous = self._files.write(digest, content)
        self._counted.count("writes")
        self._grow(new - previous)
        self._enforce()

    def _load_program(self, key, has_names):
        try:
            if access_methods(self) != _ACCESS:
                return super()._load_program(key, has_names)
            entry = self._read_program(_digest_of(key))
        except OSError:  # an unreadable file or folder, which `_store_program` reports
            entry = None
        counted = self._counted
        with counted.lock:
            counted.counts["misses" if entry is None else "hits"] += 1
        return entry

    def _read_program(self, digest):
        """Return the image, names and declarations of a compiled program, or None."""
        content, modified = self._files.read(digest)
        if content is None:
            return None
        state = modified, len(content)
        is_checked = self._checked.get(digest) == state
        image, program = split(digest, content, is_checked)
        if program is not None and not is_checked:
            self._note_checked(digest, state)
        if program is None and image is not None:
            program = self._earlier.read(digest, image)
            if program is not None:
                self._migrate(digest, image, program)
        return None if program is None else (image, *program)

    def _note_checked(self, digest, state):
        """Remember a file with a right checksum, so that later hits do not compute it again.

        A file of the last seconds may change without a new time, which has the resolution of the
        file system.
        """
        if state[0] < time.time_ns() - SETTLED_SECONDS * 10**9:
            if len(self._checked) >= MOST_CHECKED:
                self._checked.clear()
            self._checked[digest] = state

    def _migrate(self, digest, image, program):
        """Replace the two files of an earlier version; a read-only folder keeps them."""
        try:
            new, previous = self._files.write(digest, program_content(digest, image, *program))
            self._earlier.remove(digest)
        except OSError:
            return
        self._grow(new - previous)

    def _store_program(self, key, code, names, declarations):
        try:
            if access_methods(self) != _ACCESS:
                super()._store_program(key, code, names, declarations)
            else:
                digest = _digest(key)
                content = program_content(digest, image_bytes(code), names, declarations)
                self._put(digest, content)
        except OSError as error:
            warnings.warn(
                f"Program.compile() returns its result, but {self!r} could not store it: {error}; "
                "the next compilation repeats the work. Free disk space, or check the folder",
                RuntimeWarning,
                stacklevel=2,
            )


@functools.lru_cache(maxsize=256)
def _digest_of(key):
    return sha256(key).hexdigest()


def _digest(key):
    return _digest_of(key_bytes(key))


_ACCESS = access_methods_of(FileStreamProgramCache)
FileStreamProgramCache.__module__ = "cuda.core.utils"

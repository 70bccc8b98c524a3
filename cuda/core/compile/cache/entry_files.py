# SPDX-License-Identifier: Apache-2.0
"""The files of a cache folder: written atomically, and read only if their owner is trusted.

``entries/<2 hex>/<62 hex>`` are entries, named by the SHA-256 of their keys. ``tmp/`` has the files
being written. Processes use a folder concurrently, and any of them may terminate at any point.
"""

import errno
import os
import stat
import time
from collections import namedtuple

from cuda.core._compile import read_trusted_file

STALE_SECONDS = 3600  # the writer of an older temporary file has terminated
ATTEMPTS = 50  # other processes may remove a folder between two steps of a write
_DIGITS = "0123456789abcdef"

# Errors for files of another user or in a read-only folder, which are not removed.
_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS)

# Windows errors: another process has the file open, so it cannot be replaced.
_HELD_OPEN = (5, 32, 33)
_RETRY_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1)


class Entry(namedtuple("Entry", ("path", "inode", "size", "modified", "used"))):
    """The state of a file when it was listed."""

    __slots__ = ()

    @classmethod
    def of(cls, path, status):
        return cls(path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_atime_ns)

    def is_unchanged(self):
        current = Entry.of(self.path, os.lstat(self.path))
        expected = (self.inode, self.size, self.modified)
        return (current.inode, current.size, current.modified) == expected

    def remove(self):
        """Remove the file unless it was replaced; return whether it no longer exists."""
        try:
            if not self.is_unchanged():
                return False
            os.unlink(self.path)
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno not in _NOT_OURS:
                raise
            return False
        return True


class EntryFiles:
    """A folder of files named by digest, below the root of a cache."""

    def __init__(self, root, name, uses):
        self.root = root
        self.folder = os.path.join(root, name)
        self.temporary = os.path.join(root, "tmp")
        self._uses = uses
        self._prefix = os.path.join(self.folder, "")

    def path(self, digest):
        return f"{self._prefix}{digest[:2]}{os.sep}{digest[2:]}"

    def create(self):
        """Create missing folders; accept a read-only root for reading."""
        os.makedirs(self.folder, exist_ok=True)
        try:
            os.makedirs(self.temporary, mode=0o700, exist_ok=True)
        except OSError as error:
            if error.errno not in _NOT_OURS:
                raise

    def read(self, digest):
        """Return the content and the time of its modification.

        The content is None for a missing or untrusted file. A read updates the time by which unused
        files are evicted.
        """
        path = f"{self._prefix}{digest[:2]}{os.sep}{digest[2:]}"
        try:
            file = read_trusted_file(path, self.root, self._uses.latest())
        except FileNotFoundError:
            return None, 0
        except OSError:
            if not _is_file(path):  # a link or a folder
                return None, 0
            raise
        if file is None:
            return None, 0
        content, number, used, modified = file
        if number >= 0:
            try:
                self._mark_used(number, used, modified)
            finally:
                os.close(number)
        return content, modified

    def write(self, digest, content):
        """Create or replace a file; return the sizes of the new and the previous content.

        A failure preserves the previous file and leaves no temporary file.
        """
        path = self.path(digest)
        for _ in range(ATTEMPTS - 1):
            try:
                return self._write_once(path, content)
            except FileNotFoundError:
                continue
        return self._write_once(path, content)

    def remove(self, digest):
        """Remove a file; return its size, or None if it does not exist."""
        path = self.path(digest)
        try:
            size = os.lstat(path).st_size
            os.unlink(path)
        except FileNotFoundError:
            return None
        return size

    def scan(self):
        """Yield an `Entry` for each file of the cache; ignore foreign files."""
        for group in _entries_of(self.folder):
            if _is_digest(group.name, 2) and group.is_dir(follow_symlinks=False):
                for file in _entries_of(group.path):
                    if _is_digest(file.name, 62) and (status := _regular_status(file)):
                        yield Entry.of(file.path, status)

    def count(self):
        return sum(1 for _ in self.scan())

    def remove_all(self):
        """Remove the files that exist at the time of the call, and empty groups."""
        for entry in list(self.scan()):
            entry.remove()
        for group in _entries_of(self.folder):
            if _is_digest(group.name, 2):
                try:
                    os.rmdir(group.path)
                except OSError:  # another process added a file
                    continue

    def temporary_files(self):
        """Yield an `Entry` for each file being written or left by a terminated writer."""
        for file in _entries_of(self.temporary):
            if status := _regular_status(file):
                yield Entry.of(file.path, status)

    def sweep(self):
        """Remove temporary files whose writers have terminated."""
        for file in self.temporary_files():
            if is_stale(file):
                file.remove()

    def _mark_used(self, number, used, modified):
        """Set the access time, which many file systems do not update; ignore failures."""
        try:
            os.utime(number, ns=(self._uses.next(used), modified))
        except OSError:  # a file of another user, or a read-only file system
            return

    def _write_once(self, path, content):
        import tempfile  # takes 4 ms, and a hit does not need it

        _make_folder(self.temporary, 0o700)
        number, temporary = tempfile.mkstemp(prefix="entry-", dir=self.temporary)
        try:
            with open(number, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(number)
                status = os.fstat(number)
            os.utime(temporary, ns=(self._uses.next(), status.st_mtime_ns))
            _make_folder(os.path.dirname(path))
            previous = _size_of(path)
            if not _replace(temporary, path):
                os.unlink(temporary)
                return 0, 0
        except BaseException:
            _unlink_if_there(temporary)
            raise
        return len(content), previous


class UseClock:
    """Monotonic times, which preserve the order of uses if the clock is set back."""

    def __init__(self):
        self._last = 0

    def next(self, known=0):
        self._last = max(time.time_ns(), self._last + 1, min(known, _latest()) + 1)
        return self._last

    def latest(self):
        """Return the last use here if it is less than a second ago, or 0.

        Another time of that file would not change the order of this process's uses.
        """
        return self._last if time.time_ns() - self._last < 10**9 else 0


def _is_digest(name, length):
    """Return whether a name has `length` hexadecimal digits."""
    return len(name) == length and not name.strip(_DIGITS)


def is_stale(file):
    """Return whether the writer of a file must have finished or terminated."""
    return file.modified < time.time_ns() - STALE_SECONDS * 10**9


def _latest():
    """Return the latest plausible file time; later times stem from a wrong clock."""
    return time.time_ns() + 24 * 3600 * 10**9


def _make_folder(path, mode=0o777):
    """Create a folder and its parents; other processes may create or remove them."""
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        raise  # the caller restarts the write


def _replace(temporary, path):
    """Move a file to its place; return False if Windows keeps rejecting it."""
    for seconds in (*_RETRY_SECONDS, None):
        try:
            os.replace(temporary, path)
            return True
        except PermissionError as error:
            held_open = getattr(error, "winerror", None) or 5
            if os.name != "nt" or held_open not in _HELD_OPEN:
                raise
        if seconds is not None:
            time.sleep(seconds)
    return False


def _entries_of(folder):
    """Return a list of a folder's entries; an empty list if it does not exist."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _regular_status(file):
    try:
        status = file.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _is_file(path):
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except FileNotFoundError:
        return False


def _size_of(path):
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return 0


def _unlink_if_there(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        return

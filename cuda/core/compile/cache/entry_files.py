# SPDX-License-Identifier: Apache-2.0
"""The files of a cache folder: written whole or not at all, read only where they can be trusted.

``entries/<2 hex>/<62 hex>`` are the images, named by the SHA-256 of their keys; ``symbols/`` has
the same names for what goes with them; ``tmp/`` has what is being written. Any number of processes
work on a folder at once, and any of them may end at any point.
"""

import errno
import os
import re
import stat
import tempfile
import time
from dataclasses import dataclass

STALE_SECONDS = 3600  # a temporary file of that age has no writer any more
ATTEMPTS = 50  # others may remove a folder between two steps of a write
_NAME = re.compile("[0-9a-f]{62}")
_GROUP = re.compile("[0-9a-f]{2}")

# Not followed where it is a link, and not waited for where it is a pipe.
_READING = (
    os.O_RDONLY
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)
_BY_NUMBER = os.utime in os.supports_fd

# Of another user, or in a folder that is read-only: it stays, and nothing is wrong with that.
_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS)

# Another process has the file open: Windows alone refuses to replace it then.
_HELD_OPEN = (5, 32, 33)
_RETRY_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1)


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it was when it was seen."""

    path: str
    inode: int
    size: int
    modified: int
    used: int

    @classmethod
    def of(cls, path, status):
        return cls(path, status.st_ino, status.st_size, status.st_mtime_ns, status.st_atime_ns)

    def is_unchanged(self):
        try:
            now = Entry.of(self.path, os.lstat(self.path))
        except FileNotFoundError:
            return False
        return (now.inode, now.size, now.modified) == (self.inode, self.size, self.modified)

    def remove(self):
        """Remove the file unless another one has its name by now; whether this one is gone."""
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
    """One folder of files by digest, below the root of a cache."""

    def __init__(self, root, name, uses):
        self.root = root
        self.folder = os.path.join(root, name)
        self.temporary = os.path.join(root, "tmp")
        self._uses = uses

    def path(self, digest):
        return os.path.join(self.folder, digest[:2], digest[2:])

    def create(self):
        """Make the folders that are missing; one that is read-only is read as it is."""
        os.makedirs(self.folder, exist_ok=True)
        try:
            os.makedirs(self.temporary, mode=0o700, exist_ok=True)
        except OSError as error:
            if error.errno not in _NOT_OURS:
                raise

    def read(self, digest, is_use=True):
        """The content, or None: where there is none, and where somebody else has put it there.

        A use keeps the file from being removed for want of one.
        """
        path = self.path(digest)
        try:
            number = os.open(path, _READING)
        except FileNotFoundError:
            return None
        except OSError:
            if not _is_file(path):  # a link or a folder
                return None
            raise
        try:
            status = os.fstat(number)
            if not stat.S_ISREG(status.st_mode) or not self._is_trusted(status):
                return None
            content = _read_all(number, status.st_size)
            if is_use:
                self._mark_used(number, path, status)
        finally:
            os.close(number)
        return content

    def write(self, digest, content, is_durable=True):
        """Put a file there, in place of another; the sizes of the new one and of that before.

        A failure leaves the old one, and no temporary file.
        """
        path = self.path(digest)
        for attempt in range(ATTEMPTS):
            try:
                return self._write_once(path, content, is_durable)
            except FileNotFoundError:
                if attempt == ATTEMPTS - 1:
                    raise
        return None

    def remove(self, digest):
        """Remove a file; its size, or None where there is none."""
        path = self.path(digest)
        try:
            size = os.lstat(path).st_size
            os.unlink(path)
        except FileNotFoundError:
            return None
        return size

    def scan(self):
        """An `Entry` for each file. What else lies in the folder is none of ours."""
        for group in _entries_of(self.folder):
            if _GROUP.fullmatch(group.name) and group.is_dir(follow_symlinks=False):
                for file in _entries_of(group.path):
                    if _NAME.fullmatch(file.name) and (status := _regular_status(file)):
                        yield Entry.of(file.path, status)

    def count(self):
        return sum(1 for _ in self.scan())

    def remove_empty_groups(self):
        for group in _entries_of(self.folder):
            if _GROUP.fullmatch(group.name):
                try:
                    os.rmdir(group.path)
                except OSError:  # another process has put a file there
                    continue

    def temporary_files(self):
        """An `Entry` for each file that is being written, or was when its writer ended."""
        for file in _entries_of(self.temporary):
            if status := _regular_status(file):
                yield Entry.of(file.path, status)

    def sweep(self):
        """Remove temporary files that are so old that nobody writes them any more."""
        for file in self.temporary_files():
            if is_stale(file):
                file.remove()

    def _is_trusted(self, status):
        """Whether the file is of this user, the system's, or of whoever owns the folder."""
        if not hasattr(os, "geteuid"):
            return True
        return status.st_uid in (os.geteuid(), 0) or status.st_uid == os.stat(self.root).st_uid

    def _mark_used(self, number, path, status):
        """Note the use in the access time, which many file systems do not keep; best effort."""
        times = (self._uses.next(status.st_atime_ns), status.st_mtime_ns)
        try:
            if _BY_NUMBER:
                os.utime(number, ns=times)
            elif Entry.of(path, status).is_unchanged():
                os.utime(path, ns=times)
        except OSError:  # a file of another user, a file system that is read-only
            return

    def _write_once(self, path, content, is_durable):
        _make_folder(self.temporary, 0o700)
        number, temporary = tempfile.mkstemp(prefix="entry-", dir=self.temporary)
        try:
            with open(number, "wb") as file:
                file.write(content)
                file.flush()
                if is_durable:
                    os.fsync(number)
                status = os.fstat(number)
            os.utime(temporary, ns=(self._uses.next(), status.st_mtime_ns))
            _make_folder(os.path.dirname(path))
            before = _size_of(path)
            if not _replace(temporary, path):
                os.unlink(temporary)
                return 0, 0
        except BaseException:
            _unlink_if_there(temporary)
            raise
        return len(content), before


class UseClock:
    """Times that only grow, so that the order of uses holds when the clock is set back."""

    def __init__(self):
        self._last = 0

    def next(self, known=0):
        self._last = max(time.time_ns(), self._last + 1, min(known, _latest()) + 1)
        return self._last


def is_stale(file):
    """Whether a file is so old that whoever wrote it has ended or gone on."""
    return file.modified < time.time_ns() - STALE_SECONDS * 10**9


def _latest():
    """A time that a file may have: one of tomorrow is of a clock that was wrong."""
    return time.time_ns() + 24 * 3600 * 10**9


def _make_folder(path, mode=0o777):
    """Make a folder and those above it. Others may make it, or remove it, at the same time."""
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        return
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        raise  # the write begins again


def _read_all(number, expected):
    parts = []
    while part := os.read(number, max(expected, 4096)):
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _replace(temporary, path):
    """Move a file to its place; False where Windows goes on refusing it."""
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
    """What a folder has; nothing where there is none. A list: it may change meanwhile."""
    try:
        with os.scandir(folder) as found:
            return list(found)
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

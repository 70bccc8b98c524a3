# SPDX-License-Identifier: Apache-2.0
"""The file of an allocation log: whole lines, in the order of the calls, of one process."""

import atexit
import os
import sys
import threading
from collections import deque, namedtuple
from weakref import WeakSet

KEPT_LINES = 512


class AllocationEvent(namedtuple("AllocationEvent", "time_ns thread action address size stream")):
    """One call of a resource, as a log has it.

    Host only. ``str(event)`` is its line.

    Parameters
    ----------
    time_ns : int
        Since 1970.
    thread : int
        The identifier that the operating system gives the calling thread.
    action : str
        ``allocate``, ``free`` or ``fail``.
    address : int
        0 for an allocation that failed.
    size : int
        In bytes, as it was asked for.
    stream : int
        The address of the stream, as in `Stream.handle`; 0 for none.
    """

    __slots__ = ()

    def __str__(self):
        return (
            f"{self.time_ns},{self.thread},{self.action},{self.address:#x},{self.size},"
            f"{self.stream:#x}"
        )


HEADER = ",".join(AllocationEvent._fields)
_open_files = WeakSet()


class LogFile:
    """Lines on their way to a file."""

    def __init__(self, path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self._path = path
        self._descriptor = os.open(path, flags, 0o666)
        self._lines = deque([HEADER])
        self._rest = b""  # of a line that was written in part
        self._limit = KEPT_LINES
        self._is_writing = False
        self._lock = threading.RLock()
        try:
            self.flush()
        except BaseException:
            self._give_up()
            raise
        _open_files.add(self)

    def write(self, event):
        """Keep a line, and write all that are kept once they are many. Host only."""
        self._lines.append(str(event))
        # Without waiting: the collector may have called this in the middle of anything. Whoever
        # is writing writes this line too, or the next call does.
        if len(self._lines) >= self._limit and self._lock.acquire(blocking=False):
            try:
                self._write_lines()
            finally:
                self._lock.release()

    def flush(self):
        """Write all that is kept, in order. Host only."""
        with self._lock:
            self._write_lines()

    def _write_lines(self):
        if self._is_writing:  # on this thread, which goes on with that
            return
        self._is_writing = True
        try:
            while self._descriptor >= 0 and (self._rest or self._lines):
                self._write_some()
        finally:
            self._is_writing = False

    def _write_some(self):
        lines = []
        while self._lines and len(lines) < KEPT_LINES:
            lines.append(self._lines.popleft())
        self._rest += "".join([f"{line}\n" for line in lines]).encode()
        written = os.write(self._descriptor, self._rest)
        self._rest = self._rest[written:]

    def write_at_once(self):
        """From here on nothing is kept: the process is about to end. Host only."""
        self._limit = 1
        self._report_failure(self.flush)

    def _report_failure(self, last_call):
        """For a call that nobody waits for."""
        try:
            last_call()
        except OSError as error:
            if sys.stderr is not None:
                print(f"halfwarp: the log {self._path} is not whole: {error}", file=sys.stderr)

    def close(self):
        """Write what is kept, and end the log. Host only."""
        try:
            self.flush()
        finally:
            self._give_up()

    def _give_up(self):
        with self._lock:
            descriptor, self._descriptor = self._descriptor, -1
            self._lines.clear()
        if descriptor >= 0:
            os.close(descriptor)

    def leave_to_parent(self):
        """In the child of a fork: the log is the parent's. Host only."""
        self._lock = threading.RLock()
        self._is_writing = False
        self._rest = b""
        self._give_up()

    def __del__(self):
        # Only an object that was never finished lacks the descriptor.
        if getattr(self, "_descriptor", -1) >= 0:
            self._report_failure(self.close)


@atexit.register
def _write_all():
    """What is freed after this, by other functions of `atexit`, is written line by line."""
    for file in list(_open_files):
        file.write_at_once()


def _after_fork():
    for file in _open_files:
        file.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

# SPDX-License-Identifier: Apache-2.0
"""The file of an allocation log: complete lines in call order, written by one process."""

import atexit
import os
import sys
import threading
from collections import deque, namedtuple
from weakref import WeakSet

BUFFERED_LINES = 512


class AllocationEvent(namedtuple("AllocationEvent", "time_ns thread action address size stream")):
    """A record of the log: one call of a resource.

    Host only. ``str(event)`` is the line of the log.

    Parameters
    ----------
    time_ns : int
        Nanoseconds since 1970.
    thread : int
        Thread id of the calling thread in the operating system.
    action : str
        ``allocate``, ``free`` or ``fail``.
    address : int
        Address of the memory; 0 for a failed allocation.
    size : int
        Requested size in bytes.
    stream : int
        Address of the stream, as in `Stream.handle`; 0 for none.
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
    """A log file with buffered lines."""

    def __init__(self, path):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)
        self._path = path
        self._descriptor = os.open(path, flags, 0o666)
        self._lines = deque([HEADER])
        self._unwritten = b""  # unwritten bytes of the last write
        self._limit = BUFFERED_LINES
        self._is_writing = False
        self._lock = threading.RLock()
        try:
            self.flush()
        except BaseException:
            self._discard()
            raise
        _open_files.add(self)

    def write(self, event):
        """Buffer a line; write the buffered lines once there are many. Host only."""
        self._lines.append(str(event))
        # Never blocks, since the collector may call this during any code. The thread that holds the
        # lock, or the next call, writes this line.
        if len(self._lines) >= self._limit and self._lock.acquire(blocking=False):
            try:
                self._write_lines()
            finally:
                self._lock.release()

    def flush(self):
        """Write all buffered lines, in order. Host only."""
        with self._lock:
            self._write_lines()

    def _write_lines(self):
        if self._is_writing:  # a call further up the stack of this thread continues
            return
        self._is_writing = True
        try:
            while self._descriptor >= 0 and (self._unwritten or self._lines):
                self._write_some()
        finally:
            self._is_writing = False

    def _write_some(self):
        lines = []
        while self._lines and len(lines) < BUFFERED_LINES:
            lines.append(self._lines.popleft())
        self._unwritten += "".join([f"{line}\n" for line in lines]).encode()
        written = os.write(self._descriptor, self._unwritten)
        self._unwritten = self._unwritten[written:]

    def write_at_once(self):
        """Stop buffering, since the process is about to exit. Host only."""
        self._limit = 1
        self._report_failure(self.flush)

    def _report_failure(self, last_call):
        """Run a call and report its OSError, since it has no caller that could handle it."""
        try:
            last_call()
        except OSError as error:
            if sys.stderr is not None:
                print(f"halfwarp: the log {self._path} is incomplete: {error}", file=sys.stderr)

    def close(self):
        """Write the buffered lines and close the file. Host only."""
        try:
            self.flush()
        finally:
            self._discard()

    def _discard(self):
        with self._lock:
            descriptor, self._descriptor = self._descriptor, -1
            self._lines.clear()
        if descriptor >= 0:
            os.close(descriptor)

    def detach_in_child(self):
        """Detach from the file in a forked child process: the parent owns it. Host only."""
        self._lock = threading.RLock()
        self._is_writing = False
        self._unwritten = b""
        self._discard()

    def __del__(self):
        # An object whose __init__ failed may lack the descriptor.
        if getattr(self, "_descriptor", -1) >= 0:
            self._report_failure(self.close)


@atexit.register
def _write_all():
    """Flush all logs; later frees, by other `atexit` functions, are written immediately."""
    for file in list(_open_files):
        file.write_at_once()


def _after_fork():
    for file in _open_files:
        file.detach_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

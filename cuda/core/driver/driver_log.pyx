# SPDX-License-Identifier: Apache-2.0
# The driver's own log of errors: what it said of a call that failed becomes a note of the
# exception. It is read after a failure only; nobody listens in between.

from cpython.exc cimport PyErr_Clear

from cuda.bindings.cydriver cimport CUlogIterator

import re
import threading

cdef enum:
    LOG_BYTES = 25600  # the most that a driver keeps
    MOST_THREADS = 64  # whose lines are kept until they ask

cdef CUlogIterator log_position = 0
cdef bint log_was_read = False
cdef bint log_is_off = False  # in the child of a fork, and while the process ends

# [12:46:23.854][137216133754880][CUDA][E] text: time, thread, source, severity
LOG_LINE = re.compile(r"^\[[^\]]*\]\[(\d+)\]\[[^\]]*\]\[[^\]]*\]\s*(.*)$")
# What each failure ends with: Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree
LOG_END = re.compile(r"^Returning \d+ \((\w+)\)")

# The position in the log is one for all threads: who reads keeps what is of others.
cdef object log_lock = threading.Lock()
cdef dict unread_lines = {}


cdef int stop_reading_the_log() except -1:
    global log_is_off
    log_is_off = True
    return 0


cdef str read_driver_log():
    """What the driver wrote since this was last asked; empty for one that writes nothing."""
    global log_position, log_was_read
    cdef char[LOG_BYTES + 1] text
    cdef size_t size = LOG_BYTES
    cdef CUresult code
    cdef CUlogIterator position = log_position
    cdef bint is_known = log_was_read
    with nogil:  # another thread may be writing there
        code = try_call(driver.cuLogsDumpToMemory, &position if is_known else NULL, text, &size, 0)
        if code == CUDA_SUCCESS and not is_known:
            is_known = try_call(driver.cuLogsCurrent, &position, 0) == CUDA_SUCCESS
    if code == CUDA_SUCCESS:
        log_position, log_was_read = position, is_known
    PyErr_Clear()  # that of the loader, of a driver before CUDA 12.9
    if code != CUDA_SUCCESS or size == 0 or size > LOG_BYTES:
        return ""
    return text[:size].decode("utf-8", "backslashreplace")


def _lines_of(str text, thread):
    """The lines of a thread: of what was read now, and by other threads before. Host only."""
    for line in text.splitlines():
        parts = LOG_LINE.match(line)
        if parts is not None and parts[2]:
            unread_lines.setdefault(int(parts[1]), []).append(parts[2])
    mine = unread_lines.pop(thread, [])
    while len(unread_lines) > MOST_THREADS:
        unread_lines.pop(next(iter(unread_lines)))
    return mine


def _explaining_lines(lines, str known):
    """What the last failure added, if it is that of the error whose text is known. Host only.

    A line that repeats itself, or the text, is left out.
    """
    found, ends = [], 0
    for line in reversed(lines):
        end = LOG_END.match(line)
        if end is not None:
            ends += 1
            if ends > 1:
                break
            if not known.startswith(end[1]):  # of a call whose failure nobody asked about
                return []
        elif line not in known and line not in found:
            found.append(line)
    return found[::-1]


cdef int note_driver_log(object error, str known) except -1:
    if log_is_off or loader.backend() is NULL or is_finalizing():
        return 0
    with log_lock:
        mine = _lines_of(read_driver_log(), threading.get_ident())
    lines = _explaining_lines(mine, known)
    if lines:
        error.add_note("\n".join(["the driver's log says:", *lines]))
    return 0

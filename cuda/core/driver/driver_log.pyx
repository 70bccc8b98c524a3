# SPDX-License-Identifier: Apache-2.0
# The driver's error log. The lines about a failed call become a note of its exception. The log is
# read only after a failure.

from cpython.exc cimport PyErr_Clear

from cuda.bindings.cydriver cimport CUlogIterator

from _thread import allocate_lock, get_ident

cdef enum:
    LOG_BYTES = 25600  # size limit of the driver's log
    MOST_THREADS = 64  # limit of threads with stored unread lines

cdef CUlogIterator log_position = 0
cdef bint log_was_read = False
cdef bint log_is_off = False  # True in a forked child process and during process exit

# [12:46:23.854][137216133754880][CUDA][E] text: time, thread, source, severity
LOG_LINE = r"^\[[^\]]*\]\[(\d+)\]\[[^\]]*\]\[[^\]]*\]\s*(.*)$"
# Last line of each failure: Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemFree
LOG_END = r"^Returning \d+ \((\w+)\)"

# All threads share the position in the log, so a reader stores the lines of other threads.
cdef object log_lock = allocate_lock()
cdef dict unread_lines = {}


cdef int stop_reading_the_log() except -1:
    global log_is_off
    log_is_off = True


cdef str read_driver_log():
    """Return the text logged since the last call; empty if the driver has no log."""
    global log_position, log_was_read
    cdef char[LOG_BYTES + 1] text
    cdef size_t size = LOG_BYTES
    cdef CUresult code
    cdef CUlogIterator position = log_position
    cdef bint is_known = log_was_read
    with nogil:  # the driver may block on another thread that logs
        code = try_call(driver.cuLogsDumpToMemory, &position if is_known else NULL, text, &size, 0)
        if code == CUDA_SUCCESS and not is_known:
            is_known = try_call(driver.cuLogsCurrent, &position, 0) == CUDA_SUCCESS
    if code == CUDA_SUCCESS:
        log_position, log_was_read = position, is_known
    PyErr_Clear()  # the loader raises for drivers before CUDA 12.9
    if code != CUDA_SUCCESS or size == 0 or size > LOG_BYTES:
        return ""
    return text[:size].decode("utf-8", "backslashreplace")


def _lines_of(str text, thread):
    """Return the lines of a thread from `text` and from earlier reads. Host only."""
    import re  # takes 6 ms with `enum`

    for line in text.splitlines():
        parts = re.match(LOG_LINE, line)
        if parts is not None and parts[2]:
            unread_lines.setdefault(int(parts[1]), []).append(parts[2])
    own_lines = unread_lines.pop(thread, [])
    while len(unread_lines) > MOST_THREADS:
        unread_lines.pop(next(iter(unread_lines)))
    return own_lines


def _explaining_lines(lines, str error_text):
    """Return the lines of the last failure if it is the failure of the error text. Host only.

    Omits repeated lines and lines that the error text contains.
    """
    import re

    explaining, ends = [], 0
    for line in reversed(lines):
        end = re.match(LOG_END, line)
        if end is not None:
            ends += 1
            if ends > 1:
                break
            if not error_text.startswith(end[1]):  # the failure of another call
                return []
        elif line not in error_text and line not in explaining:
            explaining.append(line)
    return explaining[::-1]


cdef void note_driver_log(object error, str error_text) except *:
    if log_is_off or loader.backend() is NULL or is_finalizing():
        return
    with log_lock:
        own_lines = _lines_of(read_driver_log(), get_ident())
    lines = _explaining_lines(own_lines, error_text)
    if lines:
        error.add_note("\n".join(["the driver's log:", *lines]))

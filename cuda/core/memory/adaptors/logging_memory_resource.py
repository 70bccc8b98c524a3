# SPDX-License-Identifier: Apache-2.0
"""LoggingMemoryResource: writes each call down, for `halfwarp replay`."""

import os
from threading import get_native_id
from time import time_ns

from cuda.core.memory.adaptors.adaptor import MemoryResourceAdaptor, handle_of
from cuda.core.memory.adaptors.log_file import AllocationEvent, LogFile


class LoggingMemoryResource(MemoryResourceAdaptor):
    """Writes down each call of another resource.

    Host only. A log is CSV: ``time_ns,thread,action,address,size,stream``, one line a call, in the
    order of the calls. ``action`` is ``allocate``, ``free``, or ``fail`` for an allocation that
    raised. Lines are kept for a while; `flush`, `close` and the end of the process write them.
    ``halfwarp replay`` makes the same calls again.

    Parameters
    ----------
    mr : MemoryResource
        The resource that the memory comes from.
    path_or_callable : path or callable
        The file, which begins anew, or a function that is called with each `AllocationEvent`, a
        named tuple of the fields above. What it raises at an allocation goes to the caller, and
        the memory goes back.

    Raises
    ------
    OSError
        If the file cannot be written.
    """

    def __init__(self, mr, path_or_callable):
        super().__init__(mr)
        is_function = callable(path_or_callable)
        self._file = None if is_function else LogFile(os.fspath(path_or_callable))
        self._write = path_or_callable if is_function else self._file.write

    def flush(self):
        """Write the lines that are kept. Host only.

        Raises
        ------
        OSError
            If the file cannot be written; the lines are kept.
        """
        if self._file is not None:
            self._file.flush()

    def close(self):
        """Refuse allocations from here on, and end the log. Host only.

        Buffers stay valid, and go back as before, which is not logged.

        Raises
        ------
        OSError
            If the last lines cannot be written; the resource is closed all the same.
        """
        super().close()
        if self._file is not None:
            self._file.close()

    def _log(self, action, address, size, stream):
        self._write(AllocationEvent(time_ns(), get_native_id(), action, address, size, stream))

    def _take(self, size, stream):
        try:
            taken = super()._take(size, stream)
        except Exception as error:
            try:
                self._log("fail", 0, size, handle_of(stream))
            except Exception as problem:
                error.add_note(f"and the log could not be written: {problem}")
            raise
        taken.stream_handle = handle_of(stream)  # which is gone when the stream is closed
        try:
            self._log("allocate", taken.address, size, taken.stream_handle)
        except BaseException:
            self._release(taken, stream)
            raise
        return taken

    def _release(self, taken, stream):
        """First the line, so that nobody else's for the same address comes before it."""
        handle = taken.stream_handle if stream is taken.stream else handle_of(stream)
        try:
            self._log("free", taken.address, taken.asked, handle)
        finally:
            super()._release(taken, stream)

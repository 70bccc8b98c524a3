# SPDX-License-Identifier: Apache-2.0
"""LoggingMemoryResource: logs each call, for `halfwarp replay`."""

from __future__ import annotations

import os
from collections.abc import Callable
from os import PathLike
from threading import get_native_id
from time import time_ns
from typing import TYPE_CHECKING

from cuda.core.memory.adaptors.adaptor import MemoryResourceAdaptor, handle_of
from cuda.core.memory.adaptors.log_file import AllocationEvent, LogFile
from cuda.core.memory.adaptors.uninitialized import UninitializedMember

if TYPE_CHECKING:
    from cuda.core._core import MemoryResource


class LoggingMemoryResource(MemoryResourceAdaptor):
    """Logs each call of an upstream resource.

    Host only. A log is CSV: ``time_ns,thread,action,address,size,stream``, one line per call, in
    call order. ``action`` is ``allocate``, ``free``, or ``fail`` for an allocation that raised.
    Lines are buffered; `flush`, `close` and process exit write them. ``halfwarp replay`` repeats
    the calls.

    Parameters
    ----------
    mr : MemoryResource
        The upstream resource.
    path_or_callable : path or callable
        The file, which is overwritten, or a function that is called with each `AllocationEvent`, a
        named tuple of the fields above. An exception of the function at an allocation propagates to
        the caller, and the memory is freed.

    Raises
    ------
    OSError
        If the file cannot be written.
    """

    _file = _write = UninitializedMember()

    def __init__(
        self,
        mr: MemoryResource,
        path_or_callable: str | PathLike[str] | Callable[[AllocationEvent], object],
    ) -> None:
        super().__init__(mr)
        is_function = callable(path_or_callable)
        self._file = None if is_function else LogFile(os.fspath(path_or_callable))
        self._write = path_or_callable if is_function else self._file.write

    def flush(self) -> None:
        """Write the buffered lines. Host only.

        Raises
        ------
        OSError
            If the file cannot be written; the lines stay buffered.
        """
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """Reject further allocations and close the log. Host only.

        Buffers remain valid and are freed as before, which is not logged.

        Raises
        ------
        OSError
            If the last lines cannot be written; the resource is closed in any case.
        """
        super().close()
        if self._file is not None:
            self._file.close()

    def _log(self, action, address, size, stream):
        self._write(AllocationEvent(time_ns(), get_native_id(), action, address, size, stream))

    def _allocate_upstream(self, size, stream):
        try:
            allocation = super()._allocate_upstream(size, stream)
        except Exception as error:
            try:
                self._log("fail", 0, size, handle_of(stream))
            except Exception as problem:
                error.add_note(f"and the log could not be written: {problem}")
            raise
        allocation.stream_handle = handle_of(stream)  # a closed stream has no handle
        try:
            self._log("allocate", allocation.address, size, allocation.stream_handle)
        except BaseException:
            self._free_upstream(allocation, stream)
            raise
        return allocation

    def _free_upstream(self, allocation, stream):
        """Log before freeing, so that no later allocation at the address is logged first."""
        handle = allocation.stream_handle if stream is allocation.stream else handle_of(stream)
        try:
            self._log("free", allocation.address, allocation.requested, handle)
        finally:
            super()._free_upstream(allocation, stream)

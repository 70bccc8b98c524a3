# SPDX-License-Identifier: Apache-2.0
"""TrackingMemoryResource: knows where each allocation that is in use was made."""

from heapq import nlargest
from time import monotonic

from cuda.core._core import OutOfMemoryError
from cuda.core.memory import leak_report
from cuda.core.memory.adaptors.adaptor import MemoryResourceAdaptor, handle_of
from cuda.core.memory.leaks import LiveAllocation
from cuda.core.memory.stacks import format_stack, innermost, stack_here

LARGEST = 10  # records in an OutOfMemoryError


class TrackingMemoryResource(MemoryResourceAdaptor):
    """Knows of each allocation that is in use when, on which stream and where it was made.

    Host only. An OutOfMemoryError of the other resource gets the largest of them.

    Parameters
    ----------
    mr : MemoryResource
        The resource that the memory comes from.
    stacks : bool
        Whether the Python stack is recorded, which costs some microseconds each time.
    """

    def __init__(self, mr, *, stacks=True):
        super().__init__(mr)
        self._has_stacks = bool(stacks)
        leak_report.watch(self)

    def report_leaks(self):
        """What was given out and has not come back, the oldest first.

        Host only.

        Returns
        -------
        list of LiveAllocation
            Named tuples (address, size, stream, age, traceback): sizes in bytes, ages in seconds.
        """
        return [record_of(taken) for taken in sorted(self._ledger.entries(), key=lambda t: t.time)]

    def _take(self, size, stream):
        try:
            taken = super()._take(size, stream)
        except OutOfMemoryError as error:
            self._explain(error)
            raise
        taken.time = monotonic()
        taken.stream_handle = handle_of(stream)
        if self._has_stacks:
            taken.stack = stack_here()
        return taken

    def _explain(self, error):
        """Say in an error that comes from below what the memory is used for."""
        if error.largest_allocations:
            return
        largest = nlargest(LARGEST, self._ledger.entries(), key=lambda taken: taken.size)
        error.largest_allocations = [record_of(taken) for taken in largest]
        if largest:
            lines = [f"{t.size} bytes{innermost(t.stack)}" for t in largest]
            listed = "\n  ".join(["the largest allocations in use:", *lines])
            error.args = (f"{error}\n{listed}", *error.args[1:])


def record_of(taken):
    """The record of the leak report."""
    lines = None if taken.stack is None else format_stack(taken.stack)
    age = monotonic() - taken.time
    return LiveAllocation(taken.address, taken.asked, taken.stream_handle, age, lines)

# SPDX-License-Identifier: Apache-2.0
"""TrackingMemoryResource: records the time, stream and stack of each allocation in use."""

from __future__ import annotations

from heapq import nlargest
from time import monotonic
from typing import TYPE_CHECKING

from cuda.core._core import OutOfMemoryError
from cuda.core.memory import leak_report
from cuda.core.memory.adaptors.adaptor import MemoryResourceAdaptor, handle_of
from cuda.core.memory.adaptors.uninitialized import UninitializedMember
from cuda.core.memory.leaks import LiveAllocation
from cuda.core.memory.stacks import format_stack, innermost, stack_here

if TYPE_CHECKING:
    from cuda.core._core import MemoryResource

LARGEST = 10  # records in an OutOfMemoryError


class TrackingMemoryResource(MemoryResourceAdaptor):
    """Records the time, stream and Python stack of each allocation in use.

    Host only. An OutOfMemoryError of the upstream resource lists the largest allocations.

    Parameters
    ----------
    mr : MemoryResource
        The upstream resource.
    stacks : bool
        Whether to record the Python stack, which costs some microseconds per allocation.
    """

    _has_stacks = UninitializedMember()

    def __init__(self, mr: MemoryResource, *, stacks: bool = True) -> None:
        super().__init__(mr)
        self._has_stacks = bool(stacks)
        leak_report.watch(self)

    def report_leaks(self) -> list[LiveAllocation]:
        """Return the allocations in use, the oldest first.

        Host only.

        Returns
        -------
        list of LiveAllocation
            Named tuples (address, size, stream, age, traceback): sizes in bytes, ages in seconds.
        """
        entries = sorted(self._ledger.entries(), key=lambda allocation: allocation.time)
        return [record_of(allocation) for allocation in entries]

    def _allocate_upstream(self, size, stream):
        try:
            allocation = super()._allocate_upstream(size, stream)
        except OutOfMemoryError as error:
            self._explain(error)
            raise
        allocation.time = monotonic()
        allocation.stream_handle = handle_of(stream)
        if self._has_stacks:
            allocation.stack = stack_here()
        return allocation

    def _explain(self, error):
        """Add the largest allocations in use to an error of the upstream resource."""
        if error.largest_allocations:
            return
        largest = nlargest(LARGEST, self._ledger.entries(), key=lambda allocation: allocation.size)
        error.largest_allocations = [record_of(allocation) for allocation in largest]
        if largest:
            lines = [f"{t.size} bytes{innermost(t.stack)}" for t in largest]
            listed = "\n  ".join(["the largest allocations in use:", *lines])
            error.args = (f"{error}\n{listed}", *error.args[1:])


def record_of(allocation):
    """Return the record of an allocation for the leak report."""
    lines = None if allocation.stack is None else format_stack(allocation.stack)
    age = monotonic() - allocation.time
    address, stream = allocation.address, allocation.stream_handle
    return LiveAllocation(address, allocation.requested, stream, age, lines)

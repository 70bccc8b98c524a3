# SPDX-License-Identifier: Apache-2.0
"""LiveAllocation: a record of an allocation that has not been freed."""

from collections import namedtuple


class LiveAllocation(namedtuple("LiveAllocation", "address size stream age traceback")):
    """An allocation in use, as `report_leaks` and `OutOfMemoryError` list it.

    Host only.

    Parameters
    ----------
    address : int
        Address of the first byte.
    size : int
        Requested size in bytes.
    stream : int
        Address of the stream of the allocation, as in `Stream.handle`.
    age : float
        Seconds since the allocation.
    traceback : list of str or None
        Python stack of the allocation, as `traceback.format_list` formats it; None if stacks are
        not recorded.
    """

    __slots__ = ()

    def __str__(self):
        text = (
            f"{self.size} bytes at {self.address:#x}, allocated on stream {self.stream:#x} "
            f"{self.age:.3f} s ago"
        )
        return text if self.traceback is None else f"{text}:\n{''.join(self.traceback)}".rstrip()

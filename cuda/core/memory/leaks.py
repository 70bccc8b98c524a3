# SPDX-License-Identifier: Apache-2.0
"""What is said of memory that was given out and not given back."""

from collections import namedtuple


class LiveAllocation(namedtuple("LiveAllocation", "address size stream age traceback")):
    """Memory that is in use, as `report_leaks` and `OutOfMemoryError` list it.

    Host only.

    Parameters
    ----------
    address : int
        Where it begins.
    size : int
        In bytes, as it was asked for.
    stream : int
        The address of the stream that it was allocated on, as in `Stream.handle`.
    age : float
        In seconds since it was allocated.
    traceback : list of str or None
        The Python stack of the allocation, as `traceback.format_list` writes it; None where stacks
        are not recorded.
    """

    __slots__ = ()

    def __str__(self):
        text = (
            f"{self.size} bytes at {self.address:#x}, allocated on stream {self.stream:#x} "
            f"{self.age:.3f} s ago"
        )
        return text if self.traceback is None else f"{text}:\n{''.join(self.traceback)}".rstrip()

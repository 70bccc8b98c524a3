# SPDX-License-Identifier: Apache-2.0
"""StatisticsMemoryResource: counts the allocations of an upstream resource."""

from cuda.core.memory.adaptors.adaptor import MemoryResourceAdaptor


class StatisticsMemoryResource(MemoryResourceAdaptor):
    """Counts the allocations of an upstream resource.

    Host only. `statistics` returns the counts.

    Parameters
    ----------
    mr : MemoryResource
        The upstream resource.
    """

    def reset_high_water_marks(self) -> None:
        """Reset ``allocated_bytes.peak`` to the current size. Host only."""
        self._ledger.reset_peak()

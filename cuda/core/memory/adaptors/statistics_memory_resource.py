# SPDX-License-Identifier: Apache-2.0
"""StatisticsMemoryResource: counts what comes from another resource."""

from cuda.core.memory.adaptors.adaptor import MemoryResourceAdaptor


class StatisticsMemoryResource(MemoryResourceAdaptor):
    """Counts what another resource gives out.

    Host only. `statistics` has the figures.

    Parameters
    ----------
    mr : MemoryResource
        The resource that the memory comes from.
    """

    def reset_high_water_marks(self):
        """Let ``allocated_bytes.peak`` start again from what is in use now. Host only."""
        self._ledger.reset_peak()

# SPDX-License-Identifier: Apache-2.0
# _Ledger: the allocations of a resource that are in use, with exact counts on any thread.


@cython.final
cdef class _Ledger:
    """The allocations in use and their totals.

    The garbage collector may free a buffer during any Python code, on a thread that holds any
    locks, so the ledger has no lock of its own. A method creates objects that the collector tracks
    only after it has made all its changes, so that no other call can interleave.
    """

    cdef dict by_address
    cdef list duplicates  # allocations at an address in use, such as 0 of empty buffers
    cdef uint64_t current, peak, total, allocations, frees, reserved

    def __cinit__(self):
        self.by_address = {}
        self.duplicates = []

    @cython.critical_section
    def add(self, address, uint64_t size, entry):
        """Add an allocation of the upstream resource. Host only."""
        self.allocations += 1
        self.total += size
        self.current += size
        self.peak = max(self.peak, self.current)
        if self.by_address.setdefault(address, entry) is not entry:
            self.duplicates.append((address, size, entry))

    @cython.critical_section
    def remove(self, address, size):
        """Remove and return the allocation at an address; None if there is none. Host only."""
        cdef object entry = None
        cdef Py_ssize_t i
        for i in range(len(self.duplicates) - 1, -1, -1):
            if self.duplicates[i][0] == address and self.duplicates[i][1] == size:
                entry = self.duplicates.pop(i)[2]
                break
        else:
            entry = self.by_address.pop(address, None)
        if entry is not None:
            self.frees += 1
            self.current -= <uint64_t>entry.size
        return entry

    @cython.critical_section
    def reserve(self, uint64_t size, uint64_t limit):
        """Reserve bytes of a limit; False if fewer are free. Host only."""
        if limit < self.reserved or size > limit - self.reserved:
            return False
        self.reserved += size
        return True

    @cython.critical_section
    def unreserve(self, uint64_t size):
        """Cancel a reservation of bytes. Host only."""
        self.reserved -= size

    @property
    def reserved_bytes(self):
        """Sum of the reserved bytes. Host only."""
        return self.reserved

    @cython.critical_section
    def entries(self):
        """Return the allocations in use. Host only."""
        return [*self.by_address.values(), *[each[2] for each in self.duplicates]]

    @cython.critical_section
    def reset_peak(self):
        """Reset the peak to the size in use. Host only."""
        self.peak = self.current

    @cython.critical_section
    def sums(self):
        """Return the current, peak and total bytes, and the counts of allocations and frees."""
        return self.current, self.peak, self.total, self.allocations, self.frees

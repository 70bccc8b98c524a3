# SPDX-License-Identifier: Apache-2.0
# What a resource gave out and has not taken back, counted exactly on any thread.


@cython.final
cdef class _Ledger:
    """The memory that is out, and its sums.

    The garbage collector may give a buffer back in the middle of any code of Python, on a thread
    that has whatever locks. So there is no lock here: a method makes no object that the collector
    follows before it has changed all that it changes, and nothing comes between.
    """

    cdef dict by_address
    cdef list others  # of an address that is out already: 0 of empty buffers, for instance
    cdef uint64_t current, peak, total, taken, returned, reserved

    def __cinit__(self):
        self.by_address = {}
        self.others = []

    @cython.critical_section
    def add(self, address, uint64_t size, entry):
        """Count what has come from upstream. Host only."""
        self.taken += 1
        self.total += size
        self.current += size
        self.peak = max(self.peak, self.current)
        if self.by_address.setdefault(address, entry) is not entry:
            self.others.append((address, size, entry))

    @cython.critical_section
    def take(self, address, size):
        """What is out at an address, which counts no longer; None if nothing is. Host only."""
        cdef object entry = None
        cdef Py_ssize_t i
        for i in range(len(self.others) - 1, -1, -1):
            if self.others[i][0] == address and self.others[i][1] == size:
                entry = self.others.pop(i)[2]
                break
        else:
            entry = self.by_address.pop(address, None)
        if entry is not None:
            self.returned += 1
            self.current -= <uint64_t>entry.size
        return entry

    @cython.critical_section
    def reserve(self, uint64_t size, uint64_t limit):
        """Take a share of a limit; False where less is left. Host only."""
        if limit < self.reserved or size > limit - self.reserved:
            return False
        self.reserved += size
        return True

    @cython.critical_section
    def release(self, uint64_t size):
        """Give a share back. Host only."""
        self.reserved -= size

    @property
    def shares(self):
        """The sum of the shares. Host only."""
        return self.reserved

    @cython.critical_section
    def entries(self):
        """What is out now. Host only."""
        return [*self.by_address.values(), *[each[2] for each in self.others]]

    @cython.critical_section
    def reset_peak(self):
        """Let the peak start again from what is out now. Host only."""
        self.peak = self.current

    @cython.critical_section
    def sums(self):
        """Bytes out now, at most and ever; times that memory was taken and returned. Host only."""
        return self.current, self.peak, self.total, self.taken, self.returned

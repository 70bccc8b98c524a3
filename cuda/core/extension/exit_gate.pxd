# SPDX-License-Identifier: Apache-2.0
# The gate for calls that must not be in flight during interpreter finalization.

from libc.stdint cimport uint64_t

# Returns the number of a pass, for `leave_gate` after the call. During finalization the calling
# thread waits here, and RuntimeError is raised if the process continues.
cdef uint64_t enter_gate() except 0
cdef void leave_gate(uint64_t number) noexcept nogil

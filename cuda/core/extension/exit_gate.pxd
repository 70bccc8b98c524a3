# SPDX-License-Identifier: Apache-2.0
# The gate that the end of the interpreter closes, for calls that must not be under way then.

from libc.stdint cimport uint64_t

# The number of a pass, to be given back with `leave_gate` once the call is over. A thread that
# comes when the interpreter is exiting waits here, and gets RuntimeError if the process goes on.
cdef uint64_t enter_gate() except 0
cdef void leave_gate(uint64_t number) noexcept nogil

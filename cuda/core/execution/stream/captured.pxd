# SPDX-License-Identifier: Apache-2.0
# References that a graph holds to the operands captured into it.

cdef extern from "python/launch/launch_modes.hpp" namespace "halfwarp::python":
    # Number of builders that are capturing and retain operands; at 0 operations skip all checks.
    int captures_under_way "halfwarp::python::captures_under_way.load"() noexcept
    void count_capture(int change) noexcept

# Returns the object to retain for an operand: owner of memory, shared event, or the operand itself.
cdef object share_operand(object operand)

# Returns the object to retain for the memory of an open Buffer; None if a graph owns the memory.
cdef object owner_for_graph(Buffer buffer)

# Appends the objects to retain for operands to a list; skips plain values such as numbers.
cdef int add_operands(list refs, object operands) except -1

# Returns an Event that shares the driver event and stays open when `event` is closed.
cdef Event share_event(Event event)

# Registers GraphMemoryResource: graphs do not retain memory that they own.
cdef int set_graph_memory_class(object cls) except -1

# Counts a builder when its capture begins (1) or ends (-1); the end drops the cached list.
cdef int count_builder_captures(int change) except -1

# Returns the list of objects retained by the graph being captured; None without a capture.
cdef list references_of_capture(const stream_ref& stream)

# Makes the graph being captured retain an object; returns 0 without a capture.
cdef int retain_in_capture(const stream_ref& stream, object operand) except -1

# Makes a graph retain an object; returns the CUDA user object.
cdef CUuserObject retain_object_in_graph(CUgraph graph, object operand) except NULL

# The call that invalidated a capture, for the error at its end. The next capture clears it.
cdef int record_capture_error(object error, CUresult code) except -1
cdef int clear_capture_error() except -1
cdef str capture_error_text()

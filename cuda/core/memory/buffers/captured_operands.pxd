# SPDX-License-Identifier: Apache-2.0
# Owners that a graph retains for captured operands.

cdef extern from "python/objects.hpp" namespace "halfwarp::python":
    # Returns a Buffer, or the Buffer of a view: borrowed, or NULL.
    PyObject* buffer_of_argument(object value) noexcept

# Returns the object to retain for an operand: owner of memory, shared event, or the operand itself.
cdef object share_operand(object operand)

# Returns the object to retain for the memory of an open Buffer; None if a graph owns the memory.
cdef object owner_for_graph(Buffer buffer)

# Appends the objects to retain for operands to a list; skips plain values such as numbers. Appends
# each Buffer itself as well if `has_buffers`.
cdef int add_operands(list refs, object operands, bint has_buffers) except -1

# Registers GraphMemoryResource: graphs do not retain memory that they own.
cdef int set_graph_memory_class(object cls) except -1

# Makes the graph retain the operands of a copy, if the stream is captured by a builder.
cdef int retain_captured_copy(Stream stream, object target, object source) except -1

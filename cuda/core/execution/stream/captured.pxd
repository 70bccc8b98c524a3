# SPDX-License-Identifier: Apache-2.0
# What is recorded into a graph keeps what it uses.

cdef extern from "python/launch/launch_modes.hpp" namespace "halfwarp::python":
    # How many builders capture whose operands are to be kept: nobody is asked anything at 0.
    int captures_under_way "halfwarp::python::captures_under_way.load"() noexcept
    void count_capture(int change) noexcept

# What keeps the memory of a Buffer, the event of an Event, or the object itself, for later.
cdef object share_operand(object operand)

# What keeps the memory of an open Buffer; None where the memory is a part of a graph itself.
cdef object memory_to_keep(Buffer buffer)

# Adds to a list the same for all of some, without what keeps nothing alive: numbers and the like.
cdef int add_operands(list kept, object operands) except -1

# The event, also after the object was closed.
cdef Event share_event(Event event)

# No graph keeps memory of such resources: each frees it, or leaves it, as it says.
cdef int set_graph_memory_class(object cls) except -1

# The same, for a builder of whose capture that is to begin or has ended: the list is let go of.
cdef int count_builder_captures(int change) except -1

# The list of what the graph keeps that a stream is being captured into, to add to; None: no graph.
cdef list list_in_capture(const stream_ref& stream)

# Lets the graph that a stream is being captured into keep an object; whether there is one.
cdef int keep_in_capture(const stream_ref& stream, object kept) except -1

# Lets a graph keep an object. The user object of the driver behind it.
cdef CUuserObject keep_in_graph(CUgraph graph, object kept) except NULL

# For the error at the end of a capture: which call broke it. Forgotten when the next one begins.
cdef int note_capture_error(object error, CUresult code) except -1
cdef int forget_capture_error() except -1
cdef str what_broke_the_capture()

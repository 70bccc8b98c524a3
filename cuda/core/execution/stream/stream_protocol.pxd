# SPDX-License-Identifier: Apache-2.0
# Streams of other libraries: the protocol `__cuda_stream__`, and known types without it.

# Returns whether an object provides a stream by the protocol or as a known type.
cdef bint offers_stream(object foreign)

# Returns the address of the stream that an object provides.
cdef uintptr_t foreign_stream_address(object foreign) except? 0

# Registers GraphBuilder, which stands for the stream that it captures. `capturing` raises
# RuntimeError unless the builder is capturing.
ctypedef Stream (*stream_of_builder_function)(object)
cdef int register_graph_builder(object cls, stream_of_builder_function open,
                                stream_of_builder_function capturing) except -1

# SPDX-License-Identifier: Apache-2.0
# Streams of other libraries: the protocol `__cuda_stream__`, and known types without it.

# Whether an object offers a stream in one of the ways known here.
cdef bint offers_stream(object foreign)

# The address of the stream that it offers.
cdef uintptr_t foreign_stream_address(object foreign) except? 0

# Lets GraphBuilder, once its class is there, stand for the stream that it captures on.
ctypedef Stream (*stream_of_builder_function)(object)
cdef int register_graph_builder(object cls, stream_of_builder_function) except -1

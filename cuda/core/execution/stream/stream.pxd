# SPDX-License-Identifier: Apache-2.0
# Stream: a wrapper of a counted driver stream, of a foreign one, or of a default stream.

cdef class Stream:
    cdef stream_fields fields  # what C++ reads; `raw` is kept for hashing when closed
    cdef stream_handle native  # null once closed
    cdef object __weakref__

# The open Stream that an argument stands for; TypeError for None and what is not a stream.
cdef Stream accept_stream(object given)

# The same for `launch`, where a foreign stream is accepted with a DeprecationWarning.
cdef Stream accept_launch_stream(object given)

# A share of an open stream's handle, for what goes on while another thread may close the stream: a
# null handle would stand for the default stream.
cdef stream_handle share_open_stream(Stream self) except *

# The package's default stream: legacy or per thread, as the environment says.
cdef Stream default_stream_object()

# A new stream of that context, of class `cls`.
cdef Stream create_stream_in(object cls, const context_handle& context, object options)

# A wrapper of class `cls` for a foreign object that offers a stream.
cdef Stream wrap_foreign_stream(object cls, object foreign)

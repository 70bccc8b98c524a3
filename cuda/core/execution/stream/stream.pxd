# SPDX-License-Identifier: Apache-2.0
# Stream: a wrapper of a counted driver stream, of a foreign one, or of a default stream.

cdef class Stream:
    cdef held_stream native   # what C++ reads
    cdef uintptr_t identity   # the address, kept for hashing when closed
    cdef object __weakref__

# The open Stream that an argument stands for; TypeError for None and what is not a stream.
cdef Stream accept_stream(object given)

# The same for `launch`, where a foreign stream is accepted with a DeprecationWarning.
cdef Stream accept_launch_stream(object given)

# The package's default stream: legacy or per thread, as the environment says.
cdef Stream default_stream_object()

# A new stream of that context, of class `cls`.
cdef Stream create_stream_in(object cls, const context_ref& context, object options)

# Lets later work of a stream wait for what another one was given so far.
cdef int order_streams(Stream later, Stream earlier) except -1

# A wrapper of class `cls` for a foreign object that offers a stream.
cdef Stream wrap_foreign_stream(object cls, object foreign)

# The name of an object's class, with its module, for messages.
cdef str qualified_name(object given)

# What calls the driver with the stream, in another extension: no handle leaves this one.
ctypedef CUresult (*stream_work)(CUstream stream, void* arguments) \
    except? CUDA_ERROR_NOT_FOUND nogil

cdef extern from "core/memory/transfers.hpp" namespace "halfwarp::core" nogil:
    CUresult run_in_order(const stream_ref&, stream_work work, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND

# Lends an open stream to such a call, without the interpreter lock; `function` names it in errors.
cdef int run_on_stream(Stream stream, stream_work work, void* arguments,
                       const char* function) except -1

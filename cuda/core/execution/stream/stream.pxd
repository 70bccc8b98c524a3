# SPDX-License-Identifier: Apache-2.0
# Stream: a wrapper of a reference-counted driver stream, a foreign stream or a default stream.

cdef class Stream:
    cdef held_stream native   # read by C++
    cdef uintptr_t identity   # the address, valid for hashing after close
    cdef object __weakref__

# Converts an argument to an open Stream; TypeError for None and for objects without a stream.
cdef Stream accept_stream(object stream_arg)

# Converts an argument of `launch`, where a foreign stream gives a DeprecationWarning.
cdef Stream accept_launch_stream(object stream_arg)

# Returns the package's default stream, legacy or per thread, depending on the environment.
cdef Stream default_stream_object()

# Default of a stream parameter whose absence is deprecated; None is an error there.
cdef object NOT_GIVEN

# Returns the stream of an argument, or the default stream with a DeprecationWarning for NOT_GIVEN.
# Raises TypeError for None.
cdef Stream stream_or_default(object stream_arg, str call)

# Creates a stream of class `cls` in a context.
cdef Stream create_stream_in(object cls, const context_ref& context, object options)

# Makes later work of one stream wait for all work submitted to another.
cdef int order_streams(Stream later, Stream earlier) except -1

# Wraps the stream of a foreign object in class `cls`.
cdef Stream wrap_foreign_stream(object cls, object foreign)

# Return iterators of `__await__`.
cdef object await_stream(Stream self)
cdef object await_event(Event self)

# A function of another extension that calls the driver with a borrowed stream handle.
ctypedef CUresult (*stream_work)(CUstream stream, void* arguments) \
    except? CUDA_ERROR_NOT_FOUND nogil

cdef extern from "core/memory/transfers.hpp" namespace "halfwarp::core" nogil:
    CUresult run_in_order(const stream_ref&, stream_work work, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND

# Returns whether a stream is captured into a graph, also if its capture is invalid.
cdef bint is_being_captured(const borrowed_stream& stream) except -1
cdef bint is_capturing_stream(Stream stream) except -1

# Calls `work` with the handle of an open stream, without the GIL; errors name `function`.
cdef int run_on_stream(Stream stream, stream_work work, void* arguments,
                       const char* function) except -1

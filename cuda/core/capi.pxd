# SPDX-License-Identifier: Apache-2.0
# C functions on the objects of `cuda.core` for other Cython code, without their private fields.
#
# Compile as C++20, with the folder `cuda/core/_include` and the CUDA headers as include paths. No
# client compiles these functions, so none depends on an object layout, which may change. At import,
# the client compares HALFWARP_CORE_ABI with the number of the extension and reports a difference.
# Cython then checks that the functions exist with the same signatures.

cdef extern from "python/foreign/abi_check.hpp":
    const int HALFWARP_CORE_ABI

from cuda.core._core cimport (
    Buffer_as_cu,
    Buffer_size,
    Context_as_cu,
    Context_check_open,
    Event_as_cu,
    Event_check_open,
    Kernel_as_cu,
    Kernel_as_function,
    PreparedLaunch_entry,
    PreparedLaunch_state,
    Stream,
    Stream_as_cu,
    Stream_check_open,
    Stream_is_default_token,
    Stream_is_legacy_default_token,
    accept_launch_stream,
    accept_stream,
    default_stream_object,
    launch_raw,
)


# Returns the open Stream of an argument. With the protocol, also accepts an object that has
# `__cuda_stream__`. Raises TypeError for anything else.
cdef inline Stream Stream_accept(object value, bint allow_stream_protocol=False):
    return accept_launch_stream(value) if allow_stream_protocol else accept_stream(value)


# Returns the default stream.
cdef inline Stream default_stream():
    return default_stream_object()

# SPDX-License-Identifier: Apache-2.0
# What other Cython code needs of the objects of `cuda.core`, without their private fields.
#
# Compile as C++20, with the folder `cuda/core/_include` and the CUDA headers as include paths. None
# of these functions is compiled into the client, so that no client knows a layout that may change.
# When the client is imported it compares HALFWARP_CORE_ABI with the number of the extension, and
# says so where they differ; Cython then looks whether the functions are there, with the same
# signatures.

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


# The open Stream that an argument stands for; with the protocol, also of an object that has
# `__cuda_stream__`. TypeError for anything else.
cdef inline Stream Stream_accept(object given, bint allow_stream_protocol=False):
    return accept_launch_stream(given) if allow_stream_protocol else accept_stream(given)


# The stream that stands for "no stream given".
cdef inline Stream default_stream():
    return default_stream_object()

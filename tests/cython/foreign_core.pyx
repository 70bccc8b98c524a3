# SPDX-License-Identifier: Apache-2.0
# distutils: language = c++
# cython: language_level=3
"""A module of somebody else that cimports the classes of `cuda.core`, by all of their paths."""

from libc.stdint cimport uintptr_t

from cuda.bindings cimport cydriver
from cuda.core cimport Buffer, Context, Event, Kernel, LaunchConfig, PreparedLaunch, Stream
from cuda.core cimport capi
from cuda.core._context cimport Context as PrivateContext
from cuda.core._event cimport Event as PrivateEvent, Event_check_open
from cuda.core._launch_config cimport LaunchConfig as PrivateLaunchConfig
from cuda.core._memory cimport Buffer as PrivateBuffer
from cuda.core._module cimport Kernel as PrivateKernel, ObjectCode
from cuda.core._stream cimport Stream as PrivateStream, Stream_is_legacy_default_token
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN


def addresses(Stream stream, Event event, Context context, Buffer buffer, Kernel kernel):
    """What a C library would be given."""
    return (
        <uintptr_t>capi.Stream_as_cu(stream),
        <uintptr_t>capi.Event_as_cu(event),
        <uintptr_t>capi.Context_as_cu(context),
        capi.Buffer_as_cu(buffer),
        <uintptr_t>capi.Kernel_as_cu(kernel),
    )


def private_paths(
    PrivateStream stream,
    PrivateEvent event,
    PrivateContext context,
    PrivateBuffer buffer,
    PrivateKernel kernel,
):
    """The old paths are the same classes."""
    return addresses(stream, event, context, buffer, kernel)


def fill(Stream stream, Buffer buffer, unsigned char value):
    """A driver call on objects of `cuda.core`, without the interpreter lock."""
    cdef cydriver.CUstream raw = capi.Stream_as_cu(stream)
    cdef cydriver.CUdeviceptr memory = capi.Buffer_as_cu(buffer)
    cdef size_t size = capi.Buffer_size(buffer)
    cdef cydriver.CUresult code
    with nogil:
        code = cydriver.cuMemsetD8Async(memory, value, size, raw)
    return code


def launch(Stream stream, LaunchConfig config, Kernel kernel, unsigned long long pointer):
    """Launch a kernel of one parameter, from the address of its argument."""
    cdef void* arguments[1]
    arguments[0] = &pointer
    return capi.launch_raw(capi.Stream_as_cu(stream), config, kernel, arguments)


def launch_again(Stream stream, PreparedLaunch prepared):
    """Through the function pointer, without the interpreter lock."""
    cdef cydriver.CUstream raw = capi.Stream_as_cu(stream)
    entry = capi.PreparedLaunch_entry(prepared)
    state = capi.PreparedLaunch_state(prepared)
    cdef int code
    with nogil:
        code = entry(state, raw)
    return code


def check(event):
    Event_check_open(event)


def set_device(int device):
    """A driver call whose status becomes an exception, without the GIL on the good path."""
    cdef int count = 0
    with nogil:
        HANDLE_RETURN(cydriver.cuDeviceGetCount(&count))
        HANDLE_RETURN(cydriver.cuDeviceGet(&count, device))
    return count


def is_legacy(Stream stream):
    return Stream_is_legacy_default_token(stream)


def grid_of(PrivateLaunchConfig config):
    return config.grid


def code_type_of(ObjectCode code):
    return code.code_type

# SPDX-License-Identifier: Apache-2.0
# distutils: language = c++
# cython: language_level=3
"""Foreign module that cimports the classes of `cuda.core`, by all of their paths."""

from libc.stdint cimport intptr_t, uintptr_t

from cuda.bindings cimport cydriver
from cuda.core cimport Buffer, Context, Event, Kernel, LaunchConfig, PreparedLaunch, Stream
from cuda.core cimport capi
from cuda.core._context cimport Context as PrivateContext
from cuda.core._event cimport Event as PrivateEvent, Event_check_open
from cuda.core._launch_config cimport LaunchConfig as PrivateLaunchConfig
from cuda.core._memory cimport Buffer as PrivateBuffer
from cuda.core._module cimport Kernel as PrivateKernel, ObjectCode
from cuda.core._stream cimport Stream as PrivateStream, Stream_is_legacy_default_token
from cuda.core._device_resources cimport DeviceResources, SMResource, WorkqueueResource
from cuda.core._dlpack cimport DLManagedTensorVersioned, DLTensor, kDLCUDA
from cuda.core._kernel_arg_handler cimport ParamHolder
from cuda.core._layout cimport _StridedLayout
from cuda.core._linker cimport Linker
from cuda.core._memoryview cimport StridedMemoryView
from cuda.core._program cimport Program
from cuda.core._resource_handles cimport (
    ContextHandle,
    EventHandle,
    KernelHandle,
    LibraryHandle,
    StreamHandle,
    as_cu,
    as_intptr,
    as_py,
    create_event_handle,
    create_kernel_handle,
    create_library_handle_from_data,
    create_stream_handle,
    create_stream_handle_with_owner,
    get_current_context,
    get_last_error,
    get_primary_context,
)
from cuda.core._tensor_map cimport TensorMapDescriptor
from cuda.core._utils.cuda_utils cimport (
    HANDLE_RETURN,
    HANDLE_RETURN_NVJITLINK,
    HANDLE_RETURN_NVRTC,
    HANDLE_RETURN_NVVM,
    _get_current_device_id,
)
from cuda.core._views cimport tensor_map
from cuda.core._utils.version cimport cy_binding_version, cy_driver_version
from cuda.bindings.driver cimport CUevent as pyCUevent, CUstream as pyCUstream
from cuda.bindings.nvrtc cimport nvrtcProgram as pyNvrtcProgram
from cuda.bindings cimport cynvrtc


cdef extern from "utility.hpp":
    cydriver.CUstream get_cuda_native_handle(pyCUstream)
    cydriver.CUevent get_cuda_native_handle(pyCUevent)
    cynvrtc.nvrtcProgram get_cuda_native_handle(pyNvrtcProgram)


def addresses(Stream stream, Event event, Context context, Buffer buffer, Kernel kernel):
    """Return the pointers that a C library receives."""
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
    """Compare the classes of the old paths with the current ones."""
    return addresses(stream, event, context, buffer, kernel)


def fill(Stream stream, Buffer buffer, unsigned char value):
    """Call the driver on objects of `cuda.core`, without the GIL."""
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
    """Launch through the function pointer, without the GIL."""
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
    """Raise the status of a driver call, without the GIL unless it fails."""
    cdef int count = 0
    with nogil:
        HANDLE_RETURN(cydriver.cuDeviceGetCount(&count))
        HANDLE_RETURN(cydriver.cuDeviceGet(&count, device))
    return count


def is_legacy(Stream stream):
    return Stream_is_legacy_default_token(stream)


def grid_of(PrivateLaunchConfig config):
    return config.grid


def native_handles(pyCUstream stream, pyCUevent event, pyNvrtcProgram program):
    """Return the C values inside objects of `cuda.bindings`."""
    return (
        <uintptr_t>get_cuda_native_handle(stream),
        <uintptr_t>get_cuda_native_handle(event),
        <uintptr_t>get_cuda_native_handle(program),
    )


def shared_handles(const unsigned char[:] code, owner, uintptr_t owned):
    """Create handles that live until their last copy, and one that the driver refuses."""
    cdef ContextHandle context = get_current_context()
    cdef StreamHandle stream = create_stream_handle(context, 1, 0)
    cdef StreamHandle foreign = create_stream_handle_with_owner(<cydriver.CUstream>owned, owner)
    cdef EventHandle event = create_event_handle(get_primary_context(0), 2)
    cdef LibraryHandle library = create_library_handle_from_data(&code[0])
    cdef KernelHandle kernel = create_kernel_handle(library, b"store")
    library.reset()  # the kernel retains it
    cdef KernelHandle missing = create_kernel_handle(LibraryHandle(), b"none")
    assert as_cu(stream) is not NULL and as_cu(event) is not NULL and as_cu(kernel) is not NULL
    assert as_cu(missing) is NULL and <int>get_last_error() != 0 and <int>get_last_error() == 0
    assert as_intptr(foreign) == <intptr_t>owned and int(as_py(stream)) == as_intptr(stream)
    return type(as_py(kernel)).__name__, type(as_py(context)).__name__


def checks_of_status():
    """Return the exception of a failure status of each library."""
    names = []
    for check in range(3):
        try:
            if check == 0:
                HANDLE_RETURN_NVRTC(NULL, cynvrtc.NVRTC_ERROR_INVALID_INPUT)
            elif check == 1:
                HANDLE_RETURN_NVVM(4)
            else:
                HANDLE_RETURN_NVJITLINK(3)
        except Exception as error:
            names.append(type(error).__name__)
    return names


def declared_elsewhere():
    """Use classes and types of which only the declarations are needed."""
    classes = (DeviceResources, SMResource, WorkqueueResource, ParamHolder, _StridedLayout, Linker,
               StridedMemoryView, Program, TensorMapDescriptor)
    sizes = sizeof(DLTensor), sizeof(DLManagedTensorVersioned), <int>kDLCUDA
    return [each.__name__ for each in classes], sizes


def first_word_of(TensorMapDescriptor descriptor):
    """Return the address at the start of a tensor map."""
    cdef tensor_map* native = descriptor.native.get(descriptor)
    return (<unsigned long long*>&native.native)[0]


def versions():
    return cy_binding_version(), cy_driver_version(), _get_current_device_id()


def code_type_of(ObjectCode code):
    return code.code_type

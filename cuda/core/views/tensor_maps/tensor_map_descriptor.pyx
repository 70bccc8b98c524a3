# SPDX-License-Identifier: Apache-2.0
# TensorMapDescriptor: a tensor map for the Tensor Memory Accelerator (TMA).

from libc.string cimport memset

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.exc cimport PyErr_WarnEx
from cpython.pycapsule cimport PyCapsule_GetPointer as capsule_pointer

from cuda.bindings import _low
from cuda.bindings.cydriver cimport CUresult
from cuda.core._core cimport (
    as_options, current_context_address, extend_error, raise_driver_error,
)


cdef extern from "driver/call.hpp" namespace "halfwarp::driver" nogil:
    cppclass loader_api:
        pass
    const char* HALFWARP_LOADER_CAPSULE "HALFWARP_LOADER_CAPSULE"
    void attach_driver "halfwarp::driver::attach"(const loader_api*) noexcept


cdef extern from "views/tensor_maps/encode.hpp" namespace "halfwarp::views":
    enum class map_kind(int):
        tiled
        im2col
        im2col_wide
    struct map_request:
        map_kind kind
        uint32_t rank
        uint64_t address
        uint64_t[5] extents
        uint64_t[5] strides
        uint32_t[5] box
        uint32_t[5] element_strides
        int[3] lower
        int[3] upper
        uint32_t channels
        uint32_t pixels
        int data_type
        int interleave
        int swizzle
        int promotion
        int fill
        int mode
    CUresult encode_map "halfwarp::views::encode"(const map_request&, tensor_map&,
                                                  const char** function) noexcept
    CUresult replace_map_address "halfwarp::views::replace_address"(tensor_map&, uint64_t) noexcept


cdef enum:
    MAP_BYTES = 128

attach_driver(<const loader_api*>capsule_pointer(_low._api, HALFWARP_LOADER_CAPSULE))

# dtype name -> member of TensorMapDataType.
cdef dict MAP_TYPES = {
    "uint8": 0, "uint16": 1, "uint32": 2, "int32": 3, "uint64": 4, "int64": 5, "float16": 6,
    "float32": 7, "float64": 8, "bfloat16": 9,
}
cdef tuple MAP_SIZES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)


cdef object map_options():
    return import_module("cuda.core.views.tensor_maps.tensor_map_options")


@cython.final
cdef class TensorMapDescriptor:
    """A tensor map for the Tensor Memory Accelerator (TMA) of compute capability 9.0 and higher.

    `StridedMemoryView.as_tensor_map` returns it. `launch` passes its 128 bytes by value to a kernel
    parameter of type ``const __grid_constant__ CUtensorMap``. It keeps the tensor alive.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("TensorMapDescriptor cannot be instantiated directly. Use "
                           "StridedMemoryView.as_tensor_map() instead.")

    def __dealloc__(self):
        cdef tensor_map* native = self.native.value_or_null()
        del native

    @staticmethod
    def _from_tiled(view, box_dim=None, *, options=None, element_strides=None, data_type=None,
                    interleave=None, swizzle=None, l2_promotion=None, oob_fill=None):
        return create_tiled_map(view, box_dim, options, element_strides, data_type, interleave,
                                swizzle, l2_promotion, oob_fill)

    @staticmethod
    def _from_im2col(view, pixel_box_lower_corner, pixel_box_upper_corner, channels_per_pixel,
                     pixels_per_column, *, element_strides=None, data_type=None,
                     interleave="NONE", swizzle="NONE", l2_promotion="NONE", oob_fill="NONE"):
        cdef map_request request
        call = "TensorMapDescriptor._from_im2col"
        begin_map(&request, view, map_kind.im2col, call)
        set_map_type(&request, view, data_type)
        set_map_rank(&request, view, 3, "Im2col tensor")
        set_corner(request.lower, "pixel_box_lower_corner", pixel_box_lower_corner, request.rank)
        set_corner(request.upper, "pixel_box_upper_corner", pixel_box_upper_corner, request.rank)
        set_pixels(&request, channels_per_pixel, pixels_per_column)
        finish_map(&request, view, element_strides, interleave, swizzle, l2_promotion, oob_fill)
        return create_map(&request, view, "im2col")

    @staticmethod
    def _from_im2col_wide(view, pixel_box_lower_corner_width, pixel_box_upper_corner_width,
                          channels_per_pixel, pixels_per_column, *, element_strides=None,
                          data_type=None, interleave="NONE", mode="W", swizzle="SWIZZLE_128B",
                          l2_promotion="NONE", oob_fill="NONE"):
        cdef map_request request
        call = "TensorMapDescriptor._from_im2col_wide"
        module = map_options()
        begin_map(&request, view, map_kind.im2col_wide, call)
        set_map_type(&request, view, data_type)
        set_map_rank(&request, view, 3, "Im2col-wide tensor")
        request.lower[0] = width_of_corner("pixel_box_lower_corner_width",
                                           pixel_box_lower_corner_width)
        request.upper[0] = width_of_corner("pixel_box_upper_corner_width",
                                           pixel_box_upper_corner_width)
        request.mode = module.member("mode", mode, module.TensorMapIm2ColWideMode)
        set_pixels(&request, channels_per_pixel, pixels_per_column)
        finish_map(&request, view, element_strides, interleave, swizzle, l2_promotion, oob_fill)
        return create_map(&request, view, "im2col_wide")

    @property
    def device(self):
        """The Device of the tensor; None for memory without a device. Host only."""
        self.native.check(self)
        if self.view.fields.device < 0:
            return None
        return import_module("cuda.core").Device(self.view.fields.device)

    def replace_address(self, tensor):
        """Set the address of the map to another tensor of the same shape, strides and type.

        Host only. On success, releases the reference to the previous tensor.

        Parameters
        ----------
        tensor : object
            A view, or an object with DLPack or ``__cuda_array_interface__``.

        Raises
        ------
        ValueError
            If the tensor is not device-accessible, its address is not a multiple of 16, or it is on
            another device.
        RuntimeError
            If the current context is not that in which the map was created.

        See Also
        --------
        cuTensorMapReplaceAddress : the driver function.
        """
        cdef StridedMemoryView view
        cdef tensor_map* native = self.native.get(self)
        if isinstance(tensor, StridedMemoryView):
            view = <StridedMemoryView>tensor
        else:
            view = new_view(StridedMemoryView)
            import_any(view, tensor, -1)
        cdef uintptr_t context = check_tensor(view, "replace_address")
        if context != self.context:
            raise RuntimeError("replace_address: the tensor map was created in another context "
                               "than the current one")
        cdef int64_t size = bytes_of_elements(view)
        if size < self.size:
            PyErr_WarnEx(UserWarning, f"replace_address keeps the shape: the tensor map reads "
                         f"{self.size} bytes, but the tensor has {size}".encode(), 1)
        check_result(replace_map_address(native[0], view.fields.pointer),
                     b"cuTensorMapReplaceAddress")
        self.view, self.tensor = view, tensor

    def __cuda_kernel_arg__(self):
        cdef tensor_map* native = self.native.get(self)
        check_memory(self.view)
        return PyBytes_FromStringAndSize(<char*>native, MAP_BYTES)

    def __reduce__(self):
        raise TypeError("cannot pickle 'TensorMapDescriptor' object: it contains an address of "
                        "this process")

    def __repr__(self):
        return f"TensorMapDescriptor({self.text})"


cdef int check_result(CUresult code, const char* function) except -1:
    if code:
        return raise_driver_error(code, function)


cdef uintptr_t check_tensor(StridedMemoryView view, str call) except 0:
    """Check the requirements on every tensor, and return the current context."""
    check_memory(view)
    if not view.fields.is_device_accessible:
        raise ValueError("The tensor must be device-accessible")
    if view.fields.pointer % 16:
        raise ValueError("Global memory address must be 16-byte aligned, got address "
                         f"{view.fields.pointer:#x}")
    cdef uintptr_t context = current_context_address()
    if context == 0:
        raise RuntimeError(f"{call} requires an active CUDA context: call Device.set_current()")
    cdef int current = current_ordinal()
    if view.device_kind == device_type.cuda and view.fields.device != current:
        raise ValueError(f"{call} expects tensor on device {current}, got {view.fields.device}")
    return context


cdef int begin_map(map_request* request, object view, map_kind kind, str call) except -1:
    if not isinstance(view, StridedMemoryView):
        raise TypeError(f"a tensor map requires a StridedMemoryView, got {qualified_name(view)}")
    memset(request, 0, sizeof(map_request))
    request.kind = kind
    request.address = (<StridedMemoryView>view).fields.pointer
    check_tensor(<StridedMemoryView>view, call)


cdef void set_map_type(map_request* request, StridedMemoryView view, object data_type) except *:
    module = map_options()
    data_type = module.data_type(data_type)
    if isinstance(data_type, module.TensorMapDataType):
        request.data_type = data_type
    else:
        dtype = view.dtype if data_type is None else data_type
        if dtype is None:
            raise ValueError("Cannot infer TMA data type from the tensor; please specify data_type "
                             "explicitly")
        if dtype.name not in MAP_TYPES or not dtype.isnative:
            raise ValueError(f"Unsupported dtype {dtype} for TMA; supported dtypes: "
                             f"{', '.join(MAP_TYPES)}. You may also specify data_type explicitly.")
        request.data_type = MAP_TYPES[dtype.name]
    cdef int size = MAP_SIZES[request.data_type]
    # Bytes have no type: an explicit data_type states it.
    if size == view.native.itemsize() or (view.native.itemsize() == 1 and data_type is not None):
        return
    raise ValueError(f"data_type {module.TensorMapDataType(request.data_type).name} has {size} "
                     f"bytes, but the elements of the tensor have {view.native.itemsize()}; use "
                     "view(layout, dtype)")


cdef int set_map_rank(map_request* request, StridedMemoryView view, int min_rank,
                      str description) except -1:
    """Set the shape and the strides, innermost first; the innermost stride is implied."""
    cdef int rank = view.native.ndim(), axis
    if not min_rank <= rank <= 5:
        raise ValueError(f"{description} rank must be between {min_rank} and 5, got {rank}")
    if view.native.is_empty():
        raise ValueError(f"a tensor map needs elements, got shape {view.shape}")
    cdef strided_layout layout = view.native.with_strides()
    request.rank = rank
    for axis in range(rank):
        stride = layout.strides()[rank - 1 - axis]
        if stride < 0:
            raise ValueError(f"a tensor map does not support negative strides, got {view.strides}")
        request.extents[axis] = layout.extents()[rank - 1 - axis]
        if axis == 0 and stride != 1 and layout.extents()[rank - 1] != 1:
            raise ValueError("the innermost axis of a tensor map must be contiguous, got strides "
                             f"{view.strides}")
        if axis > 0:
            request.strides[axis - 1] = stride * layout.itemsize()
    return set_row_of_bytes(request, layout.itemsize())


cdef int set_row_of_bytes(map_request* request, int itemsize) except -1:
    """Convert the innermost extent of a tensor of bytes to elements of the data type."""
    cdef int size = MAP_SIZES[request.data_type]
    if size == itemsize:
        return 0
    if request.extents[0] % <uint64_t>size:
        name = map_options().TensorMapDataType(request.data_type).name
        raise ValueError(f"data_type {name} has {size} bytes, but the innermost axis of the "
                         f"tensor has {request.extents[0]} bytes, which is no multiple")
    request.extents[0] //= <uint64_t>size


cdef int set_corner(int* corner, str name, object value, int rank) except -1:
    coordinates = map_options().integers(name, value)
    if len(coordinates) != rank - 2:
        raise ValueError(f"{name} must have {rank - 2} elements (rank - 2), got "
                         f"{len(coordinates)}")
    for axis, number in enumerate(reversed(coordinates)):
        corner[axis] = map_options().in_range(name, number, INT_MIN, INT_MAX)


cdef uint32_t unsigned_option(str name, object value) except? 1:
    return map_options().in_range(name, as_int(name, value), 0, UINT32_MAX)


cdef int width_of_corner(str name, object value) except? 1:
    return map_options().in_range(name, as_int(name, value), INT_MIN, INT_MAX)


cdef int set_pixels(map_request* request, object channels, object pixels) except -1:
    request.channels = unsigned_option("channels_per_pixel", channels)
    request.pixels = unsigned_option("pixels_per_column", pixels)


cdef int finish_map(map_request* request, StridedMemoryView view, object element_strides,
                    object interleave, object swizzle, object promotion, object fill) except -1:
    cdef int rank = request.rank
    module = map_options()
    strides = (1,) * rank
    if element_strides is not None:
        strides = module.integers("element_strides", element_strides)
    if len(strides) != rank:
        raise ValueError(f"element_strides must have {rank} elements, got {len(strides)}")
    for axis, stride in enumerate(reversed(strides)):
        request.element_strides[axis] = unsigned_option("element_strides", stride)
    request.interleave = module.member("interleave", interleave, module.TensorMapInterleave)
    request.swizzle = module.member("swizzle", swizzle, module.TensorMapSwizzle)
    request.promotion = module.member("l2_promotion", promotion, module.TensorMapL2Promotion)
    request.fill = module.member("oob_fill", fill, module.TensorMapOOBFill)


cdef int raise_map_error(map_request* request, CUresult code, const char* function) except -1:
    """Raise the error with the violated rules of TMA, which the driver does not name."""
    cdef int rank = request.rank
    cdef bint is_tiled = request.kind == map_kind.tiled
    size = MAP_SIZES[request.data_type]
    rules = map_options().MapRules(
        address=request.address,
        # Other kinds of maps have all channels in the innermost extent.
        row=size * (request.box[0] if is_tiled else request.channels),
        row_name=f"box_dim[{rank - 1}]" if is_tiled else "channels_per_pixel",
        size=size,
        extents=[request.extents[axis] for axis in reversed(range(rank))],
        element_strides=[request.element_strides[axis] for axis in reversed(range(rank))],
        strides=[request.strides[axis] for axis in reversed(range(rank - 1))],
        data_type=request.data_type, interleave=request.interleave, swizzle=request.swizzle,
        fill=request.fill, channels=1 if is_tiled else request.channels,
        pixels=1 if is_tiled else request.pixels)
    try:
        check_result(code, function)
    except Exception as error:
        broken = rules.broken()
        if broken:
            extend_error(error, "\n" + "\n".join(broken))
        raise


cdef int64_t bytes_of_elements(StridedMemoryView view) except -1:
    return volume(view.native) * view.native.itemsize()


cdef TensorMapDescriptor create_map(map_request* request, StridedMemoryView view, str kind):
    cdef const char* function = NULL
    cdef TensorMapDescriptor descriptor = TensorMapDescriptor.__new__(TensorMapDescriptor)
    cdef tensor_map* native = new tensor_map()
    descriptor.native.set(native)
    descriptor.context = current_context_address()
    cdef CUresult code = encode_map(request[0], native[0], &function)
    if code:
        raise_map_error(request, code, function)
    check_memory(view)  # converting an option may have closed the Buffer
    descriptor.view, descriptor.tensor = view, view.source
    descriptor.size = bytes_of_elements(view)
    module = map_options()
    descriptor.text = (f"{kind}, rank={request.rank}, "
                       f"dtype={module.TensorMapDataType(request.data_type).name}, "
                       f"swizzle={module.TensorMapSwizzle(request.swizzle).name}")
    return descriptor


cdef TensorMapDescriptor create_tiled_map(object view, object box_dim, object options,
                                          object element_strides, object data_type,
                                          object interleave, object swizzle, object promotion,
                                          object fill):
    cdef map_request request
    single = (box_dim, element_strides, data_type, interleave, swizzle, promotion, fill)
    module = map_options()
    cls = module.TensorMapDescriptorOptions
    if options is not None:
        # A member NONE equals the default of the options.
        conflicting = [each for each in single[3:] if each is not None and each != 0]
        if conflicting or any([each is not None for each in single[:3]]):
            raise TypeError("Specify either options or the individual tensor map arguments, not "
                            "both")
        settings = as_options(options, cls, "The Tensor map descriptor options")
    elif box_dim is None:
        raise TypeError("box_dim is required unless options is provided")
    else:
        names = ("box_dim", "element_strides", "data_type", "interleave", "swizzle",
                 "l2_promotion", "oob_fill")
        settings = cls(**{n: v for n, v in zip(names, single) if v is not None})
    begin_map(&request, view, map_kind.tiled, "TensorMapDescriptor._from_tiled")
    set_map_type(&request, view, settings.data_type)
    set_map_rank(&request, view, 1, "Tensor")
    set_box(&request, settings.box_dim)
    finish_map(&request, view, settings.element_strides, settings.interleave, settings.swizzle,
               settings.l2_promotion, settings.oob_fill)
    return create_map(&request, view, "tiled")


cdef int set_box(map_request* request, tuple box) except -1:
    cdef int rank = request.rank
    if len(box) != rank:
        raise ValueError(f"box_dim must have {rank} elements (same as tensor rank), got {len(box)}")
    for axis, extent in enumerate(box):
        if not 1 <= extent <= 256:
            raise ValueError(f"box_dim[{axis}] must be in [1, 256], got {extent}")
        request.box[rank - 1 - axis] = extent

# SPDX-License-Identifier: Apache-2.0
# TensorMapDescriptor: a tensor as the copy unit of a device (TMA) sees it.

from libc.string cimport memset

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.pycapsule cimport PyCapsule_GetPointer as capsule_pointer

from cuda.bindings import _low
from cuda.bindings.cydriver cimport CUresult
from cuda.core._core cimport as_options, current_context_number, raise_driver_error


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

# Names of dtypes -> the members of TensorMapDataType that they stand for.
cdef dict MAP_TYPES = {
    "uint8": 0, "uint16": 1, "uint32": 2, "int32": 3, "uint64": 4, "int64": 5, "float16": 6,
    "float32": 7, "float64": 8, "bfloat16": 9,
}
cdef tuple MAP_SIZES = (1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4)


cdef object map_options():
    return import_module("cuda.core.views.tensor_maps.tensor_map_options")


@cython.final
cdef class TensorMapDescriptor:
    """A tensor as the copy unit of a device (TMA, compute capability 9.0) sees it.

    It comes from `StridedMemoryView.as_tensor_map`. `launch` passes its 128 bytes by value, to a
    parameter ``const __grid_constant__ CUtensorMap``. It keeps the tensor alive.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("TensorMapDescriptor cannot be instantiated directly. Use "
                           "StridedMemoryView.as_tensor_map() instead.")

    def __dealloc__(self):
        del self.native

    @staticmethod
    def _from_tiled(view, box_dim=None, *, options=None, element_strides=None, data_type=None,
                    interleave=None, swizzle=None, l2_promotion=None, oob_fill=None):
        return make_tiled(view, box_dim, options, element_strides, data_type, interleave, swizzle,
                          l2_promotion, oob_fill)

    @staticmethod
    def _from_im2col(view, pixel_box_lower_corner, pixel_box_upper_corner, channels_per_pixel,
                     pixels_per_column, *, element_strides=None, data_type=None,
                     interleave="NONE", swizzle="NONE", l2_promotion="NONE", oob_fill="NONE"):
        cdef map_request request
        what = "TensorMapDescriptor._from_im2col"
        begin_map(&request, view, map_kind.im2col, what)
        set_map_type(&request, view, data_type)
        set_map_rank(&request, view, 3, "Im2col tensor")
        set_corner(request.lower, "pixel_box_lower_corner", pixel_box_lower_corner, request.rank)
        set_corner(request.upper, "pixel_box_upper_corner", pixel_box_upper_corner, request.rank)
        set_pixels(&request, channels_per_pixel, pixels_per_column)
        finish_map(&request, view, element_strides, interleave, swizzle, l2_promotion, oob_fill)
        return make_map(&request, view, "im2col")

    @staticmethod
    def _from_im2col_wide(view, pixel_box_lower_corner_width, pixel_box_upper_corner_width,
                          channels_per_pixel, pixels_per_column, *, element_strides=None,
                          data_type=None, interleave="NONE", mode="W", swizzle="SWIZZLE_128B",
                          l2_promotion="NONE", oob_fill="NONE"):
        cdef map_request request
        what = "TensorMapDescriptor._from_im2col_wide"
        module = map_options()
        begin_map(&request, view, map_kind.im2col_wide, what)
        set_map_type(&request, view, data_type)
        set_map_rank(&request, view, 3, "Im2col-wide tensor")
        request.lower[0] = PyNumber_Index(pixel_box_lower_corner_width)
        request.upper[0] = PyNumber_Index(pixel_box_upper_corner_width)
        request.mode = module.member("mode", mode, module.TensorMapIm2ColWideMode)
        set_pixels(&request, channels_per_pixel, pixels_per_column)
        finish_map(&request, view, element_strides, interleave, swizzle, l2_promotion, oob_fill)
        return make_map(&request, view, "im2col_wide")

    @property
    def device(self):
        """The Device of the tensor; None for memory that is of no device. Host only."""
        if self.view.fields.device < 0:
            return None
        return import_module("cuda.core").Device(self.view.fields.device)

    def replace_address(self, tensor):
        """Let the map be of another tensor of the same shape, strides and type.

        Host only. The old tensor is let go once that has succeeded.

        Parameters
        ----------
        tensor : object
            A view, or an object with DLPack or ``__cuda_array_interface__``.

        Raises
        ------
        ValueError
            If the tensor is not device-accessible, its address is no multiple of 16, or it is of
            another device.
        RuntimeError
            If another context is current than the one that the map was made in.

        See Also
        --------
        cuTensorMapReplaceAddress : the driver function.
        """
        cdef StridedMemoryView view
        if isinstance(tensor, StridedMemoryView):
            view = <StridedMemoryView>tensor
        else:
            view = new_view(StridedMemoryView)
            take_any(view, tensor, -1)
        cdef uintptr_t context = check_tensor(view, "replace_address")
        if context != self.context:
            raise RuntimeError("replace_address: the tensor map was made in another context than "
                               "the current one")
        check_status_of(replace_map_address(self.native[0], view.fields.pointer),
                        b"cuTensorMapReplaceAddress")
        self.view, self.tensor = view, tensor

    def __cuda_kernel_arg__(self):
        check_memory(self.view)
        return PyBytes_FromStringAndSize(<char*>self.native, MAP_BYTES)

    def __reduce__(self):
        raise TypeError("cannot pickle 'TensorMapDescriptor' object: it holds an address of this "
                        "process")

    def __repr__(self):
        return f"TensorMapDescriptor({self.text})"


cdef int check_status_of(CUresult code, const char* function) except -1:
    if code:
        return raise_driver_error(code, function)
    return 0


cdef uintptr_t check_tensor(StridedMemoryView view, str what) except 0:
    """What every tensor of a map fulfils; the current context."""
    check_memory(view)
    if not view.fields.is_device_accessible:
        raise ValueError("The tensor must be device-accessible")
    if view.fields.pointer % 16:
        raise ValueError("Global memory address must be 16-byte aligned, got address "
                         f"{view.fields.pointer:#x}")
    cdef uintptr_t context = current_context_number()
    if context == 0:
        raise RuntimeError(f"{what} requires an active CUDA context: call Device.set_current()")
    cdef int current = current_ordinal()
    if view.where == device_type.cuda and view.fields.device != current:
        raise ValueError(f"{what} expects tensor on device {current}, got {view.fields.device}")
    return context


cdef int begin_map(map_request* request, object view, map_kind kind, str what) except -1:
    if not isinstance(view, StridedMemoryView):
        raise TypeError(f"a tensor map is of a StridedMemoryView, got {type_name(view)}")
    memset(request, 0, sizeof(map_request))
    request.kind = kind
    request.address = (<StridedMemoryView>view).fields.pointer
    check_tensor(<StridedMemoryView>view, what)
    return 0


cdef int set_map_type(map_request* request, StridedMemoryView view, object given) except -1:
    module = map_options()
    given = module.data_type(given)
    if isinstance(given, module.TensorMapDataType):
        request.data_type = given
    else:
        dtype = view.dtype if given is None else given
        if dtype is None:
            raise ValueError("Cannot infer TMA data type from the tensor; please specify data_type "
                             "explicitly")
        if dtype.name not in MAP_TYPES or not dtype.isnative:
            raise ValueError(f"Unsupported dtype {dtype} for TMA; supported dtypes: "
                             f"{', '.join(MAP_TYPES)}. You may also specify data_type explicitly.")
        request.data_type = MAP_TYPES[dtype.name]
    if MAP_SIZES[request.data_type] != view.native.itemsize():
        raise ValueError(f"data_type {module.TensorMapDataType(request.data_type).name} is of "
                         f"{MAP_SIZES[request.data_type]} bytes, and the elements of the tensor "
                         f"are of {view.native.itemsize()}; view(layout, dtype) makes another view")
    return 0


cdef int set_map_rank(map_request* request, StridedMemoryView view, int least,
                      str what) except -1:
    """The shape and the strides, the innermost first; that one's own stride is implied."""
    cdef int rank = view.native.ndim(), axis
    if not least <= rank <= 5:
        raise ValueError(f"{what} rank must be between {least} and 5, got {rank}")
    cdef strided_layout layout = view.native.with_strides()
    request.rank = rank
    for axis in range(rank):
        stride = layout.strides()[rank - 1 - axis]
        if stride < 0:
            raise ValueError(f"a tensor map takes no negative strides, got {view.strides}")
        request.extents[axis] = layout.extents()[rank - 1 - axis]
        if axis == 0 and stride != 1 and layout.extents()[rank - 1] != 1:
            raise ValueError("the innermost axis of a tensor map must be contiguous, got strides "
                             f"{view.strides}")
        if axis > 0:
            request.strides[axis - 1] = stride * layout.itemsize()
    return 0


cdef int set_corner(int* to, str name, object given, int rank) except -1:
    numbers_given = map_options().integers(name, given)
    if len(numbers_given) != rank - 2:
        raise ValueError(f"{name} must have {rank - 2} elements (rank - 2), got "
                         f"{len(numbers_given)}")
    for axis, number in enumerate(reversed(numbers_given)):
        to[axis] = number
    return 0


cdef int set_pixels(map_request* request, object channels, object pixels) except -1:
    request.channels = PyNumber_Index(channels)
    request.pixels = PyNumber_Index(pixels)
    return 0


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
        request.element_strides[axis] = stride
    request.interleave = module.member("interleave", interleave, module.TensorMapInterleave)
    request.swizzle = module.member("swizzle", swizzle, module.TensorMapSwizzle)
    request.promotion = module.member("l2_promotion", promotion, module.TensorMapL2Promotion)
    request.fill = module.member("oob_fill", fill, module.TensorMapOOBFill)
    return 0


cdef int refuse_map(map_request* request, CUresult code, const char* function) except -1:
    """Raise with the rules of TMA that are broken, which the driver does not name."""
    module = map_options()
    size = MAP_SIZES[request.data_type]
    strides = [request.strides[axis] for axis in range(request.rank - 1)]
    # The box of the other kinds has all channels innermost.
    row = size * (request.box[0] if request.kind == map_kind.tiled else request.channels)
    try:
        check_status_of(code, function)
    except Exception as error:
        for rule in module.broken_rules(row, strides, request.interleave, request.swizzle):
            error.add_note(rule)
        raise


cdef TensorMapDescriptor make_map(map_request* request, StridedMemoryView view, str kind):
    cdef const char* function = NULL
    cdef TensorMapDescriptor made = TensorMapDescriptor.__new__(TensorMapDescriptor)
    made.native = new tensor_map()
    made.context = current_context_number()
    cdef CUresult code = encode_map(request[0], made.native[0], &function)
    if code:
        refuse_map(request, code, function)
    check_memory(view)  # converting an option may have closed it
    made.view, made.tensor = view, view.source
    module = map_options()
    made.text = (f"{kind}, rank={request.rank}, "
                 f"dtype={module.TensorMapDataType(request.data_type).name}, "
                 f"swizzle={module.TensorMapSwizzle(request.swizzle).name}")
    return made


cdef TensorMapDescriptor make_tiled(object view, object box_dim, object options,
                                    object element_strides, object data_type, object interleave,
                                    object swizzle, object promotion, object fill):
    cdef map_request request
    single = (box_dim, element_strides, data_type, interleave, swizzle, promotion, fill)
    module = map_options()
    cls = module.TensorMapDescriptorOptions
    if options is not None:
        # A member NONE is what the options have by default.
        given = [each for each in single[3:] if each is not None and each != 0]
        if given or any([each is not None for each in single[:3]]):
            raise TypeError("Specify either options or the individual tensor map arguments, not "
                            "both")
        chosen = as_options(options, cls, "The Tensor map descriptor options")
    elif box_dim is None:
        raise TypeError("box_dim is required unless options is provided")
    else:
        names = ("box_dim", "element_strides", "data_type", "interleave", "swizzle",
                 "l2_promotion", "oob_fill")
        chosen = cls(**{n: v for n, v in zip(names, single) if v is not None})
    begin_map(&request, view, map_kind.tiled, "TensorMapDescriptor._from_tiled")
    set_map_type(&request, view, chosen.data_type)
    set_map_rank(&request, view, 1, "Tensor")
    set_box(&request, chosen.box_dim)
    finish_map(&request, view, chosen.element_strides, chosen.interleave, chosen.swizzle,
               chosen.l2_promotion, chosen.oob_fill)
    return make_map(&request, view, "tiled")


cdef int set_box(map_request* request, tuple box) except -1:
    cdef int rank = request.rank
    if len(box) != rank:
        raise ValueError(f"box_dim must have {rank} elements (same as tensor rank), got {len(box)}")
    for axis, extent in enumerate(box):
        if not 1 <= extent <= 256:
            raise ValueError(f"box_dim[{axis}] must be in [1, 256], got {extent}")
        request.box[rank - 1 - axis] = extent
    return 0

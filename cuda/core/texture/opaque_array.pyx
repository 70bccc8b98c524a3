# SPDX-License-Identifier: Apache-2.0
# OpaqueArray: a CUDA array, whose element layout is private to the device.

cdef enum:
    SURFACE_LOAD_STORE = 2  # CUDA_ARRAY3D_SURFACE_LDST


cdef object texture_options(str name, object value, str label):
    """Return `value` as an instance of the options class `name`."""
    cls = getattr(import_module("cuda.core.texture.options"), name)
    return cls() if value is None else as_options(value, cls, label)


cdef tuple format_facts(object format):
    """Return the driver's number of the format and the bytes of a component."""
    return import_module("cuda.core.texture.options").FORMATS[format]


cdef int fill_array_descriptor(CUDA_ARRAY3D_DESCRIPTOR* into, object options) except -1:
    cdef tuple shape = options.shape
    memset(into, 0, sizeof(CUDA_ARRAY3D_DESCRIPTOR))
    try:
        into.Width = shape[0]
        into.Height = shape[1] if len(shape) > 1 else 0
        into.Depth = shape[2] if len(shape) > 2 else 0
    except OverflowError:
        raise ValueError(f"the shape {shape} is larger than any memory") from None
    into.Format = <CUarray_format><int>format_facts(options.format)[0]
    into.NumChannels = options.num_channels
    into.Flags = SURFACE_LOAD_STORE if options.is_surface_load_store else 0


cdef context_handle context_of_device(Device device) except *:
    """Return the device's context; raise if the device is not current."""
    cdef context_handle context = device.context_to_use()
    if current_ordinal() != device.ordinal:
        raise RuntimeError(f"Device {device.ordinal} is not current: call its set_current() first")
    return context.take()


cdef class OpaqueArray:
    """A CUDA array for textures and surfaces; its element layout is private to the device.

    `Device.create_opaque_array` and `MipmappedArray.get_level` create it. The array owns its
    memory: `close` frees it once no texture or surface object references it. The array retains
    its context. Copies use densely packed rows in C order: a C-contiguous NumPy array of shape
    (height, width) matches an array of shape (width, height).
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("OpaqueArray cannot be instantiated directly. Use "
                           "Device.create_opaque_array().")

    def close(self):
        """Destroy the array once no texture, surface or graph references it.

        Blocks the host until all work of the context completes. Closing a level of a
        `MipmappedArray` releases this view only. Closing twice is harmless.

        See Also
        --------
        cuArrayDestroy : the driver function.
        """
        self.native.close(self)

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """Value of the ``CUarray``; 0 if the array is closed. Host only."""
        return self.identity if self.native.is_open(self) else 0

    @property
    def shape(self):
        """Extents in elements, the fastest axis first. Host only."""
        return self.extents

    @property
    def format(self):
        """Format of the components, an `ArrayFormatType`. Host only."""
        return self.kind

    @property
    def num_channels(self):
        """Number of components of an element. Host only."""
        return self.channels

    @property
    def is_surface_load_store(self):
        """Whether a surface object can be created from the array. Host only."""
        return self.has_surfaces

    @property
    def element_bytes(self):
        """Size of an element in bytes. Host only."""
        return format_facts(self.kind)[1] * self.channels

    @property
    def size_bytes(self):
        """Size of all elements in bytes, densely packed. Host only."""
        size = self.element_bytes
        for extent in self.extents:
            size *= extent
        return size

    @property
    def device(self):
        """Device that holds the array. Host only."""
        return device_of_ordinal(self.ordinal)

    def copy_from(self, src, *, stream):
        """Copy data to the whole array.

        Stream-ordered. Pageable memory is read before the call returns.

        Parameters
        ----------
        src : Buffer or array
            C-contiguous data of `size_bytes`; a Buffer may be larger.
        stream : Stream or GraphBuilder
            Stream that orders the copy.

        Raises
        ------
        ValueError
            If `src` has another size, or is not contiguous.
        TypeError
            If `src` is neither a Buffer nor an object with the buffer protocol.

        See Also
        --------
        cuMemcpy3DAsync : the driver function.
        """
        copy_array(self, src, accept_stream(stream), True)

    def copy_to(self, dst, *, stream):
        """Copy the whole array to memory.

        Stream-ordered. Pageable memory is written before the call returns.

        Parameters
        ----------
        dst : Buffer or array
            C-contiguous, writable memory of at least `size_bytes`.
        stream : Stream or GraphBuilder
            Stream that orders the copy.

        Returns
        -------
        Buffer or array
            `dst`.

        Raises
        ------
        ValueError
            If `dst` is too small, or not contiguous.
        BufferError
            If `dst` is read-only.
        TypeError
            If `dst` is neither a Buffer nor an object with the buffer protocol.

        See Also
        --------
        cuMemcpy3DAsync : the driver function.
        """
        copy_array(self, dst, accept_stream(stream), False)
        return dst

    def __enter__(self):
        self.native.check_open(self)
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __repr__(self):
        if self.kind is None:
            return "<OpaqueArray>"
        return (f"OpaqueArray(shape={self.extents}, format={self.kind.name}, "
                f"num_channels={self.channels})")


cdef OpaqueArray wrap_array(array_handle& native, tuple shape, object format, int channels,
                            bint has_surfaces):
    cdef OpaqueArray array = OpaqueArray.__new__(OpaqueArray)
    array.identity = <uintptr_t>native.raw()
    array.ordinal = native.parent().context().facts().device
    array.extents, array.kind, array.channels = shape, format, channels
    array.has_surfaces = has_surfaces
    array.native.hold(array, native.take())
    return array


def create_opaque_array(device, options):
    """Implement `Device.create_opaque_array`. Host only."""
    cdef CUDA_ARRAY3D_DESCRIPTOR descriptor
    checked = texture_options("OpaqueArrayOptions", options, "OpaqueArray options")
    fill_array_descriptor(&descriptor, checked)
    cdef context_handle context = context_of_device(device)
    cdef array_handle native
    with nogil:
        native = create_array(context.take(), descriptor)
    return wrap_array(native, checked.shape, checked.format, checked.num_channels,
                      descriptor.Flags != 0)


cdef void require_size(OpaqueArray array, object size, bint is_buffer, bint is_filled) except *:
    extent = array.size_bytes
    if size > extent and is_filled and not is_buffer:
        raise ValueError(f"Host buffer has {size} bytes, larger than the array extent ({extent} "
                         "bytes): pass the elements to copy")
    if size >= extent:
        return
    if is_buffer:
        raise ValueError(f"Buffer size ({size} bytes) is smaller than the array extent ({extent} "
                         "bytes)")
    raise ValueError(f"Host buffer has {size} bytes, smaller than the array extent ({extent} "
                     "bytes)")


cdef int copy_array(OpaqueArray array, object other, Stream stream, bint is_filled) except -1:
    cdef bint is_buffer = isinstance(other, Buffer)
    array.native.check_open(array)
    owner = memory_for_copy(other, not is_filled, stream)
    require_size(array, range_for_copy(owner).size, is_buffer, is_filled)
    # Converting the argument may have run user code that closed the array or the Buffer.
    cdef borrowed_array native = array.native.borrow_open(array)
    cdef buffer_fields memory = range_for_copy(owner)
    cdef CUDA_MEMCPY3D copy
    memset(&copy, 0, sizeof(copy))
    cdef size_t row = array.extents[0] * array.element_bytes
    copy.WidthInBytes = row
    copy.Height = array.extents[1] if len(array.extents) > 1 else 1
    copy.Depth = array.extents[2] if len(array.extents) > 2 else 1
    if is_filled:
        copy.srcMemoryType, copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_ARRAY
        copy.srcDevice, copy.dstArray = memory.pointer, native.raw()
        copy.srcPitch, copy.srcHeight = row, copy.Height
    else:
        copy.srcMemoryType, copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, CU_MEMORYTYPE_UNIFIED
        copy.srcArray, copy.dstDevice = native.raw(), memory.pointer
        copy.dstPitch, copy.dstHeight = row, copy.Height
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    cdef CUresult code
    with nogil:
        code = copy_rows_in_order(order, copy)
    check(code, b"cuMemcpy3DAsync")
    if captures_under_way():
        retain_in_capture(order, share_array(array))
    return retain_after_copy(owner, stream)


cdef object share_array(OpaqueArray array):
    """Return an object that retains the CUDA array after `array` is closed."""
    cdef array_handle native = array.native.share(array)
    if not native.is_open():
        return array
    return wrap_array(native, array.extents, array.kind, array.channels, array.has_surfaces)

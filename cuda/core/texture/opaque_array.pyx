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
    return 0


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
            C-contiguous data of at least `size_bytes`; excess bytes are ignored.
        stream : Stream or GraphBuilder
            Stream that orders the copy.

        Raises
        ------
        ValueError
            If `src` is too small, or not contiguous.
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

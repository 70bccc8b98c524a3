# SPDX-License-Identifier: Apache-2.0
# OpaqueArray: a CUDA array, whose element layout is private to the device.


cdef object texture_options(str name, object given, str what):
    cls = getattr(import_module("cuda.core.texture.options"), name)
    return cls() if given is None else as_options(given, cls, what)


cdef tuple format_facts(object format):
    """The driver's number, and the bytes of a component."""
    return import_module("cuda.core.texture.options").FORMATS[format]


cdef int describe(CUDA_ARRAY3D_DESCRIPTOR* into, object chosen) except -1:
    cdef tuple shape = chosen.shape
    memset(into, 0, sizeof(CUDA_ARRAY3D_DESCRIPTOR))
    try:
        into.Width = shape[0]
        into.Height = shape[1] if len(shape) > 1 else 0
        into.Depth = shape[2] if len(shape) > 2 else 0
    except OverflowError:
        raise ValueError(f"the shape {shape} is larger than any memory") from None
    into.Format = <CUarray_format><int>format_facts(chosen.format)[0]
    into.NumChannels = chosen.num_channels
    into.Flags = SURFACE_LOAD_STORE if chosen.is_surface_load_store else 0
    return 0


cdef context_handle context_of_device(Device device) except *:
    """The context to make an object in, which must be current."""
    cdef context_handle context = device.context_to_use()
    if current_ordinal() != device.ordinal:
        raise RuntimeError(f"Device {device.ordinal} is not current: call its set_current() first")
    return context.take()


cdef class OpaqueArray:
    """Elements in an order of the device's own, for textures and surfaces.

    It comes from `Device.create_opaque_array`, or `MipmappedArray.get_level`, and owns its memory:
    closing it gives that back, once no texture or surface object needs it. It keeps its context
    alive. Data outside of it are rows, densely packed: a C-contiguous NumPy array of shape
    (height, width) fits the shape (width, height).
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("OpaqueArray cannot be instantiated directly. Use "
                           "Device.create_opaque_array().")

    def close(self):
        """Give the array back, unless a texture, a surface or a graph still needs it.

        Blocks the host until the work of the context is done. Of a level, only this view goes.
        Closing twice is harmless.

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
        """The ``CUarray``, as a number; 0 when closed. Host only."""
        return self.identity if self.native.is_open(self) else 0

    @property
    def shape(self):
        """The extents in elements, the fastest axis first. Host only."""
        return self.extents

    @property
    def format(self):
        """The `ArrayFormatType` of the components. Host only."""
        return self.kind

    @property
    def num_channels(self):
        """The components of an element. Host only."""
        return self.channels

    @property
    def is_surface_load_store(self):
        """Whether a surface object may be made of it. Host only."""
        return self.has_surfaces

    @property
    def element_bytes(self):
        """The size of an element. Host only."""
        return format_facts(self.kind)[1] * self.channels

    @property
    def size_bytes(self):
        """The size of all elements, densely packed. Host only."""
        size = self.element_bytes
        for extent in self.extents:
            size *= extent
        return size

    @property
    def device(self):
        """The `Device` of the array. Host only."""
        return device_of_ordinal(self.ordinal)

    def copy_from(self, src, *, stream):
        """Fill the array.

        Stream-ordered. Pageable memory is read before the call returns.

        Parameters
        ----------
        src : Buffer or array
            At least `size_bytes`, C-contiguous; what is beyond is left.
        stream : Stream or GraphBuilder
            What orders the copy.

        Raises
        ------
        ValueError
            If `src` is too small, or not contiguous.
        TypeError
            If it is neither a Buffer nor has the buffer protocol.

        See Also
        --------
        cuMemcpy3DAsync : the driver function.
        """
        copy_array(self, src, accept_stream(stream), True)

    def copy_to(self, dst, *, stream):
        """Copy the whole array out.

        Stream-ordered. Pageable memory is written before the call returns.

        Parameters
        ----------
        dst : Buffer or array
            At least `size_bytes`, C-contiguous and writable.
        stream : Stream or GraphBuilder
            What orders the copy.

        Returns
        -------
        Buffer or array
            `dst`.

        Raises
        ------
        ValueError
            If `dst` is too small, or not contiguous.
        BufferError
            If it is read-only.
        TypeError
            If it is neither a Buffer nor has the buffer protocol.

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
        return (f"OpaqueArray(shape={self.extents}, format={self.kind.name}, "
                f"num_channels={self.channels})")


cdef OpaqueArray wrap_array(array_handle& native, tuple shape, object format, int channels,
                            bint has_surfaces):
    cdef OpaqueArray made = OpaqueArray.__new__(OpaqueArray)
    made.identity = <uintptr_t>native.raw()
    made.ordinal = native.parent().context().facts().device
    made.extents, made.kind, made.channels = shape, format, channels
    made.has_surfaces = has_surfaces
    made.native.hold(made, native.take())
    return made


def create_opaque_array(device, options):
    """What `Device.create_opaque_array` does. Host only."""
    cdef CUDA_ARRAY3D_DESCRIPTOR shape
    chosen = texture_options("OpaqueArrayOptions", options, "OpaqueArray options")
    describe(&shape, chosen)
    cdef context_handle context = context_of_device(device)
    cdef array_handle made
    with nogil:
        made = create_array(context.take(), shape)
    return wrap_array(made, chosen.shape, chosen.format, chosen.num_channels, shape.Flags != 0)

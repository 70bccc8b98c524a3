# SPDX-License-Identifier: Apache-2.0
# ResourceDescriptor: what a texture or surface is of.


cdef int require_buffer(object given) except -1:
    if not isinstance(given, Buffer):
        raise TypeError(f"buffer must be a Buffer, got {type(given).__name__}")
    return check_open((<Buffer>given).fields.is_open, "Buffer")


cdef int require_resource(object given) except -1:
    if not isinstance(given, ResourceDescriptor):
        raise TypeError(f"resource must be a ResourceDescriptor, got {type(given).__name__}")
    return 0


cdef class ResourceDescriptor:
    """What a texture or surface is of: an array, a mipmapped array, or memory in rows.

    It comes from one of the ``from_`` methods, and keeps what it is of alive.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("ResourceDescriptor cannot be instantiated directly. Use "
                           "ResourceDescriptor.from_* factories.")

    @classmethod
    def from_opaque_array(cls, array):
        """Of an array.

        Host only.

        Parameters
        ----------
        array : OpaqueArray

        Returns
        -------
        ResourceDescriptor
        """
        if not isinstance(array, OpaqueArray):
            raise TypeError(f"array must be a OpaqueArray, got {type(array).__name__}")
        (<OpaqueArray>array).native.check_open(array)
        return make_descriptor("array", array)

    @classmethod
    def from_mipmapped_array(cls, mipmapped_array):
        """Of all levels of a mipmapped array.

        Host only.

        Parameters
        ----------
        mipmapped_array : MipmappedArray

        Returns
        -------
        ResourceDescriptor
        """
        if not isinstance(mipmapped_array, MipmappedArray):
            raise TypeError("mipmapped_array must be a MipmappedArray, got "
                            f"{type(mipmapped_array).__name__}")
        (<MipmappedArray>mipmapped_array).native.check_open(mipmapped_array)
        return make_descriptor("mipmapped_array", mipmapped_array)

    @classmethod
    def from_linear(cls, buffer, *, format, num_channels, size_bytes=None):
        """Of memory as one row, read element by element without a filter.

        Host only.

        Parameters
        ----------
        buffer : Buffer
            Aligned to 512 bytes, or as the device asks for.
        format : object
            An `ArrayFormatType`, its name, or what ``numpy.dtype()`` takes.
        num_channels : int
            The components of an element: 1, 2 or 4.
        size_bytes : int, optional
            A multiple of the size of an element; the whole buffer if None.

        Returns
        -------
        ResourceDescriptor

        Raises
        ------
        ValueError
            If the size is no multiple, below one element, or more than the buffer has.
        """
        require_buffer(buffer)
        module = import_module("cuda.core.texture.options")
        element = module.array_format(format)
        channels = module.channel_count(num_channels)
        width = module.FORMATS[element][1] * channels
        size = buffer.size if size_bytes is None else int(size_bytes)
        if size > buffer.size:
            raise ValueError(f"size_bytes ({size}) exceeds buffer.size ({buffer.size})")
        if size < width:
            raise ValueError(f"size_bytes ({size}) must be at least one element ({width} bytes)")
        if size % width:
            raise ValueError(f"size_bytes ({size}) must be a multiple of element size ({width} "
                             f"bytes for {element.name} x {channels})")
        cdef ResourceDescriptor made = make_descriptor("linear", buffer)
        made.element, made.channels, made.bytes = element, channels, size
        return made

    @classmethod
    def from_pitch2d(cls, buffer, *, format, num_channels, width, height, pitch_bytes):
        """Of memory in rows that begin at equal distances.

        Host only.

        Parameters
        ----------
        buffer : Buffer
            Aligned to 512 bytes, or as the device asks for.
        format : object
            An `ArrayFormatType`, its name, or what ``numpy.dtype()`` takes.
        num_channels : int
            The components of an element: 1, 2 or 4.
        width, height : int
            The extents in elements.
        pitch_bytes : int
            From one row to the next: a multiple of 32, or as the device asks for.

        Returns
        -------
        ResourceDescriptor

        Raises
        ------
        ValueError
            If an extent is below 1, or the rows do not fit the pitch or the buffer.
        """
        require_buffer(buffer)
        module = import_module("cuda.core.texture.options")
        element = module.array_format(format)
        channels = module.channel_count(num_channels)
        extents = (int(width), int(height))
        pitch = int(pitch_bytes)
        for name, extent in zip(("width", "height"), extents):
            if extent < 1:
                raise ValueError(f"{name} must be >= 1, got {extent}")
        row = extents[0] * module.FORMATS[element][1] * channels
        if pitch < row:
            raise ValueError(f"pitch_bytes ({pitch}) must be >= width * element_bytes ({row})")
        if pitch * extents[1] > buffer.size:
            raise ValueError(f"pitch_bytes * height ({pitch * extents[1]}) exceeds buffer.size "
                             f"({buffer.size})")
        cdef ResourceDescriptor made = make_descriptor("pitch2d", buffer)
        made.element, made.channels, made.extents, made.pitch = element, channels, extents, pitch
        return made

    @property
    def kind(self):
        """"array", "mipmapped_array", "linear" or "pitch2d". Host only."""
        return self.what

    @property
    def source(self):
        """The array or the Buffer. Host only."""
        return self.of

    @property
    def format(self):
        """The `ArrayFormatType` of memory; None of arrays, which have one. Host only."""
        return self.element

    @property
    def num_channels(self):
        """The components of an element of memory; None of arrays. Host only."""
        return self.channels

    @property
    def size_bytes(self):
        """The size of linear memory when it was described; else None. Host only."""
        return self.bytes

    @property
    def width(self):
        """The elements of a row of pitched memory; else None. Host only."""
        return None if self.extents is None else self.extents[0]

    @property
    def height(self):
        """The rows of pitched memory; else None. Host only."""
        return None if self.extents is None else self.extents[1]

    @property
    def pitch_bytes(self):
        """From one row of pitched memory to the next, in bytes; else None. Host only."""
        return self.pitch

    def __repr__(self):
        text = f"ResourceDescriptor(kind={self.what!r}"
        if self.element is not None:
            text += f", format={self.element.name}, num_channels={self.channels}"
        if self.bytes is not None:
            text += f", size_bytes={self.bytes}"
        if self.extents is not None:
            text += (f", width={self.extents[0]}, height={self.extents[1]}, "
                     f"pitch_bytes={self.pitch}")
        return text + ")"


cdef ResourceDescriptor make_descriptor(str what, object of):
    cdef ResourceDescriptor made = ResourceDescriptor.__new__(ResourceDescriptor)
    made.what, made.of = what, of
    return made


cdef object fill_resource(CUDA_RESOURCE_DESC* into, ResourceDescriptor of, bound_facts* kept):
    """As the driver takes it, with shares of what it names; what keeps the memory of a Buffer."""
    cdef Buffer buffer
    memset(into, 0, sizeof(CUDA_RESOURCE_DESC))
    if of.what == "array":
        kept.array = (<OpaqueArray>of.of).native.share_open(of.of)
        into.resType = CU_RESOURCE_TYPE_ARRAY
        into.res.array.hArray = kept.array.raw()
        return None
    if of.what == "mipmapped_array":
        kept.levels = (<MipmappedArray>of.of).native.share_open(of.of)
        into.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
        into.res.mipmap.hMipmappedArray = kept.levels.raw()
        return None
    buffer = of.of
    number = <int>format_facts(of.element)[0]
    check_open(buffer.fields.is_open, "Buffer")
    if of.what == "linear":
        into.resType = CU_RESOURCE_TYPE_LINEAR
        into.res.linear.devPtr = buffer.fields.pointer
        into.res.linear.format = <CUarray_format><int>number
        into.res.linear.numChannels = of.channels
        into.res.linear.sizeInBytes = of.bytes
    else:
        into.resType = CU_RESOURCE_TYPE_PITCH2D
        into.res.pitch2D.devPtr = buffer.fields.pointer
        into.res.pitch2D.format = <CUarray_format><int>number
        into.res.pitch2D.numChannels = of.channels
        into.res.pitch2D.width, into.res.pitch2D.height = of.extents
        into.res.pitch2D.pitchInBytes = of.pitch
    return memory_to_keep(buffer)

# SPDX-License-Identifier: Apache-2.0
# ResourceDescriptor: the memory that a texture or surface accesses.


cdef int require_buffer(object value) except -1:
    if not isinstance(value, Buffer):
        raise TypeError(f"buffer must be a Buffer, got {type(value).__name__}")
    return check_open((<Buffer>value).fields.is_open, "Buffer")


cdef int require_resource(object value) except -1:
    if not isinstance(value, ResourceDescriptor):
        advice = ""
        if isinstance(value, (OpaqueArray, MipmappedArray)):
            factory = "opaque" if isinstance(value, OpaqueArray) else "mipmapped"
            advice = f"; ResourceDescriptor.from_{factory}_array(array) creates one"
        raise TypeError(f"resource must be a ResourceDescriptor, got {type(value).__name__}"
                        f"{advice}")


cdef class ResourceDescriptor:
    """The memory that a texture or surface accesses: an array, a mipmapped array or a buffer.

    The ``from_`` methods create it. The descriptor retains the array or buffer.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("ResourceDescriptor cannot be instantiated directly. Use "
                           "ResourceDescriptor.from_* factories.")

    @classmethod
    def from_opaque_array(cls, array):
        """Create a descriptor of an array.

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
        """Create a descriptor of all levels of a mipmapped array.

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
        """Create a descriptor of linear memory, which textures read without filtering.

        Host only.

        Parameters
        ----------
        buffer : Buffer
            Memory aligned to 512 bytes, or to the device's texture alignment.
        format : object
            An `ArrayFormatType`, its name, or an argument that ``numpy.dtype()`` accepts.
        num_channels : int
            Number of components of an element: 1, 2 or 4.
        size_bytes : int, optional
            Size in bytes, a multiple of the element size; the whole buffer if None.

        Returns
        -------
        ResourceDescriptor

        Raises
        ------
        ValueError
            If the size is no multiple of the element size, below one element, or above the
            buffer size.
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
        cdef ResourceDescriptor resource = make_descriptor("linear", buffer)
        resource.element, resource.channels, resource.bytes = element, channels, size
        return resource

    @classmethod
    def from_pitch2d(cls, buffer, *, format, num_channels, width, height, pitch_bytes):
        """Create a descriptor of pitched two-dimensional memory.

        Host only.

        Parameters
        ----------
        buffer : Buffer
            Memory aligned to 512 bytes, or to the device's texture alignment.
        format : object
            An `ArrayFormatType`, its name, or an argument that ``numpy.dtype()`` accepts.
        num_channels : int
            Number of components of an element: 1, 2 or 4.
        width, height : int
            Extents in elements.
        pitch_bytes : int
            Distance between rows in bytes: a multiple of 32, or of the device's texture pitch
            alignment.

        Returns
        -------
        ResourceDescriptor

        Raises
        ------
        ValueError
            If an extent is below 1, a row exceeds the pitch, or the rows exceed the buffer.
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
        cdef ResourceDescriptor resource = make_descriptor("pitch2d", buffer)
        resource.element, resource.channels = element, channels
        resource.extents, resource.pitch = extents, pitch
        return resource

    @property
    def kind(self):
        """Kind of memory: "array", "mipmapped_array", "linear" or "pitch2d". Host only."""
        return self.memory_kind

    @property
    def source(self):
        """The array or Buffer that the descriptor retains. Host only."""
        return self.owner

    @property
    def format(self):
        """Format of a Buffer's components, an `ArrayFormatType`; None for arrays. Host only."""
        return self.element

    @property
    def num_channels(self):
        """Number of components of a Buffer's element; None for arrays. Host only."""
        return self.channels

    @property
    def size_bytes(self):
        """Size of linear memory in bytes; otherwise None. Host only."""
        return self.bytes

    @property
    def width(self):
        """Number of elements in a row of pitched memory; otherwise None. Host only."""
        return None if self.extents is None else self.extents[0]

    @property
    def height(self):
        """Number of rows of pitched memory; otherwise None. Host only."""
        return None if self.extents is None else self.extents[1]

    @property
    def pitch_bytes(self):
        """Distance between rows of pitched memory in bytes; otherwise None. Host only."""
        return self.pitch

    def __repr__(self):
        text = f"ResourceDescriptor(kind={self.memory_kind!r}"
        if self.element is not None:
            text += f", format={self.element.name}, num_channels={self.channels}"
        if self.bytes is not None:
            text += f", size_bytes={self.bytes}"
        if self.extents is not None:
            text += (f", width={self.extents[0]}, height={self.extents[1]}, "
                     f"pitch_bytes={self.pitch}")
        return text + ")"


cdef ResourceDescriptor make_descriptor(str memory_kind, object owner):
    cdef ResourceDescriptor resource = ResourceDescriptor.__new__(ResourceDescriptor)
    resource.memory_kind, resource.owner = memory_kind, owner
    return resource


cdef object fill_resource(CUDA_RESOURCE_DESC* into, ResourceDescriptor resource, bound_facts* refs):
    """Fill the driver's descriptor and share its array handles in `refs`.

    Return the object that retains the memory of a Buffer; None for arrays.
    """
    cdef Buffer buffer
    memset(into, 0, sizeof(CUDA_RESOURCE_DESC))
    if resource.memory_kind == "array":
        refs.array = (<OpaqueArray>resource.owner).native.share_open(resource.owner)
        into.resType = CU_RESOURCE_TYPE_ARRAY
        into.res.array.hArray = refs.array.raw()
        return None
    if resource.memory_kind == "mipmapped_array":
        refs.levels = (<MipmappedArray>resource.owner).native.share_open(resource.owner)
        into.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
        into.res.mipmap.hMipmappedArray = refs.levels.raw()
        return None
    buffer = resource.owner
    number = <int>format_facts(resource.element)[0]
    check_open(buffer.fields.is_open, "Buffer")
    if resource.memory_kind == "linear":
        into.resType = CU_RESOURCE_TYPE_LINEAR
        into.res.linear.devPtr = buffer.fields.pointer
        into.res.linear.format = <CUarray_format><int>number
        into.res.linear.numChannels = resource.channels
        into.res.linear.sizeInBytes = resource.bytes
    else:
        into.resType = CU_RESOURCE_TYPE_PITCH2D
        into.res.pitch2D.devPtr = buffer.fields.pointer
        into.res.pitch2D.format = <CUarray_format><int>number
        into.res.pitch2D.numChannels = resource.channels
        into.res.pitch2D.width, into.res.pitch2D.height = resource.extents
        into.res.pitch2D.pitchInBytes = resource.pitch
    return owner_for_graph(buffer)

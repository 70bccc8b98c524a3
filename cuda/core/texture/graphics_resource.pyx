# SPDX-License-Identifier: Apache-2.0
# GraphicsResource: a buffer or image of OpenGL that kernels use while it is mapped.

cdef dict REGISTER_FLAGS = {
    "none": 0, "read_only": 1, "write_discard": 2, "surface_load_store": 4, "texture_gather": 8,
}


cdef unsigned register_flags(object given) except? 0xFFFFFFFF:
    cdef unsigned flags = 0
    if given is None:
        return 0
    for name in (given,) if isinstance(given, str) else given:
        if name not in REGISTER_FLAGS:
            raise ValueError(f"Unknown register flag {name!r}. Valid flags: "
                             f"{', '.join(sorted(REGISTER_FLAGS))}")
        flags |= <unsigned>REGISTER_FLAGS[name]
    return flags


cdef unsigned graphics_name(str what, object given) except? 0xFFFFFFFF:
    number = PyNumber_Index(given)
    if not 0 <= number <= 0xFFFFFFFF:
        raise ValueError(f"{what} must be from 0 to {0xFFFFFFFF}, got {number}")
    return number


@cython.final
cdef class _Mapping(MemoryResource):
    """A mapping of a graphics resource, undone once: by the Buffer, the array, or the resource."""

    _is_hidden = True  # Buffer.memory_resource is None

    cdef graphics_handle native  # set once
    cdef Stream order            # a wrapper of the stream that it was mapped on, never closed
    cdef object seen             # a weak reference to the Buffer, or to the last array
    cdef bint is_mapped

    def deallocate(self, ptr, size, *, stream):
        self.undo(stream)

    cdef int undo(self, object stream) except -1:
        cdef Stream given = self.order if stream is None else accept_stream(stream)
        cdef borrowed_stream order = given.native.borrow_open(given)
        with cython.critical_section(self):
            if not self.is_mapped:
                return 0
            self.is_mapped = False
        return check(unmap_graphics(self.native, order), "cuGraphicsUnmapResources")

    @property
    def is_device_accessible(self):
        return True

    @property
    def is_host_accessible(self):
        return False

    @property
    def device_id(self):
        return self.native.parent().context().facts().device

    def __dealloc__(self):
        cdef borrowed_stream order
        cdef CUresult code
        if not self.is_mapped or self.order is None:
            return  # to unregister it unmaps it as well
        order = self.order.native.borrow(self.order)
        code = unmap_graphics(self.native, order)
        if code != CUDA_SUCCESS:
            report_failed_destroy("cuGraphicsUnmapResources", code)


cdef class GraphicsResource:
    """A buffer or image of OpenGL, registered to be used by kernels.

    It comes from `from_gl_buffer` or `from_gl_image`, with a context of OpenGL current on the
    thread. OpenGL must leave it alone while it is mapped. It owns the registration: closing it
    unmaps and unregisters. ``with`` closes it at the end; given a stream when it was registered,
    it is mapped on that and gives the Buffer, else it gives itself.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("GraphicsResource objects cannot be instantiated directly. Use "
                           "GraphicsResource.from_gl_buffer() or "
                           "GraphicsResource.from_gl_image().")

    @classmethod
    def from_gl_buffer(cls, gl_buffer, *, flags=None, stream=None):
        """Register a buffer of OpenGL.

        Host only.

        Parameters
        ----------
        gl_buffer : int
            The name that ``glGenBuffers`` gave.
        flags : str or sequence of str, optional
            How it is used: "none", "read_only", "write_discard", "surface_load_store",
            "texture_gather".
        stream : Stream or GraphBuilder, optional
            What ``with`` maps it on.

        Returns
        -------
        GraphicsResource

        Raises
        ------
        ValueError
            If a flag is none of these.
        CUDAError
            If no context of OpenGL is current, or it has no such buffer.

        See Also
        --------
        cuGraphicsGLRegisterBuffer : the driver function.
        """
        cdef unsigned name = graphics_name("gl_buffer", gl_buffer)
        cdef unsigned how = register_flags(flags)
        entered_on = None if stream is None else accept_stream(stream)
        cdef graphics_handle made
        with nogil:
            made = register_graphics_buffer(name, how)
        return wrap_graphics(made, entered_on)

    @classmethod
    def from_gl_image(cls, image, target, *, flags=None):
        """Register a texture or a renderbuffer of OpenGL.

        Host only.

        Parameters
        ----------
        image : int
            The name that OpenGL gave.
        target : int
            What it is, for instance ``GL_TEXTURE_2D``.
        flags : str or sequence of str, optional
            As of `from_gl_buffer`.

        Returns
        -------
        GraphicsResource

        Raises
        ------
        ValueError
            If a flag is none that there is.
        CUDAError
            If no context of OpenGL is current, or it has no such image.

        See Also
        --------
        cuGraphicsGLRegisterImage : the driver function.
        """
        cdef unsigned name = graphics_name("image", image)
        cdef unsigned kind = graphics_name("target", target)
        cdef unsigned how = register_flags(flags)
        cdef graphics_handle made
        with nogil:
            made = register_graphics_image(name, kind, how)
        return wrap_graphics(made, None)

    @cython.binding(True)
    def map(self, stream=NOT_GIVEN):
        """Let kernels use the buffer.

        Stream-ordered, after what OpenGL was given before.

        Parameters
        ----------
        stream : Stream or GraphBuilder
            What orders the mapping and, unless another one is given then, its end.

        Returns
        -------
        Buffer
            The memory. Closing it, or letting it go, unmaps.

        Raises
        ------
        RuntimeError
            If it is mapped already, or closed.
        CUDAError
            If it is an image, which has no address: use `map_array`.

        See Also
        --------
        cuGraphicsMapResources, cuGraphicsResourceGetMappedPointer : the driver functions.
        """
        cdef mapped_range range
        cdef _Mapping mapping = begin_mapping(
            self, stream_or_default(stream, "GraphicsResource.map()"))
        try:
            range = pointer_of(mapping.native)
            buffer = wrap_memory(Buffer, range.pointer, range.size, mapping, None, mapping.order)
        except BaseException:
            mapping.undo(None)
            raise
        mapping.seen = weak_reference(buffer)
        return buffer

    def map_array(self, *, level=0, layer=0, stream):
        """Let kernels use an image, as an array.

        Stream-ordered, after what OpenGL was given before.

        Parameters
        ----------
        level : int, optional
            Of the mipmap.
        layer : int, optional
            Of a layered image, or the face of a cubemap.
        stream : Stream or GraphBuilder
            What orders the mapping and, unless another one is given then, its end.

        Returns
        -------
        OpaqueArray
            A view, for textures, surfaces and copies until `unmap`.

        Raises
        ------
        RuntimeError
            If it is mapped already, or closed.
        CUDAError
            If it is a buffer: use `map`.

        See Also
        --------
        cuGraphicsMapResources, cuGraphicsSubResourceGetMappedArray : the driver functions.
        """
        cdef CUDA_ARRAY3D_DESCRIPTOR shape
        cdef array_handle found
        cdef unsigned at_level = graphics_name("level", level)
        cdef unsigned at_layer = graphics_name("layer", layer)
        cdef _Mapping mapping = begin_mapping(self, accept_stream(stream))
        try:
            found = array_of(mapping.native, at_layer, at_level, &shape)
            array = wrap_array(found, extents_of(&shape), format_of(<int>shape.Format),
                               shape.NumChannels, shape.Flags & SURFACE_LOAD_STORE)
        except BaseException:
            mapping.undo(None)
            raise
        mapping.seen = weak_reference(array)
        return array

    def unmap(self, *, stream=None):
        """End the mapping: the Buffer, or the array, is closed.

        Stream-ordered.

        Parameters
        ----------
        stream : Stream or GraphBuilder, optional
            What orders it; that of the mapping if None.

        Raises
        ------
        RuntimeError
            If it is not mapped.

        See Also
        --------
        cuGraphicsUnmapResources : the driver function.
        """
        self.native.check_open(self)
        cdef _Mapping mapping = self.mapping
        if mapping is None or not mapping.is_mapped:
            raise RuntimeError("GraphicsResource is not mapped")
        end_mapping(mapping, None if stream is None else accept_stream(stream))

    def close(self, stream=None):
        """Unmap it if it is mapped, and unregister it.

        Host only. Closing twice is harmless.

        Parameters
        ----------
        stream : Stream or GraphBuilder, optional
            What orders the end of a mapping; that of the mapping if None.

        See Also
        --------
        cuGraphicsUnregisterResource : the driver function.
        """
        cdef object order = None if stream is None else accept_stream(stream)
        cdef _Mapping mapping = self.mapping
        try:
            if mapping is not None and mapping.is_mapped:
                end_mapping(mapping, order)
        finally:
            self.mapping = None
            if mapping is not None:
                forget_graphics(mapping)
            self.native.close(self)

    @property
    def is_mapped(self):
        """Whether kernels may use it now. Host only."""
        cdef _Mapping mapping = self.mapping
        return mapping is not None and mapping.is_mapped

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """The ``CUgraphicsResource``, as a number; 0 when closed. Host only."""
        return self.identity if self.native.is_open(self) else 0

    @property
    def resource_handle(self):
        """The same as `handle`. Host only."""
        return self.handle

    def __enter__(self):
        self.native.check_open(self)
        return self if self.entered_on is None else self.map(stream=self.entered_on)

    def __exit__(self, *exc_info):
        self.close()

    def __repr__(self):
        state = " closed" if self.is_closed else " mapped" if self.is_mapped else ""
        return f"<GraphicsResource handle={self.handle:#x}{state}>"


cdef object weak_reference(object of):
    from weakref import ref

    return ref(of)


cdef _Mapping begin_mapping(GraphicsResource of, Stream stream):
    cdef _Mapping mapping = _Mapping.__new__(_Mapping)
    cdef stream_handle shared = stream.native.share_open(stream)
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    mapping.order = Stream.__new__(Stream)
    mapping.order.identity = stream.identity
    mapping.order.native.hold(mapping.order, shared.take())
    with cython.critical_section(of):
        mapping.native = of.native.share_open(of)
        if of.mapping is not None and (<_Mapping>of.mapping).is_mapped:
            raise RuntimeError("GraphicsResource is already mapped")
        of.mapping = mapping
        map_graphics(mapping.native, order)
        mapping.is_mapped = True
    return mapping


cdef int end_mapping(_Mapping mapping, object stream) except -1:
    seen = mapping.seen() if mapping.seen is not None else None
    if isinstance(seen, Buffer):
        seen.close(stream)
    elif seen is not None:
        seen.close()
    mapping.undo(stream)  # of an array; or the memory has another owner, a part of the buffer
    return 0


cdef int forget_graphics(_Mapping mapping) except -1:
    """Let go of the registration, unless the end of the mapping failed."""
    if not mapping.is_mapped:
        mapping.native = graphics_handle()
    return 0


cdef GraphicsResource wrap_graphics(graphics_handle& native, object entered_on):
    cdef GraphicsResource made = GraphicsResource.__new__(GraphicsResource)
    made.identity = <uintptr_t>native.raw()
    made.entered_on = entered_on
    made.native.hold(made, native.take())
    return made


cdef tuple extents_of(const CUDA_ARRAY3D_DESCRIPTOR* shape):
    extents = (shape.Width, shape.Height, shape.Depth)
    return tuple([extent for extent in extents if extent])


cdef object format_of(int number):
    module = import_module("cuda.core.texture.options")
    for name, (known, _) in module.FORMATS.items():
        if known == number:
            return module.ArrayFormatType(name)
    raise ValueError(f"the image has format {number}, which textures of cuda.core do not have")

# SPDX-License-Identifier: Apache-2.0
# GraphicsResource: an OpenGL buffer or image that kernels can access while it is mapped.

cdef dict REGISTER_FLAGS = {
    "none": 0, "read_only": 1, "write_discard": 2, "surface_load_store": 4, "texture_gather": 8,
}


cdef unsigned register_flags(object value) except? 0xFFFFFFFF:
    cdef unsigned flags = 0
    if value is None:
        return 0
    for name in (value,) if isinstance(value, str) else value:
        if name not in REGISTER_FLAGS:
            raise ValueError(f"Unknown register flag {name!r}. Valid flags: "
                             f"{', '.join(sorted(REGISTER_FLAGS))}")
        flags |= <unsigned>REGISTER_FLAGS[name]
    return flags


cdef unsigned graphics_name(str label, object value) except? 0xFFFFFFFF:
    number = as_int(label, value)
    if not 0 <= number <= 0xFFFFFFFF:
        raise ValueError(f"{label} must be from 0 to {0xFFFFFFFF}, got {number}")
    return number


@cython.final
cdef class _Mapping(MemoryResource):
    """A mapping of a graphics resource. The Buffer, the array or the resource unmaps it, once."""

    _is_hidden = True  # Buffer.memory_resource is None

    cdef initialized_graphics native
    cdef Stream order            # own wrapper of the mapping stream, never closed
    cdef object view             # weak reference to the Buffer, or to the last array
    cdef bint is_mapped

    def deallocate(self, ptr, size, *, stream):
        self.undo(stream)

    cdef int undo(self, object stream) except -1:
        cdef const graphics_handle* native = &self.native.get(self)
        cdef Stream target = self.order if stream is None else accept_stream(stream)
        cdef borrowed_stream order = target.native.borrow_open(target)
        with cython.critical_section(self):
            if not self.is_mapped:
                return 0
            self.is_mapped = False
        return check(unmap_graphics(native[0], order), "cuGraphicsUnmapResources")

    @property
    def is_device_accessible(self):
        return True

    @property
    def is_host_accessible(self):
        return False

    @property
    def device_id(self):
        return self.native.get(self).parent().context().facts().device

    def __dealloc__(self):
        cdef borrowed_stream order
        cdef CUresult code
        if not self.is_mapped or self.order is None:
            return  # unregistering the resource unmaps it
        order = self.order.native.borrow(self.order)
        code = unmap_graphics(self.native.value_or_null(), order)
        if code != CUDA_SUCCESS:
            report_failed_destroy("cuGraphicsUnmapResources",
                                  <uintptr_t>self.native.value_or_null().raw(), code)


cdef class GraphicsResource:
    """An OpenGL buffer or image that is registered for access by kernels.

    `from_gl_buffer` and `from_gl_image` create it while an OpenGL context is current on the thread.
    OpenGL must not access the resource while it is mapped. The object owns the registration:
    `close` unmaps and unregisters it. A ``with`` block closes the resource at its end. If
    `from_gl_buffer` received a stream, the block maps the resource on that stream and returns the
    Buffer; otherwise it returns the resource.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("GraphicsResource objects cannot be instantiated directly. Use "
                           "GraphicsResource.from_gl_buffer() or "
                           "GraphicsResource.from_gl_image().")

    @classmethod
    def from_gl_buffer(cls, gl_buffer, *, flags=None, stream=None):
        """Register an OpenGL buffer.

        Host only.

        Parameters
        ----------
        gl_buffer : int
            Name of the buffer, from ``glGenBuffers``.
        flags : str or sequence of str, optional
            Intended use: "none", "read_only", "write_discard", "surface_load_store",
            "texture_gather".
        stream : Stream or GraphBuilder, optional
            Stream on which a ``with`` block maps the buffer.

        Returns
        -------
        GraphicsResource

        Raises
        ------
        ValueError
            If a flag is unknown.
        CUDAError
            If no OpenGL context is current, or the buffer does not exist in it.

        See Also
        --------
        cuGraphicsGLRegisterBuffer : the driver function.
        """
        cdef unsigned name = graphics_name("gl_buffer", gl_buffer)
        cdef unsigned registration = register_flags(flags)
        entered_on = None if stream is None else accept_stream(stream)
        cdef graphics_handle native
        with nogil:
            native = register_graphics_buffer(name, registration)
        return wrap_graphics(native, entered_on)

    @classmethod
    def from_gl_image(cls, image, target, *, flags=None):
        """Register an OpenGL texture or renderbuffer.

        Host only.

        Parameters
        ----------
        image : int
            Name of the image in OpenGL.
        target : int
            Target of the image, for example ``GL_TEXTURE_2D``.
        flags : str or sequence of str, optional
            Flags as in `from_gl_buffer`.

        Returns
        -------
        GraphicsResource

        Raises
        ------
        ValueError
            If a flag is unknown.
        CUDAError
            If no OpenGL context is current, or the image does not exist in it.

        See Also
        --------
        cuGraphicsGLRegisterImage : the driver function.
        """
        cdef unsigned name = graphics_name("image", image)
        cdef unsigned kind = graphics_name("target", target)
        cdef unsigned registration = register_flags(flags)
        cdef graphics_handle native
        with nogil:
            native = register_graphics_image(name, kind, registration)
        return wrap_graphics(native, None)

    @cython.binding(True)
    def map(self, stream=NOT_GIVEN):
        """Map the buffer for access by kernels.

        Stream-ordered, after earlier OpenGL commands.

        Parameters
        ----------
        stream : Stream or GraphBuilder
            Stream that orders the mapping, and the unmapping unless that call passes a stream.

        Returns
        -------
        Buffer
            The mapped memory. Closing or destroying the Buffer unmaps it.

        Raises
        ------
        RuntimeError
            If the resource is already mapped, or closed.
        CUDAError
            If the resource is an image, which has no address: use `map_array`.

        See Also
        --------
        cuGraphicsMapResources, cuGraphicsResourceGetMappedPointer : the driver functions.
        """
        cdef mapped_range range
        cdef _Mapping mapping = begin_mapping(
            self, stream_or_default(stream, "GraphicsResource.map()"))
        try:
            range = pointer_of(mapping.native.get(mapping))
            buffer = wrap_memory(Buffer, range.pointer, range.size, mapping, None, mapping.order)
        except BaseException:
            mapping.undo(None)
            raise
        mapping.view = weak_reference(buffer)
        return buffer

    def map_array(self, *, level=0, layer=0, stream):
        """Map an image as an array for access by kernels.

        Stream-ordered, after earlier OpenGL commands.

        Parameters
        ----------
        level : int, optional
            Level of the mipmap.
        layer : int, optional
            Layer of a layered image, or face of a cubemap.
        stream : Stream or GraphBuilder
            Stream that orders the mapping, and the unmapping unless that call passes a stream.

        Returns
        -------
        OpaqueArray
            A view that textures, surfaces and copies can use until `unmap`.

        Raises
        ------
        RuntimeError
            If the resource is already mapped, or closed.
        CUDAError
            If the resource is a buffer: use `map`.

        See Also
        --------
        cuGraphicsMapResources, cuGraphicsSubResourceGetMappedArray : the driver functions.
        """
        cdef CUDA_ARRAY3D_DESCRIPTOR descriptor
        cdef array_handle native
        cdef unsigned at_level = graphics_name("level", level)
        cdef unsigned at_layer = graphics_name("layer", layer)
        cdef _Mapping mapping = begin_mapping(self, accept_stream(stream))
        try:
            native = array_of(mapping.native.get(mapping), at_layer, at_level, &descriptor)
            array = wrap_array(native, extents_of(&descriptor), format_of(<int>descriptor.Format),
                               descriptor.NumChannels, descriptor.Flags & SURFACE_LOAD_STORE)
        except BaseException:
            mapping.undo(None)
            raise
        mapping.view = weak_reference(array)
        return array

    def unmap(self, *, stream=None):
        """Unmap the resource and close its Buffer or array.

        Stream-ordered.

        Parameters
        ----------
        stream : Stream or GraphBuilder, optional
            Stream that orders the call; the stream of the mapping if None.

        Raises
        ------
        RuntimeError
            If the resource is not mapped.

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
        """Unmap the resource if it is mapped, and unregister it.

        Host only. Closing twice is harmless.

        Parameters
        ----------
        stream : Stream or GraphBuilder, optional
            Stream that orders the unmapping; the stream of the mapping if None.

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
                release_registration(mapping)
            self.native.close(self)

    @property
    def is_mapped(self):
        """Whether the resource is mapped. Host only."""
        cdef _Mapping mapping = self.mapping
        return mapping is not None and mapping.is_mapped

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """Value of the ``CUgraphicsResource``; 0 if the resource is closed. Host only."""
        return self.identity if self.native.is_open(self) else 0

    @property
    def resource_handle(self):
        """Alias of `handle`. Host only."""
        return self.handle

    def __enter__(self):
        self.native.check_open(self)
        return self if self.entered_on is None else self.map(stream=self.entered_on)

    def __exit__(self, *exc_info):
        self.close()

    def __repr__(self):
        state = " closed" if self.is_closed else " mapped" if self.is_mapped else ""
        return f"<GraphicsResource handle={self.handle:#x}{state}>"


cdef object weak_reference(object target):
    from weakref import ref

    return ref(target)


cdef _Mapping begin_mapping(GraphicsResource resource, Stream stream):
    cdef _Mapping mapping = _Mapping.__new__(_Mapping)
    cdef stream_handle shared = stream.native.share_open(stream)
    cdef borrowed_stream order = stream.native.borrow_open(stream)
    mapping.order = Stream.__new__(Stream)
    mapping.order.identity = stream.identity
    mapping.order.native.hold(mapping.order, shared.take())
    with cython.critical_section(resource):
        mapping.native.set(resource.native.share_open(resource))
        if resource.mapping is not None and (<_Mapping>resource.mapping).is_mapped:
            raise RuntimeError("GraphicsResource is already mapped")
        resource.mapping = mapping
        map_graphics(mapping.native.get(mapping), order)
        mapping.is_mapped = True
    return mapping


cdef int end_mapping(_Mapping mapping, object stream) except -1:
    view = mapping.view() if mapping.view is not None else None
    if isinstance(view, Buffer):
        view.close(stream)
    elif view is not None:
        view.close()
    mapping.undo(stream)  # for an array, or if a slice of the Buffer still owns the memory


cdef int release_registration(_Mapping mapping) except -1:
    """Release the registration, unless unmapping failed."""
    if not mapping.is_mapped:
        mapping.native.set(graphics_handle())


cdef GraphicsResource wrap_graphics(graphics_handle& native, object entered_on):
    cdef GraphicsResource resource = GraphicsResource.__new__(GraphicsResource)
    resource.identity = <uintptr_t>native.raw()
    resource.entered_on = entered_on
    resource.native.hold(resource, native.take())
    return resource


cdef tuple extents_of(const CUDA_ARRAY3D_DESCRIPTOR* descriptor):
    extents = (descriptor.Width, descriptor.Height, descriptor.Depth)
    return tuple([extent for extent in extents if extent])


cdef object format_of(int number):
    module = import_module("cuda.core.texture.options")
    for name, (format_number, _) in module.FORMATS.items():
        if format_number == number:
            return module.ArrayFormatType(name)
    raise ValueError(f"the image has format {number}, which cuda.core textures do not support")

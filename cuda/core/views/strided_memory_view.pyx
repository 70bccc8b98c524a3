# SPDX-License-Identifier: Apache-2.0
# StridedMemoryView: an array of any library, described.

from cpython.pycapsule cimport PyCapsule_New

from cuda.core._core cimport register_views

# Filled when the functions in it are there.
cdef exchange_table own_table
_own_table_capsule = PyCapsule_New(&own_table, TABLE_CAPSULE, NULL)


# no_gc_clear: `fields.source` points into `source`; a cycle is broken at the source's side.
@cython.no_gc_clear
@cython.freelist(64)
cdef class StridedMemoryView:
    """Where the elements of an array of any library lie, and of what type they are.

    It copies nothing and owns no memory; it keeps the object alive that does. Use one of the class
    methods: `from_dlpack`, `from_cuda_array_interface`, `from_array_interface`,
    `from_any_interface`, `from_buffer`. To call the class itself is an older spelling, which warns.
    Views are arguments of `launch` as well.

    Parameters
    ----------
    obj : object, optional
        As for `from_any_interface`; None makes an empty view.
    stream_ptr : Stream or int
        As for `from_any_interface`.
    """

    __dlpack_c_exchange_api__ = _own_table_capsule
    __c_dlpack_exchange_api__ = _own_table_capsule

    def __init__(self, obj=None, stream_ptr=None):
        take_deprecated(self, obj, stream_ptr)

    def __dealloc__(self):
        give_tensor_back(self)

    @classmethod
    def from_dlpack(cls, obj, stream_ptr=None):
        """A view of an object that exports DLPack tensors.

        Host only, unless the object orders its work before that of the stream.

        Parameters
        ----------
        obj : object
            Has ``__dlpack__`` and ``__dlpack_device__``.
        stream_ptr : Stream or int
            The stream that will use the memory, or its address; -1 for no order. Memory of the host
            knows no streams, and takes -1.

        Returns
        -------
        StridedMemoryView

        Raises
        ------
        BufferError
            If the object does not export, its device is not known here, or `stream_ptr` is left out
            where that is ambiguous.
        """
        cdef StridedMemoryView view = new_view(cls)
        take_dlpack(view, obj, stream_ptr)
        return view

    @classmethod
    def from_cuda_array_interface(cls, obj, stream_ptr=None):
        """A view of an object with ``__cuda_array_interface__`` of version 3.

        Stream-ordered: later work of the stream waits for the one that the interface names.

        Parameters
        ----------
        obj : object
            Has ``__cuda_array_interface__``.
        stream_ptr : Stream or int
            The stream that will use the memory, or its address; -1 for no order.

        Returns
        -------
        StridedMemoryView

        Raises
        ------
        BufferError
            If there is no such interface, it is of an older version or has a mask, or `stream_ptr`
            is left out.
        """
        cdef StridedMemoryView view = new_view(cls)
        take_cuda_array(view, obj, stream_ptr)
        return view

    @classmethod
    def from_array_interface(cls, obj):
        """A view of host memory of an object with ``__array_interface__`` of version 3.

        Host only.

        Parameters
        ----------
        obj : object
            Has ``__array_interface__``.

        Returns
        -------
        StridedMemoryView

        Raises
        ------
        BufferError
            If there is no such interface, or it is of an older version or has a mask.
        """
        cdef StridedMemoryView view = new_view(cls)
        take_host_array(view, obj)
        return view

    @classmethod
    def from_any_interface(cls, obj, stream_ptr=None):
        """A view by DLPack where the object has it, else by ``__cuda_array_interface__``.

        Host only, but for the order of streams.

        Parameters
        ----------
        obj : object
            Has one of these protocols.
        stream_ptr : Stream or int
            As for `from_dlpack`.

        Returns
        -------
        StridedMemoryView

        Raises
        ------
        BufferError
            If the object has neither.
        """
        cdef StridedMemoryView view = new_view(cls)
        take_any(view, obj, stream_ptr)
        return view

    @classmethod
    def from_buffer(cls, buffer, tuple shape, strides=None, *, itemsize=None, dtype=None,
                    bint is_readonly=False):
        """A view of a Buffer, or of a part of it.

        Host only. Nothing is synchronised.

        Parameters
        ----------
        buffer : Buffer
            The memory. Where it came from a memory resource, the view must lie within it.
        shape : tuple of int
            The extent of each axis.
        strides : tuple of int, optional
            In elements; C order if None.
        itemsize : int, optional
            The size of an element in bytes, of a view without a type.
        dtype : object, optional
            The type of the elements: anything that ``numpy.dtype()`` takes.
        is_readonly : bool, optional
            Whether the view says that its memory must not be written.

        Returns
        -------
        StridedMemoryView

        Raises
        ------
        ValueError
            If neither `itemsize` nor `dtype` is given, they differ, or the buffer is too small.
        """
        cdef StridedMemoryView view = new_view(cls)
        take_layout_of_buffer(view, buffer, shape, strides, itemsize, dtype)
        if is_readonly:
            view.flags |= VIEW_IS_READONLY
        return view

    @property
    def ptr(self):
        """The address of the first element. Host only."""
        return self.fields.pointer

    @property
    def shape(self):
        """The extent of each axis. Host only."""
        check_set(self)
        return as_tuple(self.native.extents(), self.native.ndim())

    @property
    def strides(self):
        """In elements; None for C order that the source did not spell out. Host only."""
        check_set(self)
        if not self.native.has_strides():
            return None
        return as_tuple(self.native.strides(), self.native.ndim())

    @property
    def size(self):
        """The number of elements. Host only."""
        check_set(self)
        return volume(self.native)

    @property
    def ndim(self):
        """The number of axes. Host only."""
        check_set(self)
        return self.native.ndim()

    @property
    def itemsize(self):
        """The size of an element in bytes. Host only."""
        check_set(self)
        return self.native.itemsize()

    @property
    def nbytes(self):
        """The size of all elements in bytes, gaps left out. Host only."""
        return self.size * self.itemsize

    @property
    def is_contiguous_c(self):
        """Whether there are no gaps, in C order; extents of 1 do not count. Host only."""
        check_set(self)
        return is_contiguous_c(self.native)

    @property
    def is_contiguous_f(self):
        """Whether there are no gaps, in Fortran order; extents of 1 do not count. Host only."""
        check_set(self)
        return is_contiguous_f(self.native)

    @property
    def dtype(self):
        """The type of the elements as `numpy.dtype`; None where only their size is known.

        Host only. Found when it is asked for first.
        """
        with cython.critical_section(self):
            if self.type_object is None:
                self.type_object = find_dtype(self)
            return self.type_object

    @property
    def device_id(self):
        """The ordinal of the device; -1 for memory of the host alone. Host only."""
        return self.fields.device

    @property
    def is_device_accessible(self):
        """Whether kernels may use the memory. Host only."""
        return self.fields.is_device_accessible

    @property
    def readonly(self):
        """Whether the memory must not be written. Host only."""
        return (self.flags & VIEW_IS_READONLY) != 0

    @property
    def is_copied(self):
        """Whether the producer made a copy for this view, so that it sees no writes. Host only."""
        return (self.flags & VIEW_IS_COPY) != 0

    @property
    def exporting_obj(self):
        """The object that the view is of. Host only."""
        return self.source

    @property
    def _layout(self):
        check_set(self)
        with cython.critical_section(self):
            if self.layout is None:
                self.layout = wrap_layout(self.native)
            return self.layout

    def view(self, layout=None, dtype=None):
        """The same memory under another layout, as elements of another type, or both.

        Host only.

        Parameters
        ----------
        layout : _StridedLayout, optional
            Its offset counts from where that of this view does.
        dtype : object, optional
            Anything that ``numpy.dtype()`` takes, of the element size of the layout.

        Returns
        -------
        StridedMemoryView
            This view itself where nothing is given.

        Raises
        ------
        ValueError
            If the element sizes differ, or a Buffer is too small for the layout.
        """
        check_set(self)
        if layout is None and dtype is None:
            return self
        return other_view(self, layout, dtype)

    def copy_from(self, other, stream=None, allocator=None, blocking=None):
        """Copy the elements of another view into this one, whatever the strides of both.

        Stream-ordered. Memory that no device reaches is copied by the host, which waits for the
        stream where a device has the other part. What the copy reads and writes must stay alive,
        and must not overlap, until it is done.

        Parameters
        ----------
        other : StridedMemoryView
            Of the same shape and element size.
        stream : Stream, optional
            The stream that orders the copy; may be left out between two views of host memory.
        allocator : MemoryResource, optional
            Where memory for packed elements comes from; the stream's device if None.
        blocking : bool, optional
            Whether to wait for the copy. By default, where one side is of a device and the other is
            not.

        Raises
        ------
        ValueError
            If shapes or element sizes differ, or elements of this view may share memory.
        BufferError
            If this view is read-only.

        See Also
        --------
        cuMemcpyAsync, cuLaunchKernelEx : the driver functions.
        """
        copy_views(self, other, stream, allocator, blocking)

    def copy_to(self, other, stream=None, allocator=None, blocking=None):
        """Copy the elements of this view into another one: ``other.copy_from(self, ...)``.

        Stream-ordered.

        Parameters
        ----------
        other : StridedMemoryView
            Of the same shape and element size.
        stream : Stream, optional
            As for `copy_from`.
        allocator : MemoryResource, optional
            As for `copy_from`.
        blocking : bool, optional
            As for `copy_from`.
        """
        if not isinstance(other, StridedMemoryView):
            raise TypeError("a view is copied to or from a StridedMemoryView, got "
                            f"{type_name(other)}; StridedMemoryView.from_any_interface() makes one")
        copy_views(<StridedMemoryView>other, self, stream, allocator, blocking)

    def as_tensor_map(self, box_dim=None, *, options=None, element_strides=None, data_type=None,
                      interleave=None, swizzle=None, l2_promotion=None, oob_fill=None):
        """The tensor as the copy unit of the device (TMA) sees it, in tiles.

        Host only. Needs a device of compute capability 9.0.

        Parameters
        ----------
        box_dim : tuple of int, optional
            How many elements one copy takes along each axis, the outermost first: 1 to 256.
        options : TensorMapDescriptorOptions or dict, optional
            All of them at once, instead of the arguments.
        element_strides : tuple of int, optional
            Of how many elements along each axis one is taken; 1 for all if None.
        data_type : object, optional
            A `TensorMapDataType`, or anything that ``numpy.dtype()`` takes; the view's own if None.
        interleave : object, optional
            A `TensorMapInterleave` or its name.
        swizzle : object, optional
            A `TensorMapSwizzle` or its name.
        l2_promotion : object, optional
            A `TensorMapL2Promotion` or its name.
        oob_fill : object, optional
            A `TensorMapOOBFill` or its name.

        Returns
        -------
        TensorMapDescriptor

        Raises
        ------
        ValueError
            If the view is not device-accessible, not aligned to 16 bytes, of another device than
            the current one, or of a type, rank or strides that a map does not take.
        RuntimeError
            If no context is current.

        See Also
        --------
        cuTensorMapEncodeTiled : the driver function.
        """
        return make_tiled(self, box_dim, options, element_strides, data_type, interleave, swizzle,
                          l2_promotion, oob_fill)

    def as_mdspan(self, layout="right", *, index_type="int64", extents=None):
        """The view as an argument for a kernel parameter of type ``cuda::std::mdspan``.

        Host only. The three arguments repeat the type that the kernel has: they decide what is
        passed. A size that differs from the parameter's is refused by the launch.

        Parameters
        ----------
        layout : str
            ``"right"``, ``"left"`` or ``"stride"``, for ``layout_right`` and so on.
        index_type : object
            A str, ``"int32"``, ``"uint64"`` and the like, or NumPy's type of that name: the first
            argument of ``extents`` and ``dextents``.
        extents : tuple, optional
            For each axis its extent where the type has it, None where that is
            ``dynamic_extent``. All are dynamic if None.

        Returns
        -------
        Mdspan
            A kernel argument, which keeps the view alive.

        Raises
        ------
        ValueError
            If the layout does not describe the view, an extent is another one, or the view is
            not device-accessible.
        OverflowError
            If the view does not fit the index type.
        """
        from cuda.core.module.mdspan import make_mdspan

        check_set(self)
        return make_mdspan(self, layout, index_type, extents, _address_for_kernel)

    def __getitem__(self, key):
        check_set(self)
        return other_view(self, wrap_layout(layout_of_key(self.native, key)), None)

    def __len__(self):
        check_set(self)
        if self.native.ndim() == 0:
            raise TypeError("len() of a view without axes")
        return self.native.extents()[0]

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __bool__(self):
        return True

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Export the view as a DLPack tensor.

        Host only. Nothing is synchronised.

        Parameters
        ----------
        stream : int, optional
            Ignored.
        max_version : tuple of two int, optional
            The newest DLPack version that the consumer reads; None or below (1, 0) gives a capsule
            of the version without a number.
        dl_device : tuple, optional
            Must be None.
        copy : bool, optional
            Must not be True.

        Raises
        ------
        BufferError
            If the request cannot be met without a copy, or DLPack has no such type.
        """
        return export_view(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self):
        """The DLPack kind and ordinal of the device. Host only."""
        return <int>self.where or DEVICE_CPU, self.ordinal

    @property
    def __cuda_array_interface__(self):
        """The CUDA Array Interface of memory that a device can access. Host only."""
        if not self.fields.is_device_accessible:
            raise AttributeError("__cuda_array_interface__: the view is not device-accessible")
        interface = interface_of(self)
        interface["stream"] = None
        return interface

    @property
    def __array_interface__(self):
        """NumPy's array interface of memory that the host can access. Host only."""
        if self.where == device_type.cuda:
            raise AttributeError("__array_interface__: the host cannot access the memory of the "
                                 "view: copy it to the host first")
        return interface_of(self)

    def __reduce__(self):
        raise TypeError(f"cannot pickle {type(self).__name__!r} object: it shows memory of this "
                        "process")

    def __repr__(self):
        dtype = self.dtype
        return (f"StridedMemoryView(ptr={self.ptr},\n"
                f"                  shape={self.shape},\n"
                f"                  strides={self.strides},\n"
                f"                  itemsize={self.itemsize},\n"
                f"                  dtype={type_name(dtype)},\n"
                f"                  device_id={self.device_id},\n"
                f"                  is_device_accessible={self.is_device_accessible},\n"
                f"                  readonly={self.readonly},\n"
                f"                  exporting_obj={type_name(self.source)})")


cdef str type_name(object value):
    cls = type(value)
    if cls.__module__ == "builtins":
        return cls.__qualname__
    return f"{cls.__module__}.{cls.__qualname__}"


cdef inline int check_set(StridedMemoryView self) except -1:
    """Refuse a view that was made empty; that of a closed Buffer still says what it was."""
    if not self.flags & VIEW_IS_SET:
        raise ValueError("Cannot infer layout from the exporting object: the view is empty")
    return 0


cdef inline int check_memory(StridedMemoryView self) except -1:
    """Refuse what would use the memory of a Buffer that was closed."""
    check_set(self)
    if self.fields.source is not NULL:
        check_open(self.fields.source.is_open, "Buffer")
    return 0


def _address_for_kernel(StridedMemoryView view):
    check_memory(view)
    return view.ptr


cdef StridedMemoryView new_view(object cls):
    if cls is StridedMemoryView:
        return StridedMemoryView.__new__(StridedMemoryView)
    made = cls.__new__(cls)
    if not isinstance(made, StridedMemoryView):
        raise TypeError(f"{cls.__name__}.__new__() made no StridedMemoryView, but "
                        f"{type_name(made)}")
    return <StridedMemoryView>made


cdef int check_itemsize(int of_dtype, int of_layout) except -1:
    if of_dtype != of_layout:
        raise ValueError(f"The dtype's itemsize ({of_dtype}) does not match the layout's itemsize "
                         f"({of_layout}).")
    return 0


cdef StridedMemoryView other_view(StridedMemoryView self, object layout, object dtype):
    """Another view of the same memory; it keeps this one."""
    if layout is not None and not isinstance(layout, _StridedLayout):
        raise TypeError("Argument 'layout' has incorrect type (expected _StridedLayout, got "
                        f"{type(layout).__name__})")
    if dtype is not None:
        dtype = numpy_module().dtype(dtype)
    check_memory(self)
    cdef StridedMemoryView made = new_view(type(self))
    made.native = (<_StridedLayout>layout).native if layout is not None else self.native
    made.layout = layout
    if dtype is not None:
        check_itemsize(dtype.itemsize, made.native.itemsize())
        made.type_object = dtype
        element_of_dtype(dtype, &made.element)
    else:
        if made.native.itemsize() != self.native.itemsize() and has_dtype(self):
            check_itemsize(self.native.itemsize(), made.native.itemsize())
        made.element = self.element
        made.type_object, made.type_text = self.type_object, self.type_text
    made.fields = self.fields
    if layout is not None:
        made.fields.pointer = (self.fields.pointer - <uintptr_t>offset_in_bytes(self.native)
                               + <uintptr_t>offset_in_bytes(made.native))
    made.flags, made.where, made.ordinal = self.flags, self.where, self.ordinal
    made.source = self.source
    made.kept = self if self.kept is None else self.kept
    if self.plain is not NULL or self.versioned is not NULL:
        made.kept = self
    if isinstance(self.source, Buffer) and layout is not None:
        check_within(<Buffer>self.source, made.native)
    return made


cdef int register_view() except -1:
    cdef StridedMemoryView sample = StridedMemoryView.__new__(StridedMemoryView)
    return register_views(sample, &sample.fields)


register_view()

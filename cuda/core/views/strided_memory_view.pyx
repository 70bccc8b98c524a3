# SPDX-License-Identifier: Apache-2.0
# StridedMemoryView: a view of an array of any library.

from cpython.pycapsule cimport PyCapsule_New

from cuda.core._core cimport register_views

_exchange_capsule = PyCapsule_New(&exchange_functions, TABLE_CAPSULE, NULL)


# no_gc_clear: `fields.source` points into `source`. The collector breaks cycles at the source.
# trashcan: a chain of views of views may be thousands long.
@cython.no_gc_clear
@cython.trashcan(True)
@cython.freelist(64)
cdef class StridedMemoryView:
    """Address, layout and element type of an array of any library.

    A view copies nothing and owns no memory; it keeps the exporting object alive. The class methods
    create views: `from_dlpack`, `from_cuda_array_interface`, `from_array_interface`,
    `from_any_interface`, `from_buffer`. Calling the class itself is deprecated and warns.
    `launch` accepts views as kernel arguments.

    Parameters
    ----------
    obj : object, optional
        As for `from_any_interface`; None creates an empty view.
    stream_ptr : Stream or int
        As for `from_any_interface`.
    """

    __dlpack_c_exchange_api__ = _exchange_capsule
    __c_dlpack_exchange_api__ = _exchange_capsule

    def __init__(self, obj=None, stream_ptr=None):
        initialize_deprecated(self, obj, stream_ptr)

    def __dealloc__(self):
        release_tensor(self)

    @classmethod
    def from_dlpack(cls, obj, stream_ptr=None):
        """Return a view of an object that exports DLPack tensors.

        Host only, unless the object makes the stream wait for its work.

        Parameters
        ----------
        obj : object
            An object with ``__dlpack__`` and ``__dlpack_device__``.
        stream_ptr : Stream or int
            The stream that will use the memory, or its address; -1 for no ordering. Host memory has
            no stream order: pass -1.

        Returns
        -------
        StridedMemoryView

        Raises
        ------
        BufferError
            If the object cannot be exported, its device is unsupported, or `stream_ptr` is omitted
            and ambiguous.
        """
        cdef StridedMemoryView view = new_view(cls)
        import_dlpack(view, obj, stream_ptr)
        return view

    @classmethod
    def from_cuda_array_interface(cls, obj, stream_ptr=None):
        """Return a view of an object with ``__cuda_array_interface__`` of version 3.

        Stream-ordered: the stream waits for the stream in the interface.

        Parameters
        ----------
        obj : object
            An object with ``__cuda_array_interface__``.
        stream_ptr : Stream or int
            The stream that will use the memory, or its address; -1 for no ordering.

        Returns
        -------
        StridedMemoryView

        Raises
        ------
        BufferError
            If the object has no such interface, the interface has an older version or a mask, or
            `stream_ptr` is omitted.
        """
        cdef StridedMemoryView view = new_view(cls)
        import_cuda_array(view, obj, stream_ptr)
        return view

    @classmethod
    def from_array_interface(cls, obj):
        """Return a view of host memory of an object with ``__array_interface__`` of version 3.

        Host only.

        Parameters
        ----------
        obj : object
            An object with ``__array_interface__``.

        Returns
        -------
        StridedMemoryView

        Raises
        ------
        BufferError
            If the object has no such interface, or the interface has an older version or a mask.
        """
        cdef StridedMemoryView view = new_view(cls)
        import_host_array(view, obj)
        return view

    @classmethod
    def from_any_interface(cls, obj, stream_ptr=None):
        """Return a view through DLPack or else through ``__cuda_array_interface__``.

        Host only, except for the ordering of streams.

        Parameters
        ----------
        obj : object
            An object with one of these protocols.
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
        import_any(view, obj, stream_ptr)
        return view

    @classmethod
    def from_buffer(cls, buffer, tuple shape, strides=None, *, itemsize=None, dtype=None,
                    bint is_readonly=False):
        """Return a view of a Buffer, or of a part of it.

        Host only. Nothing is synchronized.

        Parameters
        ----------
        buffer : Buffer
            The memory. If it has a memory resource, the view must not exceed it.
        shape : tuple of int
            The extent of each axis.
        strides : tuple of int, optional
            Strides in elements; C order if None.
        itemsize : int, optional
            Element size in bytes, for a view without a type.
        dtype : object, optional
            Element type: any argument of ``numpy.dtype()``.
        is_readonly : bool, optional
            Whether the view is read-only.

        Returns
        -------
        StridedMemoryView

        Raises
        ------
        ValueError
            If neither `itemsize` nor `dtype` is passed, they differ, or the buffer is too small.
        """
        cdef StridedMemoryView view = new_view(cls)
        import_buffer_layout(view, buffer, shape, strides, itemsize, dtype)
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
        check_not_empty(self)
        return as_tuple(self.native.extents(), self.native.ndim())

    @property
    def strides(self):
        """Strides in elements; None for C order without explicit strides. Host only."""
        check_not_empty(self)
        if not self.native.has_strides():
            return None
        return as_tuple(self.native.strides(), self.native.ndim())

    @property
    def size(self):
        """The number of elements. Host only."""
        check_not_empty(self)
        return volume(self.native)

    @property
    def ndim(self):
        """The number of axes. Host only."""
        check_not_empty(self)
        return self.native.ndim()

    @property
    def itemsize(self):
        """The size of an element in bytes. Host only."""
        check_not_empty(self)
        return self.native.itemsize()

    @property
    def nbytes(self):
        """The size of all elements in bytes, without gaps. Host only."""
        return self.size * self.itemsize

    @property
    def is_contiguous_c(self):
        """Whether the layout is contiguous in C order, ignoring extents of 1. Host only."""
        check_not_empty(self)
        return is_contiguous_c(self.native)

    @property
    def is_contiguous_f(self):
        """Whether the layout is contiguous in Fortran order, ignoring extents of 1. Host only."""
        check_not_empty(self)
        return is_contiguous_f(self.native)

    @property
    def dtype(self):
        """The element type as `numpy.dtype`; None if only the element size is known.

        Host only. Determined at the first access.
        """
        with cython.critical_section(self):
            if self.type_object is None:
                self.type_object = find_dtype(self)
            return self.type_object

    @property
    def device_id(self):
        """The ordinal of the device. Host only.

        Host-only memory has ordinal 0 by the array interface, and -1 by DLPack.
        """
        return self.fields.device

    @property
    def is_device_accessible(self):
        """Whether kernels can access the memory. Host only."""
        return self.fields.is_device_accessible

    @property
    def readonly(self):
        """Whether the memory must not be written. Host only."""
        return (self.flags & VIEW_IS_READONLY) != 0

    @property
    def is_copied(self):
        """Whether the memory is a copy made for this view, so writes are lost. Host only."""
        return (self.flags & VIEW_IS_COPY) != 0

    @property
    def exporting_obj(self):
        """The object that exported the memory. Host only."""
        return self.source

    @property
    def _layout(self):
        check_not_empty(self)
        with cython.critical_section(self):
            if self.layout is None:
                self.layout = wrap_layout(self.native)
            return self.layout

    def view(self, layout=None, dtype=None):
        """Return a view of the same memory with another layout, element type, or both.

        Host only.

        Parameters
        ----------
        layout : _StridedLayout, optional
            The layout. Its offset counts from the origin of this view's offset.
        dtype : object, optional
            Any argument of ``numpy.dtype()`` with the element size of the layout.

        Returns
        -------
        StridedMemoryView
            This view itself if both arguments are None.

        Raises
        ------
        ValueError
            If the element sizes differ, or the Buffer is too small for the layout.
        """
        check_not_empty(self)
        if layout is None and dtype is None:
            return self
        return derive_view(self, layout, dtype)

    def copy_from(self, other, stream=None, allocator=None, blocking=None):
        """Copy the elements of another view into this one; both may have any strides.

        Stream-ordered. The host copies memory that no device can access, and synchronizes the
        stream if the other side is device memory. Both views must stay alive until the copy
        completes, and must not overlap.

        Parameters
        ----------
        other : StridedMemoryView
            A view of the same shape and element size.
        stream : Stream, optional
            The stream that orders the copy; optional between two views of host memory.
        allocator : MemoryResource, optional
            The resource for staging memory; None: the resource of the stream's device.
        blocking : bool, optional
            Whether to wait for the copy. By default, only if exactly one side is device memory.

        Raises
        ------
        TypeError
            If the stream captures a graph, and strided host memory would be copied.
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
            A view of the same shape and element size.
        stream : Stream, optional
            As for `copy_from`.
        allocator : MemoryResource, optional
            As for `copy_from`.
        blocking : bool, optional
            As for `copy_from`.
        """
        if not isinstance(other, StridedMemoryView):
            raise TypeError("a view is copied to or from a StridedMemoryView, got "
                            f"{qualified_name(other)}; use StridedMemoryView.from_any_interface()")
        copy_views(<StridedMemoryView>other, self, stream, allocator, blocking)

    def as_tensor_map(self, box_dim=None, *, options=None, element_strides=None, data_type=None,
                      interleave=None, swizzle=None, l2_promotion=None, oob_fill=None):
        """Return a tiled tensor map for the Tensor Memory Accelerator (TMA).

        Host only. Needs a device of compute capability 9.0.

        Parameters
        ----------
        box_dim : tuple of int, optional
            Extents of the copied box in elements, the outermost first: 1 to 256 each.
        options : TensorMapDescriptorOptions or dict, optional
            All options at once, instead of the other arguments.
        element_strides : tuple of int, optional
            Traversal stride in elements along each axis; 1 if None.
        data_type : object, optional
            A `TensorMapDataType` or any argument of ``numpy.dtype()``; None: the type of the view.
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
            If the view is not device-accessible, not aligned to 16 bytes, not on the current
            device, or has a type, rank or strides that a tensor map does not support.
        RuntimeError
            If no context is current.

        See Also
        --------
        cuTensorMapEncodeTiled : the driver function.
        """
        return create_tiled_map(self, box_dim, options, element_strides, data_type, interleave,
                                swizzle, l2_promotion, oob_fill)

    def as_mdspan(self, layout="right", *, index_type="int64", extents=None):
        """Return the view as an argument for a kernel parameter of type ``cuda::std::mdspan``.

        Host only. The three arguments repeat the template arguments of the parameter and determine
        the passed bytes. The launch rejects a size that differs from the parameter.

        Parameters
        ----------
        layout : str
            ``"right"``, ``"left"`` or ``"stride"``, for ``layout_right`` and so on.
        index_type : object
            A str such as ``"int32"`` or ``"uint64"``, or the NumPy type of that name: the first
            template argument of ``extents`` and ``dextents``.
        extents : tuple, optional
            The static extent of each axis, or None for ``dynamic_extent``. None: all extents are
            dynamic.

        Returns
        -------
        Mdspan
            A kernel argument that keeps the view alive.

        Raises
        ------
        ValueError
            If the layout does not match the view, a static extent differs, or the view is not
            device-accessible.
        OverflowError
            If the view does not fit the index type.
        """
        from cuda.core.module.mdspan import make_mdspan

        check_not_empty(self)
        return make_mdspan(self, layout, index_type, extents, _address_for_kernel)

    def __getitem__(self, key):
        check_not_empty(self)
        return derive_view(self, wrap_layout(layout_of_key(self.native, key)), None)

    def __len__(self):
        check_not_empty(self)
        if self.native.ndim() == 0:
            raise TypeError("len() of a view without axes")
        return self.native.extents()[0]

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __bool__(self):
        return True

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Export the view as a DLPack tensor.

        Host only. Nothing is synchronized.

        Parameters
        ----------
        stream : int, optional
            Ignored.
        max_version : tuple of two int, optional
            The newest DLPack version that the consumer supports. None or a version below (1, 0)
            returns an unversioned capsule.
        dl_device : tuple, optional
            The device that the consumer requests: None or the device of this view.
        copy : bool, optional
            Must not be True.

        Raises
        ------
        BufferError
            If the request cannot be met without a copy, or DLPack does not have the element type.
        """
        return export_view(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self):
        """Return the DLPack type and ordinal of the device. Host only."""
        return <int>self.device_kind or DEVICE_CPU, self.ordinal

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
        if self.device_kind == device_type.cuda:
            raise AttributeError("__array_interface__: the host cannot access the memory of the "
                                 "view: copy it to the host first")
        return interface_of(self)

    def __reduce__(self):
        raise TypeError(f"cannot pickle {type(self).__name__!r} object: it refers to memory of "
                        "this process")

    def __repr__(self):
        dtype = self.dtype
        return (f"StridedMemoryView(ptr={self.ptr},\n"
                f"                  shape={self.shape},\n"
                f"                  strides={self.strides},\n"
                f"                  itemsize={self.itemsize},\n"
                f"                  dtype={qualified_name(dtype)},\n"
                f"                  device_id={self.device_id},\n"
                f"                  is_device_accessible={self.is_device_accessible},\n"
                f"                  readonly={self.readonly},\n"
                f"                  exporting_obj={qualified_name(self.source)})")


def _address_for_kernel(StridedMemoryView view):
    check_memory(view)
    return view.ptr


cdef int check_itemsize(int dtype_itemsize, int layout_itemsize) except -1:
    if dtype_itemsize != layout_itemsize:
        raise ValueError(f"The dtype's itemsize ({dtype_itemsize}) does not match the layout's "
                         f"itemsize ({layout_itemsize}).")


cdef StridedMemoryView derive_view(StridedMemoryView self, object layout, object dtype):
    """Return another view of the same memory; it retains the memory's owner."""
    if layout is not None and not isinstance(layout, _StridedLayout):
        raise TypeError("Argument 'layout' has incorrect type (expected _StridedLayout, got "
                        f"{type(layout).__name__}): derive one from `view._layout`, with "
                        "reshaped() for another shape")
    if dtype is not None:
        dtype = numpy_module().dtype(dtype)
        reject_object_dtype(dtype, "StridedMemoryView.view()")
    check_memory(self)
    cdef StridedMemoryView view = new_view(type(self))
    view.native = self.native
    if layout is not None:
        view.native = (<_StridedLayout>layout).native.get(layout)
    view.layout = layout
    if dtype is not None:
        check_itemsize(dtype.itemsize, view.native.itemsize())
        view.type_object = dtype
        element_of_dtype(dtype, &view.element)
    else:
        if view.native.itemsize() != self.native.itemsize() and has_dtype(self):
            check_itemsize(self.native.itemsize(), view.native.itemsize())
        view.element = self.element
        view.type_object, view.type_text = self.type_object, self.type_text
    view.fields = self.fields
    if layout is not None:
        view.fields.pointer = (self.fields.pointer - <uintptr_t>offset_in_bytes(self.native)
                               + <uintptr_t>offset_in_bytes(view.native))
    view.flags, view.device_kind, view.ordinal = self.flags, self.device_kind, self.ordinal
    view.source = self.source
    view.memory_owner = self if self.memory_owner is None else self.memory_owner
    if self.plain is not NULL or self.versioned is not NULL:
        view.memory_owner = self
    if isinstance(self.source, Buffer) and layout is not None:
        check_within(<Buffer>self.source, view.native)
    return view


cdef int refuse_item(PyObject* self, PyObject* key, PyObject* value) except -1:
    raise TypeError(f"{qualified_name(<object>self)!r} object does not support item assignment; "
                    "view[key].copy_from(source, stream=stream) copies another view")


cdef int register_view() except -1:
    cdef StridedMemoryView sample = StridedMemoryView.__new__(StridedMemoryView)
    (<mutable_type*><PyObject*>StridedMemoryView).tp_as_mapping.mp_ass_subscript = refuse_item
    return register_views(sample, &sample.fields)


register_view()

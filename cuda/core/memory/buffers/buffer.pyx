# SPDX-License-Identifier: Apache-2.0
# Buffer: a contiguous range of memory, its address, its size, and its way back.

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

cdef char* BYTE_FORMAT = b"b"


# no_gc_clear: giving memory back needs `resource` and `stream`, so the collector must not clear
# them first. A cycle through a Buffer is broken at the resource's or the owner's side.
# trashcan: an owner may be a Buffer again, thousands deep.
@cython.no_gc_clear
@cython.trashcan(True)
@cython.freelist(64)
cdef class Buffer:
    """A contiguous range of memory.

    It comes from `MemoryResource.allocate` and owns that memory, or from `Buffer.from_handle`,
    which says who owns it. Closing, leaving a ``with`` block, and collection give the memory back
    in the order of a stream: the one given to `close`, else the one of the allocation.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Buffer objects cannot be instantiated directly. Please use "
                           "MemoryResource APIs.")

    def __dealloc__(self):
        if self.fields.is_open and not is_finalizing():
            release_at_collection(self)

    @staticmethod
    def from_handle(ptr, size, mr=None, owner=None, *, stream=None):
        """Wrap memory that exists.

        Host only.

        Parameters
        ----------
        ptr : int
            The address, or an object that converts to it.
        size : int
            In bytes.
        mr : MemoryResource, optional
            What the memory goes back to, once, when the buffer is closed.
        owner : object, optional
            Kept alive until the buffer is closed; the memory is its own.
        stream : Stream, optional
            With `mr`: the stream that orders the free; the default stream if None.

        Returns
        -------
        Buffer

        Raises
        ------
        ValueError
            If `mr` and `owner` are both given, or `stream` without `mr`.
        RuntimeError
            If the default stream is to be recorded and no context is current.
        """
        return wrap_memory(Buffer, ptr, size, mr, owner, stream)

    @classmethod
    @cython.binding(True)
    def from_ipc_descriptor(cls, mr, ipc_descriptor, stream=NOT_GIVEN):
        """Import a buffer of another process.

        Host only. The process that allocated the memory must not free it before this buffer, and
        all others of it, are closed.

        Parameters
        ----------
        mr : DeviceMemoryResource or PinnedMemoryResource
            The imported resource of the buffer's pool.
        ipc_descriptor : IPCBufferDescriptor
            The `ipc_descriptor` of the buffer.
        stream : Stream
            The stream that orders the free.

        Returns
        -------
        Buffer
            At the same address for each import of the same memory in a process. In the process that
            allocated the memory, one more buffer over it.

        Raises
        ------
        RuntimeError
            If the resource is not IPC-enabled, or closed.
        ValueError
            If the descriptor says more bytes than the memory has.
        CUDAError
            If the memory is of another pool.

        See Also
        --------
        cuMemPoolImportPointer : the driver function.
        """
        order = stream_or_default(stream, "Buffer.from_ipc_descriptor()")
        return sharing_module().import_buffer(cls, mr, ipc_descriptor, order)

    @classmethod
    def _init(cls, ptr, size, mr=None, ipc_descriptor=None, owner=None, *, stream=None):
        """`from_handle` for a subclass. Host only."""
        if ipc_descriptor is not None:
            stream = default_stream_object() if stream is None else accept_stream(stream)
            return sharing_module().import_buffer(cls, mr, ipc_descriptor, stream)
        return wrap_memory(cls, ptr, size, mr, owner, stream)

    @cython.critical_section
    def _clear(self):
        """Forget the memory without giving it back. Host only."""
        forget(self)

    def close(self, stream=None):
        """Give the memory back.

        Stream-ordered. Closing twice is harmless. Arrays of other libraries that look at the memory
        through DLPack or ``__cuda_array_interface__`` must not be used after that. While the stream
        that orders the free is being captured, the memory waits until the capture has ended.

        Parameters
        ----------
        stream : Stream, optional
            The stream that orders the free; the recorded one if None.

        Raises
        ------
        BufferError
            While a memoryview of the buffer exists.
        CUDAError
            If the driver does not take the memory back; the buffer is closed all the same.

        See Also
        --------
        cuMemFreeAsync : the driver function, for memory of a pool.
        """
        if not self.fields.is_open:
            return
        release_memory(self, None if stream is None else accept_stream(stream))

    def set_deallocation_stream(self, stream):
        """Order the free on another stream than the recorded one.

        Host only. Nothing is synchronised: earlier uses must be ordered before later work of
        `stream` by the caller.

        Parameters
        ----------
        stream : Stream

        Raises
        ------
        RuntimeError
            If a default stream is given and no context is current.
        """
        cdef Buffer holder
        with cython.critical_section(self):
            check_open(self.fields.is_open, "Buffer")
            holder = self if self.shared is None else self.shared
        redirect(holder, accept_stream(stream))

    def resize_view(self, offset, size):
        """Make a buffer of a part of the memory, which both then own.

        Host only. The memory goes back when this buffer and all views of it are closed, in the
        order of the recorded stream.

        Parameters
        ----------
        offset : int
            In bytes, from the beginning of this buffer.
        size : int
            In bytes.

        Returns
        -------
        Buffer

        Raises
        ------
        ValueError
            If the part is not inside this buffer.
        """
        return part_of(self, size_from(offset, "resize_view(): offset"),
                       size_from(size, "resize_view(): size"))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def handle(self):
        """The address as an int; 0 when closed. Host only."""
        return self.fields.pointer

    @property
    def size(self):
        """In bytes; 0 when closed. Host only."""
        return self.fields.size

    @property
    @cython.critical_section
    def memory_resource(self):
        """The `MemoryResource` that the memory came from; None without one or when closed."""
        if self.block is not NULL and (<PoolMemoryResource>self.resource).whole is not None:
            return (<PoolMemoryResource>self.resource).whole
        return None if getattr(type(self.resource), "_is_hidden", False) else self.resource

    @property
    @cython.critical_section
    def owner(self):
        """The object that owns the memory instead; None without one or when closed. Host only."""
        return self.kept

    @property
    def is_closed(self):
        """Whether the memory was given back. Host only."""
        return not self.fields.is_open

    @property
    def device_id(self):
        """The ordinal of the device that the memory belongs to; -1 for host memory. Host only."""
        check_open(self.fields.is_open, "Buffer")
        resource = resource_of(self)
        if resource is not None:
            return resource.device_id
        return facts_of(self).device

    @property
    def is_device_accessible(self):
        """Whether kernels may use the memory. Host only."""
        check_open(self.fields.is_open, "Buffer")
        return is_device_accessible(self)

    @property
    def is_host_accessible(self):
        """Whether the host may use the memory. Host only."""
        check_open(self.fields.is_open, "Buffer")
        return is_host_accessible(self)

    @property
    def is_managed(self):
        """Whether the memory moves between host and device by itself. Host only."""
        check_open(self.fields.is_open, "Buffer")
        return is_managed(self)

    @property
    def is_mapped(self):
        """Whether the memory was imported from another process. Host only."""
        resource = resource_of(self)
        return (isinstance(resource, _MemPool) and (<_MemPool>resource).is_import
                and is_imported(self.fields.pointer, NULL))

    @property
    def ipc_descriptor(self):
        """What another process needs to import the memory, an `IPCBufferDescriptor`. Host only.

        Raises
        ------
        RuntimeError
            If the memory resource is not IPC-enabled.

        See Also
        --------
        cuMemPoolExportPointer : the driver function.
        """
        return sharing_module().descriptor_of(self)

    def get_ipc_descriptor(self):
        """`ipc_descriptor` under its older name. Host only."""
        warn_deprecated("Buffer.get_ipc_descriptor()", "Buffer.ipc_descriptor")
        return self.ipc_descriptor

    def __reduce__(self):
        return sharing_module().reduce_buffer(self)

    @cython.binding(True)
    def copy_to(self, dst=None, stream=NOT_GIVEN, *, options=None):
        """Copy this buffer's bytes elsewhere.

        Stream-ordered. Memory that is not page-locked is copied before the call returns. Buffers
        of two devices need no access to each other, unless the copy is captured, and it does not
        matter which device is current.

        Parameters
        ----------
        dst : Buffer or array, optional
            As many bytes, in a Buffer or a contiguous object of the buffer protocol, DLPack or
            ``__cuda_array_interface__``. None allocates from this buffer's resource.
        stream : Stream
            The stream that orders the copy.
        options : CopyOptions, optional
            How to copy. Not with the legacy default stream, and not while a stream is capturing.

        Returns
        -------
        Buffer or array
            The destination.

        Raises
        ------
        ValueError
            If the sizes differ, the object is not contiguous, or there is no resource to allocate
            from.
        BufferError
            If the destination is read-only.

        See Also
        --------
        cuMemcpyAsync, cuMemcpyPeerAsync : the driver functions.
        """
        check_open(self.fields.is_open, "Buffer")
        cdef Stream order = stream_or_default(stream, "Buffer.copy_to()")
        if options is not None:
            check_copy_options(options, order, "copy_to")
        if dst is None:
            resource = resource_of(self)
            if resource is None:
                raise ValueError("Buffer.copy_to() needs a destination buffer: this buffer has no "
                                 "memory resource to allocate one from")
            dst = resource.allocate(self.fields.size, stream=order)
        if isinstance(dst, Buffer):
            check_open((<Buffer>dst).fields.is_open, "Buffer")
            copy_buffer(<Buffer>dst, self, order, options)
        else:
            copy_to_object(dst, self, order, options)
        return dst

    @cython.binding(True)
    def copy_from(self, src, stream=NOT_GIVEN, *, options=None):
        """Copy bytes from elsewhere into this buffer.

        Stream-ordered. Memory that is not page-locked is copied before the call returns. Buffers
        of two devices need no access to each other, unless the copy is captured, and it does not
        matter which device is current.

        Parameters
        ----------
        src : Buffer or array
            As many bytes, in a Buffer or a contiguous object of the buffer protocol, DLPack or
            ``__cuda_array_interface__``.
        stream : Stream
            The stream that orders the copy.
        options : CopyOptions, optional
            How to copy. Not with the legacy default stream, and not while a stream is capturing.

        Raises
        ------
        ValueError
            If the sizes differ or the object is not contiguous.

        See Also
        --------
        cuMemcpyAsync, cuMemcpyPeerAsync : the driver functions.
        """
        check_open(self.fields.is_open, "Buffer")
        cdef Stream order = stream_or_default(stream, "Buffer.copy_from()")
        if options is not None:
            check_copy_options(options, order, "copy_from")
        if isinstance(src, Buffer):
            check_open((<Buffer>src).fields.is_open, "Buffer")
            copy_buffer(self, <Buffer>src, order, options)
        else:
            copy_from_object(self, src, order, options)

    @cython.binding(True)
    def fill(self, value, stream=NOT_GIVEN):
        """Set the bytes to a repeated pattern.

        Stream-ordered.

        Parameters
        ----------
        value : int or bytes-like
            An int from 0 to 255 for every byte, or 1, 2 or 4 bytes as they lie in memory (a NumPy
            scalar, for instance).
        stream : Stream
            The stream that orders the fill.

        Raises
        ------
        OverflowError
            If an int is not within 0 to 255.
        ValueError
            If the pattern has another length, or the size is no multiple of it.
        TypeError
            If `value` is neither an int nor bytes-like.

        See Also
        --------
        cuMemsetD8Async, cuMemsetD16Async, cuMemsetD32Async : the driver functions.
        """
        check_open(self.fields.is_open, "Buffer")
        cdef Stream order = stream_or_default(stream, "Buffer.fill()")
        fill_bytes(&self.fields, value, order)
        if captures_under_way():
            keep_operands(order, (self,))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Export the bytes as a one-dimensional int8 tensor.

        Host only, unless `stream` is given: then that stream waits for the stream of the
        allocation.

        Parameters
        ----------
        stream : int, optional
            The consumer's stream; -1 for no order.
        max_version : tuple of two int, optional
            The newest DLPack version that the consumer reads; None or below (1, 0) gives a capsule
            of the version without a number.
        dl_device : tuple, optional
            Where the consumer wants the data: this buffer's own device or None.
        copy : bool, optional
            Must not be True.

        Raises
        ------
        BufferError
            If the request cannot be met without a copy.
        """
        check_open(self.fields.is_open, "Buffer")
        return export_dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self):
        """The DLPack kind and ordinal of the device. Host only."""
        check_open(self.fields.is_open, "Buffer")
        cdef dlpack_device where = dlpack_device_of(self)
        return <int>where.type, where.id

    @property
    def __cuda_array_interface__(self):
        """The CUDA Array Interface of device-accessible memory: one-dimensional int8. Host only."""
        if not self.fields.is_open or not is_device_accessible(self):
            raise AttributeError("__cuda_array_interface__: the buffer is not device-accessible")
        return {"shape": (self.fields.size,), "typestr": "|i1", "version": 3, "strides": None,
                "data": (self.fields.pointer, False), "stream": None}

    def __getbuffer__(self, Py_buffer* view, int flags):
        check_open(self.fields.is_open, "Buffer")
        if not is_host_accessible(self):
            raise BufferError("the host cannot access the memory of this buffer: copy it with "
                              "copy_to() first")
        cdef buffer_fields memory
        with cython.critical_section(self):
            check_open(self.fields.is_open, "Buffer")
            check_exportable(self.fields.size)
            memory = self.fields
            self.shape, self.stride = memory.size, 1
            self.exports += 1
        view.buf = <void*><uintptr_t>memory.pointer
        view.obj = self
        view.len = memory.size
        view.readonly = 0
        view.itemsize = 1
        view.ndim = 1
        view.format = BYTE_FORMAT if flags & PyBUF_FORMAT else NULL
        view.shape = &self.shape if flags & PyBUF_ND else NULL
        view.strides = &self.stride if flags & PyBUF_STRIDES == PyBUF_STRIDES else NULL
        view.suboffsets = view.internal = NULL

    @cython.critical_section
    def __releasebuffer__(self, Py_buffer* view):
        self.exports -= 1

    def __eq__(self, other):
        if not isinstance(other, Buffer):
            return NotImplemented
        cdef Buffer that = <Buffer>other
        return (self.fields.pointer == that.fields.pointer
                and self.fields.size == that.fields.size)

    def __hash__(self):
        return hash((self.fields.pointer, self.fields.size))

    def __repr__(self):
        mapped = " is_mapped=True" if self.is_mapped else ""
        return f"<Buffer ptr={self.fields.pointer:#x} size={self.fields.size}{mapped}>"


cdef int register_buffer() except -1:
    cdef Buffer sample = Buffer.__new__(Buffer)
    return register_buffer_class(sample, &sample.fields)


register_buffer()


cdef int check_exportable(size_t size) except -1:
    if size > <size_t>PY_SSIZE_T_MAX:
        raise BufferError(f"the buffer has {size} bytes, and others count them with a sign: at "
                          f"most {PY_SSIZE_T_MAX} can be shown to them")
    return 0


cdef Buffer part_of(Buffer whole, size_t offset, size_t size):
    check_open(whole.fields.is_open, "Buffer")
    if offset > whole.fields.size or size > whole.fields.size - offset:
        raise ValueError(f"{size} bytes from byte {offset} on are not inside a buffer of "
                         f"{whole.fields.size} bytes")
    cdef Buffer part = Buffer.__new__(Buffer)
    cdef Buffer memory = share_allocation(whole)
    part.resource, part.kept, part.shared = memory.resource, memory.kept, memory
    part.fields = buffer_fields(whole.fields.pointer + offset, size, True)
    return part


cdef Buffer wrap_memory(object cls, object ptr, object size, object mr, object owner,
                        object stream):
    if mr is not None and owner is not None:
        raise ValueError("owner and memory resource cannot be both specified together")
    if stream is not None and mr is None:
        raise ValueError("stream requires a memory resource (mr)")
    if mr is not None:
        require_memory_resource(mr)
    cdef Buffer buffer = cls.__new__(cls)
    cdef CUdeviceptr pointer = address_from(ptr)
    cdef size_t bytes_given = size_from(size, "from_handle(): size")
    if mr is not None and (stream is not None or mr.is_device_accessible):
        buffer.stream = default_stream_object() if stream is None else accept_stream(stream)
        buffer.order = recorded_order(buffer.stream)
    buffer.fields = buffer_fields(pointer, bytes_given, True)
    buffer.resource = mr
    buffer.kept = owner
    if mr is not None:
        guard_cycles(buffer)
    return buffer


cdef int own_pool_memory(Buffer buffer, MemoryResource resource, pool_handle& pool,
                         CUdeviceptr pointer, size_t size, stream_handle& stream) except -1:
    buffer.fields = buffer_fields(pointer, size, True)
    buffer.pool.swap(pool)
    buffer.resource = resource
    buffer.order.record(stream.take())
    return 0


cdef pointer_facts classify_pointer(CUdeviceptr pointer) except *:
    cdef CUpointer_attribute[3] attributes = [
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL]
    cdef unsigned kind = 0, managed = 0
    cdef int device = -1
    cdef void** values = [&kind, &managed, &device]
    cdef CUresult code = try_call(driver.cuPointerGetAttributes, 3, attributes, values, pointer)
    if code == CUDA_ERROR_NOT_INITIALIZED:
        call(driver.cuInit, 0)
        code = try_call(driver.cuPointerGetAttributes, 3, attributes, values, pointer)
    check(code, "cuPointerGetAttributes")
    if kind == 0:  # plain host memory: the driver does not know it
        return pointer_facts(True, True, False, False, -1)
    if managed or kind == CU_MEMORYTYPE_UNIFIED:
        return pointer_facts(True, True, True, True, device)
    if kind == CU_MEMORYTYPE_HOST:
        return pointer_facts(True, True, True, False, device)
    if kind == CU_MEMORYTYPE_DEVICE:
        return pointer_facts(True, False, True, False, device)
    raise RuntimeError(f"cuPointerGetAttributes names memory type {kind} for address "
                       f"{pointer:#x}, which is not known here")


cdef pointer_facts facts_of(Buffer self) except *:
    with cython.critical_section(self):
        if not self.facts.is_known:
            self.facts = classify_pointer(self.fields.pointer)
        return self.facts


cdef inline object resource_of(Buffer self):
    with cython.critical_section(self):
        return self.resource


# A resource that answers wins over what the driver says of the address.

cdef bint is_device_accessible(Buffer self) except -1:
    resource = resource_of(self)
    if resource is not None:
        return resource.is_device_accessible
    return facts_of(self).is_device_accessible


cdef bint is_host_accessible(Buffer self) except -1:
    resource = resource_of(self)
    if resource is not None:
        return resource.is_host_accessible
    return facts_of(self).is_host_accessible


cdef bint is_managed(Buffer self) except -1:
    resource = resource_of(self)
    if resource is not None and resource.is_managed:
        return True
    return facts_of(self).is_managed

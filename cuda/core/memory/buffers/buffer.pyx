# SPDX-License-Identifier: Apache-2.0
# Buffer: a contiguous range of memory.

from cpython.buffer cimport PyBUF_FORMAT, PyBUF_ND, PyBUF_STRIDES

cdef char* BYTE_FORMAT = b"b"


# no_gc_clear: deallocation needs `resource` and `stream`, so the collector must not clear them
# first. The collector breaks a cycle at the resource or the owner.
# trashcan: a chain of Buffers that own each other may be thousands long.
@cython.no_gc_clear
@cython.trashcan(True)
@cython.freelist(64)
cdef class Buffer:
    """A contiguous range of memory.

    `MemoryResource.allocate` returns a buffer that owns its memory; the arguments of
    `Buffer.from_handle` name the owner. `close`, leaving a ``with`` block, and garbage collection
    free the memory in stream order: on the stream passed to `close`, or else on the stream of the
    allocation.

    Open buffers of the same bytes are equal. A closed buffer keeps its hash and equals only itself.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("Buffer objects cannot be instantiated directly. Please use "
                           "MemoryResource APIs. Device.allocate() and MemoryResource.allocate() "
                           "create one; Buffer.from_handle() wraps existing memory.")

    def __dealloc__(self):
        if self.fields.is_open and not is_finalizing():
            release_at_collection(self)

    @staticmethod
    def from_handle(ptr, size, mr=None, owner=None, *, stream=None):
        """Wrap existing memory.

        Host only.

        Parameters
        ----------
        ptr : int
            The address, or an object that converts to an int.
        size : int
            Size in bytes.
        mr : MemoryResource, optional
            The resource whose `deallocate` frees the memory, once, when the buffer is closed.
        owner : object, optional
            The object that owns the memory; the buffer keeps it alive until closed.
        stream : Stream, optional
            With `mr`, the stream that orders the deallocation; the default stream if None.

        Returns
        -------
        Buffer

        Raises
        ------
        ValueError
            If both `mr` and `owner` are passed, or `stream` without `mr`.
        RuntimeError
            If the stream is a default stream and no context is current.
        """
        return wrap_memory(Buffer, ptr, size, mr, owner, stream)

    @classmethod
    @cython.binding(True)
    def from_ipc_descriptor(cls, mr, ipc_descriptor, stream=NOT_GIVEN):
        """Import a buffer of another process.

        Host only. The process that allocated the memory of a pool must not free it until all
        imported buffers are closed. Memory of a `VirtualMemoryResource` stays allocated until the
        last process unmaps it.

        Parameters
        ----------
        mr : DeviceMemoryResource, PinnedMemoryResource or VirtualMemoryResource
            The imported resource of the pool of the buffer; or any VirtualMemoryResource of its
            device, whose options apply to the new mapping.
        ipc_descriptor : IPCBufferDescriptor or VirtualMemoryIPCBufferDescriptor
            The `ipc_descriptor` of the buffer.
        stream : Stream
            The stream that orders the deallocation.

        Returns
        -------
        Buffer
            Each import of the same memory of a pool has the same address within a process. The
            process that allocated the memory gets a second buffer over it. Each import of memory
            of a `VirtualMemoryResource` has its own address.

        Raises
        ------
        RuntimeError
            If the resource is not IPC-enabled, or closed.
        ValueError
            If the size in the descriptor exceeds the memory, or the memory is at another location
            than the resource.
        CUDAError
            If the memory belongs to another pool, or the driver cannot map the memory.

        See Also
        --------
        cuMemPoolImportPointer, cuMemImportFromShareableHandle : the driver functions.
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
        """Close the buffer without freeing the memory. Host only."""
        detach_memory(self)

    def close(self, stream=None):
        """Free the memory.

        Stream-ordered. Closing twice has no effect. Arrays of other libraries that refer to the
        memory through DLPack or ``__cuda_array_interface__`` must not be used afterwards. If the
        stream that orders the deallocation is capturing, the deallocation is deferred to the end of
        the capture.

        Parameters
        ----------
        stream : Stream, optional
            The stream that orders the deallocation; the recorded one if None.

        Raises
        ------
        BufferError
            While a memoryview of the buffer exists.
        CUDAError
            If the driver fails to free the memory; the buffer is closed in any case.

        See Also
        --------
        cuMemFreeAsync : the driver function, for memory of a pool.
        """
        if not self.fields.is_open:
            return
        release_memory(self, None if stream is None else accept_stream(stream))

    def set_deallocation_stream(self, stream):
        """Replace the recorded stream of the deallocation.

        Host only. Nothing is synchronized: the caller must order earlier uses of the memory before
        later work of `stream`.

        Parameters
        ----------
        stream : Stream

        Raises
        ------
        RuntimeError
            If `stream` is a default stream and no context is current.
        """
        cdef Buffer holder
        with cython.critical_section(self):
            check_open(self.fields.is_open, "Buffer")
            holder = self if self.shared is None else self.shared
        set_free_stream(holder, accept_stream(stream))

    def resize_view(self, offset, size):
        """Return a buffer over a part of the memory, which both buffers then own.

        Host only. The memory is freed on the recorded stream once this buffer and all its parts are
        closed.

        Parameters
        ----------
        offset : int
            Offset in bytes from the beginning of this buffer.
        size : int
            Size in bytes.

        Returns
        -------
        Buffer

        Raises
        ------
        ValueError
            If the part exceeds this buffer.
        """
        return create_part(self, size_from(offset, "resize_view(): offset"),
                           size_from(size, "resize_view(): size"))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    @property
    def handle(self):
        """The address as an int; 0 if closed. Host only."""
        return self.fields.pointer

    @property
    def size(self):
        """Size in bytes; 0 if closed. Host only."""
        return self.fields.size

    @property
    @cython.critical_section
    def memory_resource(self):
        """The `MemoryResource` of the memory; None without one or if closed."""
        if self.block is not NULL and (<PoolMemoryResource>self.resource).parent is not None:
            return (<PoolMemoryResource>self.resource).parent
        return None if getattr(type(self.resource), "_is_hidden", False) else self.resource

    @property
    @cython.critical_section
    def owner(self):
        """The object that owns the memory instead; None without one or if closed. Host only."""
        return self.memory_owner

    @property
    def is_closed(self):
        """Whether the memory was freed. Host only."""
        return not self.fields.is_open

    @property
    def device_id(self):
        """The ordinal of the device that owns the memory; -1 for host memory. Host only."""
        check_open(self.fields.is_open, "Buffer")
        resource = resource_of(self)
        if type(resource) is DeviceMemoryResource:  # the value of its property
            return (<DeviceMemoryResource>resource).device
        if resource is not None:
            return resource.device_id
        return facts_of(self).device

    @property
    def is_device_accessible(self):
        """Whether kernels can access the memory. Host only."""
        check_open(self.fields.is_open, "Buffer")
        return is_device_accessible(self)

    @property
    def is_host_accessible(self):
        """Whether the host can access the memory. Host only."""
        check_open(self.fields.is_open, "Buffer")
        return is_host_accessible(self)

    @property
    def is_managed(self):
        """Whether the driver migrates the memory between host and device. Host only."""
        check_open(self.fields.is_open, "Buffer")
        return is_managed(self)

    @property
    def is_mapped(self):
        """Whether the memory was imported from another process. Host only."""
        if self.is_import:
            return self.fields.is_open
        resource = resource_of(self)
        return (isinstance(resource, _MemPool) and (<_MemPool>resource).is_import
                and is_imported(self.fields.pointer, NULL))

    @property
    def ipc_descriptor(self):
        """The `IPCBufferDescriptor` by which another process imports the memory. Host only.

        For a buffer of `VirtualMemoryResource`, a new `VirtualMemoryIPCBufferDescriptor`, which
        owns file descriptors.

        Raises
        ------
        RuntimeError
            If the memory resource is not IPC-enabled.

        See Also
        --------
        cuMemPoolExportPointer, cuMemExportToShareableHandle : the driver functions.
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
        """Copy the bytes of this buffer to another buffer or array.

        Stream-ordered. Memory that is not page-locked is copied before the call returns. Buffers
        of two devices need no peer access, unless the copy is captured. The current device has no
        effect.

        Parameters
        ----------
        dst : Buffer or array, optional
            A Buffer of the same size, or a contiguous object with the buffer protocol, DLPack or
            ``__cuda_array_interface__``. None allocates from the resource of this buffer. The
            bytes are in the order of memory, column by column in a Fortran-ordered array.
        stream : Stream
            The stream that orders the copy.
        options : CopyOptions, optional
            Options of the copy. Not supported by the legacy default stream and capturing streams.

        Returns
        -------
        Buffer or array
            The destination.

        Raises
        ------
        ValueError
            If the sizes differ, the object is not contiguous, or this buffer has no resource to
            allocate from.
        BufferError
            If the destination is read-only.

        See Also
        --------
        cuMemcpyAsync, cuMemcpyPeerAsync : the driver functions.
        """
        check_open(self.fields.is_open, "Buffer")
        cdef Stream order = stream_or_default(stream, "Buffer.copy_to()")
        cdef _CopyAttributes attributes = copy_attributes(options, order, "copy_to")
        if dst is None:
            resource = resource_of(self)
            if resource is None:
                raise ValueError("Buffer.copy_to() needs a destination buffer: this buffer has no "
                                 "memory resource to allocate one from")
            dst = allocate_from(resource, self.fields.size, order)
        if isinstance(dst, Buffer):
            copy_buffer(<Buffer>dst, self, order, attributes)
        else:
            copy_to_object(dst, self, order, attributes)
        return dst

    @cython.binding(True)
    def copy_from(self, src, stream=NOT_GIVEN, *, options=None):
        """Copy the bytes of another buffer or array into this buffer.

        Stream-ordered. Memory that is not page-locked is copied before the call returns. Buffers
        of two devices need no peer access, unless the copy is captured. The current device has no
        effect.

        Parameters
        ----------
        src : Buffer or array
            A Buffer of the same size, or a contiguous object with the buffer protocol, DLPack or
            ``__cuda_array_interface__``. The bytes of a smaller array are copied to the start.
            The bytes are in the order of memory, column by column in a Fortran-ordered array.
        stream : Stream
            The stream that orders the copy.
        options : CopyOptions, optional
            Options of the copy. Not supported by the legacy default stream and capturing streams.

        Raises
        ------
        ValueError
            If a Buffer has another size, an array is larger, or an object is not contiguous.

        See Also
        --------
        cuMemcpyAsync, cuMemcpyPeerAsync : the driver functions.
        """
        check_open(self.fields.is_open, "Buffer")
        cdef Stream order = stream_or_default(stream, "Buffer.copy_from()")
        cdef _CopyAttributes attributes = copy_attributes(options, order, "copy_from")
        if isinstance(src, Buffer):
            copy_buffer(self, <Buffer>src, order, attributes)
        else:
            copy_from_object(self, src, order, attributes)

    @cython.binding(True)
    def fill(self, value, stream=NOT_GIVEN):
        """Set the bytes to a repeated pattern.

        Stream-ordered.

        Parameters
        ----------
        value : int or bytes-like
            An int from 0 to 255 for every byte, or 1, 2 or 4 bytes in memory order (for example a
            NumPy scalar).
        stream : Stream
            The stream that orders the fill.

        Raises
        ------
        OverflowError
            If an int is not within 0 to 255.
        ValueError
            If the pattern has another length, or the size is not a multiple of it.
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
            retain_captured_operands(order, (self,))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Export the bytes as a one-dimensional int8 tensor.

        Host only, unless `stream` is passed: then that stream waits for the stream of the
        allocation.

        Parameters
        ----------
        stream : int, optional
            The stream of the consumer; -1 for no ordering.
        max_version : tuple of two int, optional
            The newest DLPack version that the consumer supports. None or a version below (1, 0)
            returns an unversioned capsule.
        dl_device : tuple, optional
            The device that the consumer requests: None or the device of this buffer.
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
        """Return the DLPack type and ordinal of the device. Host only."""
        check_open(self.fields.is_open, "Buffer")
        cdef dlpack_device device = dlpack_device_of(self)
        return <int>device.type, device.id

    @property
    def __cuda_array_interface__(self):
        """The CUDA Array Interface of device-accessible memory: one-dimensional int8. Host only."""
        if not self.fields.is_open or not is_device_accessible(self):
            raise AttributeError("__cuda_array_interface__: the buffer is not device-accessible")
        cdef buffer_fields memory = open_memory_of(self)
        return {"shape": (memory.size,), "typestr": "|i1", "version": 3, "strides": None,
                "data": (memory.pointer, False), "stream": None}

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
        return self is other or is_same_memory(self, <Buffer>other)

    def __hash__(self):
        return hash((self.identity, self.identity_size))

    def _repr_html_(self):
        """Return the table that a notebook shows. Host only."""
        return import_module("cuda.core._utils.display").buffer_html(self)

    def __repr__(self):
        mapped = " is_mapped=True" if self.is_mapped else ""
        return f"<Buffer ptr={self.fields.pointer:#x} size={self.fields.size}{mapped}>"


cdef bint is_same_memory(Buffer first, Buffer second) noexcept:
    """Return whether two open Buffers, which have the same hash then, cover the same bytes."""
    return (first.identity == second.identity and first.identity_size == second.identity_size
            and first.fields.is_open and second.fields.is_open
            and first.fields.pointer == second.fields.pointer
            and first.fields.size == second.fields.size)


cdef int register_buffer() except -1:
    cdef Buffer sample = Buffer.__new__(Buffer)
    return register_buffer_class(sample, &sample.fields)


register_buffer()

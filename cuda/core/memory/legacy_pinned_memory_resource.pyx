# SPDX-License-Identifier: Apache-2.0
# LegacyPinnedMemoryResource: page-locked host memory without a pool.


cdef class LegacyPinnedMemoryResource(MemoryResource):
    """Page-locked host memory without a pool; host and device use the same address.

    Allocation and deallocation are not stream-ordered. Closing a buffer with a stream synchronizes
    that stream first. Allocating needs a current context.

    See Also
    --------
    cuMemAllocHost, cuMemFreeHost : the driver functions.
    """

    def allocate(self, size, stream=None):
        """Allocate memory that any stream can use immediately.

        Blocks the host.

        Parameters
        ----------
        size : int
            Size in bytes; 0 returns a buffer without an address.
        stream : Stream, optional
            Ignored; part of the `MemoryResource` protocol.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If the host cannot lock that much memory.
        TypeError
            If `stream` is neither None nor a stream.

        See Also
        --------
        cuMemAllocHost : the driver function.
        """
        cdef void* pointer = NULL
        cdef size_t bytes_requested = size_from(size, "allocate(): size")
        if stream is not None:
            accept_stream(stream)
        cdef context_handle context = current_context()
        if bytes_requested:
            with nogil:
                call(driver.cuMemAllocHost, &pointer, bytes_requested)
        return wrap_resource_memory(self, <CUdeviceptr><uintptr_t>pointer, bytes_requested,
                                    context)

    def deallocate(self, ptr, size_t size=0, stream=None):
        """Free memory, after synchronizing `stream` unless it is None.

        Blocks the host. `ptr` is the address of the allocation; `size` is ignored.

        See Also
        --------
        cuMemFreeHost : the driver function.
        """
        free_now(address_from(ptr), memory_kind.host, stream, context_handle())

    @property
    def is_device_accessible(self):
        """True: kernels can access the memory. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """True: the host can access the memory. Host only."""
        return True

    @property
    def device_id(self):
        """Raises RuntimeError: no device owns the memory. Host only."""
        if import_module("cuda.core._utils.version").follows_release(1, 3):
            return -1
        raise RuntimeError("a pinned memory resource is not bound to any GPU")

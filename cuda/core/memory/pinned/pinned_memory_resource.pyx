# SPDX-License-Identifier: Apache-2.0
# PinnedMemoryResource: page-locked host memory from a memory pool of the driver.


cdef int host_numa_id() except -2:
    """Return the NUMA node closest to the current device; -1 without a device or node."""
    cdef CUdevice device
    cdef int node
    if cydriver.cuCtxGetDevice(&device) != CUDA_SUCCESS:
        return -1
    checked(cydriver.cuDeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, device),
            "cuDeviceGetAttribute")
    return node


cdef class PinnedMemoryResource(_ShareablePool):
    """PinnedMemoryResource(options=None)\n--\n
    Stream-ordered page-locked host memory from a memory pool of the driver.

    Host and devices use the same address; its buffers have the buffer protocol. Without options,
    the resource uses the current pool of the host and never destroys it. With options, it creates a
    pool, which is destroyed with the resource and its last buffer.

    Parameters
    ----------
    options : PinnedMemoryResourceOptions or dict, optional
        Options of a new pool, which even an empty dict creates; None for the current pool.

    Raises
    ------
    ValueError
        If `numa_id` is negative.
    RuntimeError
        If there are no options and the driver is older than CUDA 13.0.

    See Also
    --------
    cuMemPoolCreate, cuMemGetMemPool : the driver functions.
    """

    def __init__(self, options=None):
        options = as_options(options, public_object("PinnedMemoryResourceOptions"),
                             "PinnedMemoryResource options")
        numa_id = None if options is None else options.numa_id
        if numa_id is not None:
            numa_id = int_option("PinnedMemoryResourceOptions.numa_id", numa_id)
        if numa_id is not None and numa_id < 0:
            raise ValueError(f"numa_id must be >= 0, got {numa_id}")
        initialize_driver()
        cdef bint is_shared = options is not None and options.ipc_enabled
        if is_shared and numa_id is None:
            numa_id = host_numa_id()
            if numa_id < 0:
                raise RuntimeError("Cannot determine host NUMA ID for the current CUDA device: "
                                   "pass numa_id explicitly, or set a device first")
        self.node = -1 if numa_id is None else numa_id
        if options is None:
            require_driver(13000, "PinnedMemoryResource without options")
        open_pool(self, CU_MEM_ALLOCATION_TYPE_PINNED,
                  CU_MEM_LOCATION_TYPE_HOST if numa_id is None else CU_MEM_LOCATION_TYPE_HOST_NUMA,
                  max(self.node, 0), options is not None,
                  max_size_of(options), is_shared)

    @classmethod
    def from_allocation_handle(cls, alloc_handle):
        """Import a pool of another process.

        Host only.

        Parameters
        ----------
        alloc_handle : IPCAllocationHandle or int
            The `allocation_handle` that the other process exported, or its file descriptor, which
            the caller still owns.

        Returns
        -------
        PinnedMemoryResource
            A resource that cannot allocate. If a resource is already registered for the pool, also
            in the process that created it, that one.

        Raises
        ------
        TypeError
            If a resource of another class is registered for the pool.
        CUDAError
            If the descriptor does not refer to a pool, or this process created the pool.

        See Also
        --------
        cuMemPoolImportFromShareableHandle : the driver function.
        """
        initialize_driver()
        return sharing_module().from_allocation_handle(cls, -1, alloc_handle)

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Allocate page-locked memory from the pool.

        Stream-ordered: `stream`, streams that wait for it, and the host after synchronizing one of
        these may use the memory.

        Parameters
        ----------
        size : int
            Size in bytes; 0 returns a buffer without an address.
        stream : Stream
            The stream that orders the allocation and, by default, the deallocation.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If the host cannot lock that much memory.
        RuntimeError
            If the stream is capturing, the resource is closed, or the device of the stream does not
            support pools of host memory.

        See Also
        --------
        cuMemAllocFromPoolAsync : the driver function.
        """
        cdef Stream order = stream_or_default(stream, "allocate()")
        try:
            return allocate_pool_buffer(Buffer.__new__(Buffer), self, size, order)
        except CUDAError as error:
            if isinstance(error, MemoryError) or supports_host_pools(order, self.node):
                raise
            raise RuntimeError(
                f"CUDA device {order.device.device_id} does not support the requested host memory "
                "pool for PinnedMemoryResource. Use LegacyPinnedMemoryResource instead.") from error

    @property
    def numa_id(self):
        """The NUMA node of the memory; -1 if the system, or another process, chose it.

        Host only.
        """
        return -1 if self.is_import else self.node

    @property
    def device_id(self):
        """-1: no device owns the memory. Host only."""
        return -1

    @property
    def is_device_accessible(self):
        """True: kernels can access the memory. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """True: the host can access the memory. Host only."""
        return True

    def __repr__(self):
        node = "" if self.node < 0 else f" numa_id={self.node}"
        return f"<{type(self).__name__}{node}{' closed' if self.is_closed else ''}>"


cdef bint supports_host_pools(Stream stream, int node) except -1:
    cdef int is_supported
    checked(cydriver.cuDeviceGetAttribute(
        &is_supported, CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED if node < 0
        else CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED, stream.device.device_id),
        "cuDeviceGetAttribute")
    return is_supported

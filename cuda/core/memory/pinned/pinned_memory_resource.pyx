# SPDX-License-Identifier: Apache-2.0
# Page-locked host memory from a pool of the driver.


cdef int host_numa_id() except -2:
    """The NUMA node beside the current device; -1 where there is none, or no device."""
    cdef CUdevice device = 0
    cdef int node = -1
    if cydriver.cuCtxGetDevice(&device) != CUDA_SUCCESS:
        return -1
    checked(cydriver.cuDeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, device),
            "cuDeviceGetAttribute")
    return node


cdef class PinnedMemoryResource(_ShareablePool):
    """PinnedMemoryResource(options=None)\n--\n
    Page-locked host memory from a memory pool of the driver, in stream order.

    Host and devices use it at the same address; a buffer of it has the buffer protocol. Without
    options it uses the current pool of the host, which it never destroys; with options it makes a
    pool of its own, destroyed when this and the last buffer from it are gone.

    Parameters
    ----------
    options : PinnedMemoryResourceOptions or dict, optional
        Given, even empty: make a new pool.

    Raises
    ------
    ValueError
        If `numa_id` is negative.
    RuntimeError
        Without options, if the driver is older than CUDA 13.0.

    See Also
    --------
    cuMemPoolCreate, cuMemGetMemPool : the driver functions.
    """

    def __init__(self, options=None):
        options = as_options(options, public_object("PinnedMemoryResourceOptions"),
                             "PinnedMemoryResource options")
        numa_id = None if options is None else options.numa_id
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
                  0 if options is None else options.max_size or 0, is_shared)

    @classmethod
    def from_allocation_handle(cls, alloc_handle):
        """Import the pool of another process.

        Host only.

        Parameters
        ----------
        alloc_handle : IPCAllocationHandle or int
            What the other process exported: its `allocation_handle`, or the file descriptor, which
            stays the caller's.

        Returns
        -------
        PinnedMemoryResource
            From which nothing can be allocated. It is the one that stands for the pool already,
            where there is one: in the process that made it, too.

        Raises
        ------
        TypeError
            If a resource of another class stands for the pool.
        CUDAError
            If the descriptor is none of a pool, or of one that this process made.

        See Also
        --------
        cuMemPoolImportFromShareableHandle : the driver function.
        """
        initialize_driver()
        return sharing_module().from_allocation_handle(cls, -1, alloc_handle)

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Take page-locked memory from the pool.

        Stream-ordered: the memory may be used on `stream`, on streams that wait for it, and by the
        host once it has waited for them.

        Parameters
        ----------
        size : int
            In bytes; 0 gives a buffer without an address.
        stream : Stream
            The stream that orders the allocation and, unless another is named, the free.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If the host cannot lock that much memory.
        RuntimeError
            If the stream is capturing, the resource is closed, or the device of the stream cannot
            use a pool of host memory.

        See Also
        --------
        cuMemAllocFromPoolAsync : the driver function.
        """
        cdef Stream given = stream_or_default(stream, "allocate()")
        try:
            return allocate_for(Buffer.__new__(Buffer), self, size, given)
        except CUDAError as error:
            if isinstance(error, MemoryError) or supports_host_pools(given, self.node):
                raise
            raise RuntimeError(
                f"CUDA device {given.device.device_id} does not support the requested host memory "
                "pool for PinnedMemoryResource. Use LegacyPinnedMemoryResource instead.") from error

    @property
    def numa_id(self):
        """The NUMA node of the memory as an int; -1 where the system, or another process, chose.

        Host only.
        """
        return -1 if self.is_import else self.node

    @property
    def device_id(self):
        """-1: the memory belongs to no device. Host only."""
        return -1

    @property
    def is_device_accessible(self):
        """True: kernels may use the memory. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """True: the host may use the memory. Host only."""
        return True

    def __repr__(self):
        where = "" if self.node < 0 else f" numa_id={self.node}"
        return f"<{type(self).__name__}{where}{' closed' if self.is_closed else ''}>"


cdef bint supports_host_pools(Stream stream, int node) except -1:
    cdef int answer = 0
    checked(cydriver.cuDeviceGetAttribute(
        &answer, CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED if node < 0
        else CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED, stream.device.device_id),
        "cuDeviceGetAttribute")
    return answer

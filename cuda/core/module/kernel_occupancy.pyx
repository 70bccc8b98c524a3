# SPDX-License-Identifier: Apache-2.0
# KernelOccupancy: how many blocks and clusters of a kernel the device holds at once.

from cuda.core.module.records import MaxPotentialBlockSizeOccupancyResult


cdef uintptr_t function_address(needed) except? 0:
    """The C function that a handle object stands for.

    ``CUoccupancyB2DSize(address)`` holds it, and ``getPtr()`` lies in the object;
    ``CUoccupancyB2DSize(_ptr=address)`` says by ``getPtr()`` where the function is.
    """
    cdef uintptr_t where = needed.getPtr(), start = <uintptr_t><void*>needed
    if start < where < start + <uintptr_t>type(needed).__basicsize__:
        return int(needed)
    return where


@cython.final
cdef class KernelOccupancy:
    """How many blocks and clusters of a kernel fit on the current device.

    It comes from `Kernel.occupancy`. All methods need a current context.
    """

    cdef kernel_handle native

    def __init__(self, *args, **kwargs):
        raise RuntimeError("KernelOccupancy cannot be instantiated directly. Please use Kernel "
                           "APIs. It comes from Kernel.occupancy.")

    def __repr__(self):
        if not self.native.is_open():
            return "<KernelOccupancy>"
        name = text_of(self.native.facts().plan.get().readable_name())
        return f"<KernelOccupancy kernel={name!r}>"

    def max_active_blocks_per_multiprocessor(self, int block_size,
                                             size_t dynamic_shared_memory_size):
        """Blocks that one multiprocessor holds at once.

        Host only.

        Parameters
        ----------
        block_size : int
            Threads of a block.
        dynamic_shared_memory_size : int
            Of a block, in bytes.

        Returns
        -------
        int

        See Also
        --------
        cuOccupancyMaxActiveBlocksPerMultiprocessor : the driver function.
        """
        cdef int blocks = 0
        with nogil:
            call(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                 function_of(self.native), block_size, dynamic_shared_memory_size)
        return blocks

    def plot(self, dynamic_shared_memory_size=0):
        """Occupancy over the block size, on the current device.

        Host only.

        Parameters
        ----------
        dynamic_shared_memory_size : int or callable
            Of a block, in bytes, or a function of the block size that returns it.

        Returns
        -------
        OccupancyCurve
            A picture in a notebook, a table as text, and the numbers.
        """
        name = text_of(self.native.facts().plan.get().readable_name())
        return import_module("cuda.core.module.occupancy_curve").measure(
            self, name, public_object("Device")(), dynamic_shared_memory_size)

    def max_potential_block_size(self, dynamic_shared_memory_needed, int block_size_limit):
        """The block size of most occupancy.

        Host only.

        Parameters
        ----------
        dynamic_shared_memory_needed : int, driver.CUoccupancyB2DSize or callable
            Dynamic shared memory of a block in bytes, or a function of the block size that
            returns it.
        block_size_limit : int
            Most threads of a block; 0 for no limit.

        Returns
        -------
        MaxPotentialBlockSizeOccupancyResult
            ``(min_grid_size, max_block_size)``.

        Raises
        ------
        TypeError
            If the first argument is something else.

        See Also
        --------
        cuOccupancyMaxPotentialBlockSize : the driver function.
        """
        cdef int grid = 0, block = 0
        cdef void* callback = NULL
        cdef size_t size = 0
        needed = dynamic_shared_memory_needed
        # The handle first: it converts to an integer as well.
        if type(needed).__name__ == "CUoccupancyB2DSize":
            callback = <void*>function_address(needed)
        elif PyIndex_Check(needed):
            size = needed
        elif callable(needed):
            query_block_size(&grid, &block, self.native.raw(), needed, block_size_limit)
            return MaxPotentialBlockSizeOccupancyResult(grid, block)
        else:
            raise TypeError("dynamic_shared_memory_needed must be an int, a callable or a "
                            f"driver.CUoccupancyB2DSize, got {qualified_name(needed)}")
        with nogil:
            call(driver.cuOccupancyMaxPotentialBlockSize, &grid, &block, function_of(self.native),
                 <block_size_function>callback, size, block_size_limit)
        return MaxPotentialBlockSizeOccupancyResult(grid, block)

    def available_dynamic_shared_memory_per_block(self, int num_blocks_per_multiprocessor,
                                                  int block_size):
        """Dynamic shared memory that a block may have while so many share a multiprocessor.

        Host only.

        Parameters
        ----------
        num_blocks_per_multiprocessor : int
            Blocks that one multiprocessor is to hold at once.
        block_size : int
            Threads of a block.

        Returns
        -------
        int
            In bytes.

        See Also
        --------
        cuOccupancyAvailableDynamicSMemPerBlock : the driver function.
        """
        cdef size_t size = 0
        with nogil:
            call(driver.cuOccupancyAvailableDynamicSMemPerBlock, &size, function_of(self.native),
                 num_blocks_per_multiprocessor, block_size)
        return size

    @cython.binding(True)
    def max_potential_cluster_size(self, config, stream=NOT_GIVEN):
        """The largest cluster that can be launched.

        Host only.

        Parameters
        ----------
        config : LaunchConfig
            The launch; its `cluster` is ignored.
        stream : Stream
            Where the kernel would run.

        Returns
        -------
        int
            Blocks of the cluster.

        See Also
        --------
        cuOccupancyMaxPotentialClusterSize : the driver function.
        """
        cdef CUlaunchConfig native = accept_config(config).fields.native
        cdef int size = 0
        cdef Stream given = stream_or_default(stream, "max_potential_cluster_size()")
        cdef borrowed_stream on = given.native.borrow_open(given)
        native.hStream = on.raw()
        native.numAttrs = 0
        native.attrs = NULL
        with nogil:
            call(driver.cuOccupancyMaxPotentialClusterSize, &size, function_of(self.native),
                 &native)
        return size

    @cython.binding(True)
    def max_active_clusters(self, config, stream=NOT_GIVEN):
        """Clusters that the device holds at once.

        Host only.

        Parameters
        ----------
        config : LaunchConfig
            The launch, with a cluster.
        stream : Stream
            Where the kernel would run.

        Returns
        -------
        int

        See Also
        --------
        cuOccupancyMaxActiveClusters : the driver function.
        """
        cdef LaunchConfig accepted = accept_config(config)
        cdef CUlaunchConfig native = accepted.fields.native
        cdef int clusters = 0
        cdef Stream given = stream_or_default(stream, "max_active_clusters()")
        cdef borrowed_stream on = given.native.borrow_open(given)
        native.hStream = on.raw()
        with nogil:
            call(driver.cuOccupancyMaxActiveClusters, &clusters, function_of(self.native), &native)
        return clusters


cdef KernelOccupancy make_occupancy(const kernel_handle& native):
    cdef KernelOccupancy made = KernelOccupancy.__new__(KernelOccupancy)
    made.native = native
    return made

# SPDX-License-Identifier: Apache-2.0
# KernelOccupancy: the numbers of resident blocks and clusters of a kernel.

from cuda.core.module.records import MaxPotentialBlockSizeOccupancyResult


cdef uintptr_t function_address(holder, cls) except? 0:
    """Return the C function of an instance of ``CUoccupancyB2DSize``, the class `cls`.

    ``CUoccupancyB2DSize(address)`` stores the function, and ``getPtr()`` points into the object.
    For ``CUoccupancyB2DSize(_ptr=address)``, ``getPtr()`` returns the function. Methods of a
    derived class are not called, since their result would be called as a function.
    """
    cdef uintptr_t address = cls.getPtr(holder), start = <uintptr_t><void*>holder
    if start < address < start + <uintptr_t>cls.__basicsize__:
        return cls.__int__(holder)
    return address


@cython.final
cdef class KernelOccupancy:
    """Occupancy of the current device by blocks and clusters of a kernel.

    `Kernel.occupancy` returns it. All methods need a current context.
    """

    cdef initialized_kernel native

    def __init__(self, *args, **kwargs):
        raise RuntimeError("KernelOccupancy cannot be instantiated directly. Please use Kernel "
                           "APIs. It comes from Kernel.occupancy.")

    def __repr__(self):
        if not self.native.is_set():
            return "<KernelOccupancy>"
        name = text_of(self.native.get(self).facts().plan.get().readable_name())
        return f"<KernelOccupancy kernel={name!r}>"

    def max_active_blocks_per_multiprocessor(self, block_size, dynamic_shared_memory_size):
        """Return the maximum number of resident blocks per multiprocessor.

        Host only.

        Parameters
        ----------
        block_size : int
            Number of threads per block.
        dynamic_shared_memory_size : int
            Dynamic shared memory per block in bytes.

        Returns
        -------
        int

        See Also
        --------
        cuOccupancyMaxActiveBlocksPerMultiprocessor : the driver function.
        """
        cdef CUfunction function = function_of(self.native.get(self))
        cdef int blocks
        cdef int threads = int_option("block_size", block_size)
        cdef size_t shared = size_from(dynamic_shared_memory_size, "dynamic_shared_memory_size")
        with nogil:
            call(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                 function, threads, shared)
        return blocks

    def plot(self, dynamic_shared_memory_size=0):
        """Return the occupancy for each block size on the current device.

        Host only.

        Parameters
        ----------
        dynamic_shared_memory_size : int or callable
            Dynamic shared memory per block in bytes, or a function of the block size.

        Returns
        -------
        OccupancyCurve
            The values, with a chart for notebooks and a table as text.
        """
        name = text_of(self.native.get(self).facts().plan.get().readable_name())
        return import_module("cuda.core.module.occupancy_curve").measure(
            self, name, public_object("Device")(), dynamic_shared_memory_size)

    def max_potential_block_size(self, dynamic_shared_memory_needed, block_size_limit):
        """Return the block size of maximum occupancy.

        Host only.

        Parameters
        ----------
        dynamic_shared_memory_needed : int, driver.CUoccupancyB2DSize or callable
            Dynamic shared memory per block in bytes, or a function of the block size that
            returns it.
        block_size_limit : int
            Maximum number of threads per block; 0 for no limit.

        Returns
        -------
        MaxPotentialBlockSizeOccupancyResult
            ``(min_grid_size, max_block_size)``.

        Raises
        ------
        TypeError
            If the first argument has another type.

        See Also
        --------
        cuOccupancyMaxPotentialBlockSize : the driver function.
        """
        cdef int grid, block
        cdef CUfunction function = function_of(self.native.get(self))
        cdef void* callback = NULL
        cdef size_t size = 0
        cdef int limit = int_option("block_size_limit", block_size_limit)
        needed = dynamic_shared_memory_needed
        # The handle is checked first, since it also converts to an integer.
        if (cls := bindings_class_of(needed, ("driver.CUoccupancyB2DSize",))) is not None:
            callback = <void*>function_address(needed, cls)
        elif PyIndex_Check(needed):
            size = size_from(needed, "dynamic_shared_memory_needed")
        elif callable(needed):
            query_block_size(&grid, &block, self.native.get(self).raw(), needed, limit)
            return MaxPotentialBlockSizeOccupancyResult(grid, block)
        else:
            raise TypeError("dynamic_shared_memory_needed must be an int, a callable or a "
                            f"driver.CUoccupancyB2DSize, got {qualified_name(needed)}")
        with nogil:
            call(driver.cuOccupancyMaxPotentialBlockSize, &grid, &block, function,
                 <block_size_function>callback, size, limit)
        return MaxPotentialBlockSizeOccupancyResult(grid, block)

    def available_dynamic_shared_memory_per_block(self, num_blocks_per_multiprocessor, block_size):
        """Return the dynamic shared memory per block for a number of resident blocks.

        Host only.

        Parameters
        ----------
        num_blocks_per_multiprocessor : int
            Number of blocks that a multiprocessor must execute at once.
        block_size : int
            Number of threads per block.

        Returns
        -------
        int
            Dynamic shared memory per block in bytes.

        See Also
        --------
        cuOccupancyAvailableDynamicSMemPerBlock : the driver function.
        """
        cdef CUfunction function = function_of(self.native.get(self))
        cdef size_t size
        cdef int blocks = int_option("num_blocks_per_multiprocessor", num_blocks_per_multiprocessor)
        cdef int threads = int_option("block_size", block_size)
        with nogil:
            call(driver.cuOccupancyAvailableDynamicSMemPerBlock, &size, function,
                 blocks, threads)
        return size

    @cython.binding(True)
    def max_potential_cluster_size(self, config, *, stream):
        """Return the size of the largest cluster that can be launched.

        Host only.

        Parameters
        ----------
        config : LaunchConfig
            Configuration of the launch; its `cluster` is ignored.
        stream : Stream
            Stream of the launch.

        Returns
        -------
        int
            Number of blocks of the cluster.

        See Also
        --------
        cuOccupancyMaxPotentialClusterSize : the driver function.
        """
        cdef CUlaunchConfig native = accept_config(config).fields.native
        cdef CUfunction function = function_of(self.native.get(self))
        cdef int size
        cdef Stream target = accept_stream(stream)
        cdef borrowed_stream order = target.native.borrow_open(target)
        native.hStream = order.raw()
        native.numAttrs = 0
        native.attrs = NULL
        with nogil:
            call(driver.cuOccupancyMaxPotentialClusterSize, &size, function,
                 &native)
        return size

    @cython.binding(True)
    def max_active_clusters(self, config, *, stream):
        """Return the maximum number of resident clusters on the device.

        Host only.

        Parameters
        ----------
        config : LaunchConfig
            Configuration of the launch, with a cluster.
        stream : Stream
            Stream of the launch.

        Returns
        -------
        int

        See Also
        --------
        cuOccupancyMaxActiveClusters : the driver function.
        """
        cdef LaunchConfig accepted = accept_config(config)
        cdef CUlaunchConfig native = accepted.fields.native
        cdef CUfunction function = function_of(self.native.get(self))
        cdef int clusters
        cdef Stream target = accept_stream(stream)
        cdef borrowed_stream order = target.native.borrow_open(target)
        native.hStream = order.raw()
        with nogil:
            call(driver.cuOccupancyMaxActiveClusters, &clusters, function, &native)
        return clusters


cdef KernelOccupancy make_occupancy(const kernel_handle& native):
    cdef KernelOccupancy occupancy = KernelOccupancy.__new__(KernelOccupancy)
    occupancy.native.set(native)
    return occupancy

# SPDX-License-Identifier: Apache-2.0
# ManagedBuffer: hints and prefetches of managed memory.


cdef struct range_call:
    CUdeviceptr pointer
    size_t size
    CUmemLocation location


cdef int advise(Buffer buffer, CUmem_advise advice, CUmemLocation location, str call) except -1:
    cdef buffer_fields memory = managed_memory_of(buffer, call)
    try:
        with nogil:
            checked(cydriver.cuMemAdvise(memory.pointer, memory.size, advice, location),
                    "cuMemAdvise")
    except CUDAError as error:
        if error.name == "CUDA_ERROR_NOT_SUPPORTED":
            if isinstance(buffer.memory_resource, ManagedMemoryResource):
                error.add_note(f"memory of a managed pool takes no {call} advice")
        raise


cdef int range_attribute(Buffer buffer, CUmem_range_attribute attribute, void* out, size_t bytes,
                         str call) except -1:
    cdef buffer_fields memory = managed_memory_of(buffer, call)
    with nogil:
        checked(cydriver.cuMemRangeGetAttribute(out, bytes, attribute, memory.pointer,
                                                memory.size), "cuMemRangeGetAttribute")


cdef object range_location(Buffer buffer, CUmem_range_attribute type_attribute,
                           CUmem_range_attribute id_attribute,
                           CUmem_range_attribute legacy_attribute, str call):
    """Return the location in a range attribute; drivers before CUDA 13 have no NUMA nodes."""
    cdef int location_type, location_id
    if driver_version() >= 13000:
        range_attribute(buffer, type_attribute, &location_type, sizeof(int), call)
        range_attribute(buffer, id_attribute, &location_id, sizeof(int), call)
        return device_or_host(location_type, location_id)
    range_attribute(buffer, legacy_attribute, &location_id, sizeof(int), call)
    if location_id == -1:  # CU_DEVICE_CPU; CU_DEVICE_INVALID is -2
        return Host()
    return None if location_id < 0 else Device(location_id)


cdef CUresult submit_prefetch(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    cdef range_call* range = <range_call*>arguments
    return cydriver.cuMemPrefetchAsync(range.pointer, range.size, range.location, 0, stream)


cdef class ManagedBuffer(Buffer):
    """Managed memory: host and devices access it, and the driver migrates it between them.

    `ManagedMemoryResource.allocate` and `ManagedBuffer.from_handle` return it. The members that
    `Buffer` does not have raise ValueError if the memory is not managed.
    """

    @staticmethod
    def from_handle(ptr, size, mr=None, owner=None, *, stream=None):
        """Wrap existing managed memory.

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
        ManagedBuffer
        """
        return wrap_memory(ManagedBuffer, ptr, size, mr, owner, stream)

    @property
    def read_mostly(self):
        """Whether the driver may replicate the memory for each reader. Settable. Host only.

        See Also
        --------
        cuMemAdvise, cuMemRangeGetAttribute : the driver functions.
        """
        cdef int is_read_mostly
        range_attribute(self, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, &is_read_mostly, sizeof(int),
                        "read_mostly")
        return bool(is_read_mostly)

    @read_mostly.setter
    def read_mostly(self, value):
        try:
            is_set = (False, True).index(value)  # also 0, 1 and booleans of NumPy
        except ValueError:
            raise TypeError(f"read_mostly must be a bool, got {shown(value)} "
                            f"({type(value).__name__})") from None
        advise(self, CU_MEM_ADVISE_SET_READ_MOSTLY if is_set else CU_MEM_ADVISE_UNSET_READ_MOSTLY,
               location_at(CU_MEM_LOCATION_TYPE_HOST, 0), "read_mostly")

    @property
    def preferred_location(self):
        """Preferred location of the memory: a Device, a Host, or None. Settable. Host only.

        See Also
        --------
        cuMemAdvise, cuMemRangeGetAttribute : the driver functions.
        """
        return range_location(self, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
                              CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
                              CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, "preferred_location")

    @preferred_location.setter
    def preferred_location(self, location):
        if location is None:
            advise(self, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
                   location_at(CU_MEM_LOCATION_TYPE_HOST, 0), "preferred_location")
        else:
            advise(self, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location_of(location),
                   "preferred_location")

    @property
    def last_prefetch_location(self):
        """Location of the last prefetch of the whole memory: a Device, a Host, or None. Host only.

        See Also
        --------
        cuMemRangeGetAttribute : the driver function.
        """
        return range_location(self, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                              CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
                              CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                              "last_prefetch_location")

    @property
    def accessed_by(self):
        """The devices, and the host, for which the memory stays mapped: a set in the driver.

        Assigning an iterable replaces the members; an invalid element changes nothing. Host only.

        See Also
        --------
        cuMemAdvise, cuMemRangeGetAttribute : the driver functions.
        """
        return import_module("cuda.core.memory.driver_sets").AccessedBySetProxy(self)

    @accessed_by.setter
    def accessed_by(self, locations):
        managed_memory_of(self, "accessed_by")
        self.accessed_by._replace(locations)

    def prefetch(self, location, *, stream):
        """Prefetch the memory to a location.

        Stream-ordered.

        Parameters
        ----------
        location : Device or Host
            The destination.
        stream : Stream
            The stream that orders the prefetch.

        Raises
        ------
        ValueError
            If the memory is not managed, or `location` is None.

        See Also
        --------
        cuMemPrefetchAsync : the driver function.
        """
        check_open(self.fields.is_open, "Buffer")
        cdef Stream order = accept_stream(stream)
        cdef range_call call
        call.location = required_location(location, "prefetch")
        cdef buffer_fields memory = managed_memory_of(self, "prefetch")
        call.pointer, call.size = memory.pointer, memory.size
        run_on_stream(order, submit_prefetch, &call, "cuMemPrefetchAsync")

    def discard(self, *, stream):
        """Discard the contents, so that the driver need not migrate them before the next write.

        Stream-ordered. Needs a driver of CUDA 13.0.

        Parameters
        ----------
        stream : Stream
            The stream that orders the discard.

        Raises
        ------
        ValueError
            If the memory is not managed.

        See Also
        --------
        cuMemDiscardBatchAsync : the driver function.
        """
        check_open(self.fields.is_open, "Buffer")
        cdef Stream order = accept_stream(stream)
        managed_memory_of(self, "discard")
        discard_ranges(order, [self], "discard")

    def discard_prefetch(self, location, *, stream):
        """Discard the contents and prefetch the memory to a location.

        Stream-ordered. Needs a driver of CUDA 13.0.

        Parameters
        ----------
        location : Device or Host
            The destination.
        stream : Stream
            The stream that orders both operations.

        Raises
        ------
        ValueError
            If the memory is not managed, or `location` is None.

        See Also
        --------
        cuMemDiscardAndPrefetchBatchAsync : the driver function.
        """
        check_open(self.fields.is_open, "Buffer")
        cdef Stream order = accept_stream(stream)
        required_location(location, "discard_prefetch")
        managed_memory_of(self, "discard_prefetch")
        discard_and_prefetch_ranges(order, [self], [location], "discard_prefetch")


cdef enum:
    MAX_ACCESSORS = 65  # the largest number of devices, and the host


def _accessors_of(Buffer buffer):
    """Return the ordinals of the devices of `accessed_by`, sorted; -1 is the host. Host only."""
    cdef int[MAX_ACCESSORS] ordinals
    range_attribute(buffer, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, &ordinals[0], sizeof(ordinals),
                    "accessed_by")
    return sorted([ordinals[i] for i in range(MAX_ACCESSORS) if ordinals[i] > -2])


def _check_accessor(location):
    """Reject a NUMA node, for which memory cannot stay mapped. Host only."""
    if isinstance(location, Host) and kind_of_host(location) != "host":
        raise ValueError("advise CU_MEM_ADVISE_SET_ACCESSED_BY does not support location_type="
                         f"'{kind_of_host(location)}'")


def _advise_access(Buffer buffer, location, bint is_set):
    """Set or unset the advice that the memory stays mapped for a location. Host only."""
    advise(buffer, CU_MEM_ADVISE_SET_ACCESSED_BY if is_set else CU_MEM_ADVISE_UNSET_ACCESSED_BY,
           location_of(location), "accessed_by")

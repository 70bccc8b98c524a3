# SPDX-License-Identifier: Apache-2.0
# Managed memory: where it should lie, who uses it, and moving it there.


cdef struct range_call:
    CUdeviceptr pointer
    size_t size
    CUmemLocation where


cdef int require_managed(Buffer buffer, str call) except -1:
    check_open(buffer.fields.is_open, "Buffer")
    if not is_managed(buffer):
        raise ValueError(f"{call} requires a managed-memory allocation")
    return 0


cdef int advise(Buffer buffer, CUmem_advise advice, CUmemLocation where, str what) except -1:
    require_managed(buffer, what)
    cdef CUdeviceptr pointer = buffer.fields.pointer
    cdef size_t size = buffer.fields.size
    with nogil:
        checked(cydriver.cuMemAdvise(pointer, size, advice, where), "cuMemAdvise")
    return 0


cdef int range_attribute(Buffer buffer, CUmem_range_attribute which, void* out, size_t bytes,
                         str what) except -1:
    require_managed(buffer, what)
    cdef CUdeviceptr pointer = buffer.fields.pointer
    cdef size_t size = buffer.fields.size
    with nogil:
        checked(cydriver.cuMemRangeGetAttribute(out, bytes, which, pointer, size),
                "cuMemRangeGetAttribute")
    return 0


cdef object range_place(Buffer buffer, CUmem_range_attribute kind, CUmem_range_attribute number,
                        CUmem_range_attribute older, str what):
    """A location that is an attribute of a range; drivers before CUDA 13 know no NUMA nodes."""
    cdef int of_kind = 0, with_number = 0
    if driver_version() >= 13000:
        range_attribute(buffer, kind, &of_kind, sizeof(int), what)
        range_attribute(buffer, number, &with_number, sizeof(int), what)
        return place_of(of_kind, with_number)
    range_attribute(buffer, older, &with_number, sizeof(int), what)
    if with_number == -1:  # CU_DEVICE_CPU; CU_DEVICE_INVALID is -2
        return Host()
    return None if with_number < 0 else Device(with_number)


cdef CUresult submit_prefetch(CUstream stream, void* arguments) \
        except? CUDA_ERROR_NOT_FOUND nogil:
    cdef range_call* given = <range_call*>arguments
    return cydriver.cuMemPrefetchAsync(given.pointer, given.size, given.where, 0, stream)


cdef class ManagedBuffer(Buffer):
    """Memory that host and devices share, and that the system moves to where it is used.

    It comes from `ManagedMemoryResource.allocate`, or from `ManagedBuffer.from_handle`. What is
    special to managed memory raises ValueError where the memory is not managed.
    """

    @staticmethod
    def from_handle(ptr, size, mr=None, owner=None, *, stream=None):
        """Wrap managed memory that exists.

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
        ManagedBuffer
        """
        return wrap_memory(ManagedBuffer, ptr, size, mr, owner, stream)

    @property
    def read_mostly(self):
        """Whether each reader may have a copy of its own. Settable. Host only.

        See Also
        --------
        cuMemAdvise, cuMemRangeGetAttribute : the driver functions.
        """
        cdef int answer = 0
        range_attribute(self, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, &answer, sizeof(int),
                        "read_mostly")
        return bool(answer)

    @read_mostly.setter
    def read_mostly(self, value):
        advise(self, CU_MEM_ADVISE_SET_READ_MOSTLY if value else CU_MEM_ADVISE_UNSET_READ_MOSTLY,
               location_at(CU_MEM_LOCATION_TYPE_HOST, 0), "read_mostly")

    @property
    def preferred_location(self):
        """Where the memory lies by preference: a Device, a Host, or None. Settable. Host only.

        See Also
        --------
        cuMemAdvise, cuMemRangeGetAttribute : the driver functions.
        """
        return range_place(self, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE,
                           CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID,
                           CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, "preferred_location")

    @preferred_location.setter
    def preferred_location(self, where):
        if where is None:
            advise(self, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION,
                   location_at(CU_MEM_LOCATION_TYPE_HOST, 0), "preferred_location")
        else:
            advise(self, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, location_of(where),
                   "preferred_location")

    @property
    def last_prefetch_location(self):
        """Where the whole memory was last prefetched to: a Device, a Host, or None. Host only.

        See Also
        --------
        cuMemRangeGetAttribute : the driver function.
        """
        return range_place(self, CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE,
                           CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID,
                           CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                           "last_prefetch_location")

    @property
    def accessed_by(self):
        """The devices, and the host, that the memory is kept mapped for: a live set.

        Assigning an iterable replaces it; one wrong element changes nothing. Host only.

        See Also
        --------
        cuMemAdvise, cuMemRangeGetAttribute : the driver functions.
        """
        return import_module("cuda.core.memory.driver_sets").AccessedBySetProxy(self)

    @accessed_by.setter
    def accessed_by(self, locations):
        require_managed(self, "accessed_by")
        self.accessed_by._replace(locations)

    def prefetch(self, location, *, stream):
        """Move the memory to a place before it is used there.

        Stream-ordered.

        Parameters
        ----------
        location : Device or Host
            Where to.
        stream : Stream
            The stream that orders the move.

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
        cdef range_call given
        given.where = required_location(location, "prefetch")
        require_managed(self, "prefetch")
        given.pointer, given.size = self.fields.pointer, self.fields.size
        run_on_stream(order, submit_prefetch, &given, "cuMemPrefetchAsync")

    def discard(self, *, stream):
        """Let the contents become undefined, so that nothing need be moved before the next write.

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
        require_managed(self, "discard")
        discard_ranges(order, [self], "discard")

    def discard_prefetch(self, location, *, stream):
        """Let the contents become undefined, and move the memory to a place.

        Stream-ordered. Needs a driver of CUDA 13.0.

        Parameters
        ----------
        location : Device or Host
            Where to.
        stream : Stream
            The stream that orders both.

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
        require_managed(self, "discard_prefetch")
        discard_and_prefetch_ranges(order, [self], [location], "discard_prefetch")


cdef enum:
    MAX_ACCESSORS = 65  # the devices that a driver may have, and the host


def _accessors_of(Buffer buffer):
    """The ordinals of the devices of `accessed_by`, in their order; -1 is the host. Host only."""
    cdef int[MAX_ACCESSORS] found
    range_attribute(buffer, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, &found[0], sizeof(found),
                    "accessed_by")
    return sorted([found[i] for i in range(MAX_ACCESSORS) if found[i] > -2])


def _check_accessor(where):
    """Refuse what memory cannot be mapped for: one of the NUMA nodes. Host only."""
    if isinstance(where, Host) and kind_of_host(where) != "host":
        raise ValueError("advise CU_MEM_ADVISE_SET_ACCESSED_BY does not support location_type="
                         f"'{kind_of_host(where)}'")


def _advise_access(Buffer buffer, where, bint is_set):
    """Keep the memory mapped for a place, or no longer. Host only."""
    advise(buffer, CU_MEM_ADVISE_SET_ACCESSED_BY if is_set else CU_MEM_ADVISE_UNSET_ACCESSED_BY,
           location_of(where), "accessed_by")

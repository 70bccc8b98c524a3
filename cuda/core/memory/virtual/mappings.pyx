# SPDX-License-Identifier: Apache-2.0
# The steps of virtual memory: addresses, memory, mappings, access.


cdef dict ALLOCATION_TYPES = {
    "pinned": <int>CU_MEM_ALLOCATION_TYPE_PINNED, "managed": <int>CU_MEM_ALLOCATION_TYPE_MANAGED}
# Memory is created on a node by its number: that of the calling thread is asked for by us.
cdef dict PLACES = {**LOCATION_TYPES, "host_numa_current": <int>CU_MEM_LOCATION_TYPE_HOST_NUMA}
cdef dict HANDLE_TYPES = {
    None: <int>CU_MEM_HANDLE_TYPE_NONE,
    "posix_fd": <int>CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    "win32_kmt": <int>CU_MEM_HANDLE_TYPE_WIN32_KMT,
    "fabric": <int>CU_MEM_HANDLE_TYPE_FABRIC}
cdef dict GRANULARITIES = {
    "minimum": <int>CU_MEM_ALLOC_GRANULARITY_MINIMUM,
    "recommended": <int>CU_MEM_ALLOC_GRANULARITY_RECOMMENDED}
cdef dict ACCESSES = {
    None: <int>CU_MEM_ACCESS_FLAGS_PROT_NONE, "r": <int>CU_MEM_ACCESS_FLAGS_PROT_READ,
    "rw": <int>CU_MEM_ACCESS_FLAGS_PROT_READWRITE}


cdef object driver_value(dict known, object given, str name):
    try:
        return known[given]
    except (KeyError, TypeError):
        accepted = ", ".join(map(repr, known))
        text = (f"Unknown access spec: {given!r}" if known is ACCESSES
                else f"Unsupported {name}: {given!r}")
        raise ValueError(f"{text} (accepted: {accepted})") from None


cdef int check_virtual_options(object options) except -1:
    if options.handle_type == "win32":
        raise NotImplementedError("handle_type='win32' is not supported: use 'win32_kmt'")
    driver_value(ALLOCATION_TYPES, options.allocation_type, "allocation_type")
    driver_value(PLACES, options.location_type, "location_type")
    driver_value(HANDLE_TYPES, options.handle_type, "handle_type")
    driver_value(GRANULARITIES, options.granularity, "granularity")
    driver_value(ACCESSES, options.self_access, "self_access")
    driver_value(ACCESSES, options.peer_access, "peer_access")
    return 0


@cython.final
cdef class _Extents:
    """What one allocation is made of, in the order of its addresses."""

    cdef list reservations  # (address, size), side by side
    cdef list mappings      # (address, size), side by side
    cdef object process     # that made it: a fork leaves it to the parent

    def __cinit__(self):
        self.reservations, self.mappings, self.process = [], [], os.getpid()

    cdef CUdeviceptr reserve(self, size_t size, size_t alignment, CUdeviceptr hint) except? 0:
        cdef CUdeviceptr found = 0
        with nogil:
            checked(cydriver.cuMemAddressReserve(&found, size, alignment, hint, 0),
                    "cuMemAddressReserve")
        self.reservations.append((found, size))
        return found

    cdef int map_new(self, CUdeviceptr at, size_t size, const CUmemAllocationProp* how) except -1:
        cdef CUmemGenericAllocationHandle memory = 0
        with nogil:
            checked(cydriver.cuMemCreate(&memory, size, how, 0), "cuMemCreate")
        return self.map_handle(memory, at, size)

    cdef int map_same(self, CUdeviceptr at, CUdeviceptr mapped_at, size_t size) except -1:
        """Map what is mapped at another address."""
        cdef CUmemGenericAllocationHandle memory = 0
        with nogil:
            checked(cydriver.cuMemRetainAllocationHandle(&memory, <void*>mapped_at),
                    "cuMemRetainAllocationHandle")
        return self.map_handle(memory, at, size)

    cdef int map_handle(self, CUmemGenericAllocationHandle memory, CUdeviceptr at,
                        size_t size) except -1:
        """Map memory and release its handle: the mapping keeps it from here on."""
        cdef CUresult mapped, released
        with nogil:
            mapped = cydriver.cuMemMap(at, size, 0, memory, 0)
            released = cydriver.cuMemRelease(memory)
            if released != CUDA_SUCCESS:  # once more: a handle that stays keeps the memory for ever
                released = cydriver.cuMemRelease(memory)
        checked(mapped, "cuMemMap")
        self.mappings.append((at, size))
        return checked(released, "cuMemRelease")

    cdef int release(self) except -1:
        """Unmap all and free the addresses, whatever fails on the way; the first failure is raised.

        What fails is tried once more, and what fails then stays listed for another call.
        """
        failure = self.try_to_release()
        if failure is not None:
            self.try_to_release()
            raise failure
        return 0

    cdef object try_to_release(self):
        failure = None
        for undo, ranges in ((_unmap, self.mappings), (_free_addresses, self.reservations)):
            for each in list(ranges):
                try:
                    undo(*each)
                except CUDAError as error:
                    failure = failure or error
                else:
                    ranges.remove(each)
        return failure


cdef CUmemAllocationProp properties_for(object options, int place) except *:
    cdef CUmemAllocationProp made
    memset(&made, 0, sizeof(made))
    made.type = <cydriver.CUmemAllocationType><int>ALLOCATION_TYPES[options.allocation_type]
    made.location = location_at(
        <cydriver.CUmemLocationType><int>PLACES[options.location_type], place)
    made.requestedHandleTypes = \
        <cydriver.CUmemAllocationHandleType><int>HANDLE_TYPES[options.handle_type]
    # Drivers export no memory of the host as a whole; what is asked for by default is left out.
    if options.location_type == "host" and options.handle_type == "posix_fd":
        made.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE
    made.allocFlags.gpuDirectRDMACapable = bool(options.gpu_direct_rdma)
    return made


cdef size_t rounded_up(size_t size, object options, const CUmemAllocationProp* how) except? 0:
    cdef size_t unit = 0
    cdef int option = GRANULARITIES[options.granularity]
    with nogil:
        checked(cydriver.cuMemGetAllocationGranularity(
            &unit, how, <cydriver.CUmemAllocationGranularity_flags>option),
            "cuMemGetAllocationGranularity")
    if unit == 0 or size > SIZE_MAX - unit:
        raise OverflowError(f"{size} bytes cannot be rounded up to a multiple of {unit}")
    return (size + unit - 1) // unit * unit


def _free_addresses(CUdeviceptr at, size_t size):
    with nogil:
        checked(cydriver.cuMemAddressFree(at, size), "cuMemAddressFree")


def _unmap(CUdeviceptr at, size_t size):
    with nogil:
        checked(cydriver.cuMemUnmap(at, size), "cuMemUnmap")


cdef int set_virtual_access(CUdeviceptr at, size_t size, object options,
                            const CUmemLocation* owner) except -1:
    cdef vector[CUmemAccessDesc] who
    cdef CUmemAccessDesc one
    memset(&one, 0, sizeof(one))
    one.location = owner[0]
    for ordinal, access in [(None, options.self_access),
                            *((peer, options.peer_access) for peer in options.peers)]:
        if access is None:
            continue
        if ordinal is not None:
            one.location = location_at(CU_MEM_LOCATION_TYPE_DEVICE, Device(ordinal).device_id)
        one.flags = <cydriver.CUmemAccess_flags><int>ACCESSES[access]
        who.push_back(one)
    if who.size() == 0:
        return 0
    with nogil:
        checked(cydriver.cuMemSetAccess(at, size, who.data(), who.size()), "cuMemSetAccess")
    return 0

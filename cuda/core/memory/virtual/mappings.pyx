# SPDX-License-Identifier: Apache-2.0
# Driver calls of VirtualMemoryResource: address ranges, memory, mappings, access.


cdef dict ALLOCATION_TYPES = {
    "pinned": <int>CU_MEM_ALLOCATION_TYPE_PINNED, "managed": <int>CU_MEM_ALLOCATION_TYPE_MANAGED}
# cuMemCreate takes a NUMA node number; the resource queries the node of the calling thread.
cdef dict VIRTUAL_LOCATION_TYPES = {
    **LOCATION_TYPES, "host_numa_current": <int>CU_MEM_LOCATION_TYPE_HOST_NUMA}
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


cdef object driver_value(dict values, object value, str name):
    try:
        return values[value]
    except (KeyError, TypeError):
        accepted = ", ".join(map(repr, values))
        text = (f"Unknown access spec: {shown(value)} for {name}" if values is ACCESSES
                else f"Unsupported {name}: {shown(value)}")
        raise ValueError(f"{text} (accepted: {accepted})") from None


cdef int check_virtual_options(object options) except -1:
    if options.handle_type == "win32":
        raise NotImplementedError("handle_type='win32' is not supported: use 'win32_kmt'")
    driver_value(ALLOCATION_TYPES, options.allocation_type, "allocation_type")
    driver_value(VIRTUAL_LOCATION_TYPES, options.location_type, "location_type")
    driver_value(HANDLE_TYPES, options.handle_type, "handle_type")
    driver_value(GRANULARITIES, options.granularity, "granularity")
    driver_value(ACCESSES, options.self_access, "self_access")
    driver_value(ACCESSES, options.peer_access, "peer_access")


cdef tuple requested_range(object options):
    """Return the alignment and the address that the options request, 0 for none."""
    return (requested_number("addr_align", options.addr_align),
            requested_number("addr_hint", options.addr_hint))


cdef uint64_t requested_number(str name, object value) except? 1:
    if value is None:
        return 0
    return address_option(name, "VirtualMemoryResourceOptions", value)


cdef tuple peers_of(object options):
    return option_checks().members("VirtualMemoryResourceOptions.peers", options.peers)


@cython.final
cdef class _Claim:
    """Lives while a Buffer or a part of it owns an allocation."""

    cdef object __weakref__


@cython.final
cdef class _Extents:
    """Address ranges and mappings of one allocation, sorted by address."""

    cdef list reservations  # (address, size), adjacent
    cdef list mappings      # (address, size), adjacent
    cdef object process     # id of the process that owns it; a child process does not
    cdef bint is_import     # whether another process allocated the memory
    cdef dict received      # address -> handle of an import: the driver exports no import again
    cdef object claim       # weak reference to the _Claim of its buffers, or None

    def __cinit__(self):
        self.reservations, self.mappings, self.process = [], [], os.getpid()
        self.received = {}

    cdef int set_buffer(self, Buffer buffer) except -1:
        """Note the Buffer that owns the allocation, with the parts that share it later."""
        buffer.claim = _Claim()
        self.claim = weakref.ref(buffer.claim)

    cdef bint has_open_buffer(self) except -1:
        return self.claim is not None and self.claim() is not None

    cdef bint overlaps(self, CUdeviceptr address, size_t size) except -1:
        cdef CUdeviceptr begin
        cdef size_t mapped
        for begin, mapped in self.mappings:
            if address < begin + mapped and (address >= begin or size > begin - address):
                return True
        return False

    cdef size_t mapped_size(self) except? 0:
        return sum([size for _, size in self.mappings])

    cdef CUdeviceptr reserve(self, size_t size, size_t alignment, CUdeviceptr hint) except? 0:
        cdef CUdeviceptr address
        with nogil:
            checked(cydriver.cuMemAddressReserve(&address, size, alignment, hint, 0),
                    "cuMemAddressReserve")
        self.reservations.append((address, size))
        return address

    cdef int map_new(self, CUdeviceptr address, size_t size,
                     const CUmemAllocationProp* properties) except -1:
        cdef CUmemGenericAllocationHandle memory
        with nogil:
            checked(cydriver.cuMemCreate(&memory, size, properties, 0), "cuMemCreate")
        return self.map_handle(memory, address, size)

    cdef int map_alias(self, CUdeviceptr address, CUdeviceptr mapped_address,
                       size_t size) except -1:
        """Map memory that is already mapped at another address."""
        cdef CUmemGenericAllocationHandle memory
        with nogil:
            checked(cydriver.cuMemRetainAllocationHandle(&memory, <void*>mapped_address),
                    "cuMemRetainAllocationHandle")
        return self.map_handle(memory, address, size)

    cdef int map_import(self, CUdeviceptr address, int descriptor, size_t size,
                        const CUmemLocation* location) except -1:
        """Map memory of another process, which must be at the location."""
        cdef CUmemGenericAllocationHandle memory
        with nogil:
            checked(cydriver.cuMemImportFromShareableHandle(
                &memory, <void*><intptr_t>descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
                "cuMemImportFromShareableHandle")
        try:
            require_location(memory, location)
        except BaseException:
            with nogil:
                cydriver.cuMemRelease(memory)
            raise
        return self.map_handle(memory, address, size)

    cdef int map_handle(self, CUmemGenericAllocationHandle memory, CUdeviceptr address,
                        size_t size) except -1:
        """Map memory and release its handle; the mapping then keeps the memory alive."""
        cdef CUresult mapped, released
        with nogil:
            mapped = cydriver.cuMemMap(address, size, 0, memory, 0)
            released = cydriver.cuMemRelease(memory)
            if released != CUDA_SUCCESS:  # retry: an unreleased handle leaks the memory
                released = cydriver.cuMemRelease(memory)
        checked(mapped, "cuMemMap")
        self.mappings.append((address, size))
        return checked(released, "cuMemRelease")

    cdef int release(self) except -1:
        """Unmap all memory and free the addresses. Continues after failures; raises the first.

        Retries each failed call once. Ranges that fail twice remain listed for another call.
        """
        failure = self.try_to_release()
        if failure is not None:
            self.try_to_release()
            raise failure

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


cdef CUmemAllocationProp properties_for(object options, int location_id) except *:
    cdef CUmemAllocationProp properties
    memset(&properties, 0, sizeof(properties))
    properties.type = <cydriver.CUmemAllocationType><int>ALLOCATION_TYPES[options.allocation_type]
    properties.location = location_at(
        <cydriver.CUmemLocationType><int>VIRTUAL_LOCATION_TYPES[options.location_type], location_id)
    properties.requestedHandleTypes = \
        <cydriver.CUmemAllocationHandleType><int>HANDLE_TYPES[options.handle_type]
    # Drivers cannot export memory of location "host", so the default handle type is dropped.
    if options.location_type == "host" and options.handle_type == "posix_fd":
        properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE
    properties.allocFlags.gpuDirectRDMACapable = bool(options.gpu_direct_rdma)
    return properties


cdef size_t rounded_up(size_t size, object options,
                       const CUmemAllocationProp* properties) except? 0:
    cdef size_t granularity = 0
    cdef int option = GRANULARITIES[options.granularity]
    with nogil:
        checked(cydriver.cuMemGetAllocationGranularity(
            &granularity, properties, <cydriver.CUmemAllocationGranularity_flags>option),
            "cuMemGetAllocationGranularity")
    if granularity == 0 or size > SIZE_MAX - granularity:
        raise OverflowError(f"{size} bytes cannot be rounded up to a multiple of {granularity}")
    return (size + granularity - 1) // granularity * granularity


cdef int require_location(CUmemGenericAllocationHandle memory,
                          const CUmemLocation* location) except -1:
    """Reject imported memory that a resource does not describe."""
    cdef CUmemAllocationProp properties
    with nogil:
        checked(cydriver.cuMemGetAllocationPropertiesFromHandle(&properties, memory),
                "cuMemGetAllocationPropertiesFromHandle")
    cdef bint is_on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE
    if is_on_device != (properties.location.type == CU_MEM_LOCATION_TYPE_DEVICE):
        kinds = ("device", "host") if is_on_device else ("host", "device")
        raise ValueError("Buffer.from_ipc_descriptor(): the resource maps {} memory, but the "
                         "descriptor refers to {} memory: pass a VirtualMemoryResource with the "
                         "location_type of the exporting resource".format(*kinds))
    if is_on_device and properties.location.id != location.id:
        raise ValueError("Buffer.from_ipc_descriptor(): the resource maps memory of device "
                         f"{location.id}, but the descriptor refers to memory of device "
                         f"{properties.location.id}: pass a VirtualMemoryResource of that device")


def _free_addresses(CUdeviceptr address, size_t size):
    with nogil:
        checked(cydriver.cuMemAddressFree(address, size), "cuMemAddressFree")


def _unmap(CUdeviceptr address, size_t size):
    with nogil:
        checked(cydriver.cuMemUnmap(address, size), "cuMemUnmap")


cdef int ordinal_of_peer(object value) except -1:
    return option_checks().device("a member of VirtualMemoryResourceOptions.peers", value).device_id


cdef int set_virtual_access(CUdeviceptr address, size_t size, object options,
                            const CUmemLocation* owner) except -1:
    cdef vector[CUmemAccessDesc] descriptions
    cdef CUmemAccessDesc description
    memset(&description, 0, sizeof(description))
    description.location = owner[0]
    for ordinal, access in [(None, options.self_access),
                            *((peer, options.peer_access) for peer in peers_of(options))]:
        if access is None:
            continue
        if ordinal is not None:
            description.location = location_at(CU_MEM_LOCATION_TYPE_DEVICE,
                                               ordinal_of_peer(ordinal))
        description.flags = <cydriver.CUmemAccess_flags><int>ACCESSES[access]
        descriptions.push_back(description)
    if descriptions.size() == 0:
        return 0
    with nogil:
        checked(cydriver.cuMemSetAccess(address, size, descriptions.data(), descriptions.size()),
                "cuMemSetAccess")


cdef int release_or_defer(VirtualMemoryResource self, _Extents extents) except -1:
    """Release extents after a failed call, or list them for another attempt."""
    try:
        return extents.release()
    except CUDAError:
        if extents.reservations:
            self.unreleased.append(extents)
        raise


cdef int release_deferred(VirtualMemoryResource self) except -1:
    """Retry to release the listed extents. The first failure has already been raised."""
    cdef _Extents each
    if not self.unreleased:
        return 0
    pending, self.unreleased = self.unreleased, []
    for each in pending:
        try:
            if each.process == os.getpid():
                each.release()
        except CUDAError:
            if each.reservations:
                self.unreleased.append(each)

# SPDX-License-Identifier: Apache-2.0
# Table of the attributes of launches, kernel nodes and streams.

from cuda.bindings.cydriver cimport (
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
    CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
    CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
    CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
    CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
    CU_LAUNCH_ATTRIBUTE_PRIORITY,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
    CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE,
    CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
)

# Owners of an attribute.
cdef enum:
    OF_LAUNCHES = 1
    OF_NODES = 2
    OF_STREAMS = 4

# name: (id, kind of value, CUDA version of the first driver that supports it, owners, description).
# The first three are separate fields of LaunchConfig. CU_LAUNCH_ATTRIBUTE_IGNORE has no effect and
# no row.
cdef dict LAUNCH_ATTRIBUTES = {
    "cluster": (
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, _Extents(), 11080, OF_LAUNCHES | OF_NODES,
        "Number of blocks of a cluster in x, y, z."),
    "is_cooperative": (
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE, _Flag(), 11080, OF_LAUNCHES | OF_NODES,
        "Whether all blocks run at once, so that they can wait for each other."),
    "programmatic_stream_serialization": (
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, _Flag(), 11080, OF_LAUNCHES,
        "Whether the kernel may start before the previous kernel has completed."),
    "access_policy_window": (
        CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, _Window(), 11080,
        OF_LAUNCHES | OF_NODES | OF_STREAMS,
        "L2 cache policy of a memory range, an `AccessPolicyWindow`."),
    "synchronization_policy": (
        CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
        _Choice("auto", "spin", "yield", "blocking_sync", first=1), 11080, OF_STREAMS,
        "Method by which a thread waits for the stream."),
    "cluster_scheduling_policy_preference": (
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        _Choice("default", "spread", "load_balancing", "rubin_dsmem_locality"), 11080,
        OF_LAUNCHES | OF_NODES,
        "Policy that distributes the blocks of a cluster over multiprocessors."),
    "programmatic_event": (
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, _Record(True), 11080, OF_LAUNCHES,
        "`Event` that is recorded once every block has triggered it or has completed; with the "
        "pair ``(event, True)`` each block triggers it at its start."),
    "priority": (
        CU_LAUNCH_ATTRIBUTE_PRIORITY, _Priority(-0x80000000, 0x7FFFFFFF), 11080,
        OF_LAUNCHES | OF_NODES | OF_STREAMS,
        "Priority of the work, lower is more urgent; the default is the stream's priority."),
    "mem_sync_domain_map": (
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, _Domains(), 12000,
        OF_LAUNCHES | OF_NODES | OF_STREAMS,
        "Pair of the numbers of the default and the remote memory synchronization domain."),
    "mem_sync_domain": (
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, _Choice("default", "remote"), 12000,
        OF_LAUNCHES | OF_NODES | OF_STREAMS,
        "Domain in which memory barriers of the kernel order memory operations."),
    "preferred_cluster_dimension": (
        CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, _Extents(), 12080, OF_LAUNCHES | OF_NODES,
        "Preferred number of blocks of a cluster in x, y, z: a multiple of `cluster`."),
    "launch_completion_event": (
        CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, _Record(False), 12030, OF_LAUNCHES,
        "`Event` that is recorded once every block has begun."),
    "device_updatable_kernel_node": (
        CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, _Flag(), 12040, OF_LAUNCHES | OF_NODES,
        "Whether kernels may update the graph node; for captured launches and nodes only."),
    "preferred_shared_memory_carveout": (
        CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, _Number(-1, 100), 12050,
        OF_LAUNCHES | OF_NODES,
        "Preferred share of the L1 cache used as shared memory, in percent; -1 lets the driver "
        "choose."),
    "nvlink_util_centric_scheduling": (
        CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, _Flag(), 13000,
        OF_LAUNCHES | OF_NODES | OF_STREAMS,
        "Whether blocks are scheduled for the best use of NVLink."),
    "portable_cluster_size_mode": (
        CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE,
        _Choice("default", "require_portable", "allow_non_portable"), 13020,
        OF_LAUNCHES | OF_NODES,
        "Whether clusters may exceed the size that all devices of the architecture support."),
    "shared_memory_mode": (
        CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE,
        _Choice("default", "require_portable", "allow_non_portable",
                "allow_oversized_shared_memory", "prefer_oversized_shared_memory"), 13020,
        OF_LAUNCHES | OF_NODES,
        "Limit of the dynamic shared memory of the launch."),
}

cdef dict FURTHER_ATTRIBUTES = {
    name: row for name, row in list(LAUNCH_ATTRIBUTES.items())[3:] if row[3] & OF_LAUNCHES}


@cython.final
cdef class _FurtherAttributes:
    """Immutable attributes of a LaunchConfig beyond its own fields."""


cdef _FurtherAttributes create_further(dict values):
    """Convert attributes; return None if all values are None."""
    cdef _FurtherAttributes further = _FurtherAttributes.__new__(_FurtherAttributes)
    cdef CUlaunchAttribute* out
    further.values = {}
    for name, row in FURTHER_ATTRIBUTES.items():
        value = values.get(name)
        if value is None:
            continue
        out = &further.fields.values[further.fields.count]
        memset(out, 0, sizeof(CUlaunchAttribute))
        out.id = <CUlaunchAttributeID><int>row[0]
        further.values[name] = (<_Kind>row[1]).fill(f"LaunchConfig.{name}", value, &out.value)
        further.fields.count += 1
        further.fields.driver_version = max(further.fields.driver_version, <int>row[2])
    if "priority" in further.values:
        further.fields.needs_priority_check = check_priority(
            b"LaunchConfig.priority", further.values["priority"]) == 1
    return further if further.values else None


cdef str readable_version(int version):
    return f"{version // 1000}.{version % 1000 // 10}"


cdef void require_launch_support(object further, int driver_version) except *:
    for name in (<_FurtherAttributes>further).values:
        require_driver_support(f"LaunchConfig.{name}", name, driver_version)


cdef int require_driver_support(str label, str name, int driver_version) except -1:
    required = LAUNCH_ATTRIBUTES[name][2]
    if driver_version < required:
        raise RuntimeError(f"{label} needs a driver of CUDA {readable_version(required)} or newer; "
                           f"this driver supports CUDA {readable_version(driver_version)}")


cdef object row_for(str name, int owner, str owners):
    """Return the row of an attribute of `owner`, or raise TypeError with the owner's attributes."""
    row = LAUNCH_ATTRIBUTES.get(name)
    if row is None or not row[3] & owner:
        names = [each for each, row in LAUNCH_ATTRIBUTES.items() if row[3] & owner]
        raise TypeError(f"{owners} have no attribute {name!r}; they have {', '.join(names)}")
    return row


cdef CUresult get_attribute(int owner, void* raw, int number,
                            CUlaunchAttributeValue* value) noexcept:
    memset(value, 0, sizeof(CUlaunchAttributeValue))
    if owner == OF_STREAMS:
        return try_call(driver.cuStreamGetAttribute, <CUstream>raw, <CUlaunchAttributeID>number,
                        value)
    return try_call(driver.cuGraphKernelNodeGetAttribute, <CUgraphNode>raw,
                    <CUlaunchAttributeID>number, value)


cdef dict read_attributes(int owner, void* raw, bint is_whole):
    """Query the attributes of a node or a stream; omit unset ones unless `is_whole`."""
    cdef CUlaunchAttributeValue value
    attributes = {}
    for name, row in LAUNCH_ATTRIBUTES.items():
        if row[3] & owner and get_attribute(owner, raw, row[0], &value) == CUDA_SUCCESS:
            if is_whole or not (<_Kind>row[1]).is_unset(&value):
                attributes[name] = (<_Kind>row[1]).read(&value)
    return attributes


cdef int set_attributes_of_stream(Stream self, dict values) except -1:
    """Check all values, then set them."""
    cdef CUlaunchAttribute[most_attributes] attributes
    cdef unsigned count = 0
    cdef borrowed_stream stream
    for name, value in values.items():
        row = row_for(name, OF_STREAMS, "streams")
        memset(&attributes[count], 0, sizeof(CUlaunchAttribute))
        attributes[count].id = <CUlaunchAttributeID><int>row[0]
        (<_Kind>row[1]).fill(f"Stream attribute {name!r}", value, &attributes[count].value)
        count += 1
    stream = self.native.borrow_open(self)
    for name in values:
        require_driver_support(f"attribute {name!r}", name, driver_version())
    for index in range(count):
        call(driver.cuStreamSetAttribute, stream.raw(), attributes[index].id,
             &attributes[index].value)
    invalidate_priority(stream)

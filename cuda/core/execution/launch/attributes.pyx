# SPDX-License-Identifier: Apache-2.0
# The attributes of launches, kernel nodes and streams: one table for all three.

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

# Whose attribute it is.
cdef enum:
    OF_LAUNCHES = 1
    OF_NODES = 2
    OF_STREAMS = 4

# name: (number, kind of value, CUDA version of the first driver that knows it, whose it is, what it
# is). The first three are fields of LaunchConfig of their own. CU_LAUNCH_ATTRIBUTE_IGNORE, which
# asks for nothing, has no name.
cdef dict LAUNCH_ATTRIBUTES = {
    "cluster": (
        CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, _Extents(), 11080, OF_LAUNCHES | OF_NODES,
        "Blocks of a cluster in x, y, z."),
    "is_cooperative": (
        CU_LAUNCH_ATTRIBUTE_COOPERATIVE, _Flag(), 11080, OF_LAUNCHES | OF_NODES,
        "Whether all blocks run at once, so that they can wait for each other."),
    "programmatic_stream_serialization": (
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, _Flag(), 11080, OF_LAUNCHES,
        "Whether the kernel may start before the one before it has ended."),
    "access_policy_window": (
        CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, _Window(), 11080,
        OF_LAUNCHES | OF_NODES | OF_STREAMS,
        "An `AccessPolicyWindow`: memory that is to stay in the L2 cache, or to pass through it."),
    "synchronization_policy": (
        CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
        _Choice("auto", "spin", "yield", "blocking_sync", first=1), 11080, OF_STREAMS,
        "How a thread waits for the stream."),
    "cluster_scheduling_policy_preference": (
        CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        _Choice("default", "spread", "load_balancing", "rubin_dsmem_locality"), 11080,
        OF_LAUNCHES | OF_NODES,
        "How the blocks of a cluster are spread over the multiprocessors."),
    "programmatic_event": (
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, _Record(True), 11080, OF_LAUNCHES,
        "An `Event` that is recorded when every block has triggered it, or has ended; with the "
        "pair ``(event, True)`` each block triggers it as it starts."),
    "priority": (
        CU_LAUNCH_ATTRIBUTE_PRIORITY, _Number(-0x80000000, 0x7FFFFFFF), 11080,
        OF_LAUNCHES | OF_NODES | OF_STREAMS,
        "How urgent the work is, lower is more urgent; that of the stream unless it is given."),
    "mem_sync_domain_map": (
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, _Domains(), 12000,
        OF_LAUNCHES | OF_NODES | OF_STREAMS,
        "The numbers of the default and the remote memory synchronization domain, a pair."),
    "mem_sync_domain": (
        CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, _Choice("default", "remote"), 12000,
        OF_LAUNCHES | OF_NODES | OF_STREAMS,
        "The domain in which memory barriers of the kernel order memory operations."),
    "preferred_cluster_dimension": (
        CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, _Extents(), 12080, OF_LAUNCHES | OF_NODES,
        "Blocks of the clusters that are made where there is room: a multiple of `cluster`."),
    "launch_completion_event": (
        CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, _Record(False), 12030, OF_LAUNCHES,
        "An `Event` that is recorded once every block has begun."),
    "device_updatable_kernel_node": (
        CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, _Flag(), 12040, OF_LAUNCHES | OF_NODES,
        "Whether kernels may change the node of the graph; for captured launches and nodes only."),
    "preferred_shared_memory_carveout": (
        CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, _Number(-1, 100), 12050,
        OF_LAUNCHES | OF_NODES,
        "Preferred share of the L1 cache used as shared memory, in percent; -1 where the driver "
        "takes it."),
    "nvlink_util_centric_scheduling": (
        CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING, _Flag(), 13000,
        OF_LAUNCHES | OF_NODES | OF_STREAMS,
        "Whether blocks are to be placed so that NVLink is used best."),
    "portable_cluster_size_mode": (
        CU_LAUNCH_ATTRIBUTE_PORTABLE_CLUSTER_SIZE_MODE,
        _Choice("default", "require_portable", "allow_non_portable"), 13020,
        OF_LAUNCHES | OF_NODES,
        "Whether clusters may be larger than every device of the architecture takes."),
    "shared_memory_mode": (
        CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE,
        _Choice("default", "require_portable", "allow_non_portable",
                "allow_oversized_shared_memory", "prefer_oversized_shared_memory"), 13020,
        OF_LAUNCHES | OF_NODES,
        "How much dynamic shared memory the launch may ask for."),
}

cdef dict FURTHER_ATTRIBUTES = {
    name: row for name, row in list(LAUNCH_ATTRIBUTES.items())[3:] if row[3] & OF_LAUNCHES}


@cython.final
cdef class _FurtherAttributes:
    """What a LaunchConfig has beyond its own fields; never changed."""


cdef _Kind attribute_kind(str name):
    return <_Kind>LAUNCH_ATTRIBUTES[name][1]


cdef _FurtherAttributes make_further(dict given):
    """None for none. Values of None are left out."""
    cdef _FurtherAttributes made = _FurtherAttributes.__new__(_FurtherAttributes)
    cdef CUlaunchAttribute* out
    made.values = {}
    for name, row in FURTHER_ATTRIBUTES.items():
        value = given.get(name)
        if value is None:
            continue
        out = &made.fields.values[made.fields.count]
        memset(out, 0, sizeof(CUlaunchAttribute))
        out.id = <CUlaunchAttributeID><int>row[0]
        made.values[name] = (<_Kind>row[1]).fill(f"LaunchConfig.{name}", value, &out.value)
        made.fields.count += 1
        made.fields.driver_version = max(made.fields.driver_version, <int>row[2])
    return made if made.values else None


cdef str readable_version(int version):
    return f"{version // 1000}.{version % 1000 // 10}"


cdef void raise_too_old_for_launch(object further, int there) except *:
    for name in (<_FurtherAttributes>further).values:
        raise_if_too_old(f"LaunchConfig.{name}", name, there)


cdef int raise_if_too_old(str what, str name, int there) except -1:
    needed = LAUNCH_ATTRIBUTES[name][2]
    if there < needed:
        raise RuntimeError(f"{what} needs a driver of CUDA {readable_version(needed)} or newer; "
                           f"this one is of CUDA {readable_version(there)}")
    return 0


cdef object row_for(str name, int owner, str owners):
    """The row of an attribute that `owner` has, or TypeError that says whose it is."""
    row = LAUNCH_ATTRIBUTES.get(name)
    if row is None or not row[3] & owner:
        known = [each for each, row in LAUNCH_ATTRIBUTES.items() if row[3] & owner]
        raise TypeError(f"{owners} have no attribute {name!r}; they have {', '.join(known)}")
    return row


cdef object get_further(PyObject* owner, void* closure):
    cdef LaunchConfig self = <LaunchConfig>owner
    return None if self.further is None else self.further.values.get(<object>closure)


cdef int set_further_attribute(PyObject* owner, PyObject* value, void* closure) except -1:
    cdef LaunchConfig self = <LaunchConfig>owner
    given = {} if self.further is None else self.further.values
    hold_further(self, make_further({**given, <object>closure: <object>value}))
    return 0


cdef int hold_further(LaunchConfig self, _FurtherAttributes made) except -1:
    cdef _FurtherAttributes _before = self.further  # goes last: that may run code of Python
    self.further = made
    self.fields.further = NULL
    if made is not None:
        self.fields.further = <PyObject*>made
    self.fields.is_plain = self.fields.is_valid and made is None
    return 0


cdef int set_further(object config, object values) except -1:
    return hold_further(<LaunchConfig>config, make_further(values))


cdef CUresult get_attribute(int owner, void* raw, int number,
                            CUlaunchAttributeValue* value) noexcept:
    memset(value, 0, sizeof(CUlaunchAttributeValue))
    if owner == OF_STREAMS:
        return try_call(driver.cuStreamGetAttribute, <CUstream>raw, <CUlaunchAttributeID>number,
                        value)
    return try_call(driver.cuGraphKernelNodeGetAttribute, <CUgraphNode>raw,
                    <CUlaunchAttributeID>number, value)


cdef dict read_attributes(int owner, void* raw, bint is_whole):
    """What the driver says of a node or a stream; of a part, only what somebody asked for."""
    cdef CUlaunchAttributeValue value
    found = {}
    for name, row in LAUNCH_ATTRIBUTES.items():
        if row[3] & owner and get_attribute(owner, raw, row[0], &value) == CUDA_SUCCESS:
            if is_whole or not (<_Kind>row[1]).is_unset(&value):
                found[name] = (<_Kind>row[1]).read(&value)
    return found


cdef int set_attributes_of_stream(Stream self, dict given) except -1:
    """All values are checked before the first is set."""
    cdef CUlaunchAttribute[most_attributes] all
    cdef unsigned count = 0
    cdef borrowed_stream stream
    for name, value in given.items():
        row = row_for(name, OF_STREAMS, "streams")
        memset(&all[count], 0, sizeof(CUlaunchAttribute))
        all[count].id = <CUlaunchAttributeID><int>row[0]
        (<_Kind>row[1]).fill(f"Stream attribute {name!r}", value, &all[count].value)
        count += 1
    stream = self.native.borrow_open(self)
    check_driver_knows_all(given)
    for place in range(count):
        call(driver.cuStreamSetAttribute, stream.raw(), all[place].id, &all[place].value)
    invalidate_priority(stream)
    return 0


cdef int check_driver_knows_all(dict given) except -1:
    cdef int there = 0
    call(driver.cuDriverGetVersion, &there)
    for name in given:
        raise_if_too_old(f"attribute {name!r}", name, there)
    return 0


cdef PyGetSetDef[16] further_getters


cdef int install_further_attributes() except -1:
    """Give LaunchConfig one descriptor per attribute, with a docstring."""
    cls = <PyTypeObject*>LaunchConfig
    names = <dict>(<mutable_type*>cls).tp_dict
    for place, (name, row) in enumerate(FURTHER_ATTRIBUTES.items()):
        encoded, doc = name.encode(), f"{row[4]} None: not asked for. Host only.".encode()
        FURTHER_TEXTS.extend((name, encoded, doc))  # the descriptors point into them
        further_getters[place].name = encoded
        further_getters[place].get = get_further
        further_getters[place].set = set_further_attribute
        further_getters[place].doc = doc
        further_getters[place].closure = <void*><PyObject*>name
        names[name] = PyDescr_NewGetSet(cls, &further_getters[place])
    PyType_Modified(cls)
    return 0


cdef list FURTHER_TEXTS = []

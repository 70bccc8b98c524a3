# SPDX-License-Identifier: Apache-2.0
# Options of VirtualMemoryResource, and the driver's properties of its memory.

cdef extern from "sys/syscall.h" nogil:
    long SYS_getcpu

cdef extern from "unistd.h" nogil:
    long system_call "syscall"(long number, unsigned* processor, unsigned* node, void* unused)


cdef bint is_shareable(VirtualMemoryResource self) except -1:
    options = self.options
    return (sys.platform == "linux" and options is not None
            and options.handle_type == "posix_fd" and options.location_type != "host")


cdef int set_up_resource(VirtualMemoryResource self, Device device, object options) except -1:
    self.is_on_device = options.location_type == "device"
    self.device_ordinal = device.ordinal
    has = device.properties
    if not has.virtual_memory_management_supported:
        raise RuntimeError("VirtualMemoryResource requires CUDA VMM API support, which device "
                           f"{device.ordinal} lacks")
    if options.gpu_direct_rdma and not has.gpu_direct_rdma_with_cuda_vmm_supported:
        raise RuntimeError("GPU Direct RDMA is not supported on this device: create the "
                           "resource with gpu_direct_rdma=False")
    self.options = options
    self.allocations = {}
    self.unreleased = []
    if is_shareable(self):
        sharing_module().enable_virtual_transfer()


cdef object options_from_config(object config):
    cls = public_object("VirtualMemoryResourceOptions")
    options = as_options(config, cls, "VirtualMemoryResource options")
    options = cls() if options is None else options
    check_virtual_options(options)
    return options


cdef CUmemAllocationProp virtual_properties(VirtualMemoryResource self) except *:
    check_virtual_options(self.options)  # the options object is mutable
    kind = self.options.location_type
    if (kind == "device") != self.is_on_device:
        raise ValueError(f"location_type={shown(kind)}: a resource cannot change between device "
                         "and host memory; create another resource")
    cdef int location_id = self.device_ordinal if self.is_on_device else 0
    if kind == "host_numa":
        location_id = Device(self.device_ordinal).properties.host_numa_id
        if location_id < 0:
            raise RuntimeError("Cannot determine host NUMA ID: use location_type='host'")
    elif kind == "host_numa_current":
        location_id = numa_node_of_this_thread()
    return properties_for(self.options, location_id)


cdef int numa_node_of_this_thread() except -1:
    """Return the NUMA node by a system call: getcpu() is missing in older supported C libraries."""
    cdef unsigned node
    if system_call(SYS_getcpu, NULL, &node, NULL) != 0:
        PyErr_SetFromErrno(OSError)
    return <int>node

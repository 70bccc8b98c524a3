# SPDX-License-Identifier: Apache-2.0
# Access of peer devices to a memory pool.


def _peers_of(_MemPool resource):
    """Return the ordinals of the peer devices with access. Host only."""
    cdef int count
    checked(cydriver.cuDeviceGetCount(&count), "cuDeviceGetCount")
    return [i for i in range(count) if i != resource.device and has_pool_access(resource, i)]


def _set_peers(_MemPool resource, list removed, list added):
    """Revoke access from some devices and grant it to others in one driver call. Host only."""
    cdef vector[CUmemAccessDesc] descriptions
    cdef CUmemAccessDesc description
    memset(&description, 0, sizeof(description))
    description.location.type = CU_MEM_LOCATION_TYPE_DEVICE
    for ordinals, flags in ((removed, <int>CU_MEM_ACCESS_FLAGS_PROT_NONE),
                            (added, <int>CU_MEM_ACCESS_FLAGS_PROT_READWRITE)):
        for ordinal in ordinals:
            description.location.id = ordinal
            description.flags = <cydriver.CUmemAccess_flags><int>flags
            descriptions.push_back(description)
    set_access_of_pool(resource, descriptions.data(), descriptions.size())

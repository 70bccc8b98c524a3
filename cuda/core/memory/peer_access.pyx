# SPDX-License-Identifier: Apache-2.0
# Which devices may use the memory of a pool of another.


def _peers_of(_MemPool resource):
    """The ordinals of the devices with access, without the owner. Host only."""
    cdef int count = 0
    checked(cydriver.cuDeviceGetCount(&count), "cuDeviceGetCount")
    return [i for i in range(count) if i != resource.device and may_use_pool(resource, i)]


def _set_peers(_MemPool resource, list removed, list added):
    """Take access from some devices and give it to others, in one driver call. Host only."""
    cdef vector[CUmemAccessDesc] who
    cdef CUmemAccessDesc one
    memset(&one, 0, sizeof(one))
    one.location.type = CU_MEM_LOCATION_TYPE_DEVICE
    for ordinals, flags in ((removed, <int>CU_MEM_ACCESS_FLAGS_PROT_NONE),
                            (added, <int>CU_MEM_ACCESS_FLAGS_PROT_READWRITE)):
        for ordinal in ordinals:
            one.location.id = ordinal
            one.flags = <cydriver.CUmemAccess_flags><int>flags
            who.push_back(one)
    let_use_pool(resource, who.data(), who.size())

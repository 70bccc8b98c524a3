# SPDX-License-Identifier: Apache-2.0
# The limit of the device that a refused launch exceeded. The driver reports the status only.

from cuda.bindings.cydriver cimport (
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
)

# Errors of a launch that exceeds a limit, by their number in CUresult: invalid value, out of
# resources, invalid cluster size.
cdef frozenset LIMIT_ERRORS = frozenset((1, 701, 912))


cdef int explain_limits(object error, const CUlaunchConfig* config, CUkernel kernel,
                        CUdevice device) except -1:
    if device < 0 or error.code not in LIMIT_ERRORS:
        return 0
    grid = config.gridDimX, config.gridDimY, config.gridDimZ
    block = config.blockDimX, config.blockDimY, config.blockDimZ
    explanation = (
        exceeded_extent("grid", grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, device)
        or exceeded_extent("block", block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, device)
        or exceeded_threads(block, kernel, device) or exceeded_cluster(config, kernel, device))
    if explanation:
        explain_error(error, explanation)


cdef str exceeded_extent(str field, tuple extents, int first_attribute, CUdevice device):
    for axis, extent in enumerate(extents):
        limit = device_limit(first_attribute + <int>axis, device)
        if 0 <= limit < extent:
            return (f"{field} {extents} exceeds a limit of device {device}: at most {limit} in "
                    f"{'xyz'[axis]}")
    return None


cdef str exceeded_threads(tuple block, CUkernel kernel, CUdevice device):
    cdef int limit = device_limit(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device)
    threads = block[0] * block[1] * block[2]
    if 0 <= limit < threads:
        return (f"block {block} has {threads} threads, but a block of device {device} has at most "
                f"{limit}")
    limit = kernel_limit(<CUfunction_attribute>CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel,
                         device)
    if 0 <= limit < threads:
        return (f"block {block} has {threads} threads, but this kernel supports at most {limit} "
                "because of its registers or __launch_bounds__; use a smaller block")
    return None


cdef str exceeded_cluster(const CUlaunchConfig* config, CUkernel kernel, CUdevice device):
    cdef int limit
    cdef CUlaunchConfig plain = config[0]
    for i in range(config.numAttrs):
        if config.attrs[i].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            continue
        cluster = (config.attrs[i].value.clusterDim.x, config.attrs[i].value.clusterDim.y,
                   config.attrs[i].value.clusterDim.z)
        blocks = cluster[0] * cluster[1] * cluster[2]
        plain.numAttrs = 0
        if try_call(driver.cuOccupancyMaxPotentialClusterSize, &limit, <CUfunction>kernel,
                    &plain) == CUDA_SUCCESS and limit < blocks:
            return (f"cluster {cluster} has {blocks} blocks, which is too large: device {device} "
                    f"supports at most {limit} for this kernel, and more on some devices with "
                    "kernel.attributes.non_portable_cluster_size_allowed = True")
    return None


cdef int device_limit(int attribute, CUdevice device):
    """Return an attribute of the device; -1 if the driver does not report it."""
    cdef int value = -1
    try_call(driver.cuDeviceGetAttribute, &value, <CUdevice_attribute>attribute, device)
    return value


cdef int kernel_limit(CUfunction_attribute attribute, CUkernel kernel, CUdevice device):
    cdef int value = -1
    try_call(driver.cuKernelGetAttribute, &value, attribute, kernel, device)
    return value

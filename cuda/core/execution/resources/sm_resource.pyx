# SPDX-License-Identifier: Apache-2.0
# SMResource: multiprocessors and their partition into groups.


ctypedef cydriver.CU_DEV_SM_RESOURCE_GROUP_PARAMS group_parameters


@cython.final
cdef class SMResource:
    """Multiprocessors of a device, for the creation of a green context.

    `DeviceResources.sm` and `split` return these objects. An object only describes
    multiprocessors; it reserves none until a context is created.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("SMResource cannot be instantiated directly. Please use "
                           "Device.resources.sm or SMResource.split().")

    @property
    def handle(self):
        """Address of the ``CUdevResource``, valid while the object is alive. Host only."""
        return <uintptr_t>&self.resource

    @property
    def sm_count(self):
        """Number of multiprocessors. Host only."""
        return self.resource.sm.smCount

    @property
    def min_partition_size(self):
        """Minimum number of multiprocessors in a group. Host only."""
        return self.resource.sm.minSmPartitionSize or self.fallback_minimum

    @property
    def coscheduled_alignment(self):
        """Number of multiprocessors that the size of a group must be a multiple of. Host only."""
        return self.resource.sm.smCoscheduledAlignment or self.fallback_alignment

    @property
    def flags(self):
        """Driver flags of these multiprocessors. Host only."""
        return self.resource.sm.flags

    def split(self, options, *, dry_run=False):
        """Divide the multiprocessors into disjoint groups.

        Host only.

        Parameters
        ----------
        options : SMResourceOptions or dict
            Options with a count for each group.
        dry_run : bool
            Whether to only compute the sizes of the groups. No context can be created from such
            groups.

        Returns
        -------
        (list of SMResource, SMResource)
            The groups, and the remaining multiprocessors, possibly none.

        Raises
        ------
        ValueError
            If the fields of the options are inconsistent.
        RuntimeError
            If the driver does not support the options.
        CUDAError
            If there are too few multiprocessors, or a size violates the alignment.

        See Also
        --------
        cuDevSmResourceSplit, cuDevSmResourceSplitByCount : the driver functions.
        """
        records = import_module("cuda.core.execution.resources.options")
        options = as_options(options, records.SMResourceOptions, "SM resource options")
        if options is None:
            raise TypeError("SMResource.split() needs options: an SMResourceOptions, or a dict of "
                            "its keywords")
        groups = records.requested_groups(options)
        require_driver(GREEN_CONTEXTS, "SMResource.split()")
        records.require_counts(groups)
        if self.is_dry:
            raise ValueError("a dry-run SMResource has counts only: split without dry_run first")
        cdef bint is_dry = dry_run
        if driver_has(STRUCTURED_SPLIT):
            with cython.critical_section(self):
                return split_in_structure(self, groups, is_dry)
        cdef unsigned size = records.equal_count(groups)
        with cython.critical_section(self):
            return split_by_count(self, size, <unsigned>len(groups), is_dry)

    def __repr__(self):
        return (f"<SMResource sm_count={self.sm_count} "
                f"min_partition_size={self.min_partition_size} "
                f"coscheduled_alignment={self.coscheduled_alignment}"
                f"{' dry_run' if self.is_dry else ''}>")


cdef SMResource create_part(SMResource whole, const CUdevResource& resource, bint is_dry):
    """Create a result of a split; fields that the driver does not set are copied from `whole`."""
    cdef SMResource part = SMResource.__new__(SMResource)
    part.resource = resource
    part.is_dry = is_dry
    part.fallback_minimum = whole.resource.sm.minSmPartitionSize or whole.fallback_minimum
    part.fallback_alignment = whole.resource.sm.smCoscheduledAlignment or whole.fallback_alignment
    return part


cdef SMResource create_counted_part(SMResource whole, unsigned count):
    """Create a result of a dry run, which has a count only."""
    cdef CUdevResource resource = whole.resource
    resource.sm.smCount = count
    return create_part(whole, resource, True)


cdef tuple split_in_structure(SMResource whole, list groups, bint is_dry):
    cdef unsigned count = <unsigned>len(groups)
    cdef unsigned i, unused
    cdef CUdevResource remaining = whole.resource
    cdef CUdevResource* native_parts = <CUdevResource*>calloc(count, sizeof(CUdevResource))
    cdef CUdevResource* results = NULL  # a dry run passes NULL for both
    cdef CUdevResource* remainder = NULL
    cdef group_parameters* params = <group_parameters*>calloc(count, sizeof(group_parameters))
    try:
        if native_parts is NULL or params is NULL:
            raise MemoryError
        if not is_dry:
            results, remainder = native_parts, &remaining
        for i in range(count):
            params[i].smCount, params[i].coscheduledSmCount = groups[i][0], groups[i][1]
            params[i].preferredCoscheduledSmCount, params[i].flags = groups[i][2], groups[i][3]
        check(cydriver.cuDevSmResourceSplit(results, count, &whole.resource, remainder, 0, params),
              "cuDevSmResourceSplit")
        if not is_dry:
            parts = [create_part(whole, native_parts[i], False) for i in range(count)]
            return parts, create_remainder(whole, remaining)
        unused = whole.resource.sm.smCount
        parts = []
        for i in range(count):
            parts.append(create_counted_part(whole, params[i].smCount))
            unused -= params[i].smCount
        return parts, create_counted_part(whole, unused)
    finally:
        free(native_parts)
        free(params)


cdef tuple split_by_count(SMResource whole, unsigned size, unsigned count, bint is_dry):
    """Split into groups of one size, for drivers before CUDA 13.1."""
    cdef unsigned i, fitting = count
    cdef CUdevResource remaining = whole.resource
    cdef CUdevResource* native_parts = <CUdevResource*>calloc(count, sizeof(CUdevResource))
    try:
        if native_parts is NULL:
            raise MemoryError
        check(cydriver.cuDevSmResourceSplitByCount(native_parts, &fitting, &whole.resource,
                                                   &remaining, 0, size),
              "cuDevSmResourceSplitByCount")
        if fitting < count:
            raise ValueError(f"cannot split {whole.resource.sm.smCount} multiprocessors into "
                             f"{count} groups of at least {size}: only {fitting} groups fit")
        parts = [create_part(whole, native_parts[i], is_dry) for i in range(count)]
        remainder = create_remainder(whole, remaining)
        (<SMResource>remainder).is_dry = is_dry
        return parts, remainder
    finally:
        free(native_parts)


cdef SMResource create_remainder(SMResource whole, const CUdevResource& remaining):
    """Return the remainder; the driver returns no resource if nothing remains."""
    if remaining.type == cydriver.CU_DEV_RESOURCE_TYPE_SM:
        return create_part(whole, remaining, False)
    return create_counted_part(whole, 0)

# SPDX-License-Identifier: Apache-2.0
# SMResource: multiprocessors, and how they are divided.


ctypedef cydriver.CU_DEV_SM_RESOURCE_GROUP_PARAMS group_parameters


@cython.final
cdef class SMResource:
    """Multiprocessors of a device, which a green context can be made of.

    It comes from `DeviceResources.sm`, or from `split`. It is a description: nothing is taken from
    anybody until a context is made.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("SMResource cannot be instantiated directly. Please use "
                           "Device.resources.sm or SMResource.split().")

    @property
    def handle(self):
        """The address of the ``CUdevResource``, valid while the object lives. Host only."""
        return <uintptr_t>&self.resource

    @property
    def sm_count(self):
        """How many multiprocessors there are. Host only."""
        return self.resource.sm.smCount

    @property
    def min_partition_size(self):
        """The fewest multiprocessors that a group may have. Host only."""
        return self.resource.sm.minSmPartitionSize or self.least

    @property
    def coscheduled_alignment(self):
        """What the size of a group is a multiple of. Host only."""
        return self.resource.sm.smCoscheduledAlignment or self.together

    @property
    def flags(self):
        """The flags of the driver for these multiprocessors. Host only."""
        return self.resource.sm.flags

    def split(self, options, *, dry_run=False):
        """Divide the multiprocessors into groups that share none.

        Host only.

        Parameters
        ----------
        options : SMResourceOptions or dict
            One group for each of its counts.
        dry_run : bool
            Only find out how large the groups would be: no context can be made of them.

        Returns
        -------
        (list of SMResource, SMResource)
            The groups, and what is left, perhaps nothing.

        Raises
        ------
        ValueError
            If the fields of the options do not go together.
        RuntimeError
            If the driver is too old for what is asked.
        CUDAError
            If there are not that many multiprocessors, or a size does not fit their alignment.

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


cdef SMResource part_of(SMResource whole, const CUdevResource& resource, bint is_dry):
    """A result of a split; what the driver leaves open in it is as in the whole."""
    cdef SMResource made = SMResource.__new__(SMResource)
    made.resource = resource
    made.is_dry = is_dry
    made.least = whole.resource.sm.minSmPartitionSize or whole.least
    made.together = whole.resource.sm.smCoscheduledAlignment or whole.together
    return made


cdef SMResource counted_part(SMResource whole, unsigned count):
    """A result that has only its count."""
    cdef CUdevResource resource = whole.resource
    resource.sm.smCount = count
    return part_of(whole, resource, True)


cdef tuple split_in_structure(SMResource whole, list groups, bint is_dry):
    cdef unsigned count = <unsigned>len(groups)
    cdef unsigned i, left
    cdef CUdevResource rest = whole.resource
    cdef CUdevResource* made = <CUdevResource*>calloc(count, sizeof(CUdevResource))
    cdef CUdevResource* results = NULL  # both are left so where only counts are asked for
    cdef CUdevResource* remainder = NULL
    cdef group_parameters* wanted = <group_parameters*>calloc(count, sizeof(group_parameters))
    try:
        if made is NULL or wanted is NULL:
            raise MemoryError
        if not is_dry:
            results, remainder = made, &rest
        for i in range(count):
            wanted[i].smCount, wanted[i].coscheduledSmCount = groups[i][0], groups[i][1]
            wanted[i].preferredCoscheduledSmCount, wanted[i].flags = groups[i][2], groups[i][3]
        check(cydriver.cuDevSmResourceSplit(results, count, &whole.resource, remainder, 0, wanted),
              "cuDevSmResourceSplit")
        if not is_dry:
            return [part_of(whole, made[i], False) for i in range(count)], rest_of(whole, rest)
        left = whole.resource.sm.smCount
        parts = []
        for i in range(count):
            parts.append(counted_part(whole, wanted[i].smCount))
            left -= wanted[i].smCount
        return parts, counted_part(whole, left)
    finally:
        free(made)
        free(wanted)


cdef tuple split_by_count(SMResource whole, unsigned size, unsigned count, bint is_dry):
    """What drivers before 13.1 have: groups of one size."""
    cdef unsigned i, got = count
    cdef CUdevResource rest = whole.resource
    cdef CUdevResource* made = <CUdevResource*>calloc(count, sizeof(CUdevResource))
    try:
        if made is NULL:
            raise MemoryError
        check(cydriver.cuDevSmResourceSplitByCount(made, &got, &whole.resource, &rest, 0, size),
              "cuDevSmResourceSplitByCount")
        if got < count:
            raise ValueError(f"{count} groups of at least {size} multiprocessors were asked for, "
                             f"and {whole.resource.sm.smCount} give {got}")
        parts = [part_of(whole, made[i], is_dry) for i in range(count)]
        remainder = rest_of(whole, rest)
        (<SMResource>remainder).is_dry = is_dry
        return parts, remainder
    finally:
        free(made)


cdef SMResource rest_of(SMResource whole, const CUdevResource& rest):
    """The remainder; where nothing is left the driver gives no resource at all."""
    if rest.type == cydriver.CU_DEV_RESOURCE_TYPE_SM:
        return part_of(whole, rest, False)
    return counted_part(whole, 0)

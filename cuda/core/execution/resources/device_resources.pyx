# SPDX-License-Identifier: Apache-2.0
# DeviceResources: what a device, or a context, has.


@cython.final
cdef class DeviceResources:
    """What there is of a device to work with: multiprocessors and workqueues.

    It comes from `Device.resources` (the whole device), `Context.resources` and `Stream.resources`
    (what that context was given). Each access asks the driver anew. It keeps its context alive.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("DeviceResources cannot be instantiated directly. Please use "
                           "Device.resources, Context.resources or Stream.resources.")

    @property
    def sm(self):
        """The multiprocessors, as `SMResource`. Host only.

        Raises
        ------
        RuntimeError
            If the driver is older than CUDA 12.4.

        See Also
        --------
        cuDeviceGetDevResource, cuGreenCtxGetDevResource : the driver functions.
        """
        require_driver(GREEN_CONTEXTS, "to ask for the multiprocessors of a device or a context")
        cdef SMResource made = SMResource.__new__(SMResource)
        read_resource(self.device, self.context, &made.resource, cydriver.CU_DEV_RESOURCE_TYPE_SM)
        if made.resource.sm.minSmPartitionSize == 0:  # a driver before CUDA 13.0 does not say
            made.least = made.together = usual_unit(self.device)
        return made

    @property
    def workqueue(self):
        """How work is queued, as `WorkqueueResource`. Host only.

        Raises
        ------
        RuntimeError
            If the driver is older than CUDA 13.1.

        See Also
        --------
        cuDeviceGetDevResource, cuGreenCtxGetDevResource : the driver functions.
        """
        require_driver(STRUCTURED_SPLIT, "to ask for the workqueue of a device or a context")
        cdef WorkqueueResource made = WorkqueueResource.__new__(WorkqueueResource)
        read_resource(self.device, self.context, &made.config,
                      cydriver.CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG)
        read_resource(self.device, self.context, &made.queue,
                      cydriver.CU_DEV_RESOURCE_TYPE_WORKQUEUE)
        return made

    def __repr__(self):
        of = f"device {self.device}" if self.context is None else repr(self.context)
        return f"<DeviceResources of {of}>"


cdef unsigned usual_unit(int device) except? 0:
    """Of how many multiprocessors a group is a multiple."""
    cdef int major = 0
    check(cydriver.cuDeviceGetAttribute(
        &major, cydriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
        "cuDeviceGetAttribute")
    return 8 if major >= 9 else 2


def resources_of_device(int ordinal):
    """What the whole device has. Host only."""
    cdef DeviceResources made = DeviceResources.__new__(DeviceResources)
    made.device = ordinal
    return made


def resources_of_context(Context context not None):
    """What a context was given; the object is kept. Host only."""
    cdef DeviceResources made = DeviceResources.__new__(DeviceResources)
    made.device = context.device
    made.context = context
    return made

# SPDX-License-Identifier: Apache-2.0
# DeviceResources: the resources of a device or a context.


@cython.final
cdef class DeviceResources:
    """Resources of a device or a context: multiprocessors and workqueues.

    `Device.resources` describes the whole device; `Context.resources` and `Stream.resources`
    describe the part of a context, which stays alive. Each property queries the driver.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("DeviceResources cannot be instantiated directly. Please use "
                           "Device.resources, Context.resources or Stream.resources.")

    @property
    def sm(self):
        """Multiprocessors, as `SMResource`. Host only.

        Raises
        ------
        RuntimeError
            If the driver is older than CUDA 12.4.

        See Also
        --------
        cuDeviceGetDevResource, cuGreenCtxGetDevResource : the driver functions.
        """
        require_driver(GREEN_CONTEXTS, "querying the multiprocessors of a device or a context")
        cdef SMResource sms = SMResource.__new__(SMResource)
        read_resource(self.device, self.context, &sms.resource, cydriver.CU_DEV_RESOURCE_TYPE_SM)
        if sms.resource.sm.minSmPartitionSize == 0:  # unset by drivers before CUDA 13.0
            sms.fallback_minimum = sms.fallback_alignment = default_alignment(self.device)
        return sms

    @property
    def workqueue(self):
        """Workqueue configuration, as `WorkqueueResource`. Host only.

        Raises
        ------
        RuntimeError
            If the driver is older than CUDA 13.1.

        See Also
        --------
        cuDeviceGetDevResource, cuGreenCtxGetDevResource : the driver functions.
        """
        require_driver(STRUCTURED_SPLIT, "querying the workqueue of a device or a context")
        cdef WorkqueueResource queues = WorkqueueResource.__new__(WorkqueueResource)
        read_resource(self.device, self.context, &queues.config,
                      cydriver.CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG)
        read_resource(self.device, self.context, &queues.queue,
                      cydriver.CU_DEV_RESOURCE_TYPE_WORKQUEUE)
        return queues

    def __repr__(self):
        owner = f"device {self.device}" if self.context is None else repr(self.context)
        return f"<DeviceResources of {owner}>"


cdef unsigned default_alignment(int device) except? 0:
    """Return the number of multiprocessors that the size of a group is a multiple of."""
    cdef int major
    check(cydriver.cuDeviceGetAttribute(
        &major, cydriver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
        "cuDeviceGetAttribute")
    return 8 if major >= 9 else 2


def resources_of_device(int ordinal):
    """Return the resources of a whole device. Host only."""
    cdef DeviceResources resources = DeviceResources.__new__(DeviceResources)
    resources.device = ordinal
    return resources


def resources_of_context(Context context not None):
    """Return the resources of a context, which stays alive. Host only."""
    cdef DeviceResources resources = DeviceResources.__new__(DeviceResources)
    resources.device = context.device
    resources.context = context
    return resources

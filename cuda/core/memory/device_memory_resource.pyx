# SPDX-License-Identifier: Apache-2.0
# DeviceMemoryResource: device memory from a memory pool of the driver.


cdef class DeviceMemoryResource(_ShareablePool):
    """DeviceMemoryResource(device_id, options=None)\n--\n
    Stream-ordered device memory from a memory pool of the driver.

    Without options, the resource uses the current pool of the device and never destroys it. With
    options, it creates a pool, which is destroyed with the resource and its last buffer.

    Parameters
    ----------
    device_id : Device or int
        The device.
    options : DeviceMemoryResourceOptions or dict, optional
        Options of a new pool, which even an empty dict creates; None for the current pool.

    Raises
    ------
    RuntimeError
        If the device does not support memory pools; `Device.memory_resource` then works.

    See Also
    --------
    cuMemPoolCreate, cuDeviceGetMemPool : the driver functions.
    """

    def __init__(self, device_id, options=None):
        cdef Device device = Device(device_id)
        options = as_options(options, public_object("DeviceMemoryResourceOptions"),
                             "DeviceMemoryResource options")
        if not device.properties.memory_pools_supported:
            raise RuntimeError(f"device {device.device_id} has no memory pools; use "
                               "Device.memory_resource, which works without them")
        cdef size_t max_size = max_size_of(options)
        if options is None:
            self.device = device.device_id
            self.pool = current_pool(self.device)
        else:
            open_pool(self, CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE,
                      device.device_id, True, max_size, options.ipc_enabled)

    @classmethod
    def from_allocation_handle(cls, device_id, alloc_handle):
        """Import a pool of another process.

        Host only.

        Parameters
        ----------
        device_id : Device or int
            The device of the pool.
        alloc_handle : IPCAllocationHandle or int
            The `allocation_handle` that the other process exported, or its file descriptor, which
            the caller still owns.

        Returns
        -------
        DeviceMemoryResource
            A resource that cannot allocate. If a resource is already registered for the pool, also
            in the process that created it, that one.

        Raises
        ------
        TypeError
            If a resource of another class is registered for the pool.
        CUDAError
            If the descriptor does not refer to a pool, or this process created the pool.

        See Also
        --------
        cuMemPoolImportFromShareableHandle : the driver function.
        """
        cdef Device device = Device(device_id)
        return sharing_module().from_allocation_handle(cls, device.device_id, alloc_handle)

    def __repr__(self):
        state = "" if self.pool.is_open() else " closed"
        return f"<{type(self).__name__} device={self.device}{state}>"

    @property
    def device_id(self):
        """The ordinal of the device. Host only."""
        return self.device

    @property
    def peer_accessible_by(self):
        """The peer devices that can access the memory: a set that queries the driver.

        Assigning an iterable of devices, or of their ordinals, replaces it. All resources over one
        pool have the same set. Host only.

        See Also
        --------
        cuMemPoolGetAccess, cuMemPoolSetAccess : the driver functions.
        """
        share_open_pool(self)  # RuntimeError when closed
        return import_module("cuda.core.memory.driver_sets").PeerAccessibleBySetProxy(self)

    @peer_accessible_by.setter
    def peer_accessible_by(self, devices):
        self.peer_accessible_by._replace(devices)

    @property
    def is_device_accessible(self):
        """True: kernels can access the memory. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """False: the host cannot access the memory. Host only."""
        return False

# SPDX-License-Identifier: Apache-2.0
# DeviceMemoryResource: device memory from a memory pool of the driver.


cdef class DeviceMemoryResource(_ShareablePool):
    """DeviceMemoryResource(device_id, options=None)\n--\n
    Device memory from a memory pool of the driver, in stream order.

    Without options it uses the device's current pool, which it never destroys; with options it
    makes a pool of its own, destroyed when this and the last buffer from it are gone.

    Parameters
    ----------
    device_id : Device or int
        The device.
    options : DeviceMemoryResourceOptions or dict, optional
        Given, even empty: make a new pool.

    Raises
    ------
    RuntimeError
        If the device has no memory pools; `Device.memory_resource` works there.

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
        cdef size_t max_size = 0 if options is None else options.max_size or 0
        if options is None:
            self.device = device.device_id
            self.pool = current_pool(self.device)
        else:
            open_pool(self, CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_LOCATION_TYPE_DEVICE,
                      device.device_id, True, max_size, options.ipc_enabled)

    @classmethod
    def from_allocation_handle(cls, device_id, alloc_handle):
        """Import the pool of another process.

        Host only.

        Parameters
        ----------
        device_id : Device or int
            The device that the pool lies on.
        alloc_handle : IPCAllocationHandle or int
            What the other process exported: its `allocation_handle`, or the file descriptor, which
            stays the caller's.

        Returns
        -------
        DeviceMemoryResource
            From which nothing can be allocated. It is the one that stands for the pool already,
            where there is one: in the process that made it, too.

        Raises
        ------
        TypeError
            If a resource of another class stands for the pool.
        CUDAError
            If the descriptor is none of a pool, or of one that this process made.

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
        """The other devices that may use the memory: a set that always asks the driver.

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
        """True: kernels may use the memory. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """False: the host must copy. Host only."""
        return False

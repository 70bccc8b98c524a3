# SPDX-License-Identifier: Apache-2.0
# ManagedMemoryResource: managed memory from a memory pool of the driver.

import warnings

cdef bint was_warned = False


def _reset_concurrent_access_warning():
    """Reset the flag, so that the next managed resource warns again. Host only."""
    global was_warned
    was_warned = False


def _warn_without_concurrent_access(devices):
    """Warn once, of the first device without concurrent managed access. Host only."""
    global was_warned
    if was_warned:
        return
    for device in devices:
        has = device.properties
        if has.managed_memory and not has.concurrent_managed_access:
            was_warned = True
            warnings.warn(
                f"device {device.device_id} has no concurrent managed memory access: the host may "
                "segfault when it accesses managed memory while the device is busy; synchronize "
                "first",
                UserWarning, stacklevel=1)
            return


cdef tuple preference_of(object options):
    """Return the preferred location of the options as (type, number), or None."""
    number, kind = options.preferred_location, options.preferred_location_type
    if number is not None:
        number = int_option("ManagedMemoryResourceOptions.preferred_location", number)
    if kind is None:
        if number is None:
            return None
        if number == -1:
            return "host", None
        if number < 0:
            raise ValueError("preferred_location must be a device ordinal (>= 0), -1 for host, or "
                             f"None for no preference, got {number}")
        return "device", number
    if kind == "device":
        if number is None or number < 0:
            raise ValueError("preferred_location must be a device ordinal (>= 0) when "
                             f"preferred_location_type is 'device', got {number}")
        return "device", number
    if kind == "host":
        if number is not None:
            raise ValueError("preferred_location must be None when preferred_location_type is "
                             f"'host', got {number}")
        return "host", None
    if kind == "host_numa":
        return "host_numa", numa_node_of(number)
    raise ValueError(f"{shown(kind)} is not a valid ManagedMemoryLocationType. Must be None, "
                     "'device', 'host' or 'host_numa'")


cdef int numa_node_of(object number) except -1:
    if number is None:
        number = host_numa_id()
        if number < 0:
            raise RuntimeError("Cannot determine host NUMA ID for the current CUDA device: call "
                               "Device.set_current() first, or give preferred_location")
    if number < 0:
        raise ValueError("preferred_location must be a NUMA node ID (>= 0) or None when "
                         f"preferred_location_type is 'host_numa', got {number}")
    return number


cdef dict LOCATION_TYPES = {
    "device": <int>CU_MEM_LOCATION_TYPE_DEVICE, "host": <int>CU_MEM_LOCATION_TYPE_HOST,
    "host_numa": <int>CU_MEM_LOCATION_TYPE_HOST_NUMA}


cdef class ManagedMemoryResource(_MemPool):
    """ManagedMemoryResource(options=None)\n--\n
    Stream-ordered managed memory from a memory pool of the driver.

    Host and devices use the same address; the driver migrates the memory between them. Without
    options, the resource uses the current managed pool and never destroys it. With options, it
    creates a pool, which is destroyed with the resource and its last buffer.

    Parameters
    ----------
    options : ManagedMemoryResourceOptions or dict, optional
        Options of a new pool, which even an empty dict creates; None for the current pool.

    Raises
    ------
    ValueError
        If the preferred location does not match its type.
    RuntimeError
        If the driver is older than CUDA 13.0, or the system has no current managed pool.

    See Also
    --------
    cuMemPoolCreate, cuMemGetMemPool : the driver functions.
    """

    def __init__(self, options=None):
        options = as_options(options, public_object("ManagedMemoryResourceOptions"),
                             "ManagedMemoryResource options")
        initialize_driver()
        require_driver(13000, "ManagedMemoryResource")
        self.preference = None if options is None else preference_of(options)
        kind, number = (None, None) if self.preference is None else self.preference
        if kind == "device":
            number = Device(number).device_id  # ValueError if there is no such device
        location = <int>CU_MEM_LOCATION_TYPE_NONE if kind is None else LOCATION_TYPES[kind]
        try:
            open_pool(self, CU_MEM_ALLOCATION_TYPE_MANAGED, location, number or 0,
                      options is not None, 0)
        except CUDAError as error:
            if options is not None or isinstance(error, MemoryError):
                raise
            raise RuntimeError(
                "this system does not support managed allocations from its current pool: give "
                "options with a preferred location") from error
        _warn_without_concurrent_access(Device.get_all_devices())

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Allocate managed memory from the pool.

        Stream-ordered: `stream`, streams that wait for it, and the host after synchronizing one of
        these may use the memory.

        Parameters
        ----------
        size : int
            Size in bytes; 0 returns a buffer without an address.
        stream : Stream
            The stream that orders the allocation and, by default, the deallocation.

        Returns
        -------
        ManagedBuffer

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory.
        RuntimeError
            If the stream is capturing, or the resource is closed.
        TypeError
            If `stream` is not a Stream.

        See Also
        --------
        cuMemAllocFromPoolAsync : the driver function.
        """
        if stream is not NOT_GIVEN and stream is not None and not isinstance(stream, Stream):
            raise TypeError("Only Stream is supported for managed memory allocations, got "
                            f"{type(stream).__name__}")
        return allocate_pool_buffer(ManagedBuffer.__new__(ManagedBuffer), self, size,
                                    stream_or_default(stream, "allocate()"))

    @property
    def preferred_location(self):
        """Preferred location: None, or (ManagedMemoryLocationType, number).

        The number is the device ordinal or the NUMA node, and None for the host. Host only.
        """
        if self.preference is None:
            return None
        kind, number = self.preference
        from cuda.core.typing import ManagedMemoryLocationType

        return ManagedMemoryLocationType(kind), number

    @property
    def device_id(self):
        """The ordinal of the preferred device; -1 for none. Host only."""
        return self.device

    @property
    def is_device_accessible(self):
        """True: kernels can access the memory. Host only."""
        return True

    @property
    def is_host_accessible(self):
        """True: the host can access the memory. Host only."""
        return True

    @property
    def is_managed(self):
        """True: the driver migrates the memory between host and device. Host only."""
        return True

    def __repr__(self):
        location = "" if self.preference is None else " preferred_location={}".format(
            self.preference[0] if self.preference[1] is None
            else "{}:{}".format(*self.preference))
        return f"<{type(self).__name__}{location}{' closed' if self.is_closed else ''}>"

# SPDX-License-Identifier: Apache-2.0
# Device: a GPU as one thread sees it.


@cython.final
cdef class Device:
    """Device(device_id=None)
--

One GPU, as the calling thread sees it.

``Device(n)`` is always the same object on one thread, and an equal one on another;
``Device()`` is the device of the thread's current context, or device 0. To make one does not touch
a context: `set_current` does, and the methods that create something need it.

Parameters
----------
device_id : int or Device, optional
    The ordinal among the devices that CUDA can see.

Raises
------
ValueError
    If there is no device of that ordinal.
CUDAError
    If the driver finds no device at all.
"""

    @classmethod
    def get_all_devices(cls):
        """All devices that CUDA can see, as a tuple with one `Device` each.

        Host only.

        See Also
        --------
        cuDeviceGetCount : the driver function.
        """
        return devices_of_thread()

    @property
    def device_id(self):
        """The ordinal among the devices that CUDA can see. Host only."""
        return self.ordinal

    @property
    def name(self):
        """The name that the driver gives the device. Host only."""
        cdef char text[256]
        call(driver.cuDeviceGetName, text, <int>sizeof(text), self.ordinal)
        return text.decode("utf-8", "backslashreplace")

    @property
    @cython.critical_section
    def uuid(self):
        """The 16 bytes that identify the device, in hex and grouped 8-4-4-4-12. Host only."""
        if self.cached_uuid is None:
            self.cached_uuid = read_uuid(self.ordinal)
        return self.cached_uuid

    @property
    def pci_bus_id(self):
        """The address on the PCI bus, ``DDDD:BB:DD.F`` in hex. Host only."""
        cdef char text[13]
        call(driver.cuDeviceGetPCIBusId, text, <int>sizeof(text), self.ordinal)
        return text.decode("ascii")

    @property
    @cython.critical_section
    def compute_capability(self):
        """The compute capability, as the named tuple ``(major, minor)``. Host only."""
        if self.cached_capability is None:
            self.cached_capability = read_capability(self.ordinal)
        return self.cached_capability

    @property
    def arch(self):
        """The compute capability as compilers write it, for instance ``"90"``. Host only."""
        major, minor = self.compute_capability
        return f"{major}{minor}"

    @property
    @cython.critical_section
    def properties(self):
        """What the device can do, as `DeviceProperties`. Host only."""
        if self.cached_properties is None:
            self.cached_properties = make_properties(self.ordinal)
        return self.cached_properties

    @property
    @cython.critical_section
    def resources(self):
        """What the whole device has to give to contexts, as `DeviceResources`. Host only."""
        if self.cached_resources is None:
            self.cached_resources = import_module("cuda.core._resources").resources_of_device(
                self.ordinal)
        return self.cached_resources

    @property
    def total_memory(self):
        """The memory of the device, in bytes. Host only."""
        cdef size_t size = 0
        call(driver.cuDeviceTotalMem, &size, self.ordinal)
        return size

    @property
    def memory_info(self):
        """The memory of the device, as the named tuple ``(free, total)`` in bytes.

        Host only. The device must be initialised.

        See Also
        --------
        cuMemGetInfo : the driver function.
        """
        cdef size_t free_bytes = 0
        cdef size_t total = 0
        cdef context_handle context = self.context_to_use()
        with nogil:
            get_memory_info(context, &free_bytes, &total)
        return import_module("cuda.core.execution.records").MemoryInfo(free_bytes, total)

    def can_access_peer(self, peer):
        """Whether this device can read and write the memory of another one.

        Host only.

        Parameters
        ----------
        peer : Device, int or None
            The other device, None for the current one; True for the device itself.

        See Also
        --------
        cuDeviceCanAccessPeer : the driver function.
        """
        cdef int answer = 0
        other = as_device(peer)
        if other.ordinal == self.ordinal:
            return True
        call(driver.cuDeviceCanAccessPeer, &answer, self.ordinal, other.ordinal)
        return answer != 0

    cdef context_handle context_to_use(self):
        cdef context_handle adopted, own = share(self, self.native)
        if own.is_open():
            return own.take()
        adopted = adopt_current_context(self.ordinal)
        if not adopted.is_open():
            raise CUDAError(
                f"Device {self.ordinal} is not yet initialized, perhaps you forgot to call "
                ".set_current() first?")
        if adopted.is_owned():
            with cython.critical_section(self):
                self.native = adopted
        return adopted.take()

    def to_system_device(self):
        """The same device as `cuda.core.system` knows it, found by its UUID.

        Host only.

        Returns
        -------
        cuda.core.system.Device

        Raises
        ------
        RuntimeError
            If NVML cannot be used, or does not know the device.
        """
        system = import_module("cuda.core.system")
        try:
            return system.Device(uuid=self.uuid)
        except system.NvmlError as error:
            raise RuntimeError(
                f"NVML has no device of the UUID {self.uuid}: {error}") from error

    def set_current(self, ctx=None):
        """Make a context of this device current on the calling thread.

        Host only; the first call for a device, also after a reset, may take long.

        Parameters
        ----------
        ctx : Context, optional
            A context of this device; None is the primary one, which is retained at the first call.

        Returns
        -------
        Context or None
            With `ctx`, the context that was current before, or None if there was none; without,
            None.

        Raises
        ------
        TypeError
            If `ctx` is not a Context.
        RuntimeError
            If `ctx` is closed or belongs to another device.

        See Also
        --------
        cuDevicePrimaryCtxRetain, cuCtxSetCurrent : the driver functions.
        """
        if ctx is not None:
            return self.exchange_current(ctx)
        with cython.critical_section(self):
            if not self.primary.is_open() or is_destroyed(self.primary):
                self.primary = retain_primary_context(self.ordinal)
            call(driver.cuCtxSetCurrent, self.primary.raw())
            if self.native.raw() is not self.primary.raw():
                self.native = self.primary
                self.current_wrapper = None
        return None

    cdef object exchange_current(self, object given):
        if not isinstance(given, Context):
            raise TypeError(f"Expected type Context, got {qualified_name(given)}")
        cdef Context wanted = <Context>given
        cdef context_handle native = wanted.native.share_open(wanted)
        if wanted.device != self.ordinal:
            raise RuntimeError(
                "the provided context was created on the device with id="
                f"{wanted.device}, which is different from the target id={self.ordinal}")
        cdef CUcontext before = raw_current_context()
        with cython.critical_section(self):
            previous = self.wrapper_of(before)
            call(driver.cuCtxSetCurrent, native.raw())
            self.native = native
            self.current_wrapper = wanted
        return previous

    cdef Context wrapper_of(self, CUcontext raw):
        """The Context for a raw handle: the very object that users have seen, if it is that one."""
        if raw is NULL:
            return None
        if raw is self.native.raw():
            return self.own_wrapper()
        return wrap_context(context_of_raw(raw))

    cdef Context own_wrapper(self):
        known = self.current_wrapper
        if known is None or not known.native.is_open(known):
            self.current_wrapper = wrap_context(self.native)
        return self.current_wrapper

    @property
    @cython.critical_section
    def context(self):
        """The `Context` that `set_current` made current; the device must be initialised.

        Host only.
        """
        cdef context_handle native = self.context_to_use()
        if self.native.is_open():
            return self.own_wrapper()
        return wrap_context(native)

    @property
    def default_stream(self):
        """The stream that stands for "no stream given"; the same object each time. Host only."""
        return default_stream_object()

    @property
    def memory_resource(self):
        """What `allocate` takes memory from; any `MemoryResource` may be assigned.

        Host only. At first it is a `DeviceMemoryResource` on the device's current pool, or a
        resource without pools where the device has none.
        """
        with cython.critical_section(self):
            known = self.cached_memory_resource
        if known is None:
            known = default_memory_resource(self)
            with cython.critical_section(self):
                if self.cached_memory_resource is None:
                    self.cached_memory_resource = known
                known = self.cached_memory_resource
        return known

    @memory_resource.setter
    def memory_resource(self, resource):
        require_memory_resource(resource)
        with cython.critical_section(self):
            self.cached_memory_resource = resource

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Allocate memory of the device from its `memory_resource`.

        Stream-ordered. The device must be initialised, unless no stream is given.

        Parameters
        ----------
        size : int
            In bytes.
        stream : Stream
            The stream that orders the allocation.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If there is not that much memory.
        """
        if stream is NOT_GIVEN:
            warn_deprecated("Device.allocate() without a stream", "stream=device.default_stream")
            return allocate_on_default_stream(self, size)
        self.context_to_use()
        resource = self.memory_resource
        if type(resource) is DeviceMemoryResource and is_captured(stream):
            resource = graph_module().GraphMemoryResource(self)
        return resource.allocate(size, stream=stream)

    def create_graph_builder(self):
        """A builder that makes a graph of what its stream is given; the stream is a new one.

        Host only. The device must be initialised.

        Returns
        -------
        GraphBuilder
            Which has not begun.
        """
        stream = create_stream_in(Stream, self.context_to_use(), None)
        return graph_module()._create_graph_builder(stream, True)

    def create_opaque_array(self, options):
        """Create a CUDA array on this device, which must be current.

        Host only.

        Parameters
        ----------
        options : OpaqueArrayOptions or dict
            Shape, format and channels.

        Returns
        -------
        OpaqueArray

        Raises
        ------
        RuntimeError
            If the device is not current.
        OutOfMemoryError
            If there is not that much memory.
        CUDAError
            If the device has no arrays that large.

        See Also
        --------
        cuArray3DCreate : the driver function.
        """
        return texture_module().create_opaque_array(self, options)

    def create_mipmapped_array(self, options):
        """Create a mipmapped array on this device, which must be current.

        Host only.

        Parameters
        ----------
        options : MipmappedArrayOptions or dict
            Shape, format, channels and levels.

        Returns
        -------
        MipmappedArray

        Raises
        ------
        RuntimeError
            If the device is not current.
        OutOfMemoryError
            If there is not that much memory.
        CUDAError
            If there are more levels than halves of the extents.

        See Also
        --------
        cuMipmappedArrayCreate : the driver function.
        """
        return texture_module().create_mipmapped(self, options)

    def create_texture_object(self, *, resource, options=None):
        """Create a texture on this device, which must be current.

        Host only.

        Parameters
        ----------
        resource : ResourceDescriptor
            What it is of.
        options : TextureObjectOptions or dict, optional
            How it is read.

        Returns
        -------
        TextureObject

        Raises
        ------
        RuntimeError
            If the device is not current, or what it is of was closed.
        CUDAError
            If the driver refuses it: memory that is not aligned, a filter of integers.

        See Also
        --------
        cuTexObjectCreate : the driver function.
        """
        return texture_module().create_texture_object(self, resource, options)

    def create_surface_object(self, *, resource):
        """Create a surface on this device, which must be current.

        Host only.

        Parameters
        ----------
        resource : ResourceDescriptor
            Of an array that was made with ``is_surface_load_store=True``.

        Returns
        -------
        SurfaceObject

        Raises
        ------
        RuntimeError
            If the device is not current, or the array was closed.
        ValueError
            If it is of something else.

        See Also
        --------
        cuSurfObjectCreate : the driver function.
        """
        return texture_module().create_surface_object(self, resource)

    def create_context(self, options=None):
        """Create a green context: one that works with a part of the device only.

        Host only. It is not made current: `set_current` does that, and `Context.create_stream`
        needs no current context. It shares the memory and the code of the primary context.

        Parameters
        ----------
        options : ContextOptions or dict
            The resources that the context gets.

        Returns
        -------
        Context

        Raises
        ------
        ValueError
            If no resources are given, or one comes from a split with ``dry_run=True``.
        TypeError
            If a resource is neither an `SMResource` nor a `WorkqueueResource`.
        CUDAError
            If the driver refuses the resources.

        See Also
        --------
        cuGreenCtxCreate : the driver function.
        """
        initialize_driver()
        return import_module("cuda.core._resources").create_context(self.ordinal, options)

    def create_stream(self, obj=None, options=None):
        """Create a stream of this device, or wrap one of another library.

        Host only. The device must be initialised.

        Parameters
        ----------
        obj : object, optional
            Offers a stream with ``__cuda_stream__()``; it is kept alive with the wrapper.
        options : StreamOptions or dict, optional
            What to ask of a new stream; excludes `obj`.

        Returns
        -------
        Stream

        Raises
        ------
        CUDAError
            If the device is not initialised.
        ValueError
            If both arguments are given, or the priority is out of range.

        See Also
        --------
        cuStreamCreateWithPriority : the driver function.
        """
        cdef context_handle context = self.context_to_use()
        if obj is not None:
            return Stream._init(obj, options)
        return create_stream_in(Stream, context, options)

    def create_event(self, options=None):
        """Create an event that was not recorded yet.

        Host only. The device must be initialised.

        Parameters
        ----------
        options : EventOptions or dict, optional
            What to ask of the event.

        Returns
        -------
        Event

        Raises
        ------
        CUDAError
            If the device is not initialised.
        TypeError
            If an event for other processes is asked for: `Stream.record` makes those.

        See Also
        --------
        cuEventCreate : the driver function.
        """
        cdef context_handle context = self.context_to_use()
        cdef unsigned flags = event_flags(options, False)
        cdef event_handle native
        with nogil:
            native = create_event(context_instance(context.take()), flags)
        return wrap_event(Event, native)

    def sync(self):
        """Wait until all work of the device's context is finished.

        Blocks the host. The device must be initialised.

        Raises
        ------
        CUDAError
            If the device is not initialised, or earlier work failed.

        See Also
        --------
        cuCtxSynchronize : the driver function.
        """
        cdef context_handle context = self.context_to_use()
        with nogil:
            synchronize_context(context)
            unload_unused_libraries()
        release_completed_work()
        if pools_with_threshold:
            release_beyond_thresholds(self.ordinal)

    def __int__(self):
        return self.ordinal

    def __index__(self):
        return self.ordinal

    def __eq__(self, other):
        if not isinstance(other, Device):
            return NotImplemented
        return self.ordinal == (<Device>other).ordinal

    def __hash__(self):
        return hash(self.uuid)

    def __reduce__(self):
        return Device, (self.ordinal,)

    def _repr_html_(self):
        """The table that a notebook shows. Host only."""
        return import_module("cuda.core._utils.display").device_html(self)

    def __repr__(self):
        return f"<Device {self.ordinal} ({self.name})>"


cdef Device make_device(int ordinal):
    cdef Device device = Device.__new__(Device)
    device.ordinal = ordinal
    return device


cdef object default_memory_resource(Device device):
    if device.properties.memory_pools_supported:
        return DeviceMemoryResource(device)
    return _SynchronousMemoryResource(device)


cdef object allocate_on_default_stream(Device device, object size):
    """Allocate with the primary context current, whatever was current before."""
    cdef context_handle before = current_context()
    device.set_current()
    try:
        # Not returned from here: what is returned would leak if the restoring fails.
        buffer = device.memory_resource.allocate(size, stream=default_stream_object())
    finally:
        if before.is_open():
            call(driver.cuCtxSetCurrent, before.raw())
    return buffer


cdef str read_uuid(int ordinal):
    cdef CUuuid raw
    call(driver.cuDeviceGetUuid, &raw, ordinal)
    digits = (<bytes>raw.bytes[:16]).hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


cdef object read_capability(int ordinal):
    return import_module("cuda.core.execution.records").ComputeCapability(
        device_attribute(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
        device_attribute(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))


cdef int device_attribute(int ordinal, CUdevice_attribute attribute) except? -1:
    cdef int value = 0
    call(driver.cuDeviceGetAttribute, &value, attribute, ordinal)
    return value

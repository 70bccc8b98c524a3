# SPDX-License-Identifier: Apache-2.0
# Device: a GPU, with the current context of one thread.


@cython.final
cdef class Device:
    """Device(device_id=None)
--

One GPU, as used by the calling thread.

``Device(n)`` always returns the same object on one thread, and equal objects on other threads.
``Device()`` is the device of the thread's current context, or device 0. The constructor neither
creates a context nor makes one current. `set_current` does both and must precede the methods that
create objects. ``with Device(1):`` does both for a block and then restores the context before it,
on the calling thread. Blocks may be nested.

Parameters
----------
device_id : int or Device, optional
    Ordinal among the devices that CUDA can see.

Raises
------
ValueError
    If there is no device of that ordinal.
CUDAError
    If the driver finds no device at all.
"""

    @classmethod
    def get_all_devices(cls):
        """Return a tuple with one `Device` for each device that CUDA can see.

        Host only.

        See Also
        --------
        cuDeviceGetCount : the driver function.
        """
        return devices_of_thread()

    @property
    def device_id(self):
        """Ordinal among the devices that CUDA can see. Host only."""
        return self.ordinal

    @property
    def name(self):
        """Name of the device, from the driver. Host only."""
        cdef char text[256]
        call(driver.cuDeviceGetName, text, <int>sizeof(text), self.ordinal)
        return text.decode("utf-8", "backslashreplace")

    @property
    @cython.critical_section
    def uuid(self):
        """UUID of the device: 16 bytes in hex, grouped 8-4-4-4-12. Host only."""
        if self.cached_uuid is None:
            self.cached_uuid = read_uuid(self.ordinal)
        return self.cached_uuid

    @property
    def pci_bus_id(self):
        """Address on the PCI bus, ``DDDD:BB:DD.F`` in hex. Host only."""
        cdef char text[13]
        call(driver.cuDeviceGetPCIBusId, text, <int>sizeof(text), self.ordinal)
        return text.decode("ascii")

    @property
    @cython.critical_section
    def compute_capability(self):
        """Compute capability as the named tuple ``(major, minor)``. Host only."""
        if self.cached_capability is None:
            self.cached_capability = read_capability(self.ordinal)
        return self.cached_capability

    @property
    def arch(self):
        """Compute capability in the form of compiler options, for instance ``"90"``. Host only."""
        major, minor = self.compute_capability
        return f"{major}{minor}"

    @property
    @cython.critical_section
    def properties(self):
        """Properties of the device, as `DeviceProperties`. Host only."""
        if self.cached_properties is None:
            self.cached_properties = make_properties(self.ordinal)
        return self.cached_properties

    @property
    @cython.critical_section
    def resources(self):
        """Resources of the whole device, as `DeviceResources`. Host only."""
        if self.cached_resources is None:
            self.cached_resources = import_module("cuda.core._resources").resources_of_device(
                self.ordinal)
        return self.cached_resources

    @property
    def total_memory(self):
        """Total memory of the device in bytes. Host only."""
        cdef size_t size
        call(driver.cuDeviceTotalMem, &size, self.ordinal)
        return size

    @property
    def memory_info(self):
        """Memory of the device as the named tuple ``(free, total)`` in bytes.

        Host only. The device must be initialized, see `set_current`.

        See Also
        --------
        cuMemGetInfo : the driver function.
        """
        cdef size_t free_bytes, total
        cdef context_handle context = self.context_to_use()
        with nogil:
            get_memory_info(context, &free_bytes, &total)
        return import_module("cuda.core.execution.records").MemoryInfo(free_bytes, total)

    def can_access_peer(self, peer):
        """Return whether this device can access the memory of another device.

        Host only. The result for the device itself is True.

        Parameters
        ----------
        peer : Device, int or None
            The other device; None means the current device.

        See Also
        --------
        cuDeviceCanAccessPeer : the driver function.
        """
        cdef int result
        other = as_device(peer)
        if other.ordinal == self.ordinal:
            return True
        call(driver.cuDeviceCanAccessPeer, &result, self.ordinal, other.ordinal)
        return result != 0

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
        """Return the `cuda.core.system.Device` of the same UUID.

        Host only.

        Returns
        -------
        cuda.core.system.Device

        Raises
        ------
        RuntimeError
            If NVML is unavailable or does not know the device.
        """
        system = import_module("cuda.core.system")
        try:
            return system.Device(uuid=self.uuid)
        except system.NvmlError as error:
            raise RuntimeError(
                f"NVML has no device of the UUID {self.uuid}: {error}") from error

    def set_current(self, ctx=None):
        """Make a context of this device current on the calling thread.

        Host only. The first call for a device, or the first call after a reset, may take long.

        Parameters
        ----------
        ctx : Context, optional
            A context of this device; None means the primary context, which the first call retains.

        Returns
        -------
        Context or None
            With `ctx`, the previously current context, if any. Without `ctx`, None.

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

    def __enter__(self):
        """Make the primary context of the device current, as `set_current` does. Host only."""
        enter_device(self)
        return self

    def __exit__(self, *exc_info):
        """Make the context current that was current before the block. Host only."""
        leave_device(self)

    cdef object exchange_current(self, object ctx):
        if not isinstance(ctx, Context):
            raise TypeError(f"Expected type Context, got {qualified_name(ctx)}: pass a context of "
                            "create_context(), or nothing for the primary context")
        cdef Context context = <Context>ctx
        cdef context_handle native = context.native.share_open(context)
        if context.device != self.ordinal:
            if import_module("cuda.core._utils.version").follows_release(1, 3):
                return device_of_ordinal(context.device).exchange_current(ctx)
            raise RuntimeError(
                "the provided context was created on the device with id="
                f"{context.device}, which is different from the target id={self.ordinal}")
        cdef CUcontext previous_context = raw_current_context()
        with cython.critical_section(self):
            previous = self.find_wrapper(previous_context)
            call(driver.cuCtxSetCurrent, native.raw())
            self.native = native
            self.current_wrapper = context
        return previous

    cdef Context find_wrapper(self, CUcontext raw):
        """Return the Context of a raw handle: the known wrapper, if it has that handle."""
        if raw is NULL:
            return None
        if raw is self.native.raw():
            return self.context_wrapper()
        return wrap_context(context_of_raw(raw))

    cdef Context context_wrapper(self):
        wrapper = self.current_wrapper
        if wrapper is None or not wrapper.native.is_open(wrapper):
            self.current_wrapper = wrap_context(self.native)
        return self.current_wrapper

    @property
    @cython.critical_section
    def context(self):
        """The `Context` that `set_current` made current.

        Host only. The device must be initialized, see `set_current`.
        """
        cdef context_handle native = self.context_to_use()
        if self.native.is_open():
            return self.context_wrapper()
        return wrap_context(native)

    @property
    def default_stream(self):
        """The stream that is used by default; always the same object. Host only."""
        return default_stream_object()

    @property
    def memory_resource(self):
        """Memory resource used by `allocate`; any `MemoryResource` may be assigned.

        Host only. The default is a `DeviceMemoryResource` on the device's current pool, or a
        resource without pools if the device does not support pools.
        """
        with cython.critical_section(self):
            resource = self.cached_memory_resource
        if resource is None:
            resource = default_memory_resource(self)
            with cython.critical_section(self):
                if self.cached_memory_resource is None:
                    self.cached_memory_resource = resource
                resource = self.cached_memory_resource
        return resource

    @memory_resource.setter
    def memory_resource(self, resource):
        require_memory_resource(resource)
        with cython.critical_section(self):
            self.cached_memory_resource = resource

    @cython.binding(True)
    def allocate(self, size, stream=NOT_GIVEN):
        """Allocate memory of the device from its `memory_resource`.

        Stream-ordered. The device must be initialized, unless no stream is passed.

        Parameters
        ----------
        size : int
            Number of bytes.
        stream : Stream
            The stream that orders the allocation.

        Returns
        -------
        Buffer

        Raises
        ------
        OutOfMemoryError
            If there is not enough memory.
        """
        if stream is NOT_GIVEN:
            warn_deprecated("Device.allocate() without a stream", "stream=device.default_stream")
            return allocate_on_default_stream(self, size)
        self.context_to_use()
        resource = self.memory_resource
        if type(resource) is DeviceMemoryResource and is_captured(stream):
            resource = graph_module().GraphMemoryResource(self)
        return allocate_from(resource, size, stream, ordinal_to_check(self, resource))

    def create_graph_builder(self):
        """Create a builder that captures work submitted to a new stream into a graph.

        Host only. The device must be initialized, see `set_current`.

        Returns
        -------
        GraphBuilder
            A builder whose capture has not begun.
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
            If there is not enough memory.
        CUDAError
            If the device does not support arrays of that size.

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
            If there is not enough memory.
        CUDAError
            If there are more levels than the extents can be halved.

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
            The array or memory to read.
        options : TextureObjectOptions or dict, optional
            Addressing, filtering and conversion of reads.

        Returns
        -------
        TextureObject

        Raises
        ------
        RuntimeError
            If the device is not current, or the array or memory was closed.
        CUDAError
            If the driver refuses the texture, for instance unaligned memory or filtered integers.

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
            An array created with ``is_surface_load_store=True``.

        Returns
        -------
        SurfaceObject

        Raises
        ------
        RuntimeError
            If the device is not current, or the array was closed.
        ValueError
            If `resource` is not such an array.

        See Also
        --------
        cuSurfObjectCreate : the driver function.
        """
        return texture_module().create_surface_object(self, resource)

    def create_context(self, options=None):
        """Create a green context, which uses only a part of the device.

        Host only. The new context shares memory and code with the primary context. It is not made
        current; use `set_current`, or `Context.create_stream`, which needs no current context.

        Parameters
        ----------
        options : ContextOptions or dict
            The resources of the context.

        Returns
        -------
        Context

        Raises
        ------
        ValueError
            If there are no resources, or one is from a split with ``dry_run=True``.
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
        """Create a stream of this device, or wrap a stream of another library.

        Host only. The device must be initialized, see `set_current`.

        Parameters
        ----------
        obj : object, optional
            An object with ``__cuda_stream__()``; the wrapper keeps it alive.
        options : StreamOptions or dict, optional
            Options of a new stream; excludes `obj`.

        Returns
        -------
        Stream

        Raises
        ------
        CUDAError
            If the device is not initialized.
        ValueError
            If both arguments are passed, or the priority is out of range.

        See Also
        --------
        cuStreamCreateWithPriority : the driver function.
        """
        cdef context_handle context = self.context_to_use()
        if obj is not None:
            return Stream._init(obj, options)
        return create_stream_in(Stream, context, options)

    def create_event(self, options=None):
        """Create an event that is not recorded yet.

        Host only. The device must be initialized, see `set_current`.

        Parameters
        ----------
        options : EventOptions or dict, optional
            Options of the event.

        Returns
        -------
        Event

        Raises
        ------
        CUDAError
            If the device is not initialized.
        TypeError
            If the options request an event for other processes: use `Stream.record`.

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
        """Wait until all work of the device's context has completed.

        Blocks the host. The device must be initialized, see `set_current`.

        Raises
        ------
        CUDAError
            If the device is not initialized, or earlier work failed.

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
        """Return the table that a notebook shows. Host only."""
        return import_module("cuda.core._utils.display").device_html(self)

    def __repr__(self):
        return f"<Device {self.ordinal} ({self.name})>"


cdef object default_memory_resource(Device device):
    if device.properties.memory_pools_supported:
        return DeviceMemoryResource(device)
    return _SynchronousMemoryResource(device)


cdef int ordinal_to_check(Device device, object resource) noexcept:
    """Return the device on which a resource of a Python class must allocate."""
    return device.ordinal if is_heap_type(resource) else ANY_DEVICE


cdef object allocate_on_default_stream(Device device, object size):
    """Allocate with the primary context current, then restore the current context."""
    cdef context_handle previous_context = current_context()
    device.set_current()
    try:
        # No return here: the buffer would leak if restoring the context fails.
        resource = device.memory_resource
        buffer = allocate_from(resource, size, default_stream_object(),
                               ordinal_to_check(device, resource))
    finally:
        if previous_context.is_open():
            call(driver.cuCtxSetCurrent, previous_context.raw())
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
    cdef int value
    call(driver.cuDeviceGetAttribute, &value, attribute, ordinal)
    return value


cdef bint is_captured(object stream_arg) except -1:
    """Return whether a builder captures the stream of an argument."""
    cdef capture_info capture
    cdef borrowed_stream native_stream
    if captures_under_way() == 0 or stream_arg is None:
        return False
    cdef Stream stream = accept_stream(stream_arg)
    native_stream = stream.native.borrow_open(stream)
    check(find_capture(native_stream, capture), "cuStreamGetCaptureInfo")
    return capture.status == CU_STREAM_CAPTURE_STATUS_ACTIVE

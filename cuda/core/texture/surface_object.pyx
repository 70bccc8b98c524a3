# SPDX-License-Identifier: Apache-2.0
# SurfaceObject: a handle through which kernels read and write the elements of an array.


cdef class SurfaceObject:
    """A handle through which kernels read and write array elements without conversion.

    `Device.create_surface_object` creates it. The surface retains its array. `launch` passes the
    surface to a parameter of type ``cudaSurfaceObject_t``. In kernels the x coordinate is in bytes.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("SurfaceObject cannot be instantiated directly. Use "
                           "Device.create_surface_object().")

    def close(self):
        """Destroy the surface and release its array.

        Host only. Kernels that use the surface must have completed. Closing twice is harmless.

        See Also
        --------
        cuSurfObjectDestroy : the driver function.
        """
        self.native.close(self)
        self.source = None

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """Value of the ``CUsurfObject``; 0 if the surface is closed. Host only."""
        return self.identity if self.native.is_open(self) else 0

    @property
    def resource(self):
        """The `ResourceDescriptor` of the surface's array; None if closed. Host only."""
        return self.source

    @property
    def device(self):
        """Device of the surface. Host only."""
        return device_of_ordinal(self.ordinal)

    def __cuda_kernel_arg__(self):
        self.native.check_open(self)
        return self.identity

    def __enter__(self):
        self.native.check_open(self)
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __repr__(self):
        return f"SurfaceObject(handle={self.handle:#x})"


def create_surface_object(device, resource):
    """Implement `Device.create_surface_object`. Host only."""
    cdef CUDA_RESOURCE_DESC resource_desc
    cdef bound_facts refs
    require_resource(resource)
    if resource.kind != "array":
        raise ValueError("SurfaceObject requires an array-backed ResourceDescriptor, got "
                         f"kind={resource.kind!r}")
    if not resource.source.is_surface_load_store:
        raise ValueError("OpaqueArray must be created with is_surface_load_store=True to be bound "
                         "as a SurfaceObject")
    cdef context_handle context = context_of_device(device)
    cdef SurfaceObject surface = SurfaceObject.__new__(SurfaceObject)
    fill_resource(&resource_desc, resource, &refs)
    cdef surface_handle native
    with nogil:
        native = create_surface(context.take(), resource_desc, refs)
    surface.identity, surface.ordinal = native.raw(), (<Device>device).ordinal
    surface.source = resource
    surface.native.hold(surface, native.take())
    return surface

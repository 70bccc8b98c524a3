# SPDX-License-Identifier: Apache-2.0
# SurfaceObject: a handle through which kernels read and write the elements of an array.


cdef class SurfaceObject:
    """A number through which kernels read and write the elements of an array as they are.

    It comes from `Device.create_surface_object`, and keeps the array. `launch` passes it to a
    parameter ``cudaSurfaceObject_t``. In kernels the x coordinate is in bytes.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("SurfaceObject cannot be instantiated directly. Use "
                           "Device.create_surface_object().")

    def close(self):
        """Destroy the object, and let go of the array.

        Host only. Kernels that use it must be done. Closing twice is harmless.

        See Also
        --------
        cuSurfObjectDestroy : the driver function.
        """
        self.native.close(self)
        self.of = None

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """The ``CUsurfObject``, as a number; 0 when closed. Host only."""
        return self.identity if self.native.is_open(self) else 0

    @property
    def resource(self):
        """The `ResourceDescriptor` that it was made of; None when closed. Host only."""
        return self.of

    @property
    def device(self):
        """The `Device` of the object. Host only."""
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
    """What `Device.create_surface_object` does. Host only."""
    cdef CUDA_RESOURCE_DESC what
    cdef bound_facts kept
    require_resource(resource)
    if resource.kind != "array":
        raise ValueError("SurfaceObject requires an array-backed ResourceDescriptor, got "
                         f"kind={resource.kind!r}")
    if not resource.source.is_surface_load_store:
        raise ValueError("OpaqueArray must be created with is_surface_load_store=True to be bound "
                         "as a SurfaceObject")
    cdef context_handle context = context_of_device(device)
    cdef SurfaceObject made = SurfaceObject.__new__(SurfaceObject)
    fill_resource(&what, resource, &kept)
    cdef surface_handle native
    with nogil:
        native = create_surface(context.take(), what, kept)
    made.identity, made.ordinal = native.raw(), (<Device>device).ordinal
    made.of = resource
    made.native.hold(made, native.take())
    return made

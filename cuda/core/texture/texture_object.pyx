# SPDX-License-Identifier: Apache-2.0
# TextureObject: a handle through which kernels read images with filtering and addressing.


cdef class TextureObject:
    """A number through which kernels read an image, with filters and modes of addressing.

    It comes from `Device.create_texture_object`, and keeps what it is of: an array that is closed
    meanwhile is destroyed after it. `launch` passes it to a parameter ``cudaTextureObject_t``.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("TextureObject cannot be instantiated directly. Use "
                           "Device.create_texture_object().")

    def close(self):
        """Destroy the object, and let go of what it is of.

        Host only. Kernels that use it must be done. Closing twice is harmless.

        See Also
        --------
        cuTexObjectDestroy : the driver function.
        """
        self.native.close(self)
        self.memory = self.of = None

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """The ``CUtexObject``, as a number; 0 when closed. Host only."""
        return self.identity if self.native.is_open(self) else 0

    @property
    def resource(self):
        """The `ResourceDescriptor` that it was made of; None when closed. Host only."""
        return self.of

    @property
    def options(self):
        """The `TextureObjectOptions` that it was made with. Host only."""
        return self.how

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
        return f"TextureObject(handle={self.handle:#x})"


cdef int fill_texture(CUDA_TEXTURE_DESC* into, object chosen) except -1:
    module = import_module("cuda.core.texture.options")
    memset(into, 0, sizeof(CUDA_TEXTURE_DESC))
    modes = module.address_modes(chosen.address_mode)
    color = module.border(chosen.border_color)
    for axis in range(3):
        into.addressMode[axis] = <CUaddress_mode><int>modes[axis]
    for channel in range(4):
        into.borderColor[channel] = color[channel]
    into.filterMode = <CUfilter_mode><int>(chosen.filter_mode == "linear")
    into.mipmapFilterMode = <CUfilter_mode><int>(chosen.mipmap_filter_mode == "linear")
    into.flags = module.flags(chosen)
    into.maxAnisotropy = module.anisotropy(chosen.max_anisotropy)
    into.mipmapLevelBias = chosen.mipmap_level_bias
    into.minMipmapLevelClamp = chosen.min_mipmap_level_clamp
    into.maxMipmapLevelClamp = chosen.max_mipmap_level_clamp
    return 0


def create_texture_object(device, resource, options):
    """What `Device.create_texture_object` does. Host only."""
    cdef CUDA_RESOURCE_DESC what
    cdef CUDA_TEXTURE_DESC how
    cdef bound_facts kept
    require_resource(resource)
    chosen = texture_options("TextureObjectOptions", options, "TextureObject options")
    fill_texture(&how, chosen)
    cdef context_handle context = context_of_device(device)
    cdef TextureObject made = TextureObject.__new__(TextureObject)
    made.memory = fill_resource(&what, resource, &kept)
    cdef texture_handle native
    with nogil:
        native = create_texture(context.take(), what, how, kept)
    made.identity, made.ordinal = native.raw(), (<Device>device).ordinal
    made.of, made.how = resource, chosen
    made.native.hold(made, native.take())
    return made

# SPDX-License-Identifier: Apache-2.0
# TextureObject: a handle through which kernels read images with filtering and addressing.


cdef class TextureObject:
    """A handle through which kernels read an image with filtering and addressing modes.

    `Device.create_texture_object` creates it. The texture retains its memory: an array that is
    closed first is destroyed after the texture. `launch` passes the texture to a parameter of type
    ``cudaTextureObject_t``.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("TextureObject cannot be instantiated directly. Use "
                           "Device.create_texture_object().")

    def close(self):
        """Destroy the texture and release its memory.

        Host only. Kernels that use the texture must have completed. Closing twice is harmless.

        See Also
        --------
        cuTexObjectDestroy : the driver function.
        """
        self.native.close(self)
        self.memory = self.source = None

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """Value of the ``CUtexObject``; 0 if the texture is closed. Host only."""
        return self.identity if self.native.is_open(self) else 0

    @property
    def resource(self):
        """The `ResourceDescriptor` of the texture's memory; None if closed. Host only."""
        return self.source

    @property
    def options(self):
        """The `TextureObjectOptions` of the texture. Host only."""
        return self.settings

    @property
    def device(self):
        """Device of the texture. Host only."""
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


cdef int fill_texture(CUDA_TEXTURE_DESC* into, object options) except -1:
    module = import_module("cuda.core.texture.options")
    memset(into, 0, sizeof(CUDA_TEXTURE_DESC))
    modes = module.address_modes(options.address_mode)
    color = module.border(options.border_color)
    for axis in range(3):
        into.addressMode[axis] = <CUaddress_mode><int>modes[axis]
    for channel in range(4):
        into.borderColor[channel] = color[channel]
    into.filterMode = <CUfilter_mode><int>(options.filter_mode == "linear")
    into.mipmapFilterMode = <CUfilter_mode><int>(options.mipmap_filter_mode == "linear")
    into.flags = module.flags(options)
    into.maxAnisotropy = module.anisotropy(options.max_anisotropy)
    into.mipmapLevelBias = module.real("mipmap_level_bias", options.mipmap_level_bias)
    into.minMipmapLevelClamp = module.real("min_mipmap_level_clamp", options.min_mipmap_level_clamp)
    into.maxMipmapLevelClamp = module.real("max_mipmap_level_clamp", options.max_mipmap_level_clamp)


cdef void explain_resource(object error, ResourceDescriptor resource, int device) except *:
    """Name the alignment of pitched memory in the error of a driver, which is a status."""
    cdef int address = 0, pitch = 0
    if resource.pitch is None:
        return
    try_call(driver.cuDeviceGetAttribute, &address, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, device)
    try_call(driver.cuDeviceGetAttribute, &pitch, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT,
             device)
    if pitch and resource.pitch % pitch:
        explain_error(error, f"pitch_bytes is {resource.pitch}, but must be a multiple of {pitch} "
                             f"on device {device}: pad the rows")
    elif address and resource.owner.handle % address:
        explain_error(error, f"the address of the buffer must be a multiple of {address} on device "
                             f"{device}")


cdef int warn_of_clamp(ResourceDescriptor resource, object options) except -1:
    """Warn of an address mode that the driver replaces by clamp."""
    if options.normalized_coords or resource.memory_kind == "linear":
        return 0
    modes = options.address_mode
    for mode in [modes] if isinstance(modes, str) else modes:
        if mode in ("wrap", "mirror"):
            return PyErr_WarnEx(UserWarning, f"address_mode {str(mode)!r} needs "
                                "normalized_coords=True: the driver clamps instead".encode(), 1)


def create_texture_object(device, resource, options):
    """Implement `Device.create_texture_object`. Host only."""
    cdef CUDA_RESOURCE_DESC resource_desc
    cdef CUDA_TEXTURE_DESC texture_desc
    cdef bound_facts refs
    require_resource(resource)
    checked = texture_options("TextureObjectOptions", options, "TextureObject options")
    fill_texture(&texture_desc, checked)
    warn_of_clamp(resource, checked)
    cdef context_handle context = context_of_device(device)
    cdef TextureObject texture = TextureObject.__new__(TextureObject)
    texture.memory = fill_resource(&resource_desc, resource, &refs)
    cdef texture_handle native
    try:
        with nogil:
            native = create_texture(context.take(), resource_desc, texture_desc, refs)
    except CUDAError as error:
        explain_resource(error, resource, (<Device>device).ordinal)
        raise
    texture.identity, texture.ordinal = native.raw(), (<Device>device).ordinal
    texture.source, texture.settings = resource, checked
    texture.native.hold(texture, native.take())
    return texture

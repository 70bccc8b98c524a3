# SPDX-License-Identifier: Apache-2.0
# MipmappedArray: the levels of a mipmap, each an OpaqueArray.


cdef class MipmappedArray:
    """An array and its halves: level after level, each with half the extents.

    It comes from `Device.create_mipmapped_array` and owns the memory of all levels.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("MipmappedArray cannot be instantiated directly. Use "
                           "Device.create_mipmapped_array().")

    def close(self):
        """Give the levels back, unless one of them, a texture or a graph still needs them.

        Blocks the host until the work of the context is done. Closing twice is harmless.

        See Also
        --------
        cuMipmappedArrayDestroy : the driver function.
        """
        self.native.close(self)

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """The ``CUmipmappedArray``, as a number; 0 when closed. Host only."""
        return self.identity if self.native.is_open(self) else 0

    @property
    def shape(self):
        """The extents of level 0 in elements, the fastest axis first. Host only."""
        return self.extents

    @property
    def format(self):
        """The `ArrayFormatType` of the components. Host only."""
        return self.kind

    @property
    def num_channels(self):
        """The components of an element. Host only."""
        return self.channels

    @property
    def num_levels(self):
        """How many levels there are. Host only."""
        return self.levels

    @property
    def is_surface_load_store(self):
        """Whether surface objects may be made of the levels. Host only."""
        return self.has_surfaces

    @property
    def device(self):
        """The `Device` of the array. Host only."""
        return device_of_ordinal(self.ordinal)

    def get_level(self, level):
        """One level, as an array that keeps this one alive.

        Host only.

        Parameters
        ----------
        level : int
            From 0, the largest.

        Returns
        -------
        OpaqueArray

        Raises
        ------
        ValueError
            If there is no such level.

        See Also
        --------
        cuMipmappedArrayGetLevel : the driver function.
        """
        number = int(level)
        if number < 0:
            raise ValueError(f"level must be >= 0, got {number}")
        if number >= self.levels:
            raise ValueError(f"level ({number}) must be < num_levels ({self.levels})")
        cdef borrowed_mipmapped_array native = self.native.borrow_open(self)
        cdef array_handle found = level_of(native, <unsigned>number)
        shape = tuple([max(extent >> number, 1) for extent in self.extents])
        return wrap_array(found, shape, self.kind, self.channels, self.has_surfaces)

    def __enter__(self):
        self.native.check_open(self)
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __repr__(self):
        return (f"MipmappedArray(shape={self.extents}, format={self.kind.name}, "
                f"num_channels={self.channels}, num_levels={self.levels})")


def create_mipmapped(device, options):
    """What `Device.create_mipmapped_array` does. Host only."""
    cdef CUDA_ARRAY3D_DESCRIPTOR shape
    chosen = texture_options("MipmappedArrayOptions", options, "MipmappedArray options")
    describe(&shape, chosen)
    cdef unsigned levels = min(chosen.num_levels, 0xFFFFFFFF)
    cdef context_handle context = context_of_device(device)
    cdef mipmapped_array_handle native
    with nogil:
        native = create_mipmapped_array(context.take(), shape, levels)
    cdef MipmappedArray made = MipmappedArray.__new__(MipmappedArray)
    made.identity = <uintptr_t>native.raw()
    made.ordinal = native.parent().context().facts().device
    made.extents, made.kind = chosen.shape, chosen.format
    made.channels, made.levels = chosen.num_channels, levels
    made.has_surfaces = shape.Flags != 0
    made.native.hold(made, native.take())
    return made

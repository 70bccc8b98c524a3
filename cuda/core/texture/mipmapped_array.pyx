# SPDX-License-Identifier: Apache-2.0
# MipmappedArray: the levels of a mipmap, each an OpaqueArray.


cdef class MipmappedArray:
    """A sequence of array levels; each level has half of the previous level's extents.

    `Device.create_mipmapped_array` creates it. The array owns the memory of all levels.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("MipmappedArray cannot be instantiated directly. Use "
                           "Device.create_mipmapped_array().")

    def close(self):
        """Destroy the array once no level, texture or graph references it.

        Blocks the host until all work of the context completes. Closing twice is harmless.

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
        """Value of the ``CUmipmappedArray``; 0 if the array is closed. Host only."""
        return self.identity if self.native.is_open(self) else 0

    @property
    def shape(self):
        """Extents of level 0 in elements, the fastest axis first. Host only."""
        return self.extents

    @property
    def format(self):
        """Format of the components, an `ArrayFormatType`. Host only."""
        return self.kind

    @property
    def num_channels(self):
        """Number of components of an element. Host only."""
        return self.channels

    @property
    def num_levels(self):
        """Number of levels. Host only."""
        return self.levels

    @property
    def is_surface_load_store(self):
        """Whether surface objects can be created from the levels. Host only."""
        return self.has_surfaces

    @property
    def device(self):
        """Device that holds the array. Host only."""
        return device_of_ordinal(self.ordinal)

    def get_level(self, level):
        """Return a level as an array, which retains this mipmapped array.

        Host only.

        Parameters
        ----------
        level : int
            Index of the level; level 0 is the largest.

        Returns
        -------
        OpaqueArray

        Raises
        ------
        ValueError
            If the level does not exist.

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
        cdef array_handle level_native = level_of(native, <unsigned>number)
        shape = tuple([max(extent >> number, 1) for extent in self.extents])
        return wrap_array(level_native, shape, self.kind, self.channels, self.has_surfaces)

    def __enter__(self):
        self.native.check_open(self)
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __repr__(self):
        if self.kind is None:
            return "<MipmappedArray>"
        return (f"MipmappedArray(shape={self.extents}, format={self.kind.name}, "
                f"num_channels={self.channels}, num_levels={self.levels})")


def create_mipmapped(device, options):
    """Implement `Device.create_mipmapped_array`. Host only."""
    cdef CUDA_ARRAY3D_DESCRIPTOR descriptor
    checked = texture_options("MipmappedArrayOptions", options, "MipmappedArray options")
    fill_array_descriptor(&descriptor, checked)
    cdef unsigned levels = min(checked.num_levels, 0xFFFFFFFF)
    cdef context_handle context = context_of_device(device)
    cdef mipmapped_array_handle native
    with nogil:
        native = create_mipmapped_array(context.take(), descriptor, levels)
    cdef MipmappedArray array = MipmappedArray.__new__(MipmappedArray)
    array.identity = <uintptr_t>native.raw()
    array.ordinal = native.parent().context().facts().device
    array.extents, array.kind = checked.shape, checked.format
    array.channels, array.levels = checked.num_channels, levels
    array.has_surfaces = descriptor.Flags != 0
    array.native.hold(array, native.take())
    return array

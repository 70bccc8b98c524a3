# SPDX-License-Identifier: Apache-2.0
# LaunchConfig: the shape of a launch, kept as the driver takes it.

from libc.string cimport memcpy


# No cycle goes through one: its attributes are numbers, and events and windows that are its own.
@cython.no_gc
cdef class LaunchConfig:
    """LaunchConfig(grid=None, cluster=None, block=None, shmem_size=None, is_cooperative=False, \
programmatic_stream_serialization=False, **attributes)
--

How many threads a launch has, and how they run.

`grid` and `block` are required. With `cluster`, `grid` counts clusters: ``grid=4, cluster=2`` is
8 blocks. Assigning a field applies the rules of the constructor.

Parameters
----------
grid, block : int or tuple of up to 3 ints
    Blocks (or clusters) of the grid and threads of a block, in x, y, z.
cluster : int or tuple of up to 3 ints, optional
    Blocks of a cluster in x, y, z; needs compute capability 9.0.
shmem_size : int, optional
    Dynamic shared memory of a block, in bytes.
is_cooperative : bool, optional
    Whether all blocks run at once, so that they can wait for each other.
programmatic_stream_serialization : bool, optional
    Whether the kernel may start before the one before it has ended.
**attributes
    The other attributes of launches, by the names of the driver in lower case: each is a property
    of the class, and None where it is not asked for. A driver that is too old for one of them is
    told at the launch.

Raises
------
ValueError
    If an extent is not a positive int, `shmem_size` is negative, or an attribute has no such value.
TypeError
    If `shmem_size` is not an int, or an attribute is unknown or of another type.
CUDAError
    If the current device has no clusters, or cannot launch cooperatively.
"""

    # The constructor call itself is C++ (install_config_constructor); this serves subclasses.
    def __init__(self, *args, **kwargs):
        cdef PyObject* values[config_argument_count]
        memset(values, 0, sizeof(values))
        if len(args) > len(CONFIG_NAMES):
            raise TypeError(f"LaunchConfig() takes at most {len(CONFIG_NAMES)} positional "
                            f"arguments, got {len(args)}")
        for place, value in enumerate(args):
            values[place] = <PyObject*>value
        further = {name: kwargs.pop(name) for name in FURTHER_ATTRIBUTES if name in kwargs}
        for name, value in kwargs.items():
            place = CONFIG_PLACES.get(name)
            if place is None or values[place] is not NULL:
                raise TypeError(f"LaunchConfig() got an unexpected or doubled argument {name!r}")
            values[place] = <PyObject*>value
        configure(self.fields, values)
        set_further(self, further)

    @property
    def grid(self):
        """Blocks in x, y, z, or clusters where `cluster` is set. Host only."""
        return dimensions_as_tuple(self.fields.grid)

    @grid.setter
    def grid(self, value):
        assign(self.fields, config_grid, value)

    @property
    def cluster(self):
        """Blocks of a cluster in x, y, z; None without clusters. Host only."""
        return dimensions_as_tuple(self.fields.cluster)

    @cluster.setter
    def cluster(self, value):
        assign(self.fields, config_cluster, value)

    @property
    def block(self):
        """Threads of a block in x, y, z. Host only."""
        cdef CUlaunchConfig* native = &self.fields.native
        return native.blockDimX, native.blockDimY, native.blockDimZ

    @block.setter
    def block(self, value):
        assign(self.fields, config_block, value)

    @property
    def shmem_size(self):
        """Dynamic shared memory of a block, in bytes. Host only."""
        return self.fields.native.sharedMemBytes

    @shmem_size.setter
    def shmem_size(self, value):
        assign(self.fields, config_shmem_size, value)

    @property
    def is_cooperative(self):
        """Whether all blocks run at once. Host only."""
        return self.fields.is_cooperative

    @is_cooperative.setter
    def is_cooperative(self, value):
        assign(self.fields, config_is_cooperative, value)

    @property
    def programmatic_stream_serialization(self):
        """Whether the kernel may start before the one before it has ended. Host only."""
        return self.fields.programmatic_stream_serialization

    @programmatic_stream_serialization.setter
    def programmatic_stream_serialization(self, value):
        assign(self.fields, config_programmatic, value)

    @property
    def cooperative_launch(self):
        """An older spelling of `is_cooperative`."""
        warn_deprecated("LaunchConfig.cooperative_launch", "LaunchConfig.is_cooperative")
        return self.fields.is_cooperative

    @cooperative_launch.setter
    def cooperative_launch(self, value):
        warn_deprecated("LaunchConfig.cooperative_launch", "LaunchConfig.is_cooperative")
        assign(self.fields, config_is_cooperative, value)

    def _identity(self):
        """The values of all fields, in the order of the constructor. Host only."""
        return (self.grid, self.cluster, self.block, self.shmem_size, self.is_cooperative,
                self.programmatic_stream_serialization)

    def __eq__(self, other):
        if not isinstance(other, LaunchConfig):
            return NotImplemented
        return (self._identity() == (<LaunchConfig>other)._identity()
                and further_of(self) == further_of(<LaunchConfig>other))

    def __hash__(self):
        return hash((*self._identity(), *further_of(self).items()))

    def __reduce__(self):
        further = further_of(self)
        if not further:
            return type(self), self._identity()
        return rebuild_config, (type(self), self._identity(), further)

    def __repr__(self):
        fields = {**dict(zip(CONFIG_NAMES, self._identity())), **further_of(self)}
        return f"LaunchConfig({', '.join([f'{n}={v!r}' for n, v in fields.items()])})"


cdef dict further_of(LaunchConfig config):
    return {} if config.further is None else config.further.values


def rebuild_config(cls, identity, further):
    """What a pickled LaunchConfig with further attributes becomes. Host only."""
    return cls(*identity, **further)


CONFIG_NAMES = ("grid", "cluster", "block", "shmem_size", "is_cooperative",
                "programmatic_stream_serialization")
# The older spellings follow in the order of config_argument.
CONFIG_PLACES = {name: place for place, name in
                 enumerate((*CONFIG_NAMES, "cooperative_launch", "stream"))}


cdef LaunchConfig accept_config(object given):
    if isinstance(given, LaunchConfig):
        return <LaunchConfig>given
    if isinstance(given, dict):
        return LaunchConfig(**given)
    raise TypeError(f"config must be a LaunchConfig or a dict of its keywords, got "
                    f"{qualified_name(given)}")


def _to_native_launch_config(LaunchConfig config not None):
    """The configuration as `cuda.bindings.driver.CUlaunchConfig`, without a stream. Host only."""
    cdef CUlaunchConfig* native = &config.fields.native
    low = import_module("cuda.bindings.driver")
    made = low.CUlaunchConfig()
    made.gridDimX, made.gridDimY, made.gridDimZ = native.gridDimX, native.gridDimY, native.gridDimZ
    made.blockDimX, made.blockDimY, made.blockDimZ = config.block
    made.sharedMemBytes = native.sharedMemBytes
    attributes = native_attributes(low, config)
    made.attrs = attributes
    made.numAttrs = len(attributes)
    return made


cdef list native_attributes(object low, LaunchConfig config):
    """The launch attributes in the order in which the driver gets them."""
    cdef CUlaunchAttribute[most_attributes] all
    cdef unsigned count = gather_attributes(config.fields, config.fields.further, all)
    attributes = [low.CUlaunchAttribute() for _ in range(count)]
    for i, attribute in enumerate(attributes):
        memcpy(<void*><uintptr_t>attribute.getPtr(), &all[i], sizeof(CUlaunchAttribute))
    return attributes


cdef int register_launch_config() except -1:
    cdef LaunchConfig sample = LaunchConfig.__new__(LaunchConfig)
    cdef _FurtherAttributes further = _FurtherAttributes.__new__(_FurtherAttributes)
    cdef config_hooks hooks
    register_config_class(sample, &sample.fields)
    register_further_class(further, &further.fields)
    install_further_attributes()
    hooks.cuda_error = <PyObject*>CUDAError
    hooks.further_names = <PyObject*>FURTHER_ATTRIBUTES
    hooks.set_further = set_further
    hooks.raise_too_old = raise_too_old_for_launch
    return install_config_constructor(LaunchConfig, hooks)


register_launch_config()

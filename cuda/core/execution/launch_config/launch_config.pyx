# SPDX-License-Identifier: Apache-2.0
# LaunchConfig: the shape of a launch, stored in the driver's format.

from libc.string cimport memcpy


# no_gc: no cycle is possible, since the attributes are numbers, events and windows.
@cython.no_gc
cdef class LaunchConfig:
    """LaunchConfig(grid=None, cluster=None, block=None, shmem_size=None, is_cooperative=False, \
programmatic_stream_serialization=False, **attributes)
--

Number of threads of a launch, and its options.

`grid` and `block` are required. With `cluster`, `grid` counts clusters: ``grid=4, cluster=2`` is
8 blocks. Assigning a field applies the rules of the constructor.

Parameters
----------
grid, block : int or sequence of up to 3 ints
    Blocks (or clusters) of the grid and threads of a block, in x, y, z. A sequence is a tuple, a
    list or an array with one axis.
cluster : int or sequence of up to 3 ints, optional
    Blocks of a cluster in x, y, z; requires compute capability 9.0.
shmem_size : int, optional
    Dynamic shared memory of a block, in bytes. A launch with more than the kernel's limit raises
    the limit, up to what the device grants.
is_cooperative : bool, optional
    Whether all blocks run at once, so that they can wait for each other.
programmatic_stream_serialization : bool, optional
    Whether the kernel may start before the previous kernel has completed.
**attributes
    Other launch attributes, by the driver's names in lower case. Each is a property of the class,
    None if unset. A launch raises RuntimeError if the driver lacks an attribute.

Raises
------
ValueError
    If an extent is not a positive int, `shmem_size` is negative, or the value of an attribute is
    invalid.
TypeError
    If `shmem_size` is not an int, or an attribute is unknown or has the wrong type.
CUDAError
    If the current device does not support clusters or cooperative launches.
"""

    # Calls of the class run C++ (install_config_constructor); subclasses call this method.
    def __init__(self, *args, **kwargs):
        cdef PyObject* values[config_argument_count]
        memset(values, 0, sizeof(values))
        if len(args) > len(CONFIG_NAMES):
            raise TypeError(f"LaunchConfig() takes at most {len(CONFIG_NAMES)} positional "
                            f"arguments, got {len(args)}")
        for index, value in enumerate(args):
            values[index] = <PyObject*>value
        further = {name: kwargs.pop(name) for name in FURTHER_ATTRIBUTES if name in kwargs}
        for name, value in kwargs.items():
            index = CONFIG_PLACES.get(name)
            if index is None:
                raise_unknown_keyword(name)
            if values[index] is not NULL:
                raise TypeError(f"LaunchConfig() got multiple values for argument {name!r}")
            values[index] = <PyObject*>value
        configure(self.fields, values)
        set_further(self, further)

    @property
    def grid(self):
        """Number of blocks in x, y, z, or of clusters if `cluster` is set. Host only."""
        return dimensions_as_tuple(self.fields.grid)

    @grid.setter
    def grid(self, value):
        assign(self.fields, config_grid, value)

    @property
    def cluster(self):
        """Number of blocks of a cluster in x, y, z; None without clusters. Host only."""
        return dimensions_as_tuple(self.fields.cluster)

    @cluster.setter
    def cluster(self, value):
        assign(self.fields, config_cluster, value)

    @property
    def block(self):
        """Number of threads of a block in x, y, z. Host only."""
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
        """Whether the kernel may start before the previous kernel has completed. Host only."""
        return self.fields.programmatic_stream_serialization

    @programmatic_stream_serialization.setter
    def programmatic_stream_serialization(self, value):
        assign(self.fields, config_programmatic, value)

    @property
    def cooperative_launch(self):
        """Deprecated spelling of `is_cooperative`."""
        warn_deprecated("LaunchConfig.cooperative_launch", "LaunchConfig.is_cooperative")
        return self.fields.is_cooperative

    @cooperative_launch.setter
    def cooperative_launch(self, value):
        warn_deprecated("LaunchConfig.cooperative_launch", "LaunchConfig.is_cooperative")
        assign(self.fields, config_is_cooperative, value)

    def _identity(self):
        """Return the values of all fields in the order of the constructor. Host only."""
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
    """Unpickle a LaunchConfig with further attributes. Host only."""
    return cls(*identity, **further)


CONFIG_NAMES = ("grid", "cluster", "block", "shmem_size", "is_cooperative",
                "programmatic_stream_serialization")
# Deprecated names follow, in the order of config_argument.
CONFIG_PLACES = {name: index for index, name in
                 enumerate((*CONFIG_NAMES, "cooperative_launch", "stream"))}


cdef LaunchConfig accept_config(object value, str order=""):
    if isinstance(value, LaunchConfig):
        return <LaunchConfig>value
    if isinstance(value, dict):
        return LaunchConfig(**value)
    raise TypeError(f"config must be a LaunchConfig or a dict of its keywords, got "
                    f"{qualified_name(value)}{order}")


def _to_native_launch_config(LaunchConfig config not None):
    """Convert to a `cuda.bindings.driver.CUlaunchConfig` without a stream. Host only."""
    cdef CUlaunchConfig* native = &config.fields.native
    low = import_module("cuda.bindings.driver")
    result = low.CUlaunchConfig()
    result.gridDimX, result.gridDimY = native.gridDimX, native.gridDimY
    result.gridDimZ, result.sharedMemBytes = native.gridDimZ, native.sharedMemBytes
    result.blockDimX, result.blockDimY, result.blockDimZ = config.block
    attributes = native_attributes(low, config)
    result.attrs = attributes
    result.numAttrs = len(attributes)
    return result


cdef list native_attributes(object low, LaunchConfig config):
    """Return the launch attributes in the order that the driver receives."""
    cdef CUlaunchAttribute[most_attributes] attributes_out
    cdef unsigned count = gather_attributes(config.fields, config.fields.further, attributes_out)
    attributes = [low.CUlaunchAttribute() for _ in range(count)]
    for i, attribute in enumerate(attributes):
        memcpy(<void*><uintptr_t>attribute.getPtr(), &attributes_out[i], sizeof(CUlaunchAttribute))
    return attributes


cdef void raise_unknown_keyword(object name) except *:
    hint = import_module("cuda.core.arguments.suggestions").names_hint
    names = [*CONFIG_NAMES, *FURTHER_ATTRIBUTES]
    raise TypeError(f"LaunchConfig() got an unexpected keyword argument {name!r}"
                    f"{hint(name, names)}")


cdef object get_further(PyObject* owner, void* closure):
    cdef LaunchConfig self = <LaunchConfig>owner
    return None if self.further is None else self.further.values.get(<object>closure)


cdef int set_further_attribute(PyObject* owner, PyObject* value, void* closure) except -1:
    cdef LaunchConfig self = <LaunchConfig>owner
    if value is NULL:
        raise AttributeError(f"property '{<object>closure}' of 'LaunchConfig' cannot be deleted; "
                             "assign None to unset it")
    values = {} if self.further is None else self.further.values
    assign_further(self, create_further({**values, <object>closure: <object>value}))


cdef int assign_further(LaunchConfig self, _FurtherAttributes further) except -1:
    cdef _FurtherAttributes _previous = self.further  # its destructor may run Python code
    self.further = further
    self.fields.further = NULL
    if further is not None:
        self.fields.further = <PyObject*>further
    self.fields.is_plain = self.fields.is_valid and further is None


cdef int set_further(object config, object values) except -1:
    return assign_further(<LaunchConfig>config, create_further(values))


cdef list FURTHER_TEXTS = []
cdef PyGetSetDef[16] further_getters


cdef int install_further_attributes() except -1:
    """Add one descriptor per attribute to LaunchConfig, with a docstring."""
    cls = <PyTypeObject*>LaunchConfig
    names = <dict>(<mutable_type*>cls).tp_dict
    for index, (name, row) in enumerate(FURTHER_ATTRIBUTES.items()):
        encoded, doc = name.encode(), f"{row[4]} None if unset. Host only.".encode()
        FURTHER_TEXTS.extend((name, encoded, doc))  # the descriptors point into them
        further_getters[index].name = encoded
        further_getters[index].get = get_further
        further_getters[index].set = set_further_attribute
        further_getters[index].doc = doc
        further_getters[index].closure = <void*><PyObject*>name
        names[name] = PyDescr_NewGetSet(cls, &further_getters[index])
    PyType_Modified(cls)


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
    hooks.raise_unknown = raise_unknown_keyword
    hooks.raise_too_old = require_launch_support
    return install_config_constructor(LaunchConfig, hooks)


register_launch_config()

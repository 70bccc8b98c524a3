# SPDX-License-Identifier: Apache-2.0
# DeviceProperties: the attributes of one device, built from one table.

# Properties that the repr shows, to distinguish devices; as_dict() returns all.
cdef tuple SHOWN_PROPERTIES = (
    "compute_capability_major", "compute_capability_minor", "multiprocessor_count",
    "max_threads_per_block", "max_shared_memory_per_block_optin", "l2_cache_size")


@cython.final
cdef class DeviceProperties:
    """Properties of a device: each attribute is a ``CU_DEVICE_ATTRIBUTE_...`` of the driver.

    `Device.properties` returns this object. Each value is queried once, except values that may
    change, such as clocks and the compute mode. Attributes unknown to the driver are 0 or False.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "DeviceProperties cannot be instantiated directly. Please use Device APIs. "
            "It comes from Device.properties.")

    def as_dict(self):
        """Return all attributes as a dict, name to value. Host only."""
        return {name: getattr(self, name) for name in attribute_names}

    def __getitem__(self, name):
        if name not in attribute_names:
            hint = import_module("cuda.core.arguments.suggestions").similar_name
            raise KeyError(f"no device property {shown(name)}{hint(name, attribute_names)}")
        return getattr(self, name)

    def __iter__(self):
        return iter(attribute_names)

    def __reduce__(self):
        return getattr, (device_of_ordinal(self.ordinal), "properties")

    def __repr__(self):
        shown = ", ".join([f"{name}={getattr(self, name)}" for name in SHOWN_PROPERTIES])
        return f"<DeviceProperties device={self.ordinal} {shown} ...>"

    def __dir__(self):
        special = [name for name in object.__dir__(self) if name.startswith("_")]
        return sorted([*special, *attribute_names])


cdef DeviceProperties make_properties(int ordinal):
    cdef DeviceProperties properties = DeviceProperties.__new__(DeviceProperties)
    properties.ordinal = ordinal
    return properties


cdef object get_property(PyObject* owner, void* closure):
    """Return the value of an attribute; `closure` is its index in the table."""
    cdef DeviceProperties self = <DeviceProperties>owner
    cdef Py_ssize_t index = <Py_ssize_t>closure
    cdef const attribute_record* record = &device_attributes()[index]
    cdef int value
    cdef CUresult code
    with cython.critical_section(self):
        value = self.values[index]
        if not self.is_known[index]:
            code = try_call(driver.cuDeviceGetAttribute, &value, record.id, self.ordinal)
            if code == CUDA_ERROR_INVALID_VALUE:
                value = record.fallback
            else:
                check(code, "cuDeviceGetAttribute")
            if record.cache == attribute_is_cached:
                self.values[index] = value
                self.is_known[index] = True
    if record.kind == attribute_is_boolean:
        return value != 0
    return value


cdef PyGetSetDef[device_attribute_count] attribute_getters
cdef dict attribute_names = {}  # name -> None, in order


cdef int install_attribute_getters() except -1:
    """Add one descriptor per record to the class, with a docstring."""
    cdef Py_ssize_t index
    cls = <PyTypeObject*>DeviceProperties
    for index in range(device_attribute_count):
        record = &device_attributes()[index]
        attribute_getters[index].name = record.name
        attribute_getters[index].get = get_property
        attribute_getters[index].doc = b"Value of the driver attribute of the same name. Host only."
        attribute_getters[index].closure = <void*>index
        name = record.name.decode("ascii")
        attribute_names[name] = None
        names = <dict>(<mutable_type*>cls).tp_dict
        names[name] = PyDescr_NewGetSet(cls, &attribute_getters[index])
    PyType_Modified(cls)


install_attribute_getters()

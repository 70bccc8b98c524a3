# SPDX-License-Identifier: Apache-2.0
"""Structs of the low layer: fields, views, repr."""

import pickle

from cuda.bindings import driver as d


def set_and_read(cls, name, value):
    struct = cls()
    setattr(struct, name, value)
    return getattr(struct, name)


def repr_of(cls, **fields):
    struct = cls()
    for name, value in fields.items():
        setattr(struct, name, value)
    return repr(struct)


def child_writes_the_parent():
    properties = d.CUmemPoolProps()
    properties.location.id = 3
    properties.location.type = d.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    return (
        properties.location.id,
        properties.location.type,
        properties.location is properties.location,
    )


def copy_of_a_child():
    properties, place = d.CUmemPoolProps(), d.CUmemLocation()
    place.id = 5
    properties.location = place
    place.id = 6
    return properties.location.id


def attributes_of_a_launch():
    config, attribute = d.CUlaunchConfig(), d.CUlaunchAttribute()
    attribute.id = d.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
    attribute.value.cooperative = 1
    before = config.attrs
    config.attrs = [attribute]
    after = [(int(each.id), each.value.cooperative) for each in config.attrs], config.numAttrs
    config.attrs = []
    return before, after, config.attrs


def view():
    location = d.CUmemLocation()
    location.id = 9
    return d.CUmemLocation(_ptr=location.getPtr()).id


CASES = [
    child_writes_the_parent,
    copy_of_a_child,
    attributes_of_a_launch,
    view,
    lambda: repr(d.CUmemLocation()),
    lambda: repr(d.CUlaunchConfig()),
    lambda: repr(d.CUdevprop()),
    lambda: repr_of(d.CUlaunchConfig, gridDimX=3, sharedMemBytes=5),
    lambda: set_and_read(d.CUlaunchConfig, "gridDimX", 7),
    lambda: set_and_read(d.CUlaunchConfig, "gridDimX", -1),
    lambda: set_and_read(d.CUlaunchConfig, "gridDimX", 2**32),
    lambda: set_and_read(d.CUlaunchConfig, "gridDimX", 1.5),
    lambda: set_and_read(d.CUlaunchConfig, "gridDimX", "x"),
    lambda: set_and_read(d.CUlaunchConfig, "gridDimX", None),
    lambda: int(set_and_read(d.CUlaunchConfig, "hStream", 5)),
    lambda: int(set_and_read(d.CUlaunchConfig, "hStream", d.CUstream(5))),
    lambda: int(set_and_read(d.CUlaunchConfig, "hStream", None)),
    lambda: set_and_read(d.CUlaunchConfig, "hStream", "x"),
    lambda: set_and_read(d.CUlaunchConfig, "attrs", 3),
    lambda: set_and_read(d.CUlaunchConfig, "missing", 3),
    lambda: d.CUlaunchConfig().missing,
    lambda: set_and_read(d.CUmemLocation, "type", 1),
    lambda: set_and_read(d.CUmemLocation, "type", d.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST),
    lambda: set_and_read(d.CUmemLocation, "type", None),
    lambda: set_and_read(d.CUmemPoolProps, "location", 3),
    lambda: set_and_read(d.CUmemPoolProps, "maxSize", 2**40),
    lambda: set_and_read(d.CUDA_MEMCPY2D, "srcHost", 0x1234),
    lambda: set_and_read(d.CUDA_MEMCPY2D, "srcHost", None),
    lambda: set_and_read(d.CUDA_MEMCPY2D, "srcHost", bytearray(8)) != 0,
    lambda: set_and_read(d.CUDA_MEMCPY2D, "srcHost", "x"),
    lambda: d.CUuuid().bytes,
    lambda: set_and_read(d.CUuuid, "bytes", b"0" * 16),
    lambda: len(d.CUipcMemHandle().reserved),
    lambda: d.CUmemLocation() == d.CUmemLocation(),
    lambda: d.CUmemLocation() != 3,
    lambda: type(d.CUmemLocation().getPtr()),
    lambda: pickle.dumps(d.CUmemLocation())[:0],
    lambda: [base.__name__ for base in d.CUuuid.__mro__],
    lambda: [base.__name__ for base in d.CUmemLocation.__mro__],
    lambda: d.sizeof(d.CUlaunchConfig),
    lambda: d.sizeof(d.CUtensorMap),
    lambda: d.sizeof(d.CUlaunchAttributeValue),
    lambda: type(d.CUlaunchAttributeValue().clusterDim.x),
    lambda: d.CUDA_KERNEL_NODE_PARAMS().kernelParams,
]

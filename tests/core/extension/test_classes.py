# SPDX-License-Identifier: Apache-2.0
"""Properties of every class of the object layer: safe methods, signatures."""

import inspect

import pytest
from cuda.core import (
    Buffer,
    Context,
    Device,
    DeviceMemoryResource,
    Event,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    MemoryResource,
    ObjectCode,
    Program,
    Stream,
)

CLASSES = (
    *(Buffer, Context, Device, DeviceMemoryResource, Event, Kernel, LaunchConfig),
    *(LegacyPinnedMemoryResource, MemoryResource, ObjectCode, Program, Stream),
)


def methods():
    for owner in CLASSES:
        for name, value in vars(owner).items():
            if type(value).__name__ in ("method_descriptor", "cython_function_or_method"):
                yield pytest.param(value, id=f"{owner.__name__}.{name}")


class Other:
    """Smaller than every object of the package, and closable."""

    __slots__ = ()


@pytest.mark.parametrize("method", list(methods()))
def test_a_method_called_on_another_class_is_refused(method):
    for other in (Other(), 3, b"bytes", None, Device):
        with pytest.raises(TypeError, match="doesn't apply to a '"):
            method(other)


def test_a_method_accepts_objects_of_subclasses(device):
    class Derived(Stream):
        __slots__ = ()

    with Derived() as stream:
        assert Stream.sync(stream) is None
    assert Stream.close(stream) is None


@pytest.mark.parametrize(
    ("made_by_name", "signature"),
    [
        (Device, "(device_id=None)"),
        (DeviceMemoryResource, "(device_id, options=None)"),
        (Program, "(code, code_type, options=None)"),
        (
            LaunchConfig,
            "(grid=None, cluster=None, block=None, shmem_size=None, is_cooperative=False, "
            "programmatic_stream_serialization=False, **attributes)",
        ),
    ],
)
def test_a_class_that_can_be_called_has_a_signature(made_by_name, signature):
    assert str(inspect.signature(made_by_name)) == signature
    assert inspect.getdoc(made_by_name)[0].isupper()

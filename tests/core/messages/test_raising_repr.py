# SPDX-License-Identifier: Apache-2.0
"""Values of a class whose `__repr__` raises: the error of the call stays."""

import pytest
from cuda.core import (
    Host,
    LaunchConfig,
    Linker,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    ObjectCode,
    PoolMemoryResource,
    Program,
    ProgramOptions,
    StreamOptions,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
)
from cuda.core._layout import _StridedLayout
from cuda.core.graph import GraphDefinition


class Silent:
    """No value of any argument."""

    def __repr__(self):
        raise KeyError("the repr")


class NegativeSize(Silent):
    """An integer out of every range."""

    def __index__(self):
        return -1


class HugeSize(Silent):
    def __index__(self):
        return 2**70


class Undecided(Silent):
    """A value without truth, like an array."""

    def __bool__(self):
        raise ValueError("ambiguous")


SILENT, NEGATIVE, HUGE, UNDECIDED = Silent(), NegativeSize(), HugeSize(), Undecided()
CALLS = {
    "grid": lambda objects: LaunchConfig(grid=SILENT, block=1),
    "block": lambda objects: LaunchConfig(grid=1, block=(1, SILENT)),
    "negative grid": lambda objects: LaunchConfig(grid=[NEGATIVE], block=1),
    "huge block": lambda objects: LaunchConfig(grid=1, block=(HUGE, 1)),
    "shared memory": lambda objects: LaunchConfig(grid=1, block=1, shmem_size=SILENT),
    "negative shared memory": lambda objects: LaunchConfig(grid=1, block=1, shmem_size=NEGATIVE),
    "huge shared memory": lambda objects: LaunchConfig(grid=1, block=1, shmem_size=HUGE),
    "cooperative": lambda objects: LaunchConfig(1, None, 1, cooperative_launch=UNDECIDED),
    "priority": lambda objects: LaunchConfig(grid=1, block=1, priority=SILENT),
    "policy": lambda objects: LaunchConfig(grid=1, block=1, access_policy_window=SILENT),
    "stream options": lambda objects: objects.device.create_stream(options=SILENT),
    "stream priority": lambda objects: objects.device.create_stream(
        options=StreamOptions(priority=SILENT)
    ),
    "size": lambda objects: objects.device.allocate(SILENT, stream=objects.stream),
    "property": lambda objects: objects.device.properties[SILENT],
    "program options": lambda objects: Program("", "c++", SILENT),
    "macro": lambda objects: Program("", "c++", ProgramOptions(define_macro=[SILENT])).compile(
        "ptx"
    ),
    "logs": lambda objects: Program("", "c++").compile("ptx", logs=SILENT),
    "linker options": lambda objects: Linker(ObjectCode.from_ptx(b""), options=SILENT),
    "host": lambda objects: Host(SILENT),
    "location": lambda objects: ManagedMemoryResource(
        ManagedMemoryResourceOptions(preferred_location=0, preferred_location_type=SILENT)
    ),
    "capture": lambda objects: PoolMemoryResource(objects.device, capture=SILENT),
    "virtual": lambda objects: VirtualMemoryResource(
        objects.device, VirtualMemoryResourceOptions(handle_type=SILENT)
    ),
    "order": lambda objects: _StridedLayout.dense((2, 3), 4, stride_order=SILENT),
    "version": lambda objects: objects.buffer.__dlpack__(max_version=SILENT),
    "bits": lambda objects: objects.stream.wait_value(objects.buffer, 0, bits=SILENT),
    "memory type": lambda objects: GraphDefinition().allocate(64, memory_type=SILENT),
}


@pytest.fixture
def objects(device, stream, request):
    class Objects:
        pass

    Objects.device, Objects.stream = device, stream
    Objects.buffer = device.allocate(64, stream=stream)
    yield Objects
    Objects.buffer.close(stream)


@pytest.mark.parametrize("name", CALLS)
def test_the_error_is_that_of_the_call(objects, name):
    with pytest.raises(Exception) as caught:
        CALLS[name](objects)
    assert "whose repr raises KeyError" in str(caught.value)

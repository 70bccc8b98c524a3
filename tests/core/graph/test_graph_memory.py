# SPDX-License-Identifier: Apache-2.0
"""GraphMemoryResource: memory that graph launches allocate."""

import pytest
from cuda.core import CUDAError, Device, DeviceMemoryResource, GraphMemoryResource


@pytest.fixture
def resource(device):
    yield GraphMemoryResource(device)
    GraphMemoryResource(device).trim()


@pytest.fixture
def builder(device):
    with device.create_graph_builder() as builder:
        yield builder.begin_building()


def test_each_device_has_one(device, resource):
    assert GraphMemoryResource(0) is GraphMemoryResource(Device(0)) is resource
    assert resource.device_id == 0
    assert resource.is_device_accessible and not resource.is_host_accessible
    resource.close()


def test_a_subclass_has_its_own(device):
    class Derived(GraphMemoryResource):
        pass

    first = Derived(device)
    assert type(GraphMemoryResource(device)) is GraphMemoryResource
    assert Derived(device) is first and first.device_id == device.device_id


@pytest.mark.parametrize("number", [1 << 31, -(1 << 63), 1 << 80])
def test_a_number_beyond_32_bits_is_no_device(number):
    with pytest.raises(OverflowError, match="device_id must be from"):
        GraphMemoryResource(number)


def test_construction_requires_no_driver():
    assert GraphMemoryResource(0) is GraphMemoryResource(0)


def test_the_stream_must_be_capturing(resource, stream):
    text = "cannot perform memory operations on a non-capturing stream"
    with pytest.raises(RuntimeError, match=text):
        resource.allocate(64, stream=stream)
    with pytest.raises(TypeError, match="must not be None"):
        resource.allocate(64, stream=None)


def test_memory_closed_during_the_capture(resource, builder, stream):
    buffer = resource.allocate(64, stream=builder)
    assert buffer.memory_resource is resource and buffer.size == 64
    buffer.fill(1, stream=builder)
    buffer.close()
    kinds = [type(n).__name__ for n in builder.end_building().graph_definition.nodes()]
    assert sorted(kinds) == ["AllocNode", "FreeNode", "MemsetNode"]
    graph = builder.complete()
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    graph.close()


def test_memory_that_outlives_the_launch(resource, builder, stream, numbers):
    buffer = resource.allocate(64, stream=builder)
    buffer.fill(1, stream=builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    buffer.copy_to(numbers.buffer, stream=stream)
    buffer.close(stream)
    stream.sync()
    assert numbers[0] == 0x01010101
    graph.launch(stream)  # it was freed
    resource.deallocate(int(graph_address(builder)), 64, stream=stream)
    stream.sync()
    graph.close()


def graph_address(builder):
    (node,) = [n for n in builder.graph_definition.nodes() if type(n).__name__ == "AllocNode"]
    return node.dptr


def test_a_second_launch_without_a_free_fails(resource, builder, stream):
    buffer = resource.allocate(64, stream=builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    with pytest.raises(CUDAError):
        graph.launch(stream)
    buffer.close(stream)
    stream.sync()
    graph.close()


def test_launches_can_free_it_automatically(resource, builder, stream):
    buffer = resource.allocate(64, stream=builder)
    graph = builder.end_building().complete({"auto_free_on_launch": True})
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    buffer.close(stream)
    stream.sync()
    graph.close()


def test_a_device_allocates_from_it_during_a_capture(device, builder):
    for stream in (builder, builder.stream):
        buffer = device.allocate(64, stream=stream)
        assert buffer.memory_resource is GraphMemoryResource(device)
        buffer.close()
    with pytest.raises(RuntimeError, match="capturing stream"):
        DeviceMemoryResource(device).allocate(64, stream=builder)


def test_zero_bytes(resource, builder):
    with resource.allocate(0, stream=builder) as buffer:
        assert buffer.size == 0


def test_attributes(resource, builder, stream):
    buffer = resource.allocate(1 << 20, stream=builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    attributes = resource.attributes
    used = attributes.used_mem_current
    assert used >= 1 << 20
    assert attributes.used_mem_high >= attributes.used_mem_current
    assert attributes.reserved_mem_current >= attributes.used_mem_current
    buffer.close(stream)
    stream.sync()
    graph.close()  # the memory belonged to it
    resource.trim()
    attributes.used_mem_high = 0
    assert attributes.used_mem_high == attributes.used_mem_current <= used - (1 << 20)
    with pytest.raises(AttributeError, match=r"'reserved_mem_high' may only be set to zero \(got"):
        attributes.reserved_mem_high = 3
    with pytest.raises(AttributeError):
        attributes.used_mem_current = 0
    assert repr(attributes).startswith("GraphMemoryResourceAttributes(reserved_mem_current=")

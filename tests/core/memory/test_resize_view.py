# SPDX-License-Identifier: Apache-2.0
"""Buffer.resize_view: a view of a buffer that owns the memory as well."""

import pytest
from cuda.core import Buffer, DeviceMemoryResource, LegacyPinnedMemoryResource


@pytest.fixture
def resource(device):
    resource = DeviceMemoryResource(device, {})
    yield resource
    resource.close()


def test_it_shows_the_same_bytes(device, stream):
    with LegacyPinnedMemoryResource().allocate(16) as buffer, buffer.resize_view(4, 8) as view:
        assert (view.handle, view.size) == (buffer.handle + 4, 8)
        memoryview(buffer).cast("B")[:] = bytes(16)
        view.fill(7, stream=stream)
        stream.sync()
        assert bytes(memoryview(buffer)) == bytes(4) + b"\7" * 8 + bytes(4)
        assert view.is_host_accessible
        assert view.memory_resource is buffer.memory_resource


def test_the_memory_is_freed_with_the_last_of_them(resource, stream):
    buffer = resource.allocate(64, stream=stream)
    view = buffer.resize_view(8, 8)
    of_part = view.resize_view(4, 4)
    assert of_part.handle == buffer.handle + 12
    buffer.close()
    view.close()
    stream.sync()
    assert resource.attributes.used_mem_current > 0
    of_part.close()
    stream.sync()
    assert resource.attributes.used_mem_current == 0


def test_the_stream_of_any_of_them_orders_the_free(device, resource, stream):
    with device.create_stream() as other:
        buffer = resource.allocate(64, stream=stream)
        view = buffer.resize_view(0, 8)
        view.set_deallocation_stream(other)
        view.close()
        buffer.close(stream)
        stream.sync()
    assert resource.attributes.used_mem_current == 0


def test_an_owner_is_retained(device):
    class Owner:
        pass

    owner = Owner()
    buffer = Buffer.from_handle(4096, 64, owner=owner)
    view = buffer.resize_view(0, 64)
    buffer.close()
    assert view.owner is owner
    view.close()
    assert view.owner is None


def test_a_view_of_zero_bytes_at_the_end_is_valid(resource, stream):
    with resource.allocate(64, stream=stream) as buffer, buffer.resize_view(64, 0) as view:
        assert view.size == 0


@pytest.mark.parametrize(
    ("offset", "size"), [(65, 0), (0, 65), (60, 5), (2**63, 2**63), (1, 2**64 - 1)]
)
def test_a_range_outside_the_buffer_is_refused(resource, stream, offset, size):
    with resource.allocate(64, stream=stream) as buffer:
        with pytest.raises(ValueError, match="not inside a buffer of 64 bytes"):
            buffer.resize_view(offset, size)


def test_a_closed_buffer_has_no_views(resource, stream):
    buffer = resource.allocate(64, stream=stream)
    buffer.close()
    with pytest.raises(RuntimeError, match="Buffer has been closed"):
        buffer.resize_view(0, 1)


def test_a_negative_offset_is_refused(resource, stream):
    with resource.allocate(64, stream=stream) as buffer, pytest.raises(OverflowError):
        buffer.resize_view(-1, 1)

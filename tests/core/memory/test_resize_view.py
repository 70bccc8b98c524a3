# SPDX-License-Identifier: Apache-2.0
"""Buffer.resize_view: a part of a buffer that owns the memory as well."""

import pytest
from cuda.core import Buffer, DeviceMemoryResource, LegacyPinnedMemoryResource


@pytest.fixture
def resource(device):
    made = DeviceMemoryResource(device, {})
    yield made
    made.close()


def test_it_shows_the_same_bytes(device, stream):
    with LegacyPinnedMemoryResource().allocate(16) as whole, whole.resize_view(4, 8) as part:
        assert (part.handle, part.size) == (whole.handle + 4, 8)
        memoryview(whole).cast("B")[:] = bytes(16)
        part.fill(7, stream=stream)
        stream.sync()
        assert bytes(memoryview(whole)) == bytes(4) + b"\7" * 8 + bytes(4)
        assert part.is_host_accessible
        assert part.memory_resource is whole.memory_resource


def test_the_memory_goes_back_with_the_last_of_them(resource, stream):
    whole = resource.allocate(64, stream=stream)
    part = whole.resize_view(8, 8)
    of_part = part.resize_view(4, 4)
    assert of_part.handle == whole.handle + 12
    whole.close()
    part.close()
    stream.sync()
    assert resource.attributes.used_mem_current > 0
    of_part.close()
    stream.sync()
    assert resource.attributes.used_mem_current == 0


def test_the_stream_of_any_of_them_orders_the_free(device, resource, stream):
    with device.create_stream() as other:
        whole = resource.allocate(64, stream=stream)
        part = whole.resize_view(0, 8)
        part.set_deallocation_stream(other)
        part.close()
        whole.close(stream)
        stream.sync()
    assert resource.attributes.used_mem_current == 0


def test_an_owner_is_kept(device):
    class Owner:
        pass

    owner = Owner()
    whole = Buffer.from_handle(4096, 64, owner=owner)
    part = whole.resize_view(0, 64)
    whole.close()
    assert part.owner is owner
    part.close()
    assert part.owner is None


def test_no_bytes_at_the_end_are_a_part(resource, stream):
    with resource.allocate(64, stream=stream) as whole, whole.resize_view(64, 0) as part:
        assert part.size == 0


@pytest.mark.parametrize(
    ("offset", "size"), [(65, 0), (0, 65), (60, 5), (2**63, 2**63), (1, 2**64 - 1)]
)
def test_what_is_not_inside_is_refused(resource, stream, offset, size):
    with resource.allocate(64, stream=stream) as whole:
        with pytest.raises(ValueError, match="not inside a buffer of 64 bytes"):
            whole.resize_view(offset, size)


def test_a_closed_buffer_has_no_parts(resource, stream):
    whole = resource.allocate(64, stream=stream)
    whole.close()
    with pytest.raises(RuntimeError, match="Buffer has been closed"):
        whole.resize_view(0, 1)


def test_a_negative_offset_is_refused(resource, stream):
    with resource.allocate(64, stream=stream) as whole, pytest.raises(OverflowError):
        whole.resize_view(-1, 1)

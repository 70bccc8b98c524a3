# SPDX-License-Identifier: Apache-2.0
"""Operations of a closed resource that work and that are refused, for each pool owner."""

import gc
import weakref

import pytest
from cuda.core import DeviceMemoryResource, ManagedMemoryResource, PinnedMemoryResource

KINDS = {
    "device": lambda: DeviceMemoryResource(0, {}),
    "device, shared": lambda: DeviceMemoryResource(0, {"ipc_enabled": True}),
    "pinned": lambda: PinnedMemoryResource({}),
    "pinned, on a node": lambda: PinnedMemoryResource({"numa_id": 0}),
    "pinned, shared": lambda: PinnedMemoryResource({"ipc_enabled": True}),
    "managed": lambda: ManagedMemoryResource({}),
}
USES = {
    "allocate": lambda resource, stream: resource.allocate(16, stream=stream),
    "allocate nothing": lambda resource, stream: resource.allocate(0, stream=stream),
    "trim": lambda resource, stream: resource.trim(),
    "attributes": lambda resource, stream: resource.attributes,
    "set the threshold": lambda resource, stream: setattr(resource, "release_threshold", 0),
    "read the threshold": lambda resource, stream: resource.release_threshold,
}


@pytest.fixture(params=KINDS)
def make(request, device):
    return KINDS[request.param]


@pytest.fixture
def resource(make):
    resource = make()
    yield resource
    resource.close()


def test_closing_twice_is_harmless(resource):
    assert not resource.is_closed
    resource.close()
    resource.close()
    assert resource.is_closed
    with pytest.raises(AttributeError):
        resource.is_closed = False


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_it_is_refused_by_name(resource, stream, use):
    resource.close()
    with pytest.raises(RuntimeError, match=f"^{type(resource).__name__} has been closed"):
        use(resource, stream)


def test_it_can_be_described(resource):
    open_text, device_id = repr(resource), resource.device_id
    members = {resource}
    resource.close()
    assert type(resource).__name__ in open_text
    assert type(resource).__name__ in repr(resource)
    assert resource in members
    assert resource.device_id == device_id
    assert (resource.is_handle_owned, resource.is_mapped, resource.is_ipc_enabled) == (False,) * 3
    assert int(resource.handle) == 0


def test_its_buffers_stay_usable_and_are_freed(resource, stream, emulation):
    before = emulation.leaks()
    buffer = resource.allocate(64, stream=stream)
    buffer.fill(3, stream=stream)
    resource.close()
    content = bytearray(64)
    buffer.copy_to(content, stream=stream)
    stream.sync()
    assert content == b"\3" * 64
    buffer.close()
    stream.sync()
    assert len(emulation.leaks()) < len(before)  # not in the pool, which was open then


def test_closed_resources_compare_by_identity(make):
    first, second = make(), make()
    first.close()
    second.close()
    assert first == first
    assert first != second


def test_weak_references_die_with_it(make):
    resource = make()
    reference = weakref.ref(resource)
    del resource
    gc.collect()
    assert reference() is None

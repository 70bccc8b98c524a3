# SPDX-License-Identifier: Apache-2.0
"""Texts and comparison of what one process sends to another."""

import pytest
from cuda.core import EventOptions


def test_descriptors_of_buffers(resource, stream):
    with (
        resource.allocate(1000, stream=stream) as one,
        resource.allocate(1000, stream=stream) as other,
    ):
        descriptors = one.ipc_descriptor, other.ipc_descriptor
        with pytest.warns(DeprecationWarning, match="get_ipc_descriptor.*ipc_descriptor"):
            assert one.get_ipc_descriptor() == descriptors[0]
    first, second = descriptors
    assert repr(first) == "<IPCBufferDescriptor size=1000>"
    assert first != second and first != 1000 and len({first, second, first}) == 2
    cls, arguments = first.__reduce__()
    assert cls(*arguments) == first and hash(cls(*arguments)) == hash(first)


def test_the_handle_of_a_resource(resource):
    handle = resource.allocation_handle
    with pytest.warns(DeprecationWarning, match="get_allocation_handle.*allocation_handle"):
        assert int(resource.get_allocation_handle()) == int(handle)
    assert repr(handle) == f"<IPCAllocationHandle fd={int(handle)} uuid={handle.uuid}>"
    with pytest.raises(TypeError, match="a file descriptor cannot be pickled"):
        handle.__reduce__()
    handle.close()
    assert repr(handle).startswith("<IPCAllocationHandle closed uuid=")
    with pytest.raises(ValueError, match="is closed"):
        int(handle)


@pytest.mark.parametrize("is_blocking", [False, True])
def test_descriptors_of_events(stream, is_blocking):
    options = EventOptions(ipc_enabled=True, blocking_sync=is_blocking)
    with stream.record(options=options) as event, stream.record(options=options) as other:
        descriptor, second = event.ipc_descriptor, other.ipc_descriptor
        with pytest.warns(DeprecationWarning, match="get_ipc_descriptor.*ipc_descriptor"):
            assert event.get_ipc_descriptor() == descriptor
    assert repr(descriptor) == f"<IPCEventDescriptor blocking_sync={is_blocking}>"
    assert descriptor != second and descriptor != 3 and len({descriptor, second, descriptor}) == 2
    cls, arguments = descriptor.__reduce__()
    assert cls(*arguments) == descriptor and repr(cls(*arguments)) == repr(descriptor)

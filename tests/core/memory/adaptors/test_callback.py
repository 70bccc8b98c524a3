# SPDX-License-Identifier: Apache-2.0
"""Memory of two functions of the user: their arguments and their errors."""

import gc

import pytest
from cuda.core import CallbackMemoryResource, Device, OutOfMemoryError, Stream


class RecordedMemory:
    """Allocates invalid addresses, and records the arguments of each call."""

    def __init__(self):
        self.allocations = []
        self.frees = []

    def alloc(self, size, stream):
        self.allocations.append((size, stream))
        return 4096 * len(self.allocations)

    def free(self, ptr, size, stream):
        self.frees.append((ptr, size, stream))


def test_the_functions_receive_sizes_addresses_and_streams(device, stream):
    memory = RecordedMemory()
    mr = CallbackMemoryResource(memory.alloc, memory.free)
    with mr.allocate(100, stream=stream) as buffer:
        assert (buffer.handle, buffer.size, buffer.memory_resource) == (4096, 100, mr)
    assert memory.allocations == [(100, stream)]
    assert memory.frees == [(4096, 100, stream)]
    assert isinstance(memory.allocations[0][1], Stream)
    assert mr.upstream is None


def test_flags(device):
    mr = CallbackMemoryResource(print, print)
    assert (mr.is_device_accessible, mr.is_host_accessible, mr.device_id) == (True, False, -1)
    assert mr.is_managed is False
    mr = CallbackMemoryResource(
        print, print, is_device_accessible=False, is_host_accessible=True, device_id=0
    )
    assert (mr.is_device_accessible, mr.is_host_accessible, mr.device_id) == (False, True, 0)


def test_functions_must_be_callable():
    with pytest.raises(TypeError, match="alloc must be callable, got int"):
        CallbackMemoryResource(5, print)
    with pytest.raises(TypeError, match="free must be callable, got NoneType"):
        CallbackMemoryResource(print, None)


def test_exceptions_of_alloc_propagate(device, stream):
    def fail(size, stream):
        raise ZeroDivisionError(size)

    mr = CallbackMemoryResource(fail, print)
    with pytest.raises(ZeroDivisionError, match="7"):
        mr.allocate(7, stream=stream)
    assert mr.statistics()["allocation_count.total"] == 0


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        ("address", TypeError, "must return an address as an int, got str"),
        (None, TypeError, "must return an address as an int, got NoneType"),
        (2.0, TypeError, "got float"),
        (-1, OverflowError, "-1, which is not a 64-bit address"),
        (1 << 64, OverflowError, "not a 64-bit address"),
        (0, OutOfMemoryError, "returned 0 for 8 bytes"),
    ],
)
def test_an_invalid_result_of_alloc(stream, result, error, text):
    mr = CallbackMemoryResource(lambda size, stream: result, print)
    with pytest.raises(error, match=text):
        mr.allocate(8, stream=stream)
    assert mr.statistics()["allocation_count.total"] == 0


def test_an_address_can_be_an_object_with_index(stream):
    class Address:
        def __index__(self):
            return 8192

    with CallbackMemoryResource(lambda *_: Address(), lambda *_: None).allocate(
        1, stream=stream
    ) as buffer:
        assert buffer.handle == 8192


def test_zero_bytes_at_address_zero_are_memory(stream):
    freed = []
    mr = CallbackMemoryResource(lambda *_: 0, lambda *arguments: freed.append(arguments))
    with mr.allocate(0, stream=stream) as buffer:
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)
    assert freed == [(0, 0, stream)]


def test_a_stream_is_required_where_the_device_uses_the_memory(stream):
    mr = CallbackMemoryResource(lambda *_: 64, lambda *_: None)
    with pytest.raises(TypeError, match="stream is required"):
        mr.allocate(8, stream=None)
    host = CallbackMemoryResource(lambda *_: 64, lambda *_: None, is_device_accessible=False)
    host.allocate(8, stream=None).close()


def test_memory_is_freed_although_the_stream_has_no_context(in_new_thread):
    memory = RecordedMemory()
    mr = CallbackMemoryResource(memory.alloc, memory.free)

    def use():
        with pytest.raises(RuntimeError, match="no CUDA context is current"):
            mr.allocate(8, stream=Device(0).default_stream)

    in_new_thread(use)
    assert len(memory.allocations) == len(memory.frees) == 1


def test_exceptions_of_free(stream, capsys):
    def fail(ptr, size, stream):
        raise ValueError("this one stays")

    mr = CallbackMemoryResource(lambda *_: 64, fail)
    buffer = mr.allocate(8, stream=stream)
    with pytest.raises(ValueError, match="this one stays"):
        buffer.close()
    buffer = mr.allocate(8, stream=stream)
    del buffer
    gc.collect()
    assert "mr.deallocate() failed during Buffer destruction: this one stays" in (
        capsys.readouterr().err
    )
    assert mr.statistics()["allocation_count.current"] == 0


def test_alloc_can_close_the_resource(stream):
    memory = RecordedMemory()

    def alloc(size, stream):
        mr.close()
        return memory.alloc(size, stream)

    mr = CallbackMemoryResource(alloc, memory.free)
    mr.allocate(8, stream=stream).close()
    with pytest.raises(RuntimeError, match="CallbackMemoryResource has been closed"):
        mr.allocate(8, stream=stream)
    assert len(memory.frees) == 1


def test_alloc_can_close_the_stream(device):
    memory = RecordedMemory()
    own = device.create_stream()

    def alloc(size, stream):
        stream.close()
        return memory.alloc(size, stream)

    with pytest.raises(RuntimeError, match="Stream has been closed"):
        CallbackMemoryResource(alloc, memory.free).allocate(8, stream=own)
    assert len(memory.frees) == 1

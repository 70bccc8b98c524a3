# SPDX-License-Identifier: Apache-2.0
"""Memory of two functions of the user: what they are given, and what they do wrong."""

import gc

import pytest
from cuda.core import CallbackMemoryResource, Device, OutOfMemoryError, Stream


class Memory:
    """Gives out addresses of nothing, and notes what it is called with."""

    def __init__(self):
        self.given = []
        self.taken = []

    def alloc(self, size, stream):
        self.given.append((size, stream))
        return 4096 * len(self.given)

    def free(self, ptr, size, stream):
        self.taken.append((ptr, size, stream))


def test_the_functions_get_sizes_addresses_and_streams(device, stream):
    memory = Memory()
    mr = CallbackMemoryResource(memory.alloc, memory.free)
    with mr.allocate(100, stream=stream) as buffer:
        assert (buffer.handle, buffer.size, buffer.memory_resource) == (4096, 100, mr)
    assert memory.given == [(100, stream)]
    assert memory.taken == [(4096, 100, stream)]
    assert isinstance(memory.given[0][1], Stream)
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


def test_what_alloc_raises_is_the_callers(device, stream):
    def fail(size, stream):
        raise ZeroDivisionError(size)

    mr = CallbackMemoryResource(fail, print)
    with pytest.raises(ZeroDivisionError, match="7"):
        mr.allocate(7, stream=stream)
    assert mr.statistics()["allocation_count.total"] == 0


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        ("address", TypeError, "must return an address as an int, got str"),
        (None, TypeError, "must return an address as an int, got NoneType"),
        (2.0, TypeError, "got float"),
        (-1, OverflowError, "-1, which is not a 64-bit address"),
        (1 << 64, OverflowError, "not a 64-bit address"),
        (0, OutOfMemoryError, "returned 0 for 8 bytes"),
    ],
)
def test_an_answer_that_is_no_address(stream, answer, error, text):
    mr = CallbackMemoryResource(lambda size, stream: answer, print)
    with pytest.raises(error, match=text):
        mr.allocate(8, stream=stream)
    assert mr.statistics()["allocation_count.total"] == 0


def test_an_address_may_be_an_object_that_stands_for_an_int(stream):
    class Address:
        def __index__(self):
            return 8192

    with CallbackMemoryResource(lambda *_: Address(), lambda *_: None).allocate(
        1, stream=stream
    ) as buffer:
        assert buffer.handle == 8192


def test_nothing_of_zero_bytes_is_memory(stream):
    freed = []
    mr = CallbackMemoryResource(lambda *_: 0, lambda *given: freed.append(given))
    with mr.allocate(0, stream=stream) as buffer:
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)
    assert freed == [(0, 0, stream)]


def test_a_stream_is_needed_where_the_device_uses_the_memory(stream):
    mr = CallbackMemoryResource(lambda *_: 64, lambda *_: None)
    with pytest.raises(TypeError, match="stream is required"):
        mr.allocate(8, stream=None)
    host = CallbackMemoryResource(lambda *_: 64, lambda *_: None, is_device_accessible=False)
    host.allocate(8, stream=None).close()


def test_memory_comes_back_when_the_stream_means_nothing(in_new_thread):
    memory = Memory()
    mr = CallbackMemoryResource(memory.alloc, memory.free)

    def use():
        with pytest.raises(RuntimeError, match="no CUDA context is current"):
            mr.allocate(8, stream=Device(0).default_stream)

    in_new_thread(use)
    assert len(memory.given) == len(memory.taken) == 1


def test_what_free_raises(stream, capsys):
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


def test_alloc_that_closes_the_resource(stream):
    memory = Memory()

    def alloc(size, stream):
        mr.close()
        return memory.alloc(size, stream)

    mr = CallbackMemoryResource(alloc, memory.free)
    mr.allocate(8, stream=stream).close()
    with pytest.raises(RuntimeError, match="CallbackMemoryResource has been closed"):
        mr.allocate(8, stream=stream)
    assert len(memory.taken) == 1


def test_alloc_that_closes_the_stream(device):
    memory = Memory()
    own = device.create_stream()

    def alloc(size, stream):
        stream.close()
        return memory.alloc(size, stream)

    with pytest.raises(RuntimeError, match="Stream has been closed"):
        CallbackMemoryResource(alloc, memory.free).allocate(8, stream=own)
    assert len(memory.taken) == 1

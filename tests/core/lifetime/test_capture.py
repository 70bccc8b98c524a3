# SPDX-License-Identifier: Apache-2.0
"""Memory that goes while a stream is captured: the capture stays whole, the memory goes back once.

The collector gives memory back in the middle of anything, also of a capture of another library.
"""

import gc

import pytest
from cuda.bindings import driver
from cuda.core import DeviceMemoryResource, LegacyPinnedMemoryResource, Stream
from cuda.core._memory import _SynchronousMemoryResource

SIZE = 1 << 20
MODES = {each.name.rpartition("_")[2].lower(): each for each in driver.CUstreamCaptureMode}


def answer(call):
    code, *values = call
    assert code == driver.CUresult.CUDA_SUCCESS, code
    return values[0] if len(values) == 1 else values


class Capture:
    """A capture that somebody else began on a stream; ends with the number of its nodes."""

    def __init__(self, stream, mode):
        self.stream, self.nodes = stream, None
        self.mode = mode

    def __enter__(self):
        answer(driver.cuStreamBeginCapture(self.stream.handle, self.mode))
        return self

    def is_whole(self):
        status = answer(driver.cuStreamIsCapturing(self.stream.handle))
        return status == driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE

    def __exit__(self, *error):
        graph = answer(driver.cuStreamEndCapture(self.stream.handle))
        self.nodes = answer(driver.cuGraphGetNodes(graph, 0))[1]
        answer(driver.cuGraphDestroy(graph))


class Source:
    """Takes memory for one stream, and tells how much of it is still taken."""

    def __init__(self, device, stream, capturing):
        self.stream = stream
        self.resource = DeviceMemoryResource(device, {})

    def allocate(self):
        return self.resource.allocate(SIZE, stream=self.stream)

    def taken(self):
        answer(driver.cuCtxSynchronize())
        return self.resource.attributes.used_mem_current


class OfCapturing(Source):
    def __init__(self, device, stream, capturing):
        super().__init__(device, capturing, capturing)


class OfLegacy(Source):
    def __init__(self, device, stream, capturing):
        super().__init__(device, Stream._legacy_default(), capturing)


class OfPerThread(Source):
    def __init__(self, device, stream, capturing):
        super().__init__(device, Stream._per_thread_default(), capturing)


class WithoutPool(Source):
    """Whether its memory is there can be asked for by its address only."""

    def __init__(self, device, stream, capturing):
        self.stream = stream
        self.resource = _SynchronousMemoryResource(device.device_id)
        self.addresses = []

    def allocate(self):
        buffer = self.resource.allocate(SIZE, stream=self.stream)
        self.addresses.append(int(buffer.handle))
        return buffer

    def taken(self):
        kind = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
        found = [driver.cuPointerGetAttribute(kind, each)[0] for each in self.addresses]
        return SIZE * found.count(driver.CUresult.CUDA_SUCCESS)


class Pinned(WithoutPool):
    def __init__(self, device, stream, capturing):
        super().__init__(device, stream, capturing)
        self.resource = LegacyPinnedMemoryResource()


SOURCES = {
    "other stream": Source,
    "capturing stream": OfCapturing,
    "legacy stream": OfLegacy,
    "per-thread stream": OfPerThread,
    "pinned": Pinned,
    "without a pool": WithoutPool,
}


def close(held):
    held.pop().close()


def drop(held):
    held.clear()


def collect(held):
    """In a cycle, which only the collector finds."""
    cycle = [held.pop()]
    cycle.append(cycle)
    del cycle
    gc.collect()


@pytest.mark.parametrize("end", [close, drop, collect], ids=lambda each: each.__name__)
@pytest.mark.parametrize("blocking", [False, True], ids=["non-blocking", "blocking"])
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("kind", SOURCES.values(), ids=SOURCES)
def test_memory_goes_back_once_and_leaves_the_capture_whole(
    device, kind, mode, blocking, end, capsys
):
    flags = 0 if blocking else driver.CUstream_flags.CU_STREAM_NON_BLOCKING
    handle = answer(driver.cuStreamCreate(flags))
    with device.create_stream() as other:
        captured = Stream.from_handle(int(handle))
        source = kind(device, other, captured)
        held = [source.allocate()]
        with Capture(captured, mode) as capture:
            end(held)
            assert capture.is_whole()
        assert capture.nodes == 0
        source.allocate().close()  # what could not go back then does now
        assert source.taken() == 0
    del captured
    answer(driver.cuStreamDestroy(handle))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_memory_that_goes_on_a_stream_given_to_close(device, mode):
    with device.create_stream() as stream, device.create_stream() as captured:
        source = Source(device, stream, captured)
        buffer = source.allocate()
        with Capture(captured, mode) as capture:
            buffer.close(captured)
            assert capture.is_whole()
        source.allocate().close()
        assert source.taken() == 0


def test_an_allocation_on_the_capturing_stream_is_refused_before_the_driver_hears_of_it(device):
    with device.create_stream() as captured, Capture(captured, MODES["global"]) as capture:
        with pytest.raises(RuntimeError, match="capturing stream"):
            device.allocate(SIZE, stream=captured)
        assert capture.is_whole()


def test_waiting_gives_back_what_a_capture_kept(device):
    with device.create_stream() as stream, device.create_stream() as captured:
        source = OfCapturing(device, stream, captured)
        buffer = source.allocate()
        with Capture(captured, MODES["global"]):
            buffer.close()
        captured.sync()
        assert source.taken() == 0

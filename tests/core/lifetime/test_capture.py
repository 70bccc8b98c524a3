# SPDX-License-Identifier: Apache-2.0
"""Memory freed while a stream captures: the capture stays valid, the memory is freed once.

The collector can free memory at any time, including during a capture of another library.
"""

import gc

import pytest
from cuda.bindings import driver
from cuda.core import DeviceMemoryResource, LegacyPinnedMemoryResource, Stream
from cuda.core._memory import _SynchronousMemoryResource

SIZE = 1 << 20
MODES = {each.name.rpartition("_")[2].lower(): each for each in driver.CUstreamCaptureMode}


def succeed(call):
    code, *values = call
    assert code == driver.CUresult.CUDA_SUCCESS, code
    return values[0] if len(values) == 1 else values


class Capture:
    """A capture that another library began on a stream; counts its nodes at the end."""

    def __init__(self, stream, mode):
        self.stream, self.nodes = stream, None
        self.mode = mode

    def __enter__(self):
        succeed(driver.cuStreamBeginCapture(self.stream.handle, self.mode))
        return self

    def is_valid(self):
        status = succeed(driver.cuStreamIsCapturing(self.stream.handle))
        return status == driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_ACTIVE

    def __exit__(self, *error):
        graph = succeed(driver.cuStreamEndCapture(self.stream.handle))
        self.nodes = succeed(driver.cuGraphGetNodes(graph, 0))[1]
        succeed(driver.cuGraphDestroy(graph))


class Source:
    """Allocates memory for one stream, and reports the bytes in use."""

    def __init__(self, device, stream, capturing):
        self.stream = stream
        self.resource = DeviceMemoryResource(device, {})

    def allocate(self):
        return self.resource.allocate(SIZE, stream=self.stream)

    def used_bytes(self):
        succeed(driver.cuCtxSynchronize())
        return self.resource.attributes.used_mem_current


class CapturingStreamSource(Source):
    def __init__(self, device, stream, capturing):
        super().__init__(device, capturing, capturing)


class LegacyStreamSource(Source):
    def __init__(self, device, stream, capturing):
        super().__init__(device, Stream._legacy_default(), capturing)


class PerThreadStreamSource(Source):
    def __init__(self, device, stream, capturing):
        super().__init__(device, Stream._per_thread_default(), capturing)


class SynchronousSource(Source):
    """Memory without a pool: only queries of its addresses show whether it is allocated."""

    def __init__(self, device, stream, capturing):
        self.stream = stream
        self.resource = _SynchronousMemoryResource(device.device_id)
        self.addresses = []

    def allocate(self):
        buffer = self.resource.allocate(SIZE, stream=self.stream)
        self.addresses.append(int(buffer.handle))
        return buffer

    def used_bytes(self):
        kind = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
        statuses = [driver.cuPointerGetAttribute(kind, each)[0] for each in self.addresses]
        return SIZE * statuses.count(driver.CUresult.CUDA_SUCCESS)


class PinnedSource(SynchronousSource):
    def __init__(self, device, stream, capturing):
        super().__init__(device, stream, capturing)
        self.resource = LegacyPinnedMemoryResource()


SOURCES = {
    "other stream": Source,
    "capturing stream": CapturingStreamSource,
    "legacy stream": LegacyStreamSource,
    "per-thread stream": PerThreadStreamSource,
    "pinned": PinnedSource,
    "without a pool": SynchronousSource,
}


def close(held):
    held.pop().close()


def drop(held):
    held.clear()


def collect(held):
    """Collect a buffer in a reference cycle."""
    cycle = [held.pop()]
    cycle.append(cycle)
    del cycle
    gc.collect()


@pytest.mark.parametrize("end", [close, drop, collect], ids=lambda each: each.__name__)
@pytest.mark.parametrize("blocking", [False, True], ids=["non-blocking", "blocking"])
@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
@pytest.mark.parametrize("kind", SOURCES.values(), ids=SOURCES)
def test_memory_is_freed_once_and_the_capture_stays_valid(
    device, kind, mode, blocking, end, capsys
):
    flags = 0 if blocking else driver.CUstream_flags.CU_STREAM_NON_BLOCKING
    handle = succeed(driver.cuStreamCreate(flags))
    with device.create_stream() as other:
        captured = Stream.from_handle(int(handle))
        source = kind(device, other, captured)
        held = [source.allocate()]
        with Capture(captured, mode) as capture:
            end(held)
            assert capture.is_valid()
        assert capture.nodes == 0
        source.allocate().close()  # frees memory that could not be freed during the capture
        assert source.used_bytes() == 0
    del captured
    succeed(driver.cuStreamDestroy(handle))
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_memory_freed_on_the_stream_passed_to_close(device, mode):
    with device.create_stream() as stream, device.create_stream() as captured:
        source = Source(device, stream, captured)
        buffer = source.allocate()
        with Capture(captured, mode) as capture:
            buffer.close(captured)
            assert capture.is_valid()
        source.allocate().close()
        assert source.used_bytes() == 0


def test_an_allocation_on_the_capturing_stream_is_refused_without_a_driver_call(device):
    with device.create_stream() as captured, Capture(captured, MODES["global"]) as capture:
        with pytest.raises(RuntimeError, match=r"\(consider using GraphMemoryResource\)\.$"):
            device.allocate(SIZE, stream=captured)
        assert capture.is_valid()


def test_synchronizing_frees_memory_deferred_by_a_capture(device):
    with device.create_stream() as stream, device.create_stream() as captured:
        source = CapturingStreamSource(device, stream, captured)
        buffer = source.allocate()
        with Capture(captured, MODES["global"]):
            buffer.close()
        captured.sync()
        assert source.used_bytes() == 0

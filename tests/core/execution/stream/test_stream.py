# SPDX-License-Identifier: Apache-2.0
"""Stream: creation, wrapping, ordering, description."""

import gc
import re
import sys
import weakref

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import Device, Event, EventOptions, Stream, StreamOptions


class Owner:
    """A foreign object with a stream."""

    def __init__(self, stream):
        self.address = int(stream.handle)

    def __cuda_stream__(self):
        return 0, self.address


@pytest.fixture
def raw():
    """A stream that the driver created for another library."""
    error, raw = driver.cuStreamCreateWithPriority(1, -1)
    assert not error
    yield raw
    driver.cuStreamDestroy(raw)


class TestCreation:
    @pytest.mark.parametrize("arguments", [(0,), (None,), (1, 2)])
    def test_the_class_refuses_arguments(self, arguments):
        with pytest.raises(RuntimeError, match="^Stream objects cannot be instantiated directly"):
            Stream(*arguments)
        with pytest.raises(RuntimeError, match="^Stream objects cannot be instantiated directly"):
            Stream(handle=0)

    def test_without_arguments_it_is_a_new_stream_of_the_current_device(self, device):
        with Stream() as stream:
            assert stream.device is device
            assert stream.is_nonblocking
            stream.sync()
        assert stream.is_closed

    def test_without_a_context_the_primary_context_of_device_0_becomes_current(self, run_python):
        code = """
from cuda.core import Device, Stream
with Stream() as stream:
    assert stream.device.device_id == 0 and stream.context == Device().context
    with Device().allocate(8, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
    stream.sync()
print("used")
"""
        assert run_python(code).strip() == "used"

    def test_it_is_initialized_once(self, stream):
        with pytest.raises(RuntimeError, match="initialized already"):
            stream.__init__()

    def test_options_set_flag_and_priority(self, device):
        least, greatest = driver.cuCtxGetStreamPriorityRange()[1:]
        with device.create_stream() as stream:
            assert (stream.is_nonblocking, stream.priority) == (True, least)
        options = StreamOptions(nonblocking=False, priority=greatest)
        with device.create_stream(options=options) as stream:
            assert (stream.is_nonblocking, stream.priority) == (False, greatest)
            assert driver.cuStreamGetFlags(stream.handle)[1] == 0
            assert driver.cuStreamGetPriority(stream.handle)[1] == greatest

    @pytest.mark.parametrize("beyond", [1, 1000, -1000])
    def test_a_priority_out_of_range_is_refused(self, device, beyond):
        with pytest.raises(ValueError, match="out of range"):
            device.create_stream(options=StreamOptions(priority=beyond))

    def test_without_a_current_context_creation_is_refused(self, in_new_thread):
        with pytest.raises(RuntimeError, match="No current CUDA context"):
            in_new_thread(Stream._init)

    def test_init_creates_streams_of_its_class(self, device):
        class Mine(Stream):
            """Streams may be subclassed."""

        with Mine._init(options=StreamOptions()) as stream:
            assert type(stream) is Mine
            stream.note = "subclasses have a dict"
        with Mine._init(Owner(device.default_stream)) as stream:
            assert type(stream) is Mine

    def test_init_accepts_a_context(self, device):
        with Stream._init(ctx=device.context) as stream:
            assert stream.context == device.context

    def test_a_failed_creation_leaks_nothing(self, device, monkeypatch):
        with pytest.raises(ValueError, match="out of range"):
            Stream._init(options=StreamOptions(priority=5))
        gc.collect()
        device.sync()


class Index:
    """Converts with `__index__` alone."""

    def __init__(self, value):
        self.value = int(value)

    def __index__(self):
        return self.value


class TestFromHandle:
    @pytest.mark.parametrize(
        "convert",
        [int, np.uint64, lambda raw: raw, Index],
        ids=["int", "numpy", "CUstream", "__index__"],
    )
    def test_it_accepts_objects_that_convert_to_int(self, stream, convert):
        wrapper = Stream.from_handle(convert(stream.handle))
        assert wrapper == stream
        assert hash(wrapper) == hash(stream)

    @pytest.mark.parametrize("wrong", [None, "0", 1.0, object()])
    def test_other_objects_are_refused(self, wrong):
        with pytest.raises(TypeError, match="an integer is required"):
            Stream.from_handle(wrong)

    def test_it_requires_no_context(self, in_new_thread):
        assert in_new_thread(lambda: int(Stream.from_handle(0x1230).handle)) == 0x1230

    def test_repr_queries_nothing_from_a_foreign_handle(self):
        assert repr(Stream.from_handle(0xDEADBEEF0)) == "<Stream handle=0xdeadbeef0 context=0x0>"

    def test_wrappers_of_an_owned_stream_share_it(self, device):
        stream = device.create_stream()
        wrapper = Stream.from_handle(int(stream.handle))
        stream.close()
        wrapper.sync()
        assert wrapper.context == device.context
        assert wrapper.is_nonblocking
        wrapper.close()

    @pytest.mark.cuda_expect_fault("destroyed-handle")
    def test_the_last_wrapper_destroys_an_owned_stream(self, device, emulation):
        """Only the emulator detects a destroyed handle; a device may crash on it."""
        stream = device.create_stream()
        address = int(stream.handle)
        wrapper = Stream.from_handle(address)
        stream.close()
        assert not driver.cuStreamQuery(address)[0]
        wrapper.close()
        assert driver.cuStreamQuery(address)[0]

    def test_a_foreign_stream_is_never_destroyed(self, device, raw):
        wrapper = Stream.from_handle(int(raw))
        assert wrapper.is_nonblocking is True
        assert wrapper.priority == -1
        assert wrapper.device is device
        assert wrapper.context == device.context
        wrapper.sync()
        wrapper.close()
        assert not driver.cuStreamQuery(raw)[0]

    def test_address_zero_is_the_default_stream(self, device):
        with Stream.from_handle(0) as stream:
            assert stream.device is device
            stream.sync()
            assert stream.record().is_done
        with pytest.raises(RuntimeError, match="Stream has been closed"):
            stream.sync()


class TestRecord:
    def test_it_creates_an_event_in_the_context_of_the_stream(self, stream):
        event = stream.record()
        assert type(event) is Event
        assert event.context == stream.context
        assert not event.is_timing_enabled
        event.sync()
        assert event.is_done

    @pytest.mark.parametrize(
        "options", [EventOptions(timing_enabled=True), {"timing_enabled": True}]
    )
    def test_options_require_a_new_event(self, stream, options):
        assert stream.record(options=options).is_timing_enabled

    def test_an_event_argument_is_returned(self, device, stream):
        event = device.create_event()
        assert stream.record(event) is event
        assert stream.record(event, EventOptions(timing_enabled=True)) is event
        assert not event.is_timing_enabled

    @pytest.mark.parametrize("wrong", [0, "event", object()])
    def test_other_objects_are_refused_as_event(self, stream, wrong):
        with pytest.raises(TypeError, match="must be an Event"):
            stream.record(wrong)

    def test_events_for_other_processes_cannot_use_timing(self, stream):
        with pytest.raises(TypeError, match="^IPC-enabled events cannot use timing"):
            stream.record(options=EventOptions(ipc_enabled=True, timing_enabled=True))


class TestWait:
    def test_for_a_default_stream(self, device, stream):
        assert stream.is_nonblocking, "another would wait unasked"
        order, gate = [], threading_event()
        device.default_stream.launch_host(lambda: (gate.wait(60), order.append("first")))
        stream.wait(device.default_stream)
        stream.launch_host(lambda: order.append("second"))
        assert not stream.is_done
        gate.set()
        stream.sync()
        assert order == ["first", "second"]

    def test_for_itself_does_nothing(self, stream):
        """Waiting for itself is a no-op: earlier and later work completes."""
        order = []
        stream.launch_host(lambda: order.append("before"))
        stream.wait(stream)
        stream.wait(Stream.from_handle(int(stream.handle)))
        stream.launch_host(lambda: order.append("after"))
        stream.sync()
        assert order == ["before", "after"]

    @pytest.mark.parametrize("wrong", [None, 0, object()])
    def test_for_other_objects_is_refused(self, stream, wrong):
        text = "only an Event, Stream, or object supporting __cuda_stream__ can be waited"
        with pytest.raises(ValueError, match=text):
            stream.wait(wrong)

    @pytest.mark.parametrize("kind", ["event", "stream", "owner of a stream"])
    def test_later_work_waits_for_the_argument(self, device, stream, kind):
        order, gate = [], threading_event()
        with device.create_stream() as other:
            stream.launch_host(lambda: (gate.wait(60), order.append("first")))
            sources = {"event": stream.record, "stream": lambda: stream}
            other.wait(sources.get(kind, lambda: Owner(stream))())
            other.launch_host(lambda: order.append("second"))
            assert not other.is_done
            gate.set()
            other.sync()
        assert order == ["first", "second"]

    def test_orders_the_work_of_two_streams(self, device, stream):
        order = []
        gate = threading_event()
        with device.create_stream() as other:
            stream.launch_host(lambda: (gate.wait(60), order.append("first")))
            other.wait(stream)
            other.launch_host(lambda: order.append("second"))
            assert not other.is_done
            gate.set()
            other.sync()
            stream.sync()
        assert order == ["first", "second"]


def threading_event():
    import threading

    return threading.Event()


class TestDescription:
    def test_the_handle_has_the_type_of_the_bindings(self, stream):
        assert isinstance(stream.handle, driver.CUstream)
        assert stream.__cuda_stream__() == (0, int(stream.handle))
        assert hash(stream) == hash(int(stream.handle))

    def test_repr_names_handle_and_context(self, stream):
        assert re.fullmatch(r"<Stream handle=0x[0-9a-f]+ context=0x[0-9a-f]+>", repr(stream))
        assert f"context={int(stream.context.handle):#x}" in repr(stream)

    def test_the_device_is_that_of_the_calling_thread(self, stream, in_new_thread):
        assert stream.device is Device(0)
        assert in_new_thread(lambda: stream.device is Device(0))

    def test_is_done_follows_the_work(self, stream):
        gate = threading_event()
        assert stream.is_done is True
        stream.launch_host(lambda: gate.wait(60))
        assert stream.is_done is False
        gate.set()
        stream.sync()
        assert stream.is_done is True


class TestLifetime:
    def test_a_failed_construction_releases_the_foreign_stream(self, stream):
        class Refuses(Stream):
            def __new__(cls):
                raise MemoryError

        owner = Owner(stream)
        reference = weakref.ref(owner)
        with pytest.raises(MemoryError):
            Refuses._init(owner)
        del owner
        assert reference() is None

    def test_an_event_outlives_its_closed_stream(self, device):
        stream = device.create_stream()
        event = stream.record()
        stream.close()
        event.sync()
        assert event.is_done

    def test_a_foreign_object_lives_as_long_as_the_wrapper(self, device, raw):
        owner = Owner(Stream.from_handle(int(raw)))
        alive = weakref.ref(owner)
        wrapper = device.create_stream(owner)
        del owner
        gc.collect()
        assert alive() is not None
        wrapper.close()
        gc.collect()
        assert alive() is None

    def test_wrapping_an_owned_stream_through_the_protocol_shares_it(self, device):
        stream = device.create_stream()
        owner = Owner(stream)
        references = sys.getrefcount(owner)
        wrapper = device.create_stream(owner)
        stream.close()
        assert sys.getrefcount(owner) == references
        wrapper.sync()
        wrapper.close()

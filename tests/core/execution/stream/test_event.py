# SPDX-License-Identifier: Apache-2.0
"""Event: creation, waiting, elapsed time."""

import re
import threading
import time

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, Device, Event, EventOptions

TIMED = EventOptions(timing_enabled=True)


def test_the_class_cannot_be_called():
    with pytest.raises(RuntimeError, match="^Event objects cannot be instantiated directly"):
        Event()


@pytest.mark.parametrize("timing", [True, False, None])
@pytest.mark.parametrize("blocking", [True, False, None])
def test_options_are_stored(device, timing, blocking):
    event = device.create_event(EventOptions(timing_enabled=timing, blocking_sync=blocking))
    assert event.is_timing_enabled is bool(timing)
    assert event.is_blocking_sync is bool(blocking)
    assert event.is_ipc_enabled is False
    event.sync()


def test_an_event_that_was_never_recorded_is_done(device):
    assert device.create_event().is_done is True


def test_is_done_follows_the_work(stream):
    gate = threading.Event()
    stream.launch_host(lambda: gate.wait(60))
    event = stream.record()
    assert event.is_done is False
    gate.set()
    event.sync()
    assert event.is_done is True


def test_it_belongs_to_a_device_and_a_context(device, stream, in_new_thread):
    event = stream.record()
    assert event.device is device
    assert event.context == device.context
    assert in_new_thread(lambda: event.device is Device(0))


def test_the_handle_has_the_type_of_the_bindings(stream):
    event = stream.record()
    assert isinstance(event.handle, driver.CUevent)
    assert hash(event) == hash(int(event.handle))
    assert re.fullmatch(r"<Event handle=0x[0-9a-f]+>", repr(event))


@pytest.mark.cuda_expect_fault("destroyed-handle")
def test_it_is_destroyed_with_its_wrapper(device, emulation):
    """Only the emulator detects a destroyed handle; a device may crash on it."""
    event = device.create_event()
    address = int(event.handle)
    assert not driver.cuEventQuery(address)[0]
    event.close()
    assert driver.cuEventQuery(address)[0]


class TestElapsed:
    def test_the_difference_is_in_milliseconds(self, stream):
        begun = time.monotonic()
        start = stream.record(options=TIMED)
        stream.launch_host(lambda: time.sleep(0.02))
        end = stream.record(options=TIMED)
        end.sync()
        assert 15 < end - start < 1000 * (time.monotonic() - begun) + 1
        assert start - end == -(end - start)
        assert isinstance(end - start, float)

    def test_both_require_timing(self, stream):
        plain, timed = stream.record(), stream.record(options=TIMED)
        stream.sync()
        for a, b in [(plain, timed), (timed, plain), (plain, plain)]:
            with pytest.raises(
                RuntimeError, match="^Both Events must be created with timing enabled"
            ):
                a - b

    def test_both_must_be_recorded(self, device, stream):
        recorded, fresh = stream.record(options=TIMED), device.create_event(TIMED)
        stream.sync()
        with pytest.raises(RuntimeError, match="^Both Events must be recorded"):
            recorded - fresh

    def test_both_must_be_finished(self, stream):
        gate = threading.Event()
        start = stream.record(options=TIMED)
        stream.launch_host(lambda: gate.wait(60))
        end = stream.record(options=TIMED)
        with pytest.raises(RuntimeError, match=r"^One or both events have not completed\."):
            end - start
        gate.set()
        stream.sync()
        assert end - start > 0

    def test_only_events_can_be_subtracted(self, stream):
        event = stream.record(options=TIMED)
        with pytest.raises(TypeError):
            event - 1
        with pytest.raises(TypeError):
            1 - event
        assert event.__isub__(1) is NotImplemented
        assert event.__rsub__(1) is NotImplemented

    def test_these_errors_are_no_cuda_errors(self, stream):
        with pytest.raises(RuntimeError) as caught:
            stream.record() - stream.record()
        assert not isinstance(caught.value, CUDAError)


class TestOtherProcesses:
    def test_an_ordinary_event_has_no_descriptor(self, stream):
        with pytest.raises(RuntimeError, match="not IPC-enabled"):
            _ = stream.record().ipc_descriptor


class TestDeprecatedSpellings:
    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("enable_timing", "timing_enabled"),
            ("busy_waited_sync", "blocking_sync"),
            ("support_ipc", "ipc_enabled"),
        ],
    )
    def test_options(self, old, new):
        with pytest.warns(DeprecationWarning, match=new) as caught:
            options = EventOptions(**{old: True})
        assert caught[0].filename == __file__
        assert options == EventOptions(**{new: True})
        with pytest.warns(DeprecationWarning, match=new) as caught:
            assert getattr(options, old) is True
        with pytest.warns(DeprecationWarning, match=new) as caught_by_set:
            setattr(options, old, False)
        assert caught[0].filename == caught_by_set[0].filename == __file__
        assert options == EventOptions()

    def test_a_dict_of_old_keywords(self, stream):
        with pytest.warns(DeprecationWarning, match="timing_enabled"):
            assert stream.record(options={"enable_timing": True}).is_timing_enabled

    @pytest.mark.parametrize(
        ("old", "expected"), [("is_timing_disabled", True), ("is_sync_busy_waited", False)]
    )
    def test_properties(self, stream, old, expected):
        event = stream.record()
        with pytest.warns(DeprecationWarning, match=old) as caught:
            assert getattr(event, old) is expected
        assert caught[0].filename == __file__

    def test_the_descriptor_as_a_method(self, stream):
        event = stream.record()
        with (
            pytest.warns(DeprecationWarning, match="ipc_descriptor"),
            pytest.raises(RuntimeError, match="not IPC-enabled"),
        ):
            event.get_ipc_descriptor()

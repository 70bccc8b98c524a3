# SPDX-License-Identifier: Apache-2.0
"""Waiting for events: events that arrive, timeouts, and threads that run during a wait."""

import asyncio
import gc
import threading
import time
import weakref

import pytest
from cuda.core import emulation, system
from cuda.core.system import _events, typing
from cuda.core.system._system_events import RegisteredSystemEvents


def supported(device):
    try:
        return device.get_supported_event_types()
    except system.NotSupportedError:
        pytest.skip("the device supports no events")


def test_supported_events_can_be_registered(nvml_device):
    types = supported(nvml_device)
    assert set(types) <= set(typing.EventType)
    for events_arg in (types[0], str(types[0]), types, tuple(types), iter(types), set(types), []):
        assert nvml_device.register_events(events_arg) is not None


@pytest.mark.parametrize("value", [4, None, 1.5, b"pstate"])
def test_an_invalid_event_or_list_is_refused(nvml_device, value):
    with pytest.raises(TypeError, match="events must be an EventType, str, or list of EventType"):
        nvml_device.register_events(value)
    with pytest.raises(TypeError, match="events must be an SystemEventType, str, or list of"):
        system.register_events(value)


@pytest.mark.parametrize("value", ["nothing", ["pstate", "nothing"], [None]])
def test_an_unknown_event_is_refused(nvml_device, value):
    with pytest.raises(ValueError, match="Invalid event type: "):
        nvml_device.register_events(value)


def test_nothing_happens_until_the_timeout(nvml_device):
    events = nvml_device.register_events(supported(nvml_device)[0])
    start = time.monotonic()
    with pytest.raises(system.TimeoutError):
        events.wait(timeout_ms=30)
    assert 0.02 < time.monotonic() - start < 60
    with pytest.raises(TimeoutError):  # the built-in exception
        events.wait(timeout_ms=1)


@pytest.mark.parametrize(
    ("timeout", "error"), [(-1, OverflowError), (1 << 32, OverflowError), ("1", TypeError)]
)
def test_a_wrong_time_is_refused(nvml_device, timeout, error):
    events = nvml_device.register_events(supported(nvml_device)[0])
    with pytest.raises(error, match="timeout_ms must be"):
        events.wait(timeout)


def test_an_event_is_delivered_to_its_registrations(nvml_device, post_event):
    registered = nvml_device.register_events(["pstate", "clock"])
    other = nvml_device.register_events("power_source_change")
    assert post_event("clock") == 1
    event = registered.wait(1000)
    assert event.event_type is typing.EventType.CLOCK
    assert event.device.uuid == nvml_device.uuid
    for name in ("event_data", "gpu_instance_id", "compute_instance_id"):
        text = f"{name} is only available for Xid critical error events."
        with pytest.raises(ValueError, match=text):
            getattr(event, name)
    for events in (registered, other):
        with pytest.raises(system.TimeoutError):
            events.wait(1)


def test_an_xid_error_has_a_number(nvml_device, post_event):
    events = nvml_device.register_events(typing.EventType.XID_CRITICAL_ERROR)
    post_event("xid_critical_error", data=79)
    event = events.wait()
    assert (event.event_type, event.event_data) == ("xid_critical_error", 79)
    assert event.gpu_instance_id == event.compute_instance_id == 0xFFFFFFFF


def test_every_event_arrives(nvml_device, post_event):
    events = nvml_device.register_events(typing.EventType)
    for kind in nvml_device.get_supported_event_types():
        assert post_event(kind) == 1
        assert events.wait(1000).event_type is kind


def test_waiting_lets_other_threads_run(nvml_device, post_event):
    events = nvml_device.register_events("pstate")
    received = []
    waiting = threading.Thread(target=lambda: received.append(events.wait().event_type))
    waiting.start()
    while not post_event("pstate"):
        pass
    waiting.join(60)
    assert received == ["pstate"]


def test_an_event_can_be_awaited(nvml_device, post_event):
    async def main():
        events = nvml_device.register_events("pstate")
        waiting = asyncio.create_task(events.wait_async())
        await asyncio.sleep(0.01)  # the loop continues
        assert not waiting.done()
        post_event("pstate")
        assert (await waiting).event_type == "pstate"
        with pytest.raises(system.TimeoutError):
            await events.wait_async(timeout_ms=1)
        with pytest.raises(OverflowError, match="timeout_ms must be"):
            await events.wait_async(-1)

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_canceled_wait_ends_its_thread(nvml_device, post_event):
    async def main():
        events = nvml_device.register_events("pstate")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(events.wait_async(), 0.01)
        with pytest.raises(system.TimeoutError):  # begins when the thread is free again
            await events.wait_async(1)
        post_event("pstate")
        assert (await events.wait_async(1000)).event_type == "pstate"

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_registration_is_freed_with_its_object(nvml_device, post_event):
    events = nvml_device.register_events("pstate")
    reference = weakref.ref(events)
    del events
    gc.collect()
    assert reference() is None
    assert post_event("pstate") == 0


def test_a_failed_registration_leaks_no_set(nvml_device, post_event, monkeypatch):
    from cuda.core.system import _nvml_context

    def fail(*arguments):
        raise system.NotSupportedError(3)

    monkeypatch.setattr(_nvml_context.nvml, "device_register_events", fail)
    for _ in range(100):  # there is room for fewer
        with pytest.raises(system.NotSupportedError):
            nvml_device.register_events("pstate")


# --- devices that are added and removed ---


def test_devices_are_added_and_removed(nvml_device, post_event):
    events = system.register_events(["bind", "unbind"])
    for kind in ("bind", "unbind", "bind"):
        assert post_event(kind) == 1
    arrived = events.wait(1000, 2)
    assert [each.event_type for each in arrived] == ["bind", "unbind"]
    assert len(arrived) == 2 and arrived[-1].event_type is typing.SystemEventType.UNBIND
    assert arrived[0].device.uuid == nvml_device.uuid
    assert type(arrived[0].gpu_id) is int
    with pytest.raises(IndexError):
        arrived[2]
    assert [each.event_type for each in events.wait(1000, buffer_size=5)] == ["bind"]
    for kind in ("unbind", "bind"):  # one event is returned unless more are requested
        post_event(kind)
    for kind in ("unbind", "bind"):
        (first,) = asyncio.run(events.wait_async(1000))
        assert first.event_type == kind
    with pytest.raises(ValueError, match="buffer_size must be positive, got 0"):
        asyncio.run(events.wait_async(10, 0))


def test_texts_of_events_of_the_system(nvml_device, post_event):
    events = system.register_events("bind")
    post_event("bind")
    assert repr(events) == "<RegisteredSystemEvents>"
    assert repr(events.wait(1000)) == "<SystemEvents of 1>"


class TestSlices:
    """A long wait consists of short ones, between which Python handles signals."""

    @pytest.fixture
    def waited(self, monkeypatch):
        """Replace time; `waited(total, count)` lists the slices of a wait until its event."""
        now = [1000.0]
        monkeypatch.setattr("time.monotonic", lambda: now[0])

        def run(total, count):
            slices = []

            def wait(milliseconds):
                slices.append(milliseconds)
                if len(slices) == count:
                    return "event"
                now[0] += milliseconds / 1000
                raise system.TimeoutError(10)

            assert _events.wait_for(wait, total) == "event"
            return slices

        return run

    @pytest.mark.parametrize(
        ("total", "slices"),
        [
            (0, [200, 200, 200]),
            (1, [1]),
            (150, [150]),
            (450, [200, 200, 50]),
            (401, [200, 200, 1]),
            (4000, [200] * 20),
            (2**32 - 1, [200]),  # the longest wait
        ],
    )
    def test_their_lengths(self, waited, total, slices):
        assert waited(total, len(slices)) == slices

    def test_the_last_one_ends_the_wait(self, waited):
        with pytest.raises(system.TimeoutError):
            waited(450, 4)


def test_no_device_is_added_until_the_timeout(nvml_device):
    try:
        events = system.register_events("bind")
    except (system.NotSupportedError, system.NoPermissionError, system.FunctionNotFoundError):
        assert not emulation.is_active()
        pytest.skip("the driver does not report added devices")
    with pytest.raises(system.TimeoutError):
        events.wait(10)
    for size in (0, -1):
        with pytest.raises(ValueError, match=f"buffer_size must be positive, got {size}"):
            events.wait(10, size)


@pytest.mark.parametrize("value", ["nothing", ["bind", "nothing"]])
def test_an_invalid_event_of_the_machine_is_refused(nvml_device, value):
    with pytest.raises(ValueError, match="Invalid event type: "):
        system.register_events(value)


def test_a_set_of_events_of_the_system_is_freed_once(monkeypatch):
    from cuda.bindings import nvml

    calls = []
    monkeypatch.setattr(nvml, "system_event_set_create", lambda: 77)
    monkeypatch.setattr(nvml, "system_register_events", lambda *each: calls.append(each))
    monkeypatch.setattr(nvml, "system_event_set_free", calls.append)
    events = RegisteredSystemEvents(3)
    assert calls.count((3, 77)) == 1
    assert 77 not in calls
    del events
    gc.collect()
    assert calls.count(77) == 1


def test_a_set_that_was_not_created_is_not_freed(monkeypatch):
    from cuda.bindings import nvml

    freed = []
    monkeypatch.setattr(nvml, "system_event_set_create", lambda: 1 / 0)
    monkeypatch.setattr(nvml, "system_event_set_free", freed.append)
    with pytest.raises(ZeroDivisionError):
        RegisteredSystemEvents(3)
    gc.collect()
    assert None not in freed

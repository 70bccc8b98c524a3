# SPDX-License-Identifier: Apache-2.0
"""Waiting for events: what comes, what does not, and that waiting lets other threads run."""

import gc
import threading
import time
import weakref

import pytest
from cuda.core import emulation, system
from cuda.core.system import typing


def supported(device):
    try:
        return device.get_supported_event_types()
    except system.NotSupportedError:
        pytest.skip("the device tells of no events")


def test_events_that_a_device_reports_of_can_be_registered(nvml_device):
    types = supported(nvml_device)
    assert set(types) <= set(typing.EventType)
    for given in (types[0], str(types[0]), types, tuple(types), iter(types), set(types), []):
        assert nvml_device.register_events(given) is not None


@pytest.mark.parametrize("given", [4, None, 1.5, b"pstate"])
def test_what_is_no_event_and_no_list_is_refused(nvml_device, given):
    with pytest.raises(TypeError, match="events must be an EventType, str, or list of EventType"):
        nvml_device.register_events(given)
    with pytest.raises(TypeError, match="events must be an SystemEventType, str, or list of"):
        system.register_events(given)


@pytest.mark.parametrize("given", ["nothing", ["pstate", "nothing"], [None]])
def test_an_event_that_there_is_not_is_refused(nvml_device, given):
    with pytest.raises(ValueError, match="Invalid event type: "):
        nvml_device.register_events(given)


def test_nothing_happens_in_time(nvml_device):
    events = nvml_device.register_events(supported(nvml_device)[0])
    begun = time.monotonic()
    with pytest.raises(system.TimeoutError):
        events.wait(timeout_ms=30)
    assert 0.02 < time.monotonic() - begun < 10
    with pytest.raises(TimeoutError):  # the built-in one
        events.wait(timeout_ms=1)


@pytest.mark.parametrize(
    ("given", "error"), [(-1, OverflowError), (1 << 32, OverflowError), ("1", TypeError)]
)
def test_a_wrong_time_is_refused(nvml_device, given, error):
    events = nvml_device.register_events(supported(nvml_device)[0])
    with pytest.raises(error, match="timeout_ms must be"):
        events.wait(given)


def test_an_event_comes_to_those_that_requested_it(nvml_device, post_event):
    wanted = nvml_device.register_events(["pstate", "clock"])
    other = nvml_device.register_events("power_source_change")
    assert post_event("clock") == 1
    came = wanted.wait(1000)
    assert came.event_type is typing.EventType.CLOCK
    assert came.device.uuid == nvml_device.uuid
    for name in ("event_data", "gpu_instance_id", "compute_instance_id"):
        text = f"{name} is only available for Xid critical error events."
        with pytest.raises(ValueError, match=text):
            getattr(came, name)
    for events in (wanted, other):
        with pytest.raises(system.TimeoutError):
            events.wait(1)


def test_an_xid_error_has_a_number(nvml_device, post_event):
    events = nvml_device.register_events(typing.EventType.XID_CRITICAL_ERROR)
    post_event("xid_critical_error", data=79)
    came = events.wait()
    assert (came.event_type, came.event_data) == ("xid_critical_error", 79)
    assert came.gpu_instance_id == came.compute_instance_id == 0xFFFFFFFF


def test_every_event_arrives(nvml_device, post_event):
    events = nvml_device.register_events(typing.EventType)
    for kind in nvml_device.get_supported_event_types():
        assert post_event(kind) == 1
        assert events.wait(1000).event_type is kind


def test_waiting_lets_other_threads_run(nvml_device, post_event):
    events = nvml_device.register_events("pstate")
    seen = []
    waiting = threading.Thread(target=lambda: seen.append(events.wait().event_type))
    waiting.start()
    while not post_event("pstate"):
        pass
    waiting.join(10)
    assert seen == ["pstate"]


def test_what_is_waited_for_goes_with_its_object(nvml_device, post_event):
    events = nvml_device.register_events("pstate")
    gone = weakref.ref(events)
    del events
    gc.collect()
    assert gone() is None
    assert post_event("pstate") == 0


def test_a_registration_that_fails_leaves_no_set_behind(nvml_device, post_event, monkeypatch):
    from cuda.core.system import _nvml_context

    def fail(*arguments):
        raise system.NotSupportedError(3)

    monkeypatch.setattr(_nvml_context.nvml, "device_register_events", fail)
    for _ in range(100):  # there is room for fewer
        with pytest.raises(system.NotSupportedError):
            nvml_device.register_events("pstate")


# --- devices that come and go ---


def test_devices_come_and_go(nvml_device, post_event):
    events = system.register_events(["bind", "unbind"])
    for kind in ("bind", "unbind", "bind"):
        assert post_event(kind) == 1
    came = events.wait(1000, 2)
    assert [each.event_type for each in came] == ["bind", "unbind"]
    assert len(came) == 2 and came[-1].event_type is typing.SystemEventType.UNBIND
    assert came[0].device.uuid == nvml_device.uuid
    assert type(came[0].gpu_id) is int
    with pytest.raises(IndexError):
        came[2]
    assert [each.event_type for each in events.wait(1000, buffer_size=5)] == ["bind"]


def test_no_device_comes_in_time(nvml_device):
    try:
        events = system.register_events("bind")
    except (system.NotSupportedError, system.NoPermissionError, system.FunctionNotFoundError):
        assert not emulation.is_active()
        pytest.skip("the driver does not tell of devices that come")
    with pytest.raises(system.TimeoutError):
        events.wait(10)
    for size in (0, -1):
        with pytest.raises(ValueError, match=f"buffer_size must be positive, got {size}"):
            events.wait(10, size)


@pytest.mark.parametrize("given", ["nothing", ["bind", "nothing"]])
def test_what_cannot_happen_to_a_machine_is_refused(nvml_device, given):
    with pytest.raises(ValueError, match="Invalid event type: "):
        system.register_events(given)

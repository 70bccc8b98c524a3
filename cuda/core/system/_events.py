# SPDX-License-Identifier: Apache-2.0
"""Waiting for what happens to a device."""

import os
import time

from cuda.core.system._numbers import EVENT_TYPE, integer
from cuda.core.system._nvml_context import nvml, release

TYPE_CHECKING = False
if TYPE_CHECKING:
    import cuda.core.system
    from cuda.core.system.typing import EventType

_SLICE = 200  # milliseconds; in between, signals are seen to
_LONGEST = 0xFFFF_FFFF


def wait_for(ask, timeout_ms):
    """What `ask(milliseconds)` gives, asked for a while at a time; 0 waits for ever."""
    total = integer(timeout_ms, "timeout_ms")
    if not 0 <= total <= _LONGEST:
        raise OverflowError(f"timeout_ms must be 0 to {_LONGEST}, got {total}")
    end = time.monotonic() + total / 1000
    while True:
        left = _SLICE if total == 0 else round(1000 * (end - time.monotonic()))
        try:
            return ask(min(max(left, 1), _SLICE))
        except nvml.NvmlTimeoutError:
            if total and time.monotonic() >= end:
                raise


class EventData:
    """Something that happened to a device."""

    __slots__ = ("_data", "_device_of")

    def __init__(self, data, device_of):
        self._data, self._device_of = data, device_of

    @property
    def device(self) -> "cuda.core.system.Device":
        """The device that it happened to. Host only."""
        return self._device_of(self._data.device_)

    @property
    def event_type(self) -> "EventType":
        """What happened. Host only."""
        return EVENT_TYPE.member(self._data.event_type)

    @property
    def event_data(self) -> int:
        """The number of the Xid error. Host only.

        Raises
        ------
        ValueError
            If it was no Xid critical error, as for the two members below.
        """
        return self._of_error("event_data")

    @property
    def gpu_instance_id(self) -> int:
        """The part of the memory that the Xid error is of, on a MIG device. Host only."""
        return self._of_error("gpu_instance_id")

    @property
    def compute_instance_id(self) -> int:
        """The part of the multiprocessors that the Xid error is of, on a MIG device. Host only."""
        return self._of_error("compute_instance_id")

    def _of_error(self, name):
        if self._data.event_type != nvml.EventType.XID_CRITICAL_ERROR:
            raise ValueError(f"{name} is only available for Xid critical error events.")
        return getattr(self._data, name)

    def __repr__(self):
        return f"<EventData {self.event_type}>"


class DeviceEvents:
    """What is waited for. Made by `Device.register_events`; freed when it is collected."""

    __slots__ = ("__weakref__", "_device_of", "_process", "_set")

    def __init__(self, device: "cuda.core.system.Device", mask: int):
        self._set, self._process, self._device_of = None, os.getpid(), type(device)._of
        self._set = nvml.event_set_create()
        nvml.device_register_events(device._handle, mask, self._set)

    def __del__(self):
        if self._set is not None:
            release(nvml.event_set_free, self._set, self._process)

    def __repr__(self):
        return "<DeviceEvents>"

    def wait(self, timeout_ms: int = 0) -> EventData:
        """Wait until one of the events happens.

        Blocks the host; other threads go on, and Ctrl-C ends it.

        Parameters
        ----------
        timeout_ms
            For how long, in milliseconds; 0 waits for ever.

        Raises
        ------
        TimeoutError
            NVML's one: if nothing has happened by then.
        GpuIsLostError
            If a device cannot be reached any more.

        See Also
        --------
        nvmlEventSetWait_v2 : the NVML function.
        """
        found = wait_for(lambda ms: nvml.event_set_wait_v2(self._set, ms), timeout_ms)
        return EventData(found, self._device_of)

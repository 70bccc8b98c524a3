# SPDX-License-Identifier: Apache-2.0
"""Events of devices, and waiting for them."""

import os
import time

from cuda.core.system._numbers import EVENT_TYPE, integer
from cuda.core.system._nvml_context import nvml, release

TYPE_CHECKING = False
if TYPE_CHECKING:
    import cuda.core.system
    from cuda.core.system.typing import EventType

_SLICE = 200  # milliseconds; signals are handled between slices
_LONGEST = 0xFFFF_FFFF


def wait_for(wait, timeout_ms):
    """Call `wait(milliseconds)` in short slices until it returns; 0 waits without limit."""
    total = integer(timeout_ms, "timeout_ms")
    if not 0 <= total <= _LONGEST:
        raise OverflowError(f"timeout_ms must be 0 to {_LONGEST}, got {total}")
    end = time.monotonic() + total / 1000
    while True:
        remaining = _SLICE if total == 0 else round(1000 * (end - time.monotonic()))
        try:
            return wait(min(max(remaining, 1), _SLICE))
        except nvml.NvmlTimeoutError:
            if total and time.monotonic() >= end:
                raise


async def wait_on_thread(owner, wait, timeout_ms):
    """Call `wait_for` on a thread of the package; cancellation ends the wait after a slice."""
    from cuda.core.execution.stream import waiter_threads

    is_canceled = False

    def wait_slice(milliseconds):
        if is_canceled:
            raise RuntimeError("the task that awaits the events was canceled")
        return wait(milliseconds)

    try:
        return await waiter_threads.wait(
            ("events", id(owner)), lambda: wait_for(wait_slice, timeout_ms)
        )
    finally:
        is_canceled = True


class EventData:
    """An event of a device."""

    __slots__ = ("_data", "_device_of")

    def __init__(self, data, device_of):
        self._data, self._device_of = data, device_of

    @property
    def device(self) -> "cuda.core.system.Device":
        """Device of the event. Host only."""
        return self._device_of(self._data.device_)

    @property
    def event_type(self) -> "EventType":
        """Type of the event. Host only."""
        return EVENT_TYPE.member(self._data.event_type)

    @property
    def event_data(self) -> int:
        """Number of the Xid error. Host only.

        Raises
        ------
        ValueError
            If the event is no Xid critical error.
        """
        return self._of_error("event_data")

    @property
    def gpu_instance_id(self) -> int:
        """GPU instance of the Xid error on a MIG device. Host only."""
        return self._of_error("gpu_instance_id")

    @property
    def compute_instance_id(self) -> int:
        """Compute instance of the Xid error on a MIG device. Host only."""
        return self._of_error("compute_instance_id")

    def _of_error(self, name):
        if self._data.event_type != nvml.EventType.XID_CRITICAL_ERROR:
            raise ValueError(f"{name} is only available for Xid critical error events.")
        return getattr(self._data, name)

    def __repr__(self):
        return f"<EventData {self.event_type}>"


class DeviceEvents:
    """A set of registered events, created by `Device.register_events`."""

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
        """Wait until one of the events occurs.

        Blocks the host; other threads continue to run, and Ctrl-C interrupts the wait.

        Parameters
        ----------
        timeout_ms
            Timeout in milliseconds; 0 waits without limit.

        Raises
        ------
        TimeoutError
            If no event occurs before the timeout; the class is `exceptions.TimeoutError`.
        GpuIsLostError
            If a device is no longer accessible.

        See Also
        --------
        nvmlEventSetWait_v2 : the NVML function.
        """
        return EventData(wait_for(self._wait_once, timeout_ms), self._device_of)

    async def wait_async(self, timeout_ms: int = 0) -> EventData:
        """Wait in asyncio until one of the events occurs.

        Host only. The loop continues; a thread of the package waits. A canceled task continues at
        once, and the thread stops within 0.2 s. An event that occurs in between is lost.

        Parameters
        ----------
        timeout_ms
            Timeout in milliseconds; 0 waits without limit.

        Raises
        ------
        TimeoutError
            If no event occurs before the timeout; the class is `exceptions.TimeoutError`.

        See Also
        --------
        nvmlEventSetWait_v2 : the NVML function.
        """
        data = await wait_on_thread(self, self._wait_once, timeout_ms)
        return EventData(data, self._device_of)

    def _wait_once(self, milliseconds):
        """Call the NVML function once."""
        return nvml.event_set_wait_v2(self._set, milliseconds)

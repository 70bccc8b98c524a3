# SPDX-License-Identifier: Apache-2.0
"""Events of device hot-plugging, and waiting for them."""

import os

from cuda.core.system._events import wait_for, wait_on_thread
from cuda.core.system._numbers import SYSTEM_EVENT_TYPE, integer
from cuda.core.system._nvml_context import initialize, nvml, release

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cuda.core.system._device import Device
    from cuda.core.system.typing import SystemEventType

__all__ = ["register_events"]


def _pci_bus_id_from_gpu_id(gpu_id):
    """Return the PCI address of a packed device number."""
    return f"{gpu_id >> 16:08X}:{gpu_id >> 8 & 0xFF:02X}:{gpu_id & 0xFF:02X}.0"


class SystemEvent:
    """An event of a device that was bound or unbound."""

    __slots__ = ("_data",)

    def __init__(self, data):
        self._data = data

    @property
    def event_type(self) -> "SystemEventType":
        """Type of the event. Host only."""
        return SYSTEM_EVENT_TYPE.member(self._data.event_type)

    @property
    def gpu_id(self) -> int:
        """PCI address of the device, packed into a number. Host only."""
        return self._data.gpu_id

    @property
    def device(self) -> "Device":
        """Device of the event. Host only.

        Raises
        ------
        NotFoundError
            If the device is no longer bound.
        """
        from cuda.core.system._device import Device

        return Device(pci_bus_id=_pci_bus_id_from_gpu_id(self.gpu_id))

    def __repr__(self):
        return f"<SystemEvent {self.event_type} {_pci_bus_id_from_gpu_id(self.gpu_id)}>"


class SystemEvents:
    """A sequence of `SystemEvent`."""

    __slots__ = ("_data",)

    def __init__(self, data):
        self._data = data

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx: int) -> SystemEvent:
        index = integer(idx, "an index")
        if not -len(self) <= index < len(self):
            raise IndexError("index is out of bounds")
        return SystemEvent(self._data[index])

    def __repr__(self):
        return f"<SystemEvents of {len(self)}>"


class RegisteredSystemEvents:
    """A set of registered events, created by `register_events`."""

    __slots__ = ("__weakref__", "_process", "_set")

    def __init__(self, mask):
        self._set, self._process = None, os.getpid()
        self._set = nvml.system_event_set_create()
        nvml.system_register_events(mask, self._set)

    def __del__(self):
        if self._set is not None:
            release(nvml.system_event_set_free, self._set, self._process)

    def __repr__(self):
        return "<RegisteredSystemEvents>"

    def wait(self, timeout_ms: int = 0, buffer_size: int = 1) -> SystemEvents:
        """Wait until one of the events occurs.

        Blocks the host; other threads continue to run, and Ctrl-C interrupts the wait.

        Parameters
        ----------
        timeout_ms
            Timeout in milliseconds; 0 waits without limit.
        buffer_size
            Maximum number of events to return.

        Raises
        ------
        TimeoutError
            If no event occurs before the timeout; the class is `exceptions.TimeoutError`.
        ValueError
            If `buffer_size` is not positive.

        See Also
        --------
        nvmlSystemEventSetWait : the NVML function.
        """
        return SystemEvents(wait_for(self._wait_of(buffer_size), timeout_ms))

    async def wait_async(self, timeout_ms: int = 0, buffer_size: int = 1) -> SystemEvents:
        """Wait in asyncio until one of the events occurs.

        Host only. The loop continues; a thread of the package waits. A canceled task continues at
        once, and the thread stops within 0.2 s. An event that occurs in between is lost.

        Parameters
        ----------
        timeout_ms
            Timeout in milliseconds; 0 waits without limit.
        buffer_size
            Maximum number of events to return.

        Raises
        ------
        TimeoutError
            If no event occurs before the timeout; the class is `exceptions.TimeoutError`.
        ValueError
            If `buffer_size` is not positive.

        See Also
        --------
        nvmlSystemEventSetWait : the NVML function.
        """
        return SystemEvents(await wait_on_thread(self, self._wait_of(buffer_size), timeout_ms))

    def _wait_of(self, buffer_size):
        """Return the wait for up to `buffer_size` events."""
        size = integer(buffer_size, "buffer_size")
        if size < 1:
            raise ValueError(f"buffer_size must be positive, got {size}")
        return lambda ms: nvml.system_event_set_wait(self._set, ms, size)


def register_events(
    events: "SystemEventType | str | Iterable[SystemEventType | str]",
) -> RegisteredSystemEvents:
    """Register for events of devices that are bound or unbound. Host only; Linux.

    Parameters
    ----------
    events
        One event type, or an iterable of event types.

    Returns
    -------
    RegisteredSystemEvents
        The set that waits for the events.

    Raises
    ------
    TypeError
        If `events` is neither.
    ValueError
        If an event type is unknown.
    """
    mask = SYSTEM_EVENT_TYPE.mask(events, "SystemEventType")
    initialize()
    return RegisteredSystemEvents(mask)

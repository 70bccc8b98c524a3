# SPDX-License-Identifier: Apache-2.0
"""Options of new events."""

import warnings
from dataclasses import dataclass

_OLD_NAMES = {
    "enable_timing": "timing_enabled",
    "busy_waited_sync": "blocking_sync",
    "support_ipc": "ipc_enabled",
}


def _warn_renamed(old, stacklevel):
    warnings.warn(
        f"EventOptions.{old} is deprecated: use {_OLD_NAMES[old]}",
        DeprecationWarning,
        stacklevel=stacklevel + 1,
    )


@dataclass(init=False, slots=True, weakref_slot=True)
class EventOptions:
    """Options of `Device.create_event` and `Stream.record`.

    Host only. None means False in each field.

    Parameters
    ----------
    timing_enabled : bool
        Whether the event records the time, so that events can be subtracted.
    blocking_sync : bool
        Whether `Event.sync` blocks the thread instead of spinning.
    ipc_enabled : bool
        Whether another process may wait for the event; excludes timing.

    See Also
    --------
    cuEventCreate : the driver function.
    """

    timing_enabled: bool | None = False
    blocking_sync: bool | None = False
    ipc_enabled: bool | None = False

    def __init__(
        self,
        timing_enabled: bool | None = False,
        blocking_sync: bool | None = False,
        ipc_enabled: bool | None = False,
        **old: bool,
    ) -> None:
        self.timing_enabled = timing_enabled
        self.blocking_sync = blocking_sync
        self.ipc_enabled = ipc_enabled
        for name, value in old.items():
            if name not in _OLD_NAMES:
                raise TypeError(
                    f"EventOptions has no option {name!r}: its options are timing_enabled, "
                    "blocking_sync and ipc_enabled"
                )
            _warn_renamed(name, stacklevel=2)
            setattr(self, _OLD_NAMES[name], value)


def _renamed(old):
    new = _OLD_NAMES[old]

    def get(self):
        _warn_renamed(old, stacklevel=2)
        return getattr(self, new)

    def put(self, value):
        _warn_renamed(old, stacklevel=2)
        setattr(self, new, value)

    return property(get, put, doc=f"Deprecated spelling of `{new}`.")


for _old in _OLD_NAMES:
    setattr(EventOptions, _old, _renamed(_old))
del _old

EventOptions.__module__ = "cuda.core"

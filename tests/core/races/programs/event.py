# SPDX-License-Identifier: Apache-2.0
"""Every operation that accepts an event, while another thread closes the event."""

from cuda.core import EventOptions
from harness import chance, device, race

TIMED = EventOptions(timing_enabled=True)

stream = device.create_stream()
start = stream.record(options=TIMED)
stream.sync()

USES = [
    lambda event: stream.record(event),
    lambda event: stream.wait(event),
    lambda event: event.sync(),
    lambda event: event.is_done,
    lambda event: (event.context, event.device),
    lambda event: (event.is_timing_enabled, event.is_blocking_sync, event.is_ipc_enabled),
    lambda event: (repr(event), hash(event), event == start, event.handle),
]

race(lambda: stream.record(options=TIMED), chance.sample(USES, 4))

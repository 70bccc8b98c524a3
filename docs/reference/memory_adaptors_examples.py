# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on pools and adaptors."""

from cuda.core import Device, DeviceMemoryResource

device = Device()
device.set_current()
stream = device.create_stream()
pool = DeviceMemoryResource(device)

# example: PoolMemoryResource
from cuda.core import PoolMemoryResource

blocks = PoolMemoryResource(device, initial_size=1 << 20)
with blocks.allocate(1000, stream=stream):
    print(blocks.statistics()["allocated_bytes.current"])

# example: CallbackMemoryResource
from cuda.core import CallbackMemoryResource

live = {}


def alloc(size, stream):
    memory = device.allocate(size, stream=stream)
    live[int(memory.handle)] = memory
    return int(memory.handle)


def free(ptr, size, stream):
    live.pop(int(ptr)).close(stream)


called = CallbackMemoryResource(alloc, free, device_id=device.device_id)
called.allocate(64, stream=stream).close()
assert not live

# example: LimitingMemoryResource
import pytest
from cuda.core import LimitingMemoryResource, OutOfMemoryError

limited = LimitingMemoryResource(pool, 1 << 20)
with pytest.raises(OutOfMemoryError):
    limited.allocate(2 << 20, stream=stream)

# example: LoggingMemoryResource
from cuda.core import LoggingMemoryResource

events = []
logged = LoggingMemoryResource(pool, events.append)
logged.allocate(64, stream=stream).close()
assert [event.action for event in events] == ["allocate", "free"]

# example: StatisticsMemoryResource
from cuda.core import StatisticsMemoryResource

counted = StatisticsMemoryResource(pool)
with counted.allocate(1000, stream=stream):
    assert counted.statistics()["allocation_count.current"] == 1

# example: TrackingMemoryResource
from cuda.core import TrackingMemoryResource

tracked = TrackingMemoryResource(pool)
kept = tracked.allocate(64, stream=stream)
(leak,) = tracked.report_leaks()
assert leak.size >= 64
kept.close()

# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on streams and events."""

from cuda.core import Device

device = Device()
device.set_current()
stream = device.create_stream()

# example: Stream
memory = device.allocate(1024, stream=stream)
memory.fill(0, stream=stream)  # submitted; runs in the order of the stream
stream.sync()

# example: Stream.sync
stream.sync()  # waits until all submitted work is complete
assert stream.is_done

# example: Stream.record
begin = stream.record()
memory.fill(1, stream=stream)
end = stream.record()
end.sync()
assert begin.is_done

# example: Stream.wait
other = device.create_stream()
memory.fill(2, stream=stream)
other.wait(stream)  # later work of `other` waits for the work of `stream` so far
memory.fill(3, stream=other)

# example: Stream.close
other.sync()
other.close()  # closing destroys the stream when its work is complete

# example: Stream.is_done
while not stream.is_done:
    pass  # other work of the host

# example: Stream.launch_host
stream.launch_host(lambda: print("the work before this is complete"))
stream.sync()

# example: StreamOptions
from cuda.core import StreamOptions

options = StreamOptions(nonblocking=True, priority=-1)
urgent = device.create_stream(options=options)
assert urgent.is_nonblocking

# example: Event, EventOptions
from cuda.core import EventOptions

timed = EventOptions(timing_enabled=True)
start = stream.record(options=timed)
memory.fill(4, stream=stream)
stop = stream.record(options=timed)
stop.sync()
print(f"{stop - start:.3f} ms")

# example: Event.sync
event = stream.record()
event.sync()
assert event.is_done

# example: Event.is_done
finished = stream.record().is_done

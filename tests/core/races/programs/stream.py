# SPDX-License-Identifier: Apache-2.0
"""Every operation that accepts a stream, while another thread closes the stream."""

from cuda.core import LaunchConfig, launch
from harness import chance, device, race, store_kernel

ONE = LaunchConfig(grid=1, block=1)

kernel, code = store_kernel()
shared_stream = device.create_stream()
memory = device.allocate(64, stream=shared_stream)
other = device.allocate(64, stream=shared_stream)
event = shared_stream.record()
prepared = kernel.prepare(ONE, memory, 1)
shared_stream.sync()


def allocate(stream):
    device.allocate(64, stream=stream).close(shared_stream)


def host_call(stream):
    stream.launch_host(int)


USES = [
    lambda stream: memory.fill(1, stream=stream),
    lambda stream: memory.copy_to(other, stream=stream),
    lambda stream: launch(stream, ONE, kernel, memory, 1),
    lambda stream: prepared(stream),
    lambda stream: stream.record(),
    lambda stream: stream.record(event),
    lambda stream: stream.wait(event),
    lambda stream: stream.wait(shared_stream),
    lambda stream: shared_stream.wait(stream),
    lambda stream: stream.sync(),
    lambda stream: stream.is_done,
    lambda stream: (stream.context, stream.device),
    lambda stream: (stream.priority, stream.is_nonblocking),
    lambda stream: (repr(stream), hash(stream), stream == shared_stream, stream.handle),
    allocate,
    host_call,
]

race(device.create_stream, chance.sample(USES, 5))

# SPDX-License-Identifier: Apache-2.0
"""Every operation that accepts a stream, while another thread closes the stream."""

from cuda.core import LaunchConfig, launch
from harness import chance, device, race, store_kernel

ONE = LaunchConfig(grid=1, block=1)

kernel, code = store_kernel()
keeper = device.create_stream()
memory = device.allocate(64, stream=keeper)
other = device.allocate(64, stream=keeper)
event = keeper.record()
prepared = kernel.prepare(ONE, memory, 1)
keeper.sync()


def allocate(stream):
    device.allocate(64, stream=stream).close(keeper)


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
    lambda stream: stream.wait(keeper),
    lambda stream: keeper.wait(stream),
    lambda stream: stream.sync(),
    lambda stream: stream.is_done,
    lambda stream: (stream.context, stream.device),
    lambda stream: (stream.priority, stream.is_nonblocking),
    lambda stream: (repr(stream), hash(stream), stream == keeper, stream.handle),
    allocate,
    host_call,
]

race(device.create_stream, chance.sample(USES, 5))

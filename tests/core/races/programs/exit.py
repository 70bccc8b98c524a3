# SPDX-License-Identifier: Apache-2.0
"""A process that ends while daemon threads are inside every kind of operation."""

import threading
import time

from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from harness import chance, device, store_kernel

ONE = LaunchConfig(grid=1, block=1)

kernel, code = store_kernel()
shared_stream = device.create_stream()
memory = device.allocate(64, stream=shared_stream)
other = device.allocate(64, stream=shared_stream)
prepared = kernel.prepare(ONE, memory, 1)
pinned = LegacyPinnedMemoryResource()
shared_stream.sync()


def compile_program():
    Program('extern "C" __global__ void k() {}', "c++", ProgramOptions(arch="sm_90")).compile("ptx")


def use_a_stream():
    with device.create_stream() as stream, stream.record() as event:
        stream.wait(event)
        stream.sync()


USES = [
    compile_program,
    use_a_stream,
    store_kernel,
    lambda: memory.fill(1, stream=shared_stream),
    lambda: memory.copy_to(other, stream=shared_stream),
    lambda: launch(shared_stream, ONE, kernel, memory, 1),
    lambda: prepared(shared_stream),
    lambda: shared_stream.record(),
    lambda: shared_stream.sync(),
    lambda: shared_stream.launch_host(int),
    lambda: (shared_stream.launch_host(int), shared_stream.sync()),
    lambda: device.allocate(64, stream=shared_stream).close(),
    lambda: pinned.allocate(64),
    lambda: memory.__dlpack__(),
    lambda: device.sync(),
]


def use_forever(use, has_begun):
    device.set_current()
    while True:
        use()
        has_begun.set()


began_events = [threading.Event() for _ in range(5)]
for use, has_begun in zip(chance.sample(USES, len(began_events)), began_events, strict=True):
    threading.Thread(target=use_forever, args=(use, has_begun), daemon=True).start()
for each in began_events:
    each.wait()
time.sleep(chance.random() / 50)  # a random point in the operations

# SPDX-License-Identifier: Apache-2.0
"""A process that ends while daemon threads are inside every kind of operation."""

import threading
import time

from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from harness import chance, device, store_kernel

ONE = LaunchConfig(grid=1, block=1)

kernel, code = store_kernel()
keeper = device.create_stream()
memory = device.allocate(64, stream=keeper)
other = device.allocate(64, stream=keeper)
prepared = kernel.prepare(ONE, memory, 1)
pinned = LegacyPinnedMemoryResource()
keeper.sync()


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
    lambda: memory.fill(1, stream=keeper),
    lambda: memory.copy_to(other, stream=keeper),
    lambda: launch(keeper, ONE, kernel, memory, 1),
    lambda: prepared(keeper),
    lambda: keeper.record(),
    lambda: keeper.sync(),
    lambda: keeper.launch_host(int),
    lambda: (keeper.launch_host(int), keeper.sync()),
    lambda: device.allocate(64, stream=keeper).close(),
    lambda: pinned.allocate(64),
    lambda: memory.__dlpack__(),
    lambda: device.sync(),
]


def use_for_ever(use, has_begun):
    device.set_current()
    while True:
        use()
        has_begun.set()


begun = [threading.Event() for _ in range(5)]
for use, has_begun in zip(chance.sample(USES, len(begun)), begun, strict=True):
    threading.Thread(target=use_for_ever, args=(use, has_begun), daemon=True).start()
for each in begun:
    each.wait()
time.sleep(chance.random() / 50)  # anywhere in the operations

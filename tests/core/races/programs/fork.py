# SPDX-License-Identifier: Apache-2.0
"""A process that forks while other threads are inside operations: both processes continue and end.

The objects belong to the parent. The child closes and drops them, and frees nothing.
"""

import gc
import os
import sys
import threading
import warnings

from cuda.core import CUDAError, LaunchConfig, LegacyPinnedMemoryResource, launch
from harness import Thread, chance, device, store_kernel

# A fork in a process with threads is the subject of this program.
warnings.simplefilter("ignore", DeprecationWarning)

ONE = LaunchConfig(grid=1, block=1)

kernel, code = store_kernel()
shared_stream = device.create_stream()
memory = device.allocate(64, stream=shared_stream)
other = device.allocate(64, stream=shared_stream)
pinned = LegacyPinnedMemoryResource().allocate(64)
event = shared_stream.record()
shared_stream.sync()


def use_a_stream():
    with device.create_stream() as stream, stream.record() as reached:
        stream.wait(reached)
        stream.sync()


USES = [
    use_a_stream,
    store_kernel,
    lambda: memory.fill(1, stream=shared_stream),
    lambda: memory.copy_to(other, stream=shared_stream),
    lambda: launch(shared_stream, ONE, kernel, memory, 1),
    lambda: shared_stream.record(event),
    lambda: shared_stream.sync(),
    lambda: shared_stream.launch_host(int),
    lambda: device.allocate(64, stream=shared_stream).close(),
]


def use_until(stop, use):
    device.set_current()
    while not stop.is_set():
        for _ in range(20):
            use()
        shared_stream.sync()  # bounds the queue


def is_driver_usable():
    try:
        device.create_stream()
    except CUDAError:
        return False
    return True


def run_child():
    for each in chance.sample([memory, other, pinned, event, shared_stream], 3):
        each.close()
    if is_driver_usable():
        raise AssertionError("the driver of the parent served the child")
    gc.collect()


stop = threading.Event()
threads = [Thread(use_until, stop, use) for use in chance.sample(USES, 4)]
for each in threads:
    each.start()
statuses = []
for _ in range(5):
    for _ in range(chance.randrange(20_000)):
        pass  # a random point in the operations
    child = os.fork()
    if child == 0:
        run_child()
        sys.exit(0)  # exits normally, unlike os._exit
    statuses.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for each in threads:
    each.join()
for each in threads:
    each.check()
if any(statuses):
    raise AssertionError(f"the children ended with {statuses}")
device.sync()

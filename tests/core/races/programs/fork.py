# SPDX-License-Identifier: Apache-2.0
"""A process that forks while other threads are inside operations: both go on, and end.

The objects are the parent's. The child closes and drops what it finds, and gives nothing back.
"""

import gc
import os
import sys
import threading
import warnings

from cuda.core import CUDAError, LaunchConfig, LegacyPinnedMemoryResource, launch
from harness import Thread, chance, device, store_kernel

# That the process has threads is what this is about.
warnings.simplefilter("ignore", DeprecationWarning)

ONE = LaunchConfig(grid=1, block=1)

kernel, code = store_kernel()
keeper = device.create_stream()
memory = device.allocate(64, stream=keeper)
other = device.allocate(64, stream=keeper)
pinned = LegacyPinnedMemoryResource().allocate(64)
event = keeper.record()
keeper.sync()


def use_a_stream():
    with device.create_stream() as stream, stream.record() as reached:
        stream.wait(reached)
        stream.sync()


USES = [
    use_a_stream,
    store_kernel,
    lambda: memory.fill(1, stream=keeper),
    lambda: memory.copy_to(other, stream=keeper),
    lambda: launch(keeper, ONE, kernel, memory, 1),
    lambda: keeper.record(event),
    lambda: keeper.sync(),
    lambda: keeper.launch_host(int),
    lambda: device.allocate(64, stream=keeper).close(),
]


def use_until(is_over, use):
    device.set_current()
    while not is_over.is_set():
        for _ in range(20):
            use()
        keeper.sync()  # what is queued does not grow without end


def is_driver_at_hand():
    try:
        device.create_stream()
    except CUDAError:
        return False
    return True


def be_child():
    for each in chance.sample([memory, other, pinned, event, keeper], 3):
        each.close()
    if is_driver_at_hand():
        raise AssertionError("the driver of the parent served the child")
    gc.collect()


is_over = threading.Event()
threads = [Thread(use_until, is_over, use) for use in chance.sample(USES, 4)]
for each in threads:
    each.start()
ends = []
for _ in range(5):
    for _ in range(chance.randrange(20_000)):
        pass  # long enough for the users to be anywhere
    child = os.fork()
    if child == 0:
        be_child()
        sys.exit(0)  # as a process ends, not by os._exit
    ends.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
is_over.set()
for each in threads:
    each.join()
for each in threads:
    each.check()
if any(ends):
    raise AssertionError(f"the children ended with {ends}")
device.sync()

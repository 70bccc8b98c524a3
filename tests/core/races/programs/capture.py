# SPDX-License-Identifier: Apache-2.0
"""Memory and objects that other threads destroy while a stream captures.

The capture stays valid throughout, and the pool has no memory in use at the end.
"""

import threading

from cuda.bindings import driver
from cuda.core import DeviceMemoryResource, LaunchConfig, LegacyPinnedMemoryResource, Stream, launch
from harness import Thread, chance, device, ok, store_kernel

ONE = LaunchConfig(grid=1, block=1)
MODES = list(driver.CUstreamCaptureMode)
MOST_LAUNCHES = 300
SIZE = 4096

kernel, code = store_kernel()
pool = DeviceMemoryResource(device, {})
pinned = LegacyPinnedMemoryResource()
side = device.create_stream()
target = pool.allocate(SIZE, stream=side)
launch(side, ONE, kernel, target, 1)  # loads the kernel before any capture
side.sync()

MAKERS = [
    lambda captured: pool.allocate(SIZE, stream=side),
    lambda captured: pool.allocate(SIZE, stream=captured),
    lambda captured: pool.allocate(SIZE, stream=Stream._legacy_default()),
    lambda captured: pool.allocate(SIZE, stream=Stream._per_thread_default()),
    lambda captured: pinned.allocate(SIZE),
    lambda captured: side.record(),
    lambda captured: device.create_stream(),
    lambda captured: pool.allocate(SIZE, stream=side).__dlpack__(),
]


def capture(stream, mode, has_begun, all_destroyed):
    device.set_current()
    try:
        ok(driver.cuStreamBeginCapture(stream.handle, mode))
    finally:
        has_begun.set()
    launches = 0
    while launches == 0 or (launches < MOST_LAUNCHES and not all_destroyed.is_set()):
        launch(stream, ONE, kernel, target, launches)
        launches += 1
    all_destroyed.wait()
    graph = ok(driver.cuStreamEndCapture(stream.handle))
    nodes = ok(driver.cuGraphGetNodes(graph, 0))[1]
    ok(driver.cuGraphDestroy(graph))
    if nodes != launches:
        raise AssertionError(f"{launches} launches were captured as {nodes} nodes")


def destroy_all(objects, has_begun):
    device.set_current()
    has_begun.wait()
    while objects:
        last = objects.pop()
        if chance.random() < 0.5 and hasattr(last, "close"):
            last.close()
        del last


for _ in range(15):
    flags = {"nonblocking": chance.random() < 0.5}
    with device.create_stream(options=flags) as captured:
        has_begun, all_destroyed = threading.Event(), threading.Event()
        groups = [[make(captured) for make in chance.choices(MAKERS, k=6)] for _ in range(3)]
        device.sync()
        capturing = Thread(capture, captured, chance.choice(MODES), has_begun, all_destroyed)
        destroyers = [Thread(destroy_all, group, has_begun) for group in groups]
        for each in (capturing, *destroyers):
            each.start()
        for each in destroyers:
            each.join()
        all_destroyed.set()
        capturing.join()
        for each in (capturing, *destroyers):
            each.check()

target.close(side)
pool.allocate(SIZE, stream=side).close()  # frees deferred memory
device.sync()
if pool.attributes.used_mem_current:
    raise AssertionError(f"{pool.attributes.used_mem_current} bytes were not freed")

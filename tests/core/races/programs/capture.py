# SPDX-License-Identifier: Apache-2.0
"""Memory and objects that go on other threads while a stream is captured.

The capture stays whole, whatever goes meanwhile, and all memory of the pool is back in the end.
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
launch(side, ONE, kernel, target, 1)  # loads it: a capture has no time for that
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


def capture(stream, mode, begun, all_gone):
    device.set_current()
    try:
        ok(driver.cuStreamBeginCapture(stream.handle, mode))
    finally:
        begun.set()
    launches = 0
    while launches == 0 or (launches < MOST_LAUNCHES and not all_gone.is_set()):
        launch(stream, ONE, kernel, target, launches)
        launches += 1
    all_gone.wait()
    graph = ok(driver.cuStreamEndCapture(stream.handle))
    nodes = ok(driver.cuGraphGetNodes(graph, 0))[1]
    ok(driver.cuGraphDestroy(graph))
    if nodes != launches:
        raise AssertionError(f"{launches} launches were captured as {nodes} nodes")


def let_go(held, begun):
    device.set_current()
    begun.wait()
    while held:
        last = held.pop()
        if chance.random() < 0.5 and hasattr(last, "close"):
            last.close()
        del last


for _ in range(15):
    flags = {"nonblocking": chance.random() < 0.5}
    with device.create_stream(options=flags) as captured:
        begun, all_gone = threading.Event(), threading.Event()
        piles = [[make(captured) for make in chance.choices(MAKERS, k=6)] for _ in range(3)]
        device.sync()
        capturing = Thread(capture, captured, chance.choice(MODES), begun, all_gone)
        letting_go = [Thread(let_go, pile, begun) for pile in piles]
        for each in (capturing, *letting_go):
            each.start()
        for each in letting_go:
            each.join()
        all_gone.set()
        capturing.join()
        for each in (capturing, *letting_go):
            each.check()

target.close(side)
pool.allocate(SIZE, stream=side).close()  # what had to wait for the end of a capture goes now
device.sync()
if pool.attributes.used_mem_current:
    raise AssertionError(f"{pool.attributes.used_mem_current} bytes did not go back")

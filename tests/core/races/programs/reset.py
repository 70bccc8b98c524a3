# SPDX-License-Identifier: Apache-2.0
"""A device that is reset under live objects, which many threads then destroy among new objects.

Objects of the old context are not freed again; objects created afterwards are freed.
"""

from cuda.bindings import driver, runtime
from cuda.core import DeviceMemoryResource, LaunchConfig, LegacyPinnedMemoryResource, Stream, launch
from harness import Thread, chance, device, ok, store_kernel

ONE = LaunchConfig(grid=1, block=1)
SIZE = 4096

pool = DeviceMemoryResource(device, {})
pinned = LegacyPinnedMemoryResource()


def make_stream():
    return device.create_stream()


def make_events():
    stream = device.create_stream()
    return stream.record(), device.default_stream.record(), device.create_event()


def make_buffer():
    return pool.allocate(SIZE, stream=device.create_stream())


def make_buffers_of_default_streams():
    streams = Stream._legacy_default(), Stream._per_thread_default()
    return [pool.allocate(SIZE, stream=stream) for stream in streams]


def make_prepared_launch():
    kernel, _ = store_kernel()
    return kernel.prepare(ONE, pool.allocate(SIZE, stream=device.default_stream), 1)


MAKERS = [
    make_stream,
    make_events,
    make_buffer,
    make_buffers_of_default_streams,
    make_prepared_launch,
    store_kernel,
    lambda: pinned.allocate(SIZE),
]


def use_new_objects():
    kernel, _ = store_kernel()
    with device.create_stream() as stream:
        buffer = pool.allocate(SIZE, stream=stream)
        launch(stream, ONE, kernel, buffer, 1)
        stream.record().sync()
        buffer.close()
        stream.sync()


def close(item):
    for each in item if isinstance(item, (tuple, list)) else (item,):
        if hasattr(each, "close"):
            each.close()


def destroy_and_create(objects):
    device.set_current()
    while objects:
        item = objects.pop()
        if chance.random() < 0.5:
            close(item)
        del item
        if chance.random() < 0.5:
            use_new_objects()


def reset():
    if chance.random() < 0.5:
        ok(runtime.cudaDeviceReset())
    else:
        ok(driver.cuDevicePrimaryCtxReset(0))


for _ in range(10):
    groups = [[make() for make in chance.choices(MAKERS, k=4)] for _ in range(4)]
    device.sync()
    reset()
    device.set_current()
    threads = [Thread(destroy_and_create, group) for group in groups]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    for each in threads:
        each.check()

pool.allocate(SIZE, stream=device.default_stream).close()  # frees deferred memory
device.sync()
if pool.attributes.used_mem_current:
    raise AssertionError(f"{pool.attributes.used_mem_current} bytes were not freed")

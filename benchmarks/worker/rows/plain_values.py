# SPDX-License-Identifier: Apache-2.0
"""Calls of cuda.bindings._v2.driver: the driver functions with ints and exceptions."""

import ctypes

from rows import call, row


def driver_in_use():
    """Return the module in its usual state, after a class was accessed and NumPy was imported.

    The reference imports NumPy itself. The first access creates our classes, and their NumPy types
    if NumPy is loaded; before, `__getattr__` slows down each access.
    """
    import numpy  # noqa: F401
    from cuda.bindings._v2 import driver

    assert driver.Result.SUCCESS == 0
    return driver


def prepare(text, **extra):
    """Return a function that prepares the call of a row."""

    def make(world):
        driver = driver_in_use()
        world.plain_event = world.device.create_event()
        names = {
            "driver": driver,
            "warp_size": driver.DeviceAttribute.WARP_SIZE,
            "stream": int(world.stream.handle),
            "event": int(world.plain_event.handle),
        }
        return call(text, **names, **extra)

    return make


CALLS = {
    "_v2 ctx_get_current()": (30, "ctx_get_current", "driver.ctx_get_current()"),
    "_v2 device_get_attribute(enum, 0)": (
        20,
        "device_get_attribute",
        "driver.device_get_attribute(warp_size, 0)",
    ),
    "_v2 stream_query(h)": (45, "stream_query", "driver.stream_query(stream)"),
    "_v2 event_record(h, h)": (50, "event_record", "driver.event_record(event, stream)"),
    "_v2 mem_alloc_async + mem_free_async": (
        100,
        "alloc_free_async",
        "driver.mem_free_async(driver.mem_alloc_async(1024, stream), stream)",
    ),
}
for name, (target, twin, text) in CALLS.items():
    row(name, target=target, twin=twin)(prepare(text))


@row("_v2 launch_kernel, 4 args", target=90, twin="launch_4")
def launch_4(world):
    driver = driver_in_use()
    function = driver.kernel_get_function(int(world.kernel("k4").handle))
    types = (ctypes.c_float, ctypes.c_double, ctypes.c_int, ctypes.c_longlong)
    text = "driver.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, 0)"
    return prepare(text, function=function, arguments=((1.0, 2.0, 3, 4), types))(world)


@row("_v2 struct: make, set 2, read 1", target=100)
def struct(world):
    driver = driver_in_use()

    def make_set_read():
        location = driver.MemLocation_v1()
        location.type = 1
        location.id = 0
        return location.id

    return make_set_read

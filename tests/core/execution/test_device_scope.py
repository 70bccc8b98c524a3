# SPDX-License-Identifier: Apache-2.0
"""`with device:` makes a device current, and its end restores the context before it."""

import threading

import pytest
from cuda.bindings import driver
from cuda.core import ContextOptions, CUDAError, Device, SMResourceOptions

from ...threads import run_together


def current():
    return int(driver.cuCtxGetCurrent()[1])


def test_the_block_receives_the_device(device):
    with device as inside:
        assert inside is device
        assert Device() is device


def test_no_context_is_current_before_and_after(in_new_thread):
    def run():
        assert current() == 0
        with Device(0) as device:
            assert current() == int(device.context.handle)
            device.create_stream().close()
        return current()

    assert in_new_thread(run) == 0


def test_an_exception_passes_and_the_context_is_restored(in_new_thread):
    def run():
        with pytest.raises(KeyError, match="inside"):
            with Device(0):
                raise KeyError("inside")
        return current()

    assert in_new_thread(run) == 0


def test_blocks_of_one_device_may_be_nested(in_new_thread):
    def run():
        device = Device(0)
        with device:
            context = current()
            with device, Device():
                driver.cuCtxSetCurrent(0)
            assert current() == context
            with device:
                pass
            assert current() == context
        return current()

    assert in_new_thread(run) == 0


def test_a_foreign_context_is_restored(device):
    _, foreign = driver.cuCtxCreate(None, 0, 0)
    with device:
        assert current() == int(device.context.handle)
    assert current() == int(foreign)
    driver.cuCtxDestroy(foreign)
    device.set_current()


def test_a_green_context_is_restored(device):
    (group,), _ = device.resources.sm.split(SMResourceOptions(count=None))
    green = device.create_context(ContextOptions(resources=[group]))
    primary = device.context
    device.set_current(green)
    with device:
        assert device.context == primary and current() == int(primary.handle)
    assert device.context is green and current() == int(green.handle)
    device.set_current()
    with device:
        device.set_current(green)
    assert device.context == primary and current() == int(primary.handle)
    green.close()


def test_each_thread_has_its_own_blocks(device):
    inside, proceed = threading.Event(), threading.Event()

    def enter():
        with Device(0):
            inside.set()
            assert proceed.wait(60)
        return current()

    def observe():
        assert inside.wait(60)
        seen = current()
        with device:  # the object of another thread
            proceed.set()
        return seen, current()

    assert run_together(enter, observe) == [0, (0, 0)]


def test_a_block_ends_on_the_thread_that_entered_it(device, in_new_thread):
    device.__enter__()

    def leave():
        with pytest.raises(RuntimeError, match="leave the block on the thread that entered it"):
            device.__exit__(None, None, None)

    in_new_thread(leave)
    device.__exit__(None, None, None)
    with pytest.raises(RuntimeError, match="on a thread on which none began"):
        device.__exit__(None, None, None)


def test_other_device_objects_of_the_thread_do_not_matter(in_new_thread):
    def run():
        from cuda.core import _device

        with Device(0):
            del _device._tls.devices
            with Device(0):
                pass
        return current()

    assert in_new_thread(run) == 0


def test_a_device_that_fails_leaves_no_block(emulation, in_new_thread):
    def run():
        with emulation.inject("cuCtxSetCurrent"):
            with pytest.raises(CUDAError, match="cuCtxSetCurrent"):
                Device(0).__enter__()
        with pytest.raises(RuntimeError, match="none began"):
            Device(0).__exit__(None, None, None)
        return current()

    assert in_new_thread(run) == 0


CASES = {
    "blocks of two devices are nested": """
with first:
    with second:
        assert Device() is second
        with first:
            assert Device() is first
        assert Device() is second
        third = second.create_stream()
        assert third.device is second
    assert Device() is first
    second.create_stream().close()
assert current() == 0
""",
    "another device may be made current inside": """
first.set_current()
with second:
    first.set_current()
assert Device() is first
with second:
    driver.cuCtxSetCurrent(0)
assert Device() is first
""",
    "a generator that suspends a block does not change the end of the outer block": """
def work():
    with second:
        yield Device()
    yield Device()
with first:
    steps = work()
    assert next(steps) is second
assert Device() is second  # the block of the generator is still open
try:
    next(steps)
finally:
    assert current() == 0
""",
    "interleaved tasks end their blocks in any order": """
import asyncio
async def task(device, pause):
    with device:
        await asyncio.sleep(pause)
async def main():
    await asyncio.gather(task(first, 0.02), task(second, 0.04), task(first, 0.01))
asyncio.run(main())
assert current() == 0
""",
    "a reset device is current again": """
first.set_current()
with second:
    driver.cuDevicePrimaryCtxReset(0)
assert Device() is first
first.create_stream().close()
""",
    "a destroyed context cannot be restored": """
_, foreign = driver.cuCtxCreate(None, 0, 0)
try:
    with second:
        driver.cuCtxDestroy(foreign)
        raise KeyError("inside")
except CUDAError as error:
    assert "destroyed the context" in error.__notes__[-1], error.__notes__
    assert isinstance(error.__context__, KeyError)
else:
    raise AssertionError
""",
}

START = """
from cuda.bindings import driver
from cuda.core import CUDAError, Device
first, second = Device.get_all_devices()
def current():
    return int(driver.cuCtxGetCurrent()[1])
"""


@pytest.mark.parametrize("case", CASES)
def test_two_devices(run_python, two_devices, case):
    run_python(START + CASES[case], **two_devices, allowed=("destroyed-handle", "  hint"))

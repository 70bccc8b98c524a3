# SPDX-License-Identifier: Apache-2.0
"""Shared parts of race programs: a device, a seed, and threads that use and close an object."""

import random
import sys
import threading

from cuda.core import Device, ObjectCode

sys.setswitchinterval(1e-6)  # switch threads as often as possible

chance = random.Random(int(sys.argv[1]))
device = Device(0)
device.set_current()

STORE = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 value)
{
    .reg .u64 %rd<2>;
    .reg .u32 %r<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    st.global.u32 [%rd1], %r1;
    ret;
}
"""


def store_kernel():
    """Return a kernel `store(out, value)` and its code."""
    code = ObjectCode.from_ptx(STORE)
    return code.get_kernel("store"), code


def use_until_closed(use, item, closed):
    """Use the item until it is closed. The only error allowed is that it has been closed."""
    device.set_current()
    while not closed.is_set():
        try:
            use(item)
        except RuntimeError as error:
            if "has been closed" not in str(error):
                raise


def close_after_delay(item, closed, uses):
    device.set_current()
    for _ in range(uses):
        pass  # a random point in the operations
    try:
        item.close()
    finally:
        closed.set()


def race(make, uses, rounds=40):
    """In each round, run one thread per use of a new object and one thread that closes it."""
    for _ in range(rounds):
        item, closed = make(), threading.Event()
        threads = [Thread(use_until_closed, use, item, closed) for use in uses]
        threads.append(Thread(close_after_delay, item, closed, chance.randrange(20_000)))
        chance.shuffle(threads)
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        for each in threads:
            each.check()
    device.sync()


def ok(result):
    """Return the values of a call of the bindings, which must have succeeded."""
    code, *values = result
    if code != 0:
        raise AssertionError(f"a call answered {code!r}")
    return values[0] if len(values) == 1 else values


class Thread(threading.Thread):
    """A call on a new thread; `check` raises its exception."""

    def __init__(self, call, *arguments):
        super().__init__()
        self.call, self.arguments, self.error = call, arguments, None

    def run(self):
        try:
            self.call(*self.arguments)
        except BaseException as error:
            self.error = error

    def check(self):
        if self.error is not None:
            raise self.error

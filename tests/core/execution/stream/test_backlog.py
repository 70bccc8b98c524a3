# SPDX-License-Identifier: Apache-2.0
"""A program that submits faster than its streams work is held up, as by a GPU with a full queue."""

import threading

import pytest

LONGEST = 1024  # operations that wait in one stream


@pytest.fixture(autouse=True)
def needs_workers(emulation):
    if emulation.options()["mode"] != "async":
        pytest.skip("calls run the work themselves, or nothing runs until somebody waits")


def test_a_stream_gets_no_longer_than_a_queue(stream):
    done, ahead = [], []
    for number in range(3 * LONGEST):
        stream.launch_host(lambda: done.append(None))
        ahead.append(number + 1 - len(done))
    stream.sync()
    assert len(done) == 3 * LONGEST
    assert max(ahead) <= LONGEST + 1  # one may be under way


def test_what_stands_still_is_waited_for_once(device, stream):
    may_go_on = threading.Event()
    stream.launch_host(may_go_on.wait)
    with device.allocate(64, stream=stream) as memory:
        for value in range(3 * LONGEST):
            memory.fill(value % 256, stream=stream)
        may_go_on.set()
        seen = bytearray(64)
        memory.copy_to(seen, stream=stream)
        stream.sync()
    assert seen == bytes([(3 * LONGEST - 1) % 256]) * 64

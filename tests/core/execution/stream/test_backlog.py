# SPDX-License-Identifier: Apache-2.0
"""A program that submits faster than its streams execute is blocked, as by a full GPU queue."""

import threading

import pytest

LONGEST = 1024  # operations pending in one stream


@pytest.fixture(autouse=True)
def needs_workers(emulation):
    if emulation.options()["mode"] != "async":
        pytest.skip("work runs inside the calls, or only when the host waits")


def test_a_stream_is_limited_to_the_length_of_a_queue(stream):
    done, ahead = [], []
    for number in range(3 * LONGEST):
        stream.launch_host(lambda: done.append(None))
        ahead.append(number + 1 - len(done))
    stream.sync()
    assert len(done) == 3 * LONGEST
    assert max(ahead) <= LONGEST + 1  # one may be executing


def test_a_blocked_stream_is_waited_for_once(device, stream):
    gate = threading.Event()
    stream.launch_host(gate.wait)
    with device.allocate(64, stream=stream) as memory:
        for value in range(3 * LONGEST):
            memory.fill(value % 256, stream=stream)
        gate.set()
        content = bytearray(64)
        memory.copy_to(content, stream=stream)
        stream.sync()
    assert content == bytes([(3 * LONGEST - 1) % 256]) * 64

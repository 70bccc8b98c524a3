# SPDX-License-Identifier: Apache-2.0
"""A pool, and streams whose work waits until it is let go."""

import threading
from contextlib import contextmanager

import pytest
from cuda.core import PoolMemoryResource, host_launch

MIB = 1 << 20


@pytest.fixture
def make_pool(device):
    """Makes pools of device 0 that are closed at the end."""
    made = []

    def make(**options):
        made.append(PoolMemoryResource(device, **options))
        return made[-1]

    yield make
    for pool in made:
        pool.close()


@pytest.fixture
def pool(make_pool):
    return make_pool()


@pytest.fixture
def other_stream(device):
    with device.create_stream() as stream:
        yield stream


@pytest.fixture
def held():
    """Keeps the work of a stream waiting inside a block."""

    @contextmanager
    def hold(stream):
        gate = threading.Event()
        host_launch(stream, gate.wait)
        try:
            yield gate
        finally:
            gate.set()
            stream.sync()

    return hold

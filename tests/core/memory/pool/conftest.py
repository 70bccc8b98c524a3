# SPDX-License-Identifier: Apache-2.0
"""A pool, and streams whose work waits for the test."""

import threading
from contextlib import contextmanager

import pytest
from cuda.core import PoolMemoryResource, host_launch

MIB = 1 << 20


@pytest.fixture
def make_pool(device):
    """Create pools of device 0 that are closed at the end."""
    pools = []

    def make(**options):
        pools.append(PoolMemoryResource(device, **options))
        return pools[-1]

    yield make
    for pool in pools:
        pool.close()


@pytest.fixture
def pool(make_pool):
    return make_pool()


@pytest.fixture
def other_stream(device):
    with device.create_stream() as stream:
        yield stream


@pytest.fixture
def blocked():
    """Return a context manager that blocks the work of a stream."""

    @contextmanager
    def block(stream):
        gate = threading.Event()
        host_launch(stream, gate.wait)
        try:
            yield gate
        finally:
            gate.set()
            stream.sync()

    return block

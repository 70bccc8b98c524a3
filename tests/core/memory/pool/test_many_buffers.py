# SPDX-License-Identifier: Apache-2.0
"""A hundred thousand live buffers: each costs the same time and bytes as a single one."""

import gc
import resource as usage
from time import perf_counter_ns

import pytest
from cuda.core import PoolMemoryResource

MANY, WINDOW = 100_000, 1_000
MOST_BYTES = 600  # bytes of the process, for a Buffer, its block and its place in a list
MOST_RATIO = 3  # of minimal times, which other processes on the machine disturb


@pytest.fixture
def pool(device):
    pool = PoolMemoryResource(device, initial_size=MANY * 512 + (8 << 20))
    yield pool
    pool.close()


def time_of_one(pool, stream):
    """Return the nanoseconds for one allocation and free: the minimum of some windows."""

    def window():
        start = perf_counter_ns()
        for _ in range(WINDOW):
            pool.allocate(64, stream=stream).close()
        return (perf_counter_ns() - start) / WINDOW

    return min(window() for _ in range(20))


def time_to_allocate(pool, stream, buffers, count):
    """Return the nanoseconds for one more live buffer: the minimum of some windows."""
    least = float("inf")
    for _ in range(count // WINDOW):
        start = perf_counter_ns()
        buffers.extend([pool.allocate(64, stream=stream) for _ in range(WINDOW)])
        least = min(least, (perf_counter_ns() - start) / WINDOW)
    return least


def test_a_buffer_among_many_costs_the_same_as_a_single_one(pool, stream):
    alone, live = time_of_one(pool, stream), []
    first = time_to_allocate(pool, stream, live, 10 * WINDOW)
    before = usage.getrusage(usage.RUSAGE_SELF).ru_maxrss
    time_to_allocate(pool, stream, live, MANY - 20 * WINDOW)
    grown = (usage.getrusage(usage.RUSAGE_SELF).ru_maxrss - before) * 1024 / (MANY - 20 * WINDOW)
    last = time_to_allocate(pool, stream, live, 10 * WINDOW)
    assert len({buffer.handle for buffer in live}) == MANY
    assert pool.statistics()["allocation_count.current"] == MANY
    among_many = time_of_one(pool, stream)
    assert grown < MOST_BYTES
    assert last < MOST_RATIO * first and among_many < MOST_RATIO * alone
    while live:
        live.pop().close()
    gc.collect()
    assert pool.statistics()["allocated_bytes.current"] == 0
    print(
        f"{alone:.0f} ns alone, {among_many:.0f} among many; {first:.0f} and {last:.0f} to make; "
        f"{grown:.0f} bytes each"
    )

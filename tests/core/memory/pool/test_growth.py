# SPDX-License-Identifier: Apache-2.0
"""Sizes of the segments that a pool requests from upstream, and its exact figures."""

from types import SimpleNamespace

import pytest
from cuda.core import MemoryResource, OutOfMemoryError
from cuda.core.memory.leaks import LiveAllocation
from cuda.core.memory.pool import reports

from .test_guarantees import MIB, Counting

SEGMENT, SMALLEST, LARGEST = 2 * MIB, 512, 64 * MIB


@pytest.fixture
def upstream(device):
    return Counting(device)


@pytest.mark.parametrize(
    ("reserved", "size", "segment"),
    [
        (0, 1, SEGMENT),
        (0, SEGMENT, SEGMENT),
        (0, SEGMENT + 1, 2 * SEGMENT),
        (44 * MIB, 1, 10 * MIB),
        (44 * MIB, 11 * MIB, 12 * MIB),
        (400 * MIB, 1, LARGEST),
        (400 * MIB, LARGEST + 1, LARGEST + SEGMENT),
    ],
)
def test_a_pool_grows_by_a_quarter_within_bounds(
    make_pool, upstream, stream, reserved, size, segment
):
    pool = make_pool(upstream=upstream, initial_size=reserved)
    held = [pool.allocate(reserved, stream=stream)] if reserved else []
    held.append(pool.allocate(size, stream=stream))
    assert upstream.calls[-1] == segment
    assert pool.statistics()["reserved_bytes.current"] == reserved + segment
    for buffer in held:
        buffer.close()


@pytest.mark.parametrize(
    ("limit", "size", "segments"),
    [
        (None, SEGMENT + 1, [10 * MIB, 4 * MIB]),
        (None, 3 * MIB + 1, [10 * MIB, 4 * MIB]),
        (44 * MIB + 3 * MIB, 3 * MIB - 511, [3 * MIB]),
        (44 * MIB + SEGMENT, 5, [SEGMENT]),
        (44 * MIB + SMALLEST, 5, [SMALLEST]),
    ],
)
def test_smaller_segments_follow_if_the_first_is_too_large(
    make_pool, device, stream, limit, size, segments
):
    """The limit of the pool skips a size; a refusal of upstream leads to the next one."""

    class Refusing(Counting):
        def allocate(self, size, *, stream):
            if 4 * MIB < size < 44 * MIB:
                self.calls.append(size)
                raise OutOfMemoryError("that is all", code=2, requested=size)
            return super().allocate(size, stream=stream)

    upstream = Refusing(device)
    pool = make_pool(upstream=upstream, initial_size=44 * MIB, max_size=limit)
    with pool.allocate(44 * MIB, stream=stream), pool.allocate(size, stream=stream):
        assert upstream.calls[1:] == segments
        assert pool.statistics()["reserved_bytes.current"] == 44 * MIB + segments[-1]
        assert pool.statistics()["oom_retries"] == 0


def test_a_limit_that_is_reached_causes_three_retries(make_pool, upstream, stream):
    pool = make_pool(upstream=upstream, initial_size=SEGMENT, max_size=SEGMENT)
    with pool.allocate(SEGMENT, stream=stream):
        with pytest.raises(OutOfMemoryError):
            pool.allocate(1, stream=stream)
        assert pool.statistics()["oom_retries"] == 3
        assert upstream.calls == [SEGMENT]


def test_fragmentation_is_the_fraction_outside_the_largest_block(make_pool, stream):
    pool = make_pool(initial_size=4 * MIB)
    buffers = [pool.allocate(MIB // 2, stream=stream) for _ in range(8)]
    for index in (1, 3, 4):
        buffers[index].close()
    figures = pool.statistics()
    assert figures["largest_free_block"] == MIB
    assert figures["fragmentation"] == pytest.approx(1 / 3)
    for buffer in buffers:
        buffer.close()
    assert pool.statistics()["fragmentation"] == 0


def test_upstream_may_not_return_the_same_memory_twice(make_pool, device, stream):
    class Repeating(MemoryResource):
        is_device_accessible, is_host_accessible, device_id = True, False, 0
        memory = None

        def allocate(self, size, *, stream):
            self.memory = self.memory or device.memory_resource.allocate(size, stream=stream)
            return self.memory

    upstream = Repeating()
    pool = make_pool(upstream=upstream)
    with (
        pool.allocate(SEGMENT, stream=stream),
        pytest.raises(ValueError, match="Repeating.* that it has already returned to this pool"),
    ):
        pool.allocate(SEGMENT, stream=stream)
    assert pool.statistics()["reserved_bytes.current"] == SEGMENT
    pool.close()
    upstream.memory.close()


@pytest.mark.parametrize(("limit", "initial"), [(None, 3 * MIB), (0, 0), (5, 5)])
def test_limits_are_shown(make_pool, limit, initial):
    pool = make_pool(max_size=limit, initial_size=initial)
    assert pool.max_size == limit
    assert repr(pool) == "<PoolMemoryResource device=0>"
    pool.close()
    assert repr(pool) == "<PoolMemoryResource device=0 closed>"


def test_an_initial_size_beyond_all_addresses_is_refused(make_pool):
    with pytest.raises(MemoryError, match=f"{2**64 - 1} bytes exceed the address space"):
        make_pool(initial_size=2**64 - 1)


class TestReports:
    def test_allocations_are_sorted_by_age(self):
        rows = [(1, 10, 3, 0.5), (2, 20, 3, 2.5), (3, 30, 4, 1.5)]
        records = reports.live_allocations(rows, {})
        assert [record.address for record in records] == [2, 3, 1]
        assert records[0] == LiveAllocation(2, 20, 3, 2.5, None)

    def error_of(self, requested=7, error=None, limit=None, tracked=True):
        pool = SimpleNamespace(
            statistics=lambda: {
                "allocated_bytes.current": 11,
                "reserved_bytes.current": 13,
                "allocated_bytes.peak": 12,
                "largest_free_block": 2,
            },
            max_size=limit,
            device_id=0,
            report_leaks=lambda: [SimpleNamespace(size=n) for n in range(12)],
        )
        return reports.out_of_memory(pool, requested, error, tracked)

    def test_the_ten_largest_allocations_are_named(self):
        largest = self.error_of().largest_allocations
        assert [record.size for record in largest] == list(range(11, 1, -1))
        assert not self.error_of(tracked=False).largest_allocations

    @pytest.mark.parametrize(
        ("arguments", "advice"),
        [
            ({}, "; request less"),
            ({"limit": 7}, "; free buffers, raise max_size, or request less"),
            ({"limit": 6}, "; the request exceeds its max_size of 6: raise it, or request less"),
            (
                {"error": MemoryError("gone")},
                "; free buffers, trim() other pools, or request less. Upstream: gone",
            ),
        ],
    )
    def test_the_advice_depends_on_the_cause(self, arguments, advice):
        error = self.error_of(**arguments)
        assert str(error).endswith(advice)
        assert "(used 11, reserved 13, peak 12, " in str(error)
        assert (error.used, error.reserved, error.peak, error.largest_free_block) == (11, 13, 12, 2)
        assert (error.requested, error.limit) == (7, arguments.get("limit"))

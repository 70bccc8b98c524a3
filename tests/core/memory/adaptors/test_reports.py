# SPDX-License-Identifier: Apache-2.0
"""Figures, stacks and records that adaptors and pools report, part by part."""

from types import SimpleNamespace

import pytest
from cuda.core import OutOfMemoryError
from cuda.core._located_memory import _Ledger
from cuda.core.memory import stacks
from cuda.core.memory.adaptors import figures
from cuda.core.memory.adaptors.out_of_memory import out_of_memory_error
from cuda.core.memory.leaks import LiveAllocation

SUMS = SimpleNamespace(sums=lambda: (10, 20, 30, 7, 3))  # current, peak, total, allocations, frees
OWN = {
    "allocated_bytes.current": 10,
    "allocated_bytes.peak": 20,
    "allocated_bytes.total": 30,
    "allocation_count.current": 4,
    "allocation_count.total": 7,
}
WITHOUT_POOL = {
    "reserved_bytes.current": 10,
    "reserved_bytes.peak": 20,
    "reuse_same_stream": 0,
    "reuse_cross_stream": 0,
    "cross_stream_waits": 0,
    "upstream_allocs": 7,
    "upstream_frees": 3,
    "oom_retries": 0,
    "largest_free_block": 0,
    "fragmentation": 0.0,
}


class Closed:
    @property
    def attributes(self):
        raise RuntimeError("it is closed")


ATTRIBUTES = SimpleNamespace(reserved_mem_current=50, reserved_mem_high=60)
UPSTREAM = {
    "no pool": (object(), {}),
    "a closed pool": (Closed(), {}),
    "a pool of the driver": (
        SimpleNamespace(attributes=ATTRIBUTES),
        {"reserved_bytes.current": 50, "reserved_bytes.peak": 60},
    ),
    "a pool": (
        SimpleNamespace(
            statistics=lambda: {"allocated_bytes.peak": 1, "allocation_count.total": 2, "other": 3},
            attributes=ATTRIBUTES,
        ),
        {"other": 3},
    ),
}


@pytest.mark.parametrize("name", UPSTREAM)
def test_figures_of_a_pool_replace_all_but_the_own_counts(name):
    resource, changed = UPSTREAM[name]
    own = figures.figures_of(SUMS)
    assert own == OWN | WITHOUT_POOL
    assert type(own["fragmentation"]) is float
    assert figures.combined(own, resource) == OWN | WITHOUT_POOL | changed


def test_a_record_is_one_line_and_its_stack():
    record = LiveAllocation(0x1000, 24, 0x20, 1.23456, None)
    assert str(record) == "24 bytes at 0x1000, allocated on stream 0x20 1.235 s ago"
    lines = stacks.format_stack([("nowhere.py", 3, "outer"), ("nowhere.py", 5, "inner")])
    assert str(record._replace(traceback=lines)) == (
        f'{record}:\n  File "nowhere.py", line 3, in outer\n  File "nowhere.py", line 5, in inner'
    )


def test_the_innermost_frame_is_the_place():
    assert stacks.innermost(()) == stacks.innermost(None) == ""
    frames = (("a.py", 3, "outer"), ("b.py", 5, "inner"))
    assert stacks.innermost(frames) == ", inner() at b.py:5"


def test_a_stack_has_at_most_64_frames_and_none_of_this_package():
    def below(depth):
        return below(depth - 1) if depth else stacks.stack_here()

    deep, flat = below(100), below(0)
    assert [frame[2] for frame in deep] == ["below"] * 64
    assert flat[-1][0] == __file__ and flat[-1][2] == "below"
    name = "test_a_stack_has_at_most_64_frames_and_none_of_this_package"
    assert flat[-2] == (__file__, flat[-2][1], name)
    own = compile("def call(function):\n    return function()", stacks._OWN + "/x.py", "exec")
    exec(own, namespace := {})
    assert namespace["call"](stacks.stack_here)[-1][2] == name


def test_an_error_has_the_code_of_the_driver():
    error = out_of_memory_error("no more", requested=7, device_id=0)
    assert type(error) is OutOfMemoryError
    assert str(error).startswith("CUDA_ERROR_OUT_OF_MEMORY: no more")
    assert (error.code, error.name, error.requested) == (2, "CUDA_ERROR_OUT_OF_MEMORY", 7)


class TestLedger:
    def entry(self, size):
        return SimpleNamespace(size=size)

    def test_it_sums_allocations_and_frees(self):
        ledger = _Ledger()
        assert ledger.sums() == (0, 0, 0, 0, 0)
        first, second, third = (self.entry(size) for size in (5, 7, 2))
        ledger.add(0x10, 5, first)
        ledger.add(0x20, 7, second)
        assert ledger.sums() == (12, 12, 12, 2, 0)
        assert ledger.remove(0x10, 5) is first
        assert ledger.remove(0x10, 5) is None
        assert ledger.sums() == (7, 12, 12, 2, 1)
        ledger.add(0x10, 2, third)
        assert ledger.sums() == (9, 12, 14, 3, 1)
        assert ledger.entries() == [second, third]
        ledger.reset_peak()
        assert ledger.sums() == (9, 9, 14, 3, 1)

    def test_an_address_may_have_several_allocations(self):
        """Resources return the same address for allocations without bytes."""
        ledger = _Ledger()
        entries = [self.entry(size) for size in (1, 2, 3, 2)]
        for entry in entries:
            ledger.add(0x10, entry.size, entry)
        assert ledger.entries() == entries
        assert ledger.remove(0x10, 2) is entries[3]
        assert ledger.remove(0x10, 2) is entries[1]
        assert ledger.remove(0x20, 3) is None
        assert ledger.remove(0x10, 4) is entries[0]
        assert ledger.remove(0x10, 3) is entries[2]
        assert ledger.sums() == (0, 8, 8, 4, 4)
        assert ledger.entries() == []

    def test_the_limit_of_a_reservation_is_exact(self):
        ledger = _Ledger()
        assert not ledger.reserve(11, 10)
        assert ledger.reserve(6, 10) and ledger.reserve(4, 10)
        assert not ledger.reserve(1, 10) and ledger.reserve(0, 10)
        assert not ledger.reserve(0, 9)
        assert ledger.reserved_bytes == 10
        ledger.unreserve(4)
        assert ledger.reserved_bytes == 6
        assert ledger.reserve(2**64 - 7, 2**64 - 1)
        assert not ledger.reserve(1, 2**64 - 1)

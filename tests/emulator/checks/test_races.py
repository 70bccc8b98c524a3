# SPDX-License-Identifier: Apache-2.0
"""The reports of the race check name both accesses and what would order them."""

import pytest

from .run_cases import run_all


@pytest.fixture(scope="module")
def findings():
    names = ("lane_exchange", "atomic_block_scope", "block_store_store", "broadcast_in_place")
    return run_all("races", *names, check="race")


def test_a_report_names_both_accesses_and_what_orders_them(findings):
    (report,) = findings["lane_exchange"]["mistake"]
    lines = report.splitlines()
    assert lines[0].startswith("race: write-read of 4 bytes at byte ")
    assert lines[0].endswith(" of shared memory in kernel 'kernel'")
    assert lines[1].startswith("  thread (0,0,0) of block (0,0,0) reads at ")
    assert lines[2].startswith("  thread (31,0,0) of block (0,0,0) stored at ")
    assert "__syncwarp() after line " in lines[3]
    assert "  count: 32 times" in lines


def test_a_report_names_two_threads(findings):
    (report,) = findings["broadcast_in_place"]["mistake"]
    lines = report.splitlines()
    assert lines[1].startswith("  thread (0,0,0) of block (0,0,0) stores at ")
    assert lines[2].startswith("  thread (1,0,0) of block (0,0,0) read at ")


def test_the_earlier_thread_is_another_one():
    name = "first_of_the_readers_stores"
    (report,) = run_all("races", name, check="race")[name]["mistake"]
    lines = report.splitlines()
    assert lines[1].startswith("  thread (16,0,0) of block (0,0,0) stores at ")
    assert lines[2].startswith("  thread (17,0,0) of block (0,0,0) read at ")


def test_a_scope_that_is_too_small_is_named(findings):
    assert "use the scope .gpu" in findings["atomic_block_scope"]["mistake"][0]


def test_the_allocation_is_named(findings):
    report = findings["block_store_store"]["mistake"][0]
    assert "memory: 0 bytes into the live 16384-byte allocation" in report
    assert "another launch would order them" in report

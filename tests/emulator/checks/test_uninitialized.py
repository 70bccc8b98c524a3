# SPDX-License-Identifier: Apache-2.0
"""The reports about uninitialized memory name the use, the load and the memory."""

import pytest

from .run_cases import run_all


@pytest.fixture(scope="module")
def findings():
    names = ("branch_on_memory", "partial_vector", "padding_compared")
    return run_all("uninitialized", *names, check="init")


def test_a_report_names_the_use_the_load_and_the_memory(findings):
    (report,) = findings["branch_on_memory"]["mistake"]
    lines = report.splitlines()
    assert lines[0] == (
        "uninitialized: condition of a branch from 4 of 4 bytes that nobody wrote, "
        "in kernel 'kernel'"
    )
    assert lines[1].startswith("  thread (0,0,0) of block (0,0,0) uses the value at ")
    assert lines[2].startswith("  thread (0,0,0) of block (0,0,0) read at ")
    assert "  memory: 0 bytes into the live 16384-byte allocation at " in report
    assert "  count: 32 times" in lines


def test_the_undefined_bytes_of_a_wider_load_are_counted(findings):
    assert "from 4 of 16 bytes" in findings["partial_vector"]["mistake"][0]


def test_a_copy_to_the_host_is_reported(findings):
    (report,) = findings["padding_compared"]["mistake"]
    assert report.startswith(
        "uninitialized: copy to the host of 16384 bytes, of which nobody wrote 128, "
        "from byte 0 on\n"
    )

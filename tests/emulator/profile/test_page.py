# SPDX-License-Identifier: Apache-2.0
"""Rows of the page of a profile: lines around code, bars, and columns in use."""

import re
from types import SimpleNamespace as Fake

import pytest
from cuda.core.emulation.profiling import page
from cuda.core.emulation.profiling.text import COLUMNS


def counts(line, instructions, source="code <a>", **values):
    """Return the counts of a line; all others are 0."""
    zeros = dict.fromkeys(COLUMNS.values(), 0)
    return Fake(**{**zeros, **values, "instructions": instructions, "line": line, "source": source})


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "kernel.cu"
    path.write_text("".join(f"line {number}\n" for number in range(1, 10)))
    return str(path)


@pytest.mark.parametrize(
    ("lines", "expected"), [((5, 6), range(3, 9)), ((1,), range(1, 4)), ((9,), range(7, 10))]
)
def test_two_lines_before_and_after_the_code_are_shown(file, lines, expected):
    rows = list(page._source(file, [counts(line, 1) for line in lines]))
    assert [row[0] for row in rows] == list(expected)
    assert [row[1] for row in rows] == [f"line {number}" for number in expected]
    assert [row[0] for row in rows if row[2]] == list(lines)


@pytest.mark.parametrize("file", [page.PTX, "/absent/kernel.cu"])
def test_lines_of_no_file_have_their_own_sources(file):
    rows = list(page._source(file, [counts(9, 1, "b"), counts(2, 1, "a")]))
    assert [row[:2] for row in rows] == [(2, "a"), (9, "b")]


def test_a_bar_shows_the_part_of_the_instructions():
    row = page._row(3, "a < b", counts(3, 1), 4, [0])
    assert '<td class="line">3</td>' in row
    assert "a &lt; b" in row
    assert "transparent 25%" in row
    assert "unexecuted" not in row
    assert re.findall(r"<td>(.*?)</td>", row) == ["1"]


def test_a_line_that_did_not_execute_is_gray_and_has_no_bar():
    row = page._row(3, "a", counts(3, 0), 4, [0, 1])
    assert row.startswith('<tr class="unexecuted">')
    assert "style" not in row
    for other in (page._row(3, "a", None, 4, [0]), page._row(3, "a", counts(3, 0), 0, [0])):
        assert "style" not in other
    assert page._row(3, "a", None, 4, [0]).startswith("<tr><td")


def test_a_column_is_used_if_a_row_has_a_value():
    rows = [counts(1, 0), counts(2, 5, global_sectors=3)]
    names = list(COLUMNS.values())
    used = [names.index("instructions"), names.index("global_sectors")]
    assert page._used_columns(rows) == used
    assert page._used_columns([]) == []

# SPDX-License-Identifier: Apache-2.0
"""Statements, branches and excluded lines of a kernel in a literal, as lines of its file."""

import pytest

coverage = pytest.importorskip("coverage")

from halfwarp.coverage.literals import Literal  # noqa: E402
from halfwarp.coverage.reporters import Kernels, describe  # noqa: E402

TEXT = """__global__ void f(int *p, int n) {
    if (n > 0)
        p[0] = 1;
    while (n > 5) {  // pragma: no branch
        n -= 1;
    }
    if (n == 2) {  // pragma: no cover
        p[1] = 2;
    }
    p[2] = 3;
}
__global__ void g(int *p) {  // pragma: no cover
    if (p)
        p[0] = 4;
}"""
EXCLUDE, PARTIAL = r"#\s*pragma: no cover", r"#\s*pragma: no branch"


@pytest.fixture
def kernels():
    literal = Literal(TEXT, [100 + n for n in range(1, 16)], 90)
    return Kernels(literal, EXCLUDE, PARTIAL)


def test_lines_are_those_of_the_file(kernels):
    assert kernels.statements == {102, 103, 104, 105, 110}
    assert kernels.excluded == {107, 108, 113, 114}
    assert kernels.no_branch == {104}


def test_branches_end_at_lines_of_the_file(kernels):
    ends = {}
    for start, end in kernels.arcs:
        ends.setdefault(start, set()).add(end)
    assert ends[102] == {103, 104}
    assert {start for start, _ in kernels.arcs} <= kernels.statements
    assert kernels.exit_counts()[102] == 2


def test_exits_to_excluded_lines_do_not_count(kernels):
    starts = [start for start, end in kernels.arcs if end not in kernels.excluded]
    assert kernels.exit_counts() == {start: starts.count(start) for start in starts}
    assert any(end in kernels.excluded for _, end in kernels.arcs)


def test_descriptions_name_the_end():
    texts = {describe(3, 7), describe(3, 8), describe(3, -3)}
    assert len(texts) == 3
    assert all("didn't" in each for each in texts)

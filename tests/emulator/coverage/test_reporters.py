# SPDX-License-Identifier: Apache-2.0
"""Statements, branches and excluded lines of a kernel in a literal, as lines of its file."""

import pytest

coverage = pytest.importorskip("coverage")

from halfwarp.coverage.literals import Literal  # noqa: E402
from halfwarp.coverage.reporters import Kernels, _Parser, describe  # noqa: E402

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


SOURCE = """\
a = 1
b = [  # a statement of several lines
    2,
]
code = '''
__global__ void f(int *p, int n) {
    if (n > 0)
        p[0] = 1;
    if (n == 2) {  // pragma: no cover
        p[1] = 2;
    }
    p[2] = 3;
}
'''
if a:  # pragma: no cover
    code = '''
__global__ void g(int *p) {
    p[0] = 4;
}
'''
"""


@pytest.fixture
def parser():
    parser = _Parser(text=SOURCE, filename="x.py", exclude=EXCLUDE)
    parser.parse_source()
    parser.add_kernels(SOURCE, EXCLUDE, PARTIAL)
    return parser


def test_kernels_are_added_to_the_statements_of_python(parser):
    assert parser.statements == {1, 2, 5, 7, 8, 12}
    assert parser.excluded == {9, 10, 15, 16, 18}
    assert parser.kernel_lines == {7, 8, 9, 10, 12}


def test_lines_of_kernels_are_their_own_and_others_those_of_python(parser):
    assert [parser.first_line(line) for line in (3, 6, 7, 8, 12, 13)] == [2, 6, 7, 8, 12, 13]
    assert parser.first_line(-8) == -8


def test_branches_of_kernels_are_added_to_those_of_python(parser):
    arcs = parser.arcs()
    assert {(7, 8), (7, 9), (1, 2)} <= arcs
    assert (9, 10) not in arcs


def test_a_branch_is_described_as_one_of_its_language(parser):
    assert parser.missing_arc_description(7, 8) == describe(7, 8)
    assert parser.arc_description(7, 8) == describe(7, 8).replace("didn't ", "did ")

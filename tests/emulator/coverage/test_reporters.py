# SPDX-License-Identifier: Apache-2.0
"""Statements, branches and excluded lines of a kernel in a literal, as lines of its file."""

import pytest

coverage = pytest.importorskip("coverage")

from halfwarp.coverage.literals import Literal  # noqa: E402
from halfwarp.coverage.reporters import Kernels, _Parser, describe, file_reporter  # noqa: E402

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
    assert describe(3, 7) == "line 3 didn't jump to line 7"
    assert describe(3, -7) == "line 3 didn't jump to the end of the function"
    assert describe(3, -3) == "line 3 didn't execute the statement in it"


@pytest.fixture
def measurement():
    return coverage.Coverage(data_file=None, config_file=False)


def test_a_file_of_kernels_is_reported(tmp_path, measurement):
    path = tmp_path / "kernels.cu"
    path.write_text(TEXT)
    reporter = file_reporter(str(path), measurement)
    assert (reporter.filename, reporter.source()) == (str(path), TEXT)
    assert reporter.lines() == {2, 3, 4, 5, 10}
    assert reporter.excluded_lines() == {7, 8, 13, 14}
    assert reporter.no_branch_lines() == {4}
    assert {(2, 3), (2, 4), (4, 5)} <= reporter.arcs()
    assert reporter.exit_counts()[2] == 2
    assert reporter.missing_arc_description(2, 3) == "line 2 didn't jump to line 3"
    assert reporter.arc_description(2, -1) == "line 2 did jump to the end of the function"
    assert reporter.should_be_python() is False
    kernels = reporter.kernels
    path.unlink()
    assert reporter.kernels is kernels
    with pytest.raises(coverage.exceptions.NoSource, match=f"No source for {path}: "):
        reporter.source()


def test_a_file_of_python_is_reported_with_its_kernels(tmp_path, measurement):
    path = tmp_path / "program.py"
    path.write_text(SOURCE.replace("if (n > 0)", "if (n > 0)  // pragma: no branch"))
    reporter = file_reporter(str(path), measurement)
    assert reporter.lines() == {1, 2, 5, 7, 8, 12}
    assert reporter.excluded_lines() == {9, 10, 15, 16, 18}
    assert reporter.no_branch_lines() == {7}
    assert reporter.parser is reporter.parser
    assert reporter.missing_arc_description(7, 8) == "line 7 didn't jump to line 8"


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
    assert parser.arc_description(7, -7) == "line 7 did execute the statement in it"
    assert "the module" in parser.missing_arc_description(15, -1)
    assert "the module" in parser.arc_description(15, -1)  # coverage.py describes the others first


def parsed(source):
    parser = _Parser(text=source, filename="x.py", exclude=EXCLUDE)
    parser.parse_source()
    parser.add_kernels(source, EXCLUDE, PARTIAL)
    return parser


def test_a_line_with_python_and_a_kernel_belongs_to_python():
    body = "if (n)\n  p[0] = 1;\np[1] = 2; }"
    parser = parsed(f"code = '''__global__ void f(int *p, int n) {{ {body}'''\n")
    assert parser.kernel_lines == {2, 3}
    assert parser.statements == {1, 2, 3}
    assert not any(start == 1 for start, _ in parser.kernel_arcs)


def test_kernels_after_an_excluded_one_are_reported():
    kernel = (
        "'''\n__global__ void f(int *p, int n) {\n  while (n) // pragma: no branch\n    n--;\n}'''"
    )
    parser = parsed(f"a = {kernel}  # pragma: no cover\nb = {kernel}\nc = {kernel}\n")
    assert parser.statements == {6, 8, 9, 11, 13, 14}
    assert parser.excluded == {1, 3, 4}
    assert parser.no_branch == {8, 13}
    assert {(8, 9), (13, 14)} <= parser.kernel_arcs

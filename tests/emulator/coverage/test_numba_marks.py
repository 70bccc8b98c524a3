# SPDX-License-Identifier: Apache-2.0
"""Marks in LLVM IR as Numba writes it, without the package; `test_numba` executes them."""

from halfwarp.coverage import marks
from halfwarp.coverage.compiles import _file_place
from halfwarp.coverage.numba_marks import add_marks

# Lines of a kernel: 3 before a branch, whose outcomes are line 4 and, by a jump, line 6.
IR = """\
source_filename = "x"
define void @kernel(i32 %n) {
entry:
  %p = alloca i32, !dbg !10
  %c = icmp eq i32 %n, 0, !dbg !10
  %d = add i32 %n, 1, !dbg !10
  br i1 %c, label %"B4", label %B5, !dbg !10
B4:
  %a = add i32 %n, 1, !dbg !11
  br label %B6, !dbg !11
B5:
  br label %B6
B6:
  %b = phi i32 [ %a, %B4 ], [ 0, %B5 ], !dbg !12
  store i32 %b, ptr %p, !dbg !12
  %e = add i32 %n, 2, !dbg !13
  br i1 %c, label %B7, label %B7, !dbg !12
B7:
  %f = add i32 %n, 3, !dbg !14
  %g = add i32 %n, 4, !dbg !12
  ret void
}
!1 = !DIFile(filename: "kernel.py", directory: "/src")
!2 = !DIFile(filename: "other.py", directory: "/src")
!3 = distinct !DISubprogram(name: "kernel", file: !1, line: 1)
!4 = distinct !DISubprogram(name: "other", file: !2, line: 1)
!10 = !DILocation(line: 3, column: 1, scope: !3)
!11 = !DILocation(line: 4, column: 1, scope: !3)
!12 = !DILocation(line: 6, column: 1, scope: !3)
!13 = !DILocation(line: 9, column: 1, scope: !4)
!14 = !DILocation(column: 1, scope: !3)
"""
FILE = "/src/kernel.py"


class Compiles:
    """Records marks; measures one file."""

    def __init__(self):
        self.origins = self
        self.marks = []

    def is_measured(self, path):
        return path == FILE

    def add_mark(self, lines, arcs):
        self.marks.append((lines, arcs))
        return len(self.marks)


def call(text):
    return f'  call void asm sideeffect "{text}", ""()'


def test_each_line_of_a_block_and_each_outcome_of_a_branch_is_marked():
    compiles = Compiles()
    rows = add_marks(IR, compiles).split("\n")
    lines = IR.split("\n")
    added = [row for row in rows if row not in lines]
    test = f'  call void asm sideeffect "{marks.test_of(2, "$0")}", "r"(i32 %halfwarp.5), !dbg !10'
    assert added == [
        call(marks.mark_of(1)) + ", !dbg !10",
        "  %halfwarp.5 = zext i1 %c to i32, !dbg !10",
        test,
        call(marks.mark_of(4)) + ", !dbg !11",
        call(marks.mark_of(5)) + ", !dbg !12",
        call(marks.mark_of(6)) + ", !dbg !12",
    ]
    assert [row for row in rows if row not in added] == lines
    # a mark is before the first instruction of its line, but not before an alloca or a phi
    following = [rows[rows.index(row) + 1].split()[0] for row in added if "halfwarp_mark" in row]
    assert following == ["%c", "br", "%a", "store", "%g"]
    assert compiles.marks == [
        ({(FILE, 3)}, set()),
        (set(), {(FILE, 3, 4)}),
        (set(), {(FILE, 3, 6)}),
        ({(FILE, 4)}, set()),
        ({(FILE, 6)}, set()),
        ({(FILE, 6)}, set()),
    ]


def test_a_function_without_an_end_is_kept():
    text = IR[: IR.index("B5:")]
    assert add_marks(text, Compiles()) == text


def test_blocks_that_jump_in_a_circle_have_no_next_line():
    compiles = Compiles()
    circle = "B5:\n  br label %B8\nB8:\n  br label %B5\n"
    add_marks(IR.replace("B5:\n  br label %B6\n", circle), compiles)
    assert all(not arcs for _, arcs in compiles.marks)


def test_a_branch_to_one_line_is_no_branch_between_lines():
    compiles = Compiles()
    add_marks(IR.replace("!11 = !DILocation(line: 4", "!11 = !DILocation(line: 6"), compiles)
    assert all(not arcs for _, arcs in compiles.marks)


def test_places_of_a_text_become_places_of_files():
    origins = {1: ("a.py", 11), 2: ("a.py", 12), 3: ("b.py", 13)}
    place = marks.Place({0: 1, 2: -1}, {1, 3, 4}, {(1, 2), (1, -2), (2, 3), (2, 4), (4, 1)}, True)
    result = _file_place(place, 7, origins)
    assert result.terms == {7: 1, 9: -1}
    assert result.lines == {("a.py", 11), ("b.py", 13)}
    assert result.arcs == {("a.py", 11, 12), ("a.py", 11, -12)}
    assert result.is_selected

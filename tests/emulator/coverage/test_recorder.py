# SPDX-License-Identifier: Apache-2.0
"""The recorder adds lines and branches of kernels to the data of Python; without an emulator."""

import os
from collections import defaultdict
from types import SimpleNamespace as Fake

import pytest

from halfwarp.coverage.compiles import FilePlace
from halfwarp.coverage.recorder import Recorder, _folders_of

FILE = "/measured/kernel.cu"


class Data:
    """The data of coverage.py."""

    def __init__(self):
        self.added, self.touched = {}, []

    def add_lines(self, lines):
        self.added["lines"] = lines

    def add_arcs(self, arcs):
        self.added["arcs"] = arcs

    def touch_file(self, path):
        self.touched.append(path)

    def measured_files(self):
        return {"/known.py"}


@pytest.fixture
def recorder():
    recorder = Recorder.__new__(Recorder)
    mapped = lambda path: "mapped:" + path  # noqa: E731
    recorder.collector = Fake(
        covdata=Data(), cached_mapped_file=mapped, branch=False, data={"/data.py": 1}
    )
    recorder.compiles = Fake(places=[], plain={}, by_name={}, count=0, new_files=lambda: {"/n.cu"})
    recorder.config = Fake(source=None, source_dirs=[], source_pkgs=[])
    recorder.omitted = Fake(omit_match=None)
    recorder._folders = ["/measured"]
    recorder._program, recorder._seen, recorder.notes = ("", {}), {}, {}
    recorder._totals = [0, 0]
    return recorder


def instruction(line, executions, file="p.cu", branch=None, inlined_at=None):
    location = Fake(file=file, line=line, inlined_at=inlined_at) if line else None
    return Fake(location=location, executions=executions, branch=branch)


def kernel(*instructions, launches=1):
    function = Fake(name="f", instructions=list(instructions))
    return Fake(ptx="ptx\n", name="k", short_name="k()", functions=[function], launches=launches)


def added(recorder, kernel):
    """Return the lines and branches that a kernel adds."""
    lines, arcs = defaultdict(set), defaultdict(set)
    recorder._add_kernel(kernel, lines, arcs)
    return dict(lines), dict(arcs)


@pytest.fixture
def plain(recorder):
    """A recorder that knows the lines of the program without marks."""
    places = {line: (FILE, 10 + line) for line in range(1, 6)}
    recorder.compiles.plain = {hash("ptx"): ("/folder/p.cu", places)}
    return recorder


def test_lines_that_executed_since_the_last_flush_are_added(plain):
    first = kernel(instruction(1, 3), instruction(2, 0), instruction(None, 5), instruction(9, 1))
    assert added(plain, first) == ({FILE: {11}}, {})
    assert added(plain, first) == ({}, {})
    assert added(plain, kernel(instruction(1, 4), instruction(2, 1))) == ({FILE: {11, 12}}, {})


def test_the_place_of_an_inlined_call_is_added(plain):
    inlined = instruction(1, 1, inlined_at=("q/p.cu", 2, 7))
    assert added(plain, kernel(inlined)) == ({FILE: {11, 12}}, {})


def test_branches_between_lines_are_added(plain):
    def branch(taken, not_taken, target, is_conditional=True):
        return Fake(
            is_conditional=is_conditional, targets=[target], taken=taken, not_taken=not_taken
        )

    def arcs_of(branch, second=2, third=3, number=0):
        plain._seen = {}
        block = [instruction(1, 1, branch=branch), instruction(second, 1), instruction(third, 1)]
        return added(plain, kernel(*block))[1].get(FILE, set())

    assert arcs_of(branch(1, 1, 2)) == {(11, 13), (11, 12)}
    assert arcs_of(branch(1, 0, 2)) == {(11, 13)}
    assert arcs_of(branch(0, 1, 2)) == {(11, 12)}
    assert arcs_of(branch(1, 1, 3)) == {(11, 12)}  # the end of the function
    assert arcs_of(branch(1, 1, 2), second=1) == {(11, 13)}
    assert arcs_of(branch(1, 1, 2), third=None) == {(11, 12)}
    assert arcs_of(branch(1, 1, 2), third=9) == {(11, 12)}  # no measured line
    assert arcs_of(branch(1, 1, 2, is_conditional=False)) == set()


def test_a_kernel_without_lines_is_noted_once_it_is_launched(recorder):
    added(recorder, kernel(instruction(None, 1), launches=0))
    assert recorder.notes == {}
    added(recorder, kernel(instruction(None, 1)))
    (note,) = recorder.notes
    assert note.startswith("kernel k(): its PTX has no line information")
    recorder.notes.clear()
    added(recorder, kernel(instruction(3, 1)))
    assert recorder.notes == {}


def test_a_place_is_that_of_a_program_a_name_or_a_file(recorder, tmp_path):
    file = tmp_path / "own.cu"
    file.write_text("")
    other = tmp_path / "own.txt"
    other.write_text("")
    recorder._folders = [str(tmp_path)]
    recorder._program = "/a/p.cu", {1: (FILE, 11)}
    recorder.compiles.by_name = {"named.cu": {1: (FILE, 21)}}
    assert recorder._place("/b/p.cu", 1) == (FILE, 11)
    assert recorder._place("/b/p.cu", 2) is None
    assert recorder._place("/b/named.cu", 1) == (FILE, 21)
    assert recorder._place("/b/named.cu", 2) is None
    assert recorder._place(str(file), 3) == (str(file), 3)
    assert recorder._place(os.path.relpath(file), 3) == (str(file), 3)
    assert recorder._place(str(other), 3) is None
    assert recorder._place(str(tmp_path / "none.cu"), 3) is None
    recorder._folders = []
    assert recorder._place(str(file), 3) is None
    recorder._program = "", {}
    assert recorder._place("", 1) is None


PLACES = [
    FilePlace({1: 1}, {(FILE, 1), (FILE, 2)}, {(FILE, 1, 2)}),
    FilePlace({1: 1, 2: -1}, {(FILE, 3)}, {(FILE, 1, 3)}),
    FilePlace({2: 1}, {(FILE, 4)}, set(), True),
]


@pytest.mark.parametrize(
    ("counts", "lines"),
    [
        ([0, 0], None),
        ([0, 1], {1, 2, 3}),
        ([0, 2, 1], {1, 2, 3, 4}),
        ([0, 1, 1], {1, 2, 4}),
        ([0, 0, 1], {4}),
    ],
)
def test_places_are_added_whose_marks_executed_since_the_last_flush(recorder, counts, lines):
    recorder.compiles.places, recorder.compiles.count = PLACES, 2
    totals = [5 + count for count in counts]
    recorder._totals, recorder._read_marks = [5] * len(counts), lambda: totals
    result, arcs = defaultdict(set), defaultdict(set)
    recorder._add_places(result, arcs)
    assert result.get(FILE) == lines
    assert ((FILE, 1, 2) in {(FILE, *arc) for arc in arcs[FILE]}) == bool(lines and 1 in lines)
    repeated = defaultdict(set)
    recorder._add_places(repeated, arcs)
    assert repeated == {}


def test_more_marks_than_before_are_counted_from_zero(recorder):
    recorder.compiles.places, recorder.compiles.count = PLACES, 2
    recorder._totals, recorder._read_marks = [0], lambda: [0, 1]
    result = defaultdict(set)
    recorder._add_places(result, defaultdict(set))
    assert result == {FILE: {1, 2, 3}}


def test_one_line_of_a_place_is_enough_but_none_of_a_selected_value(recorder):
    recorder.compiles.places = PLACES
    lines, arcs = defaultdict(set, {FILE: {2, 4}}), defaultdict(set)
    recorder._complete_places(lines, arcs)
    assert lines == {FILE: {1, 2}}
    assert arcs == {FILE: {(1, 2)}}
    empty = defaultdict(set)
    recorder._complete_places(empty, arcs)
    assert empty == {}


def test_data_are_written_as_lines_or_as_branches(recorder):
    data = recorder.collector.covdata
    recorder._write({FILE: {1}}, defaultdict(set, {FILE: {(1, 2)}}))
    assert data.added == {"lines": {"mapped:" + FILE: {1}}}
    recorder.collector.branch = True
    recorder._write({FILE: {1}}, defaultdict(set, {FILE: {(1, 2)}}))
    assert data.added["arcs"] == {"mapped:" + FILE: {(1, 2), (-1, 1)}}
    assert data.touched == ["mapped:/n.cu"] * 2


def test_a_failure_is_noted_and_keeps_the_data_of_python(recorder):
    recorder._flush = lambda: "flushed"
    recorder.session = Fake(read=lambda: 1 / 0)
    assert recorder.flush() == "flushed"
    assert list(recorder.notes) == [
        "coverage of kernels is missing: ZeroDivisionError('division by zero')"
    ]


def test_measured_files_are_those_of_the_settings(recorder):
    assert recorder.is_measured("/data.py")
    assert recorder.is_measured("/known.py")
    assert not recorder.is_measured("/other.py")
    assert recorder.is_measured("/measured/a/b.cu")
    assert not recorder.is_measured("/measured2/b.cu")
    recorder.omitted.omit_match = Fake(match=lambda path: path.endswith("b.cu"))
    assert not recorder.is_measured("/measured/a/b.cu")
    assert recorder.is_measured("/measured/a/c.cu")


def test_measured_folders_are_sources_or_the_current_one(recorder, tmp_path):
    del recorder._folders
    assert recorder.folders() == [os.getcwd()]
    del recorder._folders
    recorder.config = Fake(
        source=None, source_dirs=[str(tmp_path)], source_pkgs=["no_such_package"]
    )
    assert recorder.folders() == [str(tmp_path)]


def test_a_source_is_a_folder_a_package_or_a_module(tmp_path, monkeypatch):
    (tmp_path / "package_here").mkdir()
    (tmp_path / "package_here" / "__init__.py").write_text("")
    (tmp_path / "module_here.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert _folders_of(str(tmp_path)) == [str(tmp_path)]
    assert _folders_of("package_here") == [str(tmp_path / "package_here")]
    assert _folders_of("module_here") == [str(tmp_path)]
    for nothing in ("no_such_module", "no.such.module", "module_here.x", "sys"):
        assert _folders_of(nothing) == []

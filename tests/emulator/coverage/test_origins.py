# SPDX-License-Identifier: Apache-2.0
"""The file and line of each line of a program."""

import os
from pathlib import Path

import pytest

from halfwarp.coverage import origins
from halfwarp.coverage.literals import Literal, find_literals
from halfwarp.coverage.origins import (
    Origins,
    _code_lines,
    _positions,
    _python_files,
    _similar_positions,
    literals_of,
    text_of,
)


def test_lines_of_code_have_more_than_brackets():
    assert _code_lines("int a;\n\n  {\n}; b\n\t\r{ };\nreturn x;\nx;\nxy") == [1, 6, 8]
    assert _code_lines("{;\n};;ab;\n") == [2]


@pytest.mark.parametrize(
    ("program", "text", "expected"),
    [
        ("a\nb\nc", "a\nb\nc", {1: 1, 2: 2, 3: 3}),
        ("x\na\nb\ny", "\n\na\nb\n", {2: 3, 3: 4}),  # the program contains the text
        ("\n\na\nb\n", "x\na\nb\ny", {3: 2, 4: 3}),
        ("xy a\nb z", "a\nb", {1: 1, 2: 2}),
        ("a\nb", "a\nc", {}),
        ("a", " \n ", {}),
    ],
)
def test_lines_of_a_program_that_contains_a_text_or_is_contained(program, text, expected):
    assert _positions(program, text) == expected


def kernel(*lines):
    return "\n".join(["__global__ void k() {", *lines, "}"])


@pytest.mark.parametrize(
    ("program", "text", "expected"),
    [
        (kernel("  f(1);", "g();"), kernel("f(N);", "g();"), {1: 1, 2: 2, 3: 3, 4: 4}),
        (kernel("g();", "a(1);"), kernel("x(1);", "y(2);", "g();"), {1: 1, 2: 4, 4: 5}),
        ("int a;\n" + kernel("f(1);"), kernel("f(N);"), {2: 1, 3: 2, 4: 3}),
        (kernel("f(1);"), kernel("f(A);", "f(B);"), {}),  # one line of three
        (kernel("f(1);", "g();"), kernel("f(A);", "f(B);", "g();"), {1: 1, 3: 4, 4: 5}),
        (kernel("f(A);"), kernel("f(N);"), {1: 1, 2: 2, 3: 3}),  # a half of the lines
        ("{\n" + kernel("ab"), "}\n{\n" + kernel("cd"), {1: 2, 2: 3, 3: 4, 4: 5}),
        ("f(1);\nf(2);", "f(1);\nf(3);", {}),  # it defines no function of a device
        ("__device__\nint a;", "__device__\nint b;", {1: 1, 2: 2}),
        ("__shared__ int a;\nabcdefgh", "// __device__\nabcdefgh", {}),  # too short to match
        ("int b;\nabcdefghi", "//__device__\nabcdefghi", {1: 1, 2: 2}),  # a character more
        # The search compares lines with more than two characters, and a half of them is equal.
        ("abcdefghi\nx();", "__device__ a\nabcdefghi\n};\n};\n};", {1: 2}),
        ("abcdefghi\n", "abcdefghi\n__device__\na()", {}),
        ("abcdefghi\na()", "abcdefghi\n__device__\n__global__\na()", {1: 1, 2: 4}),
        ("abcdefghi\n};\n};", "abcdefghi\n};\n};\n__device__\nint b;", {}),
    ],
)
def test_lines_of_a_text_that_was_completed(program, text, expected):
    assert _similar_positions(program, text) == expected


def test_lines_that_recur_often_are_matched():
    program = kernel(*["f(1);"] * 300)
    text = kernel("g(2);", *["f(1);"] * 300)
    assert _similar_positions(program, text)[301] == 302


def test_a_text_after_a_first_blank_line():
    assert _positions("\na\nb", "a\nb") == {2: 1, 3: 2}


def test_a_search_ends_where_all_lines_are_found(tree):
    literal = Literal("__device__ int a;", [1], 0)
    texts = iter([("a.cu", literal), ("b.cu", literal)])
    everywhere = Origins(lambda path: True, list)
    everywhere._texts = lambda name: texts
    assert everywhere.find(literal.text, "") == {1: ("a.cu", 1)}
    assert list(texts) == [("b.cu", literal)]


def test_only_measured_python_files_are_searched(tmp_path, monkeypatch):
    paths = [str(tmp_path / name) for name in ("a.py", "b.py")]
    for path in paths:
        Path(path).write_text(f"text = {kernel('f();')!r}")
    monkeypatch.setattr(origins, "_python_files", lambda: paths)
    texts = Origins(lambda path: path == paths[1], list)._texts("")
    assert [path for path, _ in texts] == paths[1:]


def test_a_stamp_is_the_time_of_the_last_change(tmp_path):
    os.utime(tmp_path, ns=(5, 7000))
    assert origins._stamp(tmp_path) == 7000
    assert origins._stamp(tmp_path / "absent") == 0


def test_a_file_is_one_literal(tmp_path):
    path = tmp_path / "a.cu"
    path.write_bytes(b"int a;\n// \xff\n")
    assert text_of(str(path), 1) == Literal("int a;\n// \udcff\n", [1, 2, 3], 0)
    assert text_of(str(tmp_path / "absent.cu"), 1) is None


def test_a_file_that_cannot_be_parsed_has_no_literals(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("def __global__ {")
    assert literals_of(str(path), 1) == []
    assert literals_of(str(tmp_path / "absent.py"), 1) == []
    assert find_literals("x = 1") == []


def test_lines_of_a_literal():
    literal = Literal("a\nb\n", [7, 9, 11], 5)
    assert [literal.line(number) for number in (1, 2, 3, -1, -2, -3)] == [7, 9, 11, -7, -9, -11]


@pytest.fixture
def tree(tmp_path):
    for name in ("b.cu", "a.cuh", "c.txt", ".hidden/a.cu", "__pycache__/a.cu", "deep/a.hpp"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(kernel("f();"))
    return tmp_path


def test_files_of_measured_folders(tree, monkeypatch):
    def found(*omitted):
        is_measured = lambda path: os.path.basename(path) not in omitted  # noqa: E731
        files = Origins(is_measured, lambda: [str(tree)])._files()
        return [os.path.relpath(path, tree) for path in files]

    assert found() == ["a.cuh", "b.cu", "deep/a.hpp"]
    assert found("b.cu") == ["a.cuh", "deep/a.hpp"]
    monkeypatch.setattr(origins, "_MOST_FILES", 4)
    assert found() == ["a.cuh", "b.cu", "deep/a.hpp"]
    monkeypatch.setattr(origins, "_MOST_FILES", 3)
    assert found() == ["a.cuh", "b.cu"]


def test_the_file_of_the_name_precedes_others(tree):
    everywhere = Origins(lambda path: True, lambda: [str(tree)])
    assert everywhere.find(kernel("f();"), str(tree / "b.cu"))[2] == (str(tree / "b.cu"), 2)
    assert everywhere.find(kernel("f();"), "")[2] == (str(tree / "a.cuh"), 2)
    elsewhere = Origins(lambda path: path.endswith(".hpp"), lambda: [str(tree)])
    assert elsewhere.find(kernel("f();"), str(tree / "b.cu"))[2] == (str(tree / "deep/a.hpp"), 2)


def test_lines_of_several_files(tree):
    (tree / "d.cu").write_text(kernel("g();", "h();"))
    program = f"int a;\n{kernel('f();')}\n{kernel('g();', 'h();')}"
    places = Origins(lambda path: True, lambda: [str(tree)]).find(program, "")
    first, second = str(tree / "a.cuh"), str(tree / "d.cu")
    expected = {2: (first, 1), 3: (first, 2), 4: (first, 3)}
    assert places == expected | {line: (second, line - 4) for line in range(5, 9)}


def test_files_of_frames_and_modules_are_absolute_and_unique():
    files = list(_python_files())
    assert files[:2] == [os.path.abspath(origins.__file__), os.path.abspath(__file__)]
    assert len(set(files)) == len(files)
    assert os.path.abspath(pytest.__file__) in files
    assert all(path.endswith(".py") for path in files)

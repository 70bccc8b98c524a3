# SPDX-License-Identifier: Apache-2.0
"""Texts and headers with marks, and what their compilations may change; without an emulator."""

import threading

import pytest

from halfwarp.coverage import compiles as module
from halfwarp.coverage.compiles import Compiles, rounds_alike

KERNEL = "__global__ void k(int* x) {\n  f(x);\n}\n"
INLINE = "__device__ void f(int* x) {\n  g(x);\n}\n"


class Origins:
    """Finds the lines of a text in the file of its name."""

    measured = ("/m/",)

    def is_measured(self, path):
        return path.startswith(self.measured)

    def find(self, text, name):
        return {line: (name, line) for line in range(1, 20)} if self.is_measured(name) else {}


class Emulator:
    def __init__(self):
        self.substituted = []

    def halfwarp_emulator_substitute_ptx(self, *texts):
        self.substituted.append(texts)


@pytest.fixture
def compiles(monkeypatch):
    compiles = Compiles.__new__(Compiles)
    monkeypatch.setattr(Compiles, "count", 0)
    compiles.origins, compiles.emulator = Origins(), Emulator()
    compiles.notes, compiles.places, compiles.by_name, compiles.plain = {}, [], {}, {}
    compiles._files, compiles._reported = set(), set()
    compiles._texts, compiles._places, compiles._lock = {}, {}, threading.Lock()
    return compiles


def test_a_measured_text_has_marks_with_numbers_of_their_own(compiles):
    first = compiles._marked(KERNEL, "/m/a.cu")
    second = compiles._marked(INLINE, "/m/b.cu")
    assert "__halfwarp_mark<1>" in first and "__halfwarp_mark<2>" in second
    assert compiles._marked(KERNEL, "/m/a.cu") is first
    assert [place.lines for place in compiles.places] == [{("/m/a.cu", 2)}, {("/m/b.cu", 2)}]
    assert compiles.add_mark({("/m/c.py", 1)}, set()) == 3
    assert compiles.places[-1].terms == {3: 1}


def test_a_text_of_no_measured_file_has_no_marks(compiles):
    assert compiles._marked(KERNEL, "/other/a.cu") is None
    assert not any(place.lines or place.arcs for place in compiles.places)
    assert compiles.new_files() == set()
    assert compiles._marked("int x;", "/m/b.cu") is None


def test_files_are_reported_once(compiles):
    compiles._marked(KERNEL, "/m/a.cu")
    assert compiles.new_files() == {"/m/a.cu"}
    compiles._marked(INLINE, "/m/b.cu")
    assert compiles.new_files() == {"/m/b.cu"}
    assert compiles.new_files() == set()


def test_an_ambiguous_name_has_no_places(compiles):
    compiles._marked(KERNEL, "/m/a.cu")
    assert compiles.by_name["a.cu"][2] == ("/m/a.cu", 2)
    compiles._marked(INLINE, "/m/other/a.cu")
    assert compiles.by_name["a.cu"] == {}


@pytest.fixture
def folder(tmp_path, compiles):
    compiles.origins.measured = (str(tmp_path),)
    (tmp_path / "inner").mkdir()
    (tmp_path / "first.h").write_text('#include "inner/second.h"\n#include <absent.h>\n' + INLINE)
    (tmp_path / "inner" / "second.h").write_text('#include "third.h"\n' + INLINE)
    (tmp_path / "inner" / "third.h").write_text("int c;\n")
    (tmp_path / "notes.txt").write_text(INLINE)
    return tmp_path


def program(text, folder, headers=()):
    return {"text": text, "name": str(folder / "a.cu"), "headers": list(headers)}


def test_headers_are_found_beside_their_including_file_and_in_folders(compiles, folder):
    text = '#include <vector>\n#include "first.h"\n#  include <first.h>\n#include "notes.txt"\n'
    headers = compiles._headers(program(text, folder), [])
    assert list(headers) == ["first.h", "inner/second.h", "third.h"]
    assert "__halfwarp_mark" in headers["first.h"]
    assert "__halfwarp_mark" in headers["inner/second.h"]
    assert headers["third.h"] == "int c;\n"
    for option in ("-I", "--include-path=", "-include-path="):
        other = program("#include <second.h>\n", folder / "elsewhere")
        result = compiles._headers(other, ["-G", f"{option}{folder / 'inner'}"])
        assert list(result) == ["second.h", "third.h"]


def test_headers_outside_of_measured_folders_are_left_to_the_compiler(compiles, folder):
    compiles.origins.measured = ("/m/",)
    assert compiles._headers(program('#include "first.h"\n', folder), []) == {}


def test_headers_that_are_passed_precede_those_of_the_disk(compiles, folder):
    passed = {"first.h": "int a;\n", "unused.h": "int u;\n"}
    request = program('#include "first.h"\n#include "inner/second.h"\n', folder, passed.items())
    headers = compiles._headers(request, [])
    assert headers["first.h"] == "int a;\n"
    assert headers["unused.h"] == "int u;\n"
    assert "__halfwarp_mark" in headers["inner/second.h"]


def test_headers_without_marks_are_not_passed(compiles, folder):
    assert compiles._headers(program('#include "inner/third.h"\n', folder), []) == {}


LINES = ".loc 1 3 0\n{}\n.loc 1 4 0\n{}\n"


@pytest.mark.parametrize(
    ("marked", "plain", "expected"),
    [
        (("add.f32", "mul.f32"), ("mul.f32", "add.f32"), True),  # nothing is contracted
        (("fma.rn.f32", "x"), ("fma.rn.f32", "x"), True),
        (("fma.rn.f32", "x"), ("x", "fma.rn.f32"), False),
        (("fma.rn.f32", "x"), ("mul.rn.f32", "add.f32"), False),
        (("x", "x"), ("fma.rz.f64", "x"), False),
        (("fma.rn.f32", "mov.b32"), ("fma.rn.f32", "ld.u32"), True),
    ],
)
def test_texts_round_alike_if_their_lines_have_the_same_operations(marked, plain, expected):
    assert rounds_alike(LINES.format(*marked), LINES.format(*plain)) == expected


@pytest.fixture
def compiled(compiles, monkeypatch):
    """Compile a program whose results are given: with marks, and without."""
    requests = []

    def compiled(marked, plain=None, original=".loc 1 1 0\nadd", options=("-arch=sm_90",)):
        def compile_(program, text, headers, options):
            requests.append(options)
            return marked if "__halfwarp_mark" in text else plain

        monkeypatch.setattr(module, "_compile", compile_)
        request = {"text": KERNEL, "name": "/m/a.cu", "headers": [], "options": list(options)}
        compiles._compile(request | {"ptx": original})
        return [text.decode() for _, text in compiles.emulator.substituted]

    compiled.requests = requests
    return compiled


def test_marked_ptx_replaces_the_original(compiled):
    assert compiled("marked") == ["marked"]
    assert compiled.requests == [["-arch=compute_90", "-lineinfo"]]


def test_lines_are_requested_unless_the_program_does(compiled):
    compiled("m", options=["--gpu-architecture=sm_90a", "--generate-line-info", "-pch", "-time=x"])
    assert compiled.requests == [["--gpu-architecture=compute_90a", "--generate-line-info"]]


def test_a_text_that_compiles_only_without_marks_has_lines_of_the_original(compiled, compiles):
    assert compiled(None) == []
    ((name, _),) = compiles.plain.values()
    assert name == "/m/a.cu"
    (note,) = compiles.notes
    assert "its coverage is from the line table" in note


def test_ptx_that_rounds_differently_is_replaced_by_ptx_with_lines(compiled, compiles):
    assert compiled("fma.rn.f32", "plain with lines", original="add") == ["plain with lines"]
    assert compiles.plain.keys() == {hash("plain with lines")}


def test_ptx_that_rounds_alike_is_replaced_by_marked_ptx(compiled):
    text = LINES.format("fma.rn.f32", "x")
    assert compiled(text, original=text + "\n") == [text]


def test_a_program_without_ptx_or_marks_is_left_alone(compiled, compiles):
    assert compiled("marked", original="") == []
    compiles.origins.measured = ("/nowhere/",)
    compiles._texts.clear()
    assert compiled("marked") == []
    assert compiled.requests == []

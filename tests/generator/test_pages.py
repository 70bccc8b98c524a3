# SPDX-License-Identifier: Apache-2.0
"""The reference pages contain every name of the modules, in plain text."""

import re

import pytest

from build_support import headers
from generator import libraries, pages
from generator.pages.text import escaped
from generator.pages.themes import MANUALS, OTHERS, by_theme

LIBRARIES = libraries.load_all()


@pytest.fixture(scope="module")
def written():
    return pages.pages(headers.find())


def text_of(written, name, part):
    """Return the text of all pages of a part."""
    pattern = re.compile(rf"{name}/{part}(_\d+)?\.rst")
    return "".join(text for path, text in written.items() if pattern.fullmatch(path))


def test_no_page_is_too_long_for_a_browser(written):
    assert {path: len(text) for path, text in written.items() if len(text) > 40_000} == {}
    assert "driver/functions_2.rst" in written


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_function_is_described_once(written, name):
    text = text_of(written, name, "functions")
    described = re.findall(r"^\.\. py:function:: (\w+)\(", text, re.M)
    functions = [f for f in LIBRARIES[name].functions if f.in_python]
    assert sorted(described) == sorted(f.python_name or f.name for f in functions)


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_enumeration_has_its_members_and_their_explanations(written, name):
    library = LIBRARIES[name]
    text = text_of(written, name, "enumerations")
    members = [m for enum in library.enums for m in enum.members]
    assert len(re.findall(r"^   - ``", text, re.M)) == len(members)
    for explained in (m for m in members if m.doc):
        assert escaped(" ".join(explained.doc.split())) in text


@pytest.mark.parametrize("name", LIBRARIES)
def test_every_class_and_constant_is_described(written, name):
    library = LIBRARIES[name]
    text = text_of(written, name, "types")
    described = set(re.findall(r"^\.\. py:(?:class|exception):: (\w+)", text, re.M))
    classes = {h.name for h in library.handles}
    classes |= {s.name for s in library.structs if not s.view_only}
    classes |= {t.name for t in library.numpy_structs if t.dtype}
    assert classes <= described
    assert all(f"``{c.name}`` = {c.value}\n" in text for c in library.constants)


def test_every_page_is_in_the_tree(written):
    for path in written:
        if path != "index.rst":
            name, _, part = path.removesuffix(".rst").partition("/")
            parent = "index.rst" if part == "index" else f"{name}/index.rst"
            entry = f"{name}/index" if part == "index" else part
            assert f"   {entry}\n" in written[parent]


def test_every_page_begins_with_a_link_to_the_guide(written):
    for text in written.values():
        assert text.split("\n")[3] == "Guide: :doc:`/guide/low_level`."


def test_names_for_type_checkers_only_are_omitted(written):
    assert not re.search(r"_NoneOnError|SupportsIndex|_Address|_Options", "".join(written.values()))


@pytest.mark.parametrize(
    ("text", "written_as"),
    [("a*b", r"a\*b"), ("name_ and", r"name\_ and"), ("a_b", "a_b"), ("`x`", r"\`x\`")],
)
def test_plain_text_marks_nothing_up(text, written_as):
    assert escaped(text) == written_as


@pytest.mark.parametrize("name", ["driver", "runtime"])
def test_functions_are_listed_below_their_theme_with_a_link(written, name):
    text = text_of(written, name, "functions")
    memory = text.partition("\nMemory Management\n---")[2].partition("\n---")[0]
    group = {"driver": "group__CUDA__MEM.html", "runtime": "group__CUDART__MEMORY.html"}[name]
    manual = f"https://docs.nvidia.com/cuda/cuda-{name}-api/"
    assert f"<{manual}{group}>" in memory
    assert {"driver": "py:function:: cuMemAlloc(", "runtime": "cudaMalloc("}[name] in memory
    assert len(re.findall(r"NVIDIA's manual <", text)) > 20


@pytest.mark.parametrize("name", ["driver", "runtime", "nvrtc", "nvvm"])
def test_few_functions_have_no_theme(name):
    themes = by_theme(LIBRARIES[name].functions, headers.find())
    unthemed = [function.name for function in themes.get(OTHERS, [])]
    assert [n for n in unthemed if not n.startswith(("make_cuda", "getLocal"))] == []


def test_all_functions_are_listed_without_headers():
    text = text_of(pages.pages(), "driver", "functions")
    functions = [f for f in LIBRARIES["driver"].functions if f.in_python]
    assert text.count(".. py:function::") == len(functions)
    assert "Memory Management" not in text


def test_every_module_has_its_manual(written):
    assert set(MANUALS) == {library.module for library in LIBRARIES.values()}
    for name, library in LIBRARIES.items():
        assert (
            f"<https://docs.nvidia.com/{MANUALS[library.module]}>" in written[f"{name}/index.rst"]
        )

# SPDX-License-Identifier: Apache-2.0
"""The generated declarations of a library equal its own header."""

import pytest

from build_support import headers
from generator import api_file, decisions
from generator.emit.cimport import c_headers
from generator.facts import FactConstant
from generator.libraries import HERE, library_names, load

OWN = [n for n in library_names() if load(n).decisions.declares_itself]


def facts_without_roles(facts):
    """Convert facts to text without the roles, which are not declared."""
    for function in facts.functions:
        for param in function.params:
            param.kind = "in"
    lines = api_file.write(facts).splitlines()
    return [line for line in lines if not line.startswith(("#", "written by"))]


@pytest.mark.parametrize("name", OWN)
def test_written_declarations_are_read_back_as_the_same_facts(name, tmp_path):
    pytest.importorskip("clang.cindex", reason="reading headers needs libclang (extra `dev`)")
    from generator import extract

    library = load(name)
    for header, text in c_headers.Declarations(library).headers().items():
        (tmp_path / header).write_text(text)
    cuda = headers.find()
    folders = [tmp_path, *([cuda] if cuda else [])]
    decided = decisions.read(HERE / "overrides" / f"{name}.toml")
    read_back = extract.extract(decided, folders)
    committed = api_file.read(HERE / "api" / f"{name}.api")
    assert facts_without_roles(read_back) == facts_without_roles(committed)


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("language", ["c", "c++"])
def test_the_declarations_of_every_library_compile(name, language, compile_only):
    cuda = headers.find()
    compile_only(c_headers.verbatim(load(name)), language, *([f"-I{cuda}"] if cuda else []))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-(2**31) - 1, "-2147483649ll"),
        (-(2**31), "-2147483648"),
        (2**31 - 1, "2147483647"),
        (2**31, "2147483648u"),
        (2**32 - 1, "4294967295u"),
        (2**32, "4294967296ll"),
    ],
)
def test_a_constant_has_the_suffix_of_its_size(value, text):
    assert c_headers.constant(FactConstant("N", value)) == text


def test_headers_of_these_libraries_are_never_required():
    from generator.emit import slots_hpp
    from generator.emit.cimport import cy_pyx

    libraries = {name: load(name) for name in OWN}
    files = slots_hpp.emit(libraries) | cy_pyx.emit(libraries)
    for library in libraries.values():
        for header in library.facts.headers:
            assert not any(f"#include <{header}>" in text for text in files.values()), header
            assert any(f'#include "headers/{header}"' in text for text in files.values()), header

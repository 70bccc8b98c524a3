# SPDX-License-Identifier: Apache-2.0
"""Writing facts to an `.api` file and reading them again."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator import api_file
from generator.libraries import HERE, library_names

IDENTIFIER = st.from_regex(r"[a-z_][a-zA-Z0-9_]{0,12}", fullmatch=True)


@pytest.mark.parametrize("library", library_names())
def test_reading_and_writing_reproduces_the_committed_text(library):
    path = HERE / "api" / f"{library}.api"
    assert api_file.write(api_file.read(path)) == path.read_text()


def test_every_kind_of_fact_survives(toy_folder):
    path = toy_folder / "golden" / "toy.api.golden"
    assert api_file.write(api_file.read(path)) == path.read_text()


@given(IDENTIFIER, st.sampled_from(["int", "const char *", "void **", "unsigned long long"]))
def test_a_declaration_splits_into_name_and_type(name, c_type):
    assert api_file.split_declaration(api_file.join_declaration(c_type, name)) == (c_type, name)


@given(IDENTIFIER, st.integers(1, 999))
def test_an_array_keeps_its_extent(name, extent):
    c_type = f"unsigned char[{extent}]"
    assert api_file.split_declaration(api_file.join_declaration(c_type, name)) == (c_type, name)


def test_parameters_split_at_the_commas_outside_brackets():
    text = "int (*)(void *, int) f, char *name: out text[len], int len"
    assert api_file.split_params(text) == [
        "int (*)(void *, int) f",
        "char *name: out text[len]",
        "int len",
    ]


@pytest.mark.parametrize(
    "line",
    ["fn broken(", "const X = seven", "enum E {\n    A == 1\n}", "struct a b c {", "number X"],
    ids=["function", "constant", "enumerator", "record", "typedef"],
)
def test_a_broken_line_is_named_by_file_and_number(tmp_path, line):
    path = tmp_path / "bad.api"
    path.write_text(f"library bad\n{line}\n")
    with pytest.raises(ValueError, match=rf"{re.escape(path.name)}:[23]: "):
        api_file.read(path)

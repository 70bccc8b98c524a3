# SPDX-License-Identifier: Apache-2.0
"""Corrections of the sources that Cython writes."""

from build_support.included_files import distinguish_files

LOOKUP = "code = find_code_object(c_line ? -c_line : py_line);\n"


def test_code_objects_are_cached_by_file_and_line(tmp_path):
    source = tmp_path / "made.cpp"
    source.write_text(LOOKUP * 4)
    distinguish_files(source)
    corrected = source.read_text()
    assert corrected.count("filename * 1024u + (unsigned)py_line") == 4
    assert "c_line ?" not in corrected
    distinguish_files(source)
    assert source.read_text() == corrected


def test_a_source_with_another_lookup_is_unchanged(tmp_path, capsys):
    source = tmp_path / "made.cpp"
    source.write_text(LOOKUP)
    distinguish_files(source)
    assert source.read_text() == LOOKUP
    assert "made.cpp: Cython has a new way to look up" in capsys.readouterr().err

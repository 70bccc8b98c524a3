# SPDX-License-Identifier: Apache-2.0
"""Words that relative relocations fill are empty in a file, and right in memory."""

import ctypes
import subprocess

import pytest

from build_support import flags
from build_support.relocations import clear_addends, relative_words

SOURCE = """
static const char *const names[] = {"one", "two", "three"};
const char *name_of(int i) { return names[i]; }
long numbers[] = {11, 12};
long *second = numbers + 1;
"""


@pytest.fixture
def library(tmp_path):
    source, result = tmp_path / "names.c", tmp_path / "names.so"
    source.write_text(SOURCE)
    # The option binds the exported names here, so that pointers to them are relative too.
    options = ["-fPIC", "-shared", "-Wl,-Bsymbolic"]
    subprocess.run([*flags.CC, *options, str(source), "-o", str(result)], check=True)
    return result


def test_pointers_are_cleared_in_the_file_only(library):
    size = library.stat().st_size
    assert clear_addends(library) >= 4
    data = library.read_bytes()
    assert len(data) == size
    assert {data[i : i + 8] for i in relative_words(data)} == {bytes(8)}
    loaded = ctypes.CDLL(str(library))
    loaded.name_of.restype = ctypes.c_char_p
    assert [loaded.name_of(i) for i in range(3)] == [b"one", b"two", b"three"]
    assert ctypes.POINTER(ctypes.c_long).in_dll(loaded, "second").contents.value == 12


def test_other_data_are_kept(library):
    before = library.read_bytes()
    cleared = {i + k for i in relative_words(before) for k in range(8)}
    clear_addends(library)
    after = library.read_bytes()
    assert all(i in cleared for i in range(len(before)) if before[i] != after[i])
    assert clear_addends(library) >= 4
    assert library.read_bytes() == after


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "text.so"
    path.write_text("text")
    with pytest.raises(ValueError, match=r"text\.so is no shared object of 64 bits"):
        clear_addends(path)
    assert path.read_text() == "text"

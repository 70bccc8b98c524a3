# SPDX-License-Identifier: Apache-2.0
"""Precompiled headers change no object, and the progress of a build finds the terminal."""

import os
import pty
import shutil
import sys

import pytest

from build_support import precompiled
from build_support.headers import Included
from build_support.make import make

CODE = """#include <map>
#include <string>
int count(const std::map<std::string, int>& numbers) { return numbers.at("a"); }
"""


@pytest.fixture
def command():
    compiler = shutil.which("g++")
    if compiler is None or not precompiled.is_supported(compiler):
        pytest.skip("no g++ here")
    return [compiler, "-std=c++20", "-O1"]


def test_objects_are_the_same_with_them(command, tmp_path):
    source = tmp_path / "count.cpp"
    source.write_text(CODE)
    with precompiled.Headers(tmp_path / "headers") as headers:
        headers.add(command, precompiled.FEWEST)
        options = precompiled.options(headers.header(command))
        assert options[0] == "-include" and os.path.exists(options[1] + ".gch")
        checked = ["-Winvalid-pch", "-Werror", *options]
        for name, unrecorded in (("with.o", checked), ("without.o", [])):
            compiling = [*command, "-c", str(source)]
            make(tmp_path / name, [source], compiling, unrecorded=unrecorded)
    assert (tmp_path / "with.o").read_bytes() == (tmp_path / "without.o").read_bytes()
    assert not (tmp_path / "headers").exists()


def test_an_object_made_with_them_is_current_without(command, tmp_path):
    source, target = tmp_path / "count.cpp", tmp_path / "count.o"
    source.write_text(CODE)
    compiling = [*command, "-c", str(source)]
    make(target, [source], compiling, unrecorded=["-DUNRECORDED"])
    first = target.stat().st_ino
    make(target, [source], compiling)
    assert target.stat().st_ino == first


@pytest.fixture
def common(tmp_path, monkeypatch):
    monkeypatch.setattr(precompiled, "STANDARD", "map string")  # less to parse
    for name, text in {"inner.hpp": "int f();", "common.hpp": '#include "inner.hpp"'}.items():
        (tmp_path / name).write_text(f"#pragma once\n{text}\n")
    return tmp_path / "common.hpp"


def compile_with(headers, command, source, common):
    """Compile as the build does; return the listed files."""
    target, listing = source.with_suffix(".o"), source.with_suffix(".d")
    header = headers.header(command, str(common))
    compiling = [*command, f"-I{common.parent}", "-MMD", "-MF", str(listing), "-c", str(source)]
    unrecorded = [*precompiled.options(header), "-Winvalid-pch", "-Werror"]
    make(
        target,
        [source],
        compiling,
        unrecorded=unrecorded,
        finish=lambda _: precompiled.complete(listing, header),
    )
    return {os.path.basename(name) for name in precompiled.dependencies(listing)}


@pytest.mark.parametrize("is_precompiled", [True, False])
def test_a_file_lists_the_headers_that_were_precompiled(command, common, tmp_path, is_precompiled):
    source = tmp_path / "user.cpp"
    source.write_text(f'{CODE}#include "common.hpp"\nint g() {{ return f(); }}\n')
    with precompiled.Headers(tmp_path / "headers") as headers:
        headers.add(command, precompiled.FEWEST if is_precompiled else 1, str(common))
        assert (headers.header(command, str(common)) is not None) == is_precompiled
        names = compile_with(headers, command, source, common)
    assert names == {"user.cpp", "common.hpp", "inner.hpp"}


def test_files_without_the_common_header_get_the_standard_headers(command, common, tmp_path):
    with precompiled.Headers(tmp_path / "headers") as headers:
        headers.add(command, precompiled.FEWEST, str(common))
        assert headers.header(command) is None
        headers.add(command, precompiled.FEWEST)
        assert headers.header(command) not in (None, headers.header(command, str(common)))
        assert headers.header(command, "other.hpp") == headers.header(command)


def test_included_headers_are_found_beside_the_file_and_in_the_folders(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "far.hpp").write_text('#include "near.hpp"\n')  # a circle
    (tmp_path / "near.hpp").write_text('#  include "far.hpp"\n#include <vector>\n')
    source = tmp_path / "source.cpp"
    source.write_text('#include "near.hpp"\n')
    expected = {tmp_path / "near.hpp", tmp_path / "folder" / "far.hpp"}
    assert Included([tmp_path, tmp_path / "folder"]).by(source) == expected
    assert Included([tmp_path / "folder"]).by(tmp_path / "missing.cpp") == set()


def test_few_files_are_compiled_without(command, tmp_path):
    with precompiled.Headers(tmp_path / "headers") as headers:
        headers.add(command, precompiled.FEWEST - 1)
        assert precompiled.options(headers.header(command)) == []


@pytest.mark.parametrize("compiler", ["ccache", "clang++"])
def test_other_compilers_compile_without(compiler, tmp_path, monkeypatch):
    program = tmp_path / compiler
    program.write_text("")
    program.chmod(0o755)
    (tmp_path / "c++").symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not precompiled.is_supported(compiler)
    assert not precompiled.is_supported("c++")


@pytest.mark.parametrize("is_captured", [True, False])
def test_progress_reaches_the_terminal_although_stderr_is_captured(is_captured):
    process, terminal_end = pty.fork()
    if not process:
        _, writing = os.pipe()
        if is_captured:
            os.dup2(writing, 2)
        code = "from build_support.terminal import terminal; print('here', file=terminal())"
        os.execv(sys.executable, [sys.executable, "-c", code])
    try:
        assert os.read(terminal_end, 100).startswith(b"here")
    finally:
        os.waitpid(process, 0)
        os.close(terminal_end)

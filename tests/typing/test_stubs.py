# SPDX-License-Identifier: Apache-2.0
"""Type checkers accept typical code, reject mistakes, and see the API of the compiled modules."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import cuda.core
import pytest

HERE = Path(__file__).parent
PACKAGES = Path(cuda.core.__path__[0]).parents[1]
ACCEPTED = sorted((HERE / "accepted").glob("*.py"))
REJECTED = sorted((HERE / "rejected").glob("*.py"))
MARK = re.compile(r"# E: ([\w, -]+)")


def marks(path):
    """Return (line, code) of each mistake in a file of the corpus."""
    marked = ((n, MARK.search(line)) for n, line in enumerate(path.read_text().splitlines(), 1))
    return {(number, code) for number, mark in marked if mark for code in mark[1].split(", ")}


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_mypy_accepts_typical_code(mypy, path):
    assert mypy(path) == set()


@pytest.mark.parametrize("path", REJECTED, ids=lambda path: path.stem)
def test_mypy_finds_exactly_the_mistakes(mypy, path):
    assert mypy(path) == marks(path)


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_pyright_accepts_typical_code(pyright, path):
    assert pyright.get(path, {}) == {}


@pytest.mark.parametrize("path", REJECTED, ids=lambda path: path.stem)
def test_pyright_finds_exactly_the_mistakes(pyright, path):
    assert pyright[path].keys() == {line for line, _ in marks(path)}, pyright[path]


def test_the_stubs_describe_the_compiled_modules(tmp_path):
    pytest.importorskip("mypy.stubtest", reason="mypy is not installed (extra `dev`)")
    modules = ["cuda.core._core", "cuda.core._compile", "cuda.core._resources"]
    configuration = tmp_path / "mypy.ini"
    configuration.write_text("[mypy]\nnamespace_packages = True\nexplicit_package_bases = True\n")
    options = ["--concise", "--ignore-missing-stub", "--ignore-disjoint-bases"]
    options += ["--mypy-config-file", str(configuration)]
    options += ["--allowlist", str(HERE / "allowlist.txt"), "--ignore-unused-allowlist"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", *options, *modules],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(PACKAGES), "HALFWARP_BACKEND": "emulator"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_documented_forms_of_streams_run():
    """The file whose types are accepted also runs: with a stream, a builder, another library's."""
    environment = os.environ | {"HALFWARP_BACKEND": "emulator"}
    command = [sys.executable, str(HERE / "accepted" / "stream_forms.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# Their pages say more: graphics needs a display, arrays and views have their own tests.
ELSEWHERE = {"from_gl_buffer", "from_ipc_descriptor", "map", "map_array", "unmap", "from_handle"}


def test_each_routine_with_a_stream_is_among_the_documented_forms():
    tree = ast.parse((HERE / "accepted" / "stream_forms.py").read_text())
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    called = {getattr(f, "attr", getattr(f, "id", "")) for f in calls}
    missing = set()
    for path in (PACKAGES / "cuda/core").glob("_*.pyi"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and takes_a_stream(node):
                missing |= {node.name} - called - ELSEWHERE
    assert {name for name in missing if not name.startswith("__")} == set()


def takes_a_stream(function):
    arguments = [*function.args.args, *function.args.kwonlyargs]
    notes = [ast.unparse(each.annotation) for each in arguments if each.annotation]
    return any("Stream | GraphBuilder" in note and "SupportsInt" not in note for note in notes)

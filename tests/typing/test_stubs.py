# SPDX-License-Identifier: Apache-2.0
"""Type checkers accept typical code, reject mistakes, and see the API of the compiled modules."""

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
    pytest.importorskip("mypy.stubtest", reason="mypy is not installed")
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

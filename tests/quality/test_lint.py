# SPDX-License-Identifier: Apache-2.0
"""Lint is a test: ruff, cython-lint, codespell and clang-format say nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def tool(name):
    """The path of a tool beside this interpreter, or on the search path."""
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.exists() else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed (extra `test`)")
    return found


def run(root, *command):
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env={"PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_finds_nothing(root):
    run(root, tool("ruff"), "check", "--quiet", "--output-format=concise", ".")


def test_ruff_would_format_nothing(root):
    run(root, tool("ruff"), "format", "--quiet", "--check", ".")


def test_cython_lint_finds_nothing(root, tracked):
    sources = [str(path) for path in tracked if path.suffix in (".pyx", ".pxd")]
    run(root, tool("cython-lint"), "--max-line-length=100", *sources)


def test_codespell_finds_nothing(root, tracked):
    sources = [str(path) for path in tracked if path.suffix not in (".api", ".json")]
    run(root, tool("codespell"), *sources)


def test_clang_format_would_change_nothing(root, tracked):
    """With the release that pyproject.toml names: others lay out some things differently."""
    formatter = tool("clang-format")
    version = subprocess.run([formatter, "--version"], capture_output=True, text=True).stdout
    if " 18." not in version:
        pytest.skip(f"clang-format 18 is wanted, found {version.strip()}")
    sources = [
        str(path) for path in tracked if path.suffix in (".hpp", ".cpp") and path.parts[0] == "cpp"
    ]
    run(root, formatter, "--dry-run", "--Werror", *sources)

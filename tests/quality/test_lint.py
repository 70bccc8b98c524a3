# SPDX-License-Identifier: Apache-2.0
"""Lint is a test: ruff, cython-lint, codespell and clang-format report nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Hook of .pre-commit-config.yaml -> tool and arguments; the files to check follow.
CHECKS = {
    "ruff-check": ("ruff", "check", "--quiet", "--output-format=concise"),
    "ruff-format": ("ruff", "format", "--quiet", "--check"),
    "cython-lint": ("cython-lint", "--max-line-length=100"),
    "codespell": ("codespell",),
    "clang-format": ("clang-format", "--dry-run", "--Werror"),
}

SPELLING = ("codespell", "--builtin", "clear,rare,en-GB_to_en-US")  # of commit messages


def tool(name):
    """Return the path of a tool beside this interpreter, or on the search path."""
    beside = Path(sys.executable).with_name(name)
    result = str(beside) if beside.exists() else shutil.which(name)
    if result is None:
        pytest.skip(f"{name} is not installed (extra `dev`)")
    return result


def run(root, check, files):
    name, *arguments = CHECKS[check]
    command = [tool(name), *arguments, *map(str, files)]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env={"PATH": path})
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_finds_nothing(root):
    run(root, "ruff-check", ["."])


def test_ruff_would_format_nothing(root):
    run(root, "ruff-format", ["."])


def test_cython_lint_finds_nothing(root, tracked):
    run(root, "cython-lint", [path for path in tracked if path.suffix in (".pyx", ".pxd")])


def test_codespell_finds_nothing(root, tracked):
    run(root, "codespell", [path for path in tracked if path.suffix not in (".api", ".json")])


def test_clang_format_would_change_nothing(root, tracked):
    """Only with the release in pyproject.toml: other releases format differently."""
    command = [tool("clang-format"), "--version"]
    version = subprocess.run(command, capture_output=True, text=True).stdout
    if " 18." not in version:
        pytest.skip(f"clang-format 18 is wanted, found {version.strip()}")
    kinds = (".hpp", ".cpp")
    sources = [path for path in tracked if path.suffix in kinds and path.parts[0] == "cpp"]
    run(root, "clang-format", sources)

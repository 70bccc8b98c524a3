# SPDX-License-Identifier: Apache-2.0
"""Mutants: their changes, and that each source has a test suite."""

import re

import pytest

from build_support.parts import PARTS

from ..mutation.mutants import mutants_of, sample, sources
from ..mutation.trial import SUITES, code_of, prefixes_of, suite_of


def after(path, text):
    return [mutant.after.strip() for mutant in mutants_of(path, text)]


def test_every_source_has_a_suite_with_existing_tests(root, tracked):
    names = sources(root)
    assert len(names) > 100
    assert all(suite_of(name)["tests"] for name in names)
    rows = SUITES.values()
    paths = {test for row in rows for key in ("first", "tests") for test in row.get(key, ())}
    assert [path for path in sorted(paths) if not (root / path).exists()] == []
    used = {prefix for name in names for prefix in prefixes_of(name)}
    assert sorted(set(SUITES) - used) == []


def test_tests_of_a_longer_prefix_come_first():
    shorter, longer = suite_of("cpp/emulator/stream/x.cpp"), suite_of("cpp/emulator/x.cpp")
    assert shorter["parts"] == longer["parts"] == ["cuda.bindings.libcuda_emulated"]
    assert shorter["tests"] != longer["tests"]
    assert sorted(set(longer["tests"]) - set(shorter["tests"])) == []
    assert len(set(shorter["tests"])) == len(shorter["tests"])


def test_every_cython_source_is_built_by_its_suite(root, tracked):
    """Otherwise its mutants change nothing, and count as equivalent."""
    modules = {module: part.name for part in PARTS for module in part.modules.split()}
    for file in sorted((root / "cuda/core").glob("_*.pyx")):
        module = f"cuda.core.{file.stem}"
        for included in re.findall(r'^include "(.+)"', file.read_text(), re.M):
            parts = suite_of(f"cuda/core/{included}")["parts"]
            assert modules.get(module, module) in parts, included


def test_a_seed_gives_one_sample(root, tracked):
    first = sample(root, 5, 10, ("cpp/core",))
    assert first == sample(root, 5, 10, ("cpp/core",)) != sample(root, 6, 10, ("cpp/core",))
    for mutant in first:
        text = (root / mutant.path).read_text()
        assert mutant.text(text) != text


def test_comments_and_strings_are_not_mutated():
    assert after("x.cpp", '// a == b\nf("a == b");\n') == [";"]
    assert after("x.py", '"""a == b"""\nx = "a == b"  # a == b\n') == []


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("x.cpp", "  if (a < b) return;", ["if (a <= b) return;", "if (!(a < b)) return;"]),
        ("x.hpp", "template <int n> struct s;", []),
        ("x.py", "    if a is None:", ["if a is not None:", "if not (a is None):"]),
        ("x.pyx", "    close(stream)", ["pass"]),
    ],
)
def test_a_line_has_exactly_these_mutants(path, line, expected):
    assert after(path, line + "\n") == expected


def test_equivalent_code_is_recognized():
    assert code_of("def f(a):\n    return a + 1\n") == code_of("def f(a):\n    return (a + 1)\n")
    assert code_of("def f(a):\n    return a + 1\n") != code_of("def f(a):\n    return a + 2\n")

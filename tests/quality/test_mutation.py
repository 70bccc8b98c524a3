# SPDX-License-Identifier: Apache-2.0
"""Mutants: their changes, and that each source has a test suite."""

import pytest

from ..mutation.mutants import mutants_of, sample, sources
from ..mutation.trial import SUITES, code_of, suite_of


def after(path, text):
    return [mutant.after.strip() for mutant in mutants_of(path, text)]


def test_every_source_has_a_suite_with_existing_tests(root, tracked):
    names = sources(root)
    assert len(names) > 100
    assert all(suite_of(name)["tests"] for name in names)
    paths = {test for suite in SUITES.values() for test in suite["tests"]}
    assert [path for path in sorted(paths) if not (root / path).exists()] == []


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

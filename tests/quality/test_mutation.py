# SPDX-License-Identifier: Apache-2.0
"""Mutants: their changes, and that each source has a test suite."""

import re

import pytest

from build_support.parts import PARTS

from ..mutation import workers
from ..mutation.mutants import Mutant, mutants_of, sample, sources
from ..mutation.trial import SUITES, Outcome, code_of, prefixes_of, suite_of


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
        ("x.pyx", "    if a is None:", ["if a is not None:", "if not (a is None):"]),
        ("x.pyx", "    close(stream)", ["pass"]),
        ("x.pyx", "    close(stream)  # first", ["pass  # first"]),
        ("x.pyx", "    if a:  # b", ["if not (a):  # b"]),
        ("x.pyx", "    return a  # b", ["return None  # b"]),
        ("x.pyx", "    return None  # b", []),
        ("x.pyx", "    return {", []),  # the rest of the statement would stay
        ("x.pyx", "    return f(a, \\", []),
        ("x.pyx", "    return a or \\", ["return a and \\"]),
        ("x.cpp", "  close(stream);  // first", [";  // first"]),
        ("x.hpp", "struct alignas(16) cell;", []),
        ("x.hpp", "[[gnu::format(printf, 1, 2)]] int f();", []),
        ("x.cpp", "    .ob_base = {PyObject_HEAD_INIT(&metaclass) 0},", []),
    ],
)
def test_a_line_has_exactly_these_mutants(path, line, expected):
    assert after(path, line + "\n") == expected


@pytest.mark.parametrize(
    "text",
    [
        "from __future__ import annotations\ndef f(a: int | None, *b: t[int, 1]) -> int | str: ...",
        "from __future__ import annotations\nclass c:\n    a: int | None",
        "def f():\n    a: int | None",
        "if TYPE_CHECKING:\n    size = 1",
    ],
)
def test_what_only_type_checkers_read_is_not_mutated(text):
    assert after("x.py", text + "\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(a: int | None): ...",
        "class c:\n    a: int | None",
        "from __future__ import annotations\nclass c:\n    a = int | None",
        "from __future__ import annotations\nclass c:\n    a: int = 1",
        "def f():\n    a: int = 1",
        "if CHECKING:\n    pass",
    ],
)
def test_what_is_evaluated_is_mutated(text):
    assert len(after("x.py", text + "\n")) == 1


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("cdef int f() except -1:", 0),
        ("cdef int f() except? -1 nogil:", 0),
        ("cdef size_t f() except? 0:", 0),
        ("    cdef int f(self) except -1", 0),
        ("cdef int f() except -1 with gil:", 0),
        ("        except -1:", 0),
        ("cdef int f() except 0:", 1),  # a result of 1 would be an error
        ("if TYPE_CHECKING:", 0),
    ],
)
def test_the_value_that_announces_an_exception_is_not_mutated(line, count):
    assert len(after("x.pyx", line + "\n")) == count


@pytest.mark.parametrize(
    ("function", "value", "is_changed"),
    [
        ("int f(int a) {", "0", False),
        ("static inline bool t::f(int a) {", "false", False),
        ("PyObject* f(int a) {", "nullptr", False),
        ('extern "C" size_t f(int a) noexcept {', "0", False),
        ("int f(int a) {", "a", True),
        ("bool f(int a) {", "true", True),
        ("std::optional<int> f(int a) {", "0", True),
        ("  const auto g = [&]() -> std::optional<int> {", "0", True),
        ("  const auto g = [&](int a) -> bool {", "false", False),
        ("template <class T>\nstatic bool g(\n    int a,\n    T b = f(0)) {", "false", False),
        ("auto f(int a) noexcept -> const char* {", "nullptr", False),
        ("std::shared_ptr<int> f() const {", "nullptr", False),
        ("std::string_view f() {", "nullptr", True),
        ("std::optional<int> f() {", "std::nullopt", False),
        ("std::variant<std::nullopt_t> f() {", "std::nullopt", True),
        ("CUresult f() {", "CUDA_SUCCESS", False),
        ("status f() {", "CUDA_SUCCESS", True),
        ("result f() {", "result::success", False),
        ("result f() {", "result::timeout", True),
        ("status f() {", "result::success", True),
    ],
)
def test_the_zero_of_a_type_is_not_replaced_by_itself(function, value, is_changed):
    text = f"int f() {{\n{function}\n    a;\n    return {value};\n}}\n}}\n"
    assert ("return {};" in after("x.cpp", text)) == is_changed


@pytest.mark.parametrize(
    ("function", "is_changed"),
    [
        ("const auto g = [&](int a) {", False),
        ("call(a, [=]() mutable {", False),
        ("auto f(int a) {", False),
        ("int& operator[](int a) {", True),
        ("auto f(int a) -> int {", True),
        ("f([&](int a) -> int {", True),
    ],
)
def test_an_empty_result_needs_a_function_with_a_type(function, is_changed):
    text = f"{function}\nfor (;;) {{\nif (a) {{\n  return a;\n}}\n}}\n}}\n"
    assert ("return {};" in after("x.cpp", text)) == is_changed


def test_nothing_is_known_of_a_function_in_unequal_braces():
    text = "#if a\nint f() {\n#else\nint f(int a) {\n#endif\n  return 0;\n}\n"
    assert "return {};" in after("x.cpp", text)


@pytest.mark.parametrize(
    ("function", "is_changed"),
    [
        ("cdef bint f(self):", False),
        ("cdef inline int f(list a, list b) except -1:", False),
        ("cdef unsigned long long f():", False),
        ("cdef const kernel* f():", False),
        ("cdef Stream f():", True),
        ("cdef f():", True),
        ("def f():", True),
    ],
)
def test_none_is_returned_where_the_type_has_it(function, is_changed):
    text = f"{function}\n    if a:\n        return b\n"
    assert ("return None" in after("x.pyx", text)) == is_changed


@pytest.mark.parametrize(
    ("around", "statement", "is_changed"),
    [
        ("void f() {", "result.reserve(count + 1);", False),
        ("try {", "watched_.reserve(count);", True),  # the program handles a lack of memory
        ("void f() {", "memory.reserve(address, 1);", True),
        ("void f() {", "if (pool.reserve(size) < 0) return;", True),
    ],
)
def test_a_capacity_is_not_mutated(around, statement, is_changed):
    assert bool(after("x.cpp", f"{around}\n{statement}\n}}\n")) == is_changed


def test_equivalent_code_is_recognized():
    assert code_of("def f(a):\n    return a + 1\n") == code_of("def f(a):\n    return (a + 1)\n")
    assert code_of("def f(a):\n    return a + 1\n") != code_of("def f(a):\n    return a + 2\n")


@pytest.fixture
def tried(monkeypatch):
    """Record the lines of the mutants that workers try, without a build."""
    lines = []

    def put_to_trial(workspace, mutant):
        lines.append(mutant.line)
        if mutant.line == workspace:
            raise KeyboardInterrupt
        return Outcome(mutant, "killed", "a test", 1.0)

    monkeypatch.setattr(workers, "put_to_trial", put_to_trial)
    return lines


def test_workers_try_each_mutant_once_and_continue(tmp_path, tried):
    mutants = [Mutant("x.py", line, "number", "a = 1", "a = 2") for line in range(1, 6)]
    workers.drop_unfinished(tmp_path)
    assert workers.claimed(tmp_path, 1)  # by another worker, which then ends without an outcome
    with pytest.raises(KeyboardInterrupt):
        workers.work(4, mutants, tmp_path)
    assert [each.mutant.line for each in workers.outcomes_in(tmp_path, mutants)] == [1, 3]
    workers.drop_unfinished(tmp_path)
    workers.work(None, mutants, tmp_path)
    workers.work(None, mutants, tmp_path)
    assert tried == [1, 3, 4, 2, 4, 5]
    assert workers.outcomes_in(tmp_path, mutants) == [
        Outcome(mutant, "killed", "a test", 1.0) for mutant in mutants
    ]

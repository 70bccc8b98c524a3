# SPDX-License-Identifier: Apache-2.0
"""A test can fail: its assertions depend on the code under test."""

import ast

import pytest


def functions_of_tests(root, tracked):
    """Return (place, function) of every test."""
    for path in tracked:
        if path.parts[0] == "tests" and path.name.startswith("test_") and path.suffix == ".py":
            tree = ast.parse((root / path).read_text())
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                    yield f"{path}:{node.lineno} {node.name}", node


def always_holds(test):
    """Return whether an asserted expression is always true."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Tuple):
        return bool(test.elts)  # `assert (x, "message")`
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(map(always_holds, test.values))
    if isinstance(test, ast.BoolOp):
        return all(map(always_holds, test.values))
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        # for other expressions, the comparison may be under test
        return all(isinstance(side, ast.Constant) for side in (test.left, test.comparators[0]))
    return False


def swallows(handler):
    """Return whether an exception handler ignores the exception."""
    return all(isinstance(each, (ast.Pass, ast.Continue)) for each in handler.body)


def asserts(statements):
    return any(isinstance(each, ast.Assert) for part in statements for each in ast.walk(part))


def is_empty(function):
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return all(isinstance(each, (ast.Pass, ast.Constant)) for each in body)


def problems_of(function):
    """Return (kind, text) of each reason why a test cannot fail."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) and always_holds(node.test):
            yield "always holds", ast.unparse(node)[:60]
        if isinstance(node, ast.Try) and any(map(swallows, node.handlers)) and asserts(node.body):
            yield "swallowed", f"line {node.lineno}"  # by the handler
    if is_empty(function) or skips_always(function):
        yield "empty", ""


@pytest.fixture(scope="module")
def problems(root, tracked):
    """List (place, kind, text) of the problems of all tests."""
    return [
        (place, *problem)
        for place, function in functions_of_tests(root, tracked)
        for problem in problems_of(function)
    ]


@pytest.mark.parametrize("kind", ["always holds", "swallowed", "empty"])
def test_every_test_can_fail(problems, kind):
    assert [problem for problem in problems if problem[1] == kind] == []


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        ("assert f() or True", ["always holds"]),
        ("try:\n        assert f()\n    except Exception:\n        pass", ["swallowed"]),
        ('"""Nothing."""', ["empty"]),
        ("pytest.skip('always')", ["empty"]),
        ("assert f()", []),
    ],
)
def test_a_test_that_cannot_fail_is_recognized(body, kinds):
    function = ast.parse(f"def test_it():\n    {body}").body[0]
    assert [kind for kind, _ in problems_of(function)] == kinds


def skips_always(function):
    marks = [ast.unparse(each) for each in function.decorator_list]
    first = ast.unparse(function.body[0])
    return first.startswith("pytest.skip(") or any(
        mark.startswith("pytest.mark.skip") and not mark.startswith("pytest.mark.skipif")
        for mark in marks
    )


@pytest.mark.parametrize(
    ("text", "is_tautology"),
    [
        ("True", True),
        ("x or True", True),
        ("(x, 'message')", True),
        ("1 == 1", True),
        ("x and True", False),
        ("x == x", False),
        ("f()", False),
    ],
)
def test_a_tautology_is_recognized(text, is_tautology):
    assert always_holds(ast.parse(text, mode="eval").body) is is_tautology

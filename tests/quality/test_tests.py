# SPDX-License-Identifier: Apache-2.0
"""A test can fail: its assertions depend on the code under test."""

import ast

import pytest


def test_functions(root, tracked):
    """Return (place, function) of every test."""
    for path in tracked:
        if path.parts[0] == "tests" and path.name.startswith("test_") and path.suffix == ".py":
            tree = ast.parse((root / path).read_text())
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                    yield f"{path}:{node.lineno} {node.name}", node


test_functions.__test__ = False


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


def is_empty(function):
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return all(isinstance(each, (ast.Pass, ast.Constant)) for each in body)


def test_no_assertion_always_holds(root, tracked):
    wrong = [
        f"{place}: {ast.unparse(node)[:60]}"
        for place, function in test_functions(root, tracked)
        for node in ast.walk(function)
        if isinstance(node, ast.Assert) and always_holds(node.test)
    ]
    assert not wrong


def test_no_test_swallows_its_assertions(root, tracked):
    """Check the line after a `try` whose handler ignores the exception."""
    wrong = [
        place
        for place, function in test_functions(root, tracked)
        for node in ast.walk(function)
        if isinstance(node, ast.Try)
        and any(swallows(handler) for handler in node.handlers)
        and any(isinstance(each, ast.Assert) for part in node.body for each in ast.walk(part))
    ]
    assert not wrong


def test_no_test_is_empty_or_always_skipped(root, tracked):
    wrong = [
        place
        for place, function in test_functions(root, tracked)
        if is_empty(function) or skips_always(function)
    ]
    assert not wrong


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

# SPDX-License-Identifier: Apache-2.0
"""Find the texts of kernels in Python source: string literals that define device functions."""

import ast
import re
from dataclasses import dataclass

from halfwarp.coverage.marks import MarkedText

MARKS = ("__global__", "__device__")
_QUOTE = re.compile(r"([a-zA-Z]*)(\"\"\"|'''|\"|')")
_ESCAPE = re.compile(
    r"\\(?:\n|[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|.)", re.DOTALL
)


@dataclass(slots=True)
class Literal:
    """A text, and the line of the file for each line of the text."""

    text: str
    lines: list
    statement_line: int  # of the Python statement that contains it

    def line(self, number):
        """Return the line of the file; a negative line stays negative."""
        return self.lines[number - 1] if number > 0 else -self.lines[-number - 1]


def find_literals(source):
    """Return the literals of a Python source that define device functions."""
    if not any(mark in source for mark in MARKS):
        return []
    tree = ast.parse(source)
    result, inner = [], set()
    for statement in ast.walk(tree):
        if not isinstance(statement, ast.stmt) or _is_docstring(statement):
            continue
        for node in _own_expressions(statement):
            if isinstance(node, ast.JoinedStr):
                inner |= {id(part) for part in node.values}
            if id(node) in inner or not _is_text(node):
                continue
            segment = ast.get_source_segment(source, node)
            literal = _read_segment(segment, node.lineno, statement.lineno)
            if MarkedText(literal.text).lines:
                result.append(literal)
    return result


def _own_expressions(statement):
    """Yield the expressions of a statement, except in statements within it."""
    pending = [statement]
    while pending:
        node = pending.pop(0)
        yield node
        pending += [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.stmt)]


def _is_docstring(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _is_text(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        value = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
    elif isinstance(node, ast.JoinedStr):
        constants = [part.value for part in node.values if isinstance(part, ast.Constant)]
        value = "".join(constants)
    else:
        return False
    return any(mark in value for mark in MARKS) and "{" in value


def _read_segment(segment, first_line, statement_line):
    """Evaluate the source of adjacent literals. An expression in an f-string becomes 0."""
    characters, at, line = [], 0, first_line
    while match := _QUOTE.search(segment, at):
        line += segment.count("\n", at, match.start())
        at = match.end()
        prefix, quote = match[1].lower(), match[2]
        while not segment.startswith(quote, at) and at < len(segment):
            text, after = _read_character(segment, at, prefix)
            characters += [(character, line) for character in text]
            line += segment.count("\n", at, after)
            at = after
        at += len(quote)
    text = "".join(character for character, _ in characters)
    lines, is_start = [], True
    for character, position in characters:
        if is_start:
            lines.append(position)
        is_start = character == "\n"
    return Literal(text, [*lines, line], statement_line)


def _read_character(segment, at, prefix):
    """Return the value of the next character or escape, and the offset after it."""
    if segment[at] == "\\" and "r" not in prefix:
        escape = _ESCAPE.match(segment, at)
        if escape[0] == "\\\n":
            return "", escape.end()
        return escape[0].encode("latin-1", "replace").decode("unicode_escape"), escape.end()
    if "f" in prefix or "t" in prefix:
        if segment[at : at + 2] in ("{{", "}}"):
            return segment[at], at + 2
        if segment[at] == "{":
            return "0", _end_of_expression(segment, at)
    if segment[at] == "\\":
        return segment[at : at + 2], at + 2
    return segment[at], at + 1


def _end_of_expression(segment, at):
    depth = 0
    for index in range(at, len(segment)):
        depth += {"{": 1, "}": -1}.get(segment[index], 0)
        if depth == 0:
            return index + 1
    return len(segment)

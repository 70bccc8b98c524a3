# SPDX-License-Identifier: Apache-2.0
"""Small one-line changes of C++, Cython and Python, like typing errors."""

import ast
import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCES = ("cpp", "cuda", "generator", "halfwarp")
LEFT_OUT = ("cpp/tests", "cpp/driver/foreign", "cpp/runtime/headers")  # tests and foreign headers

# name, pattern in a line without its strings and comments, replacement
SHARED = [
    ("boundary", r"(?<= )<(?= )", "<="),
    ("boundary", r"(?<= )<=(?= )", "<"),
    ("boundary", r"(?<= )>(?= )", ">="),
    ("boundary", r"(?<= )>=(?= )", ">"),
    ("equality", r"(?<= )==(?= )", "!="),
    ("equality", r"(?<= )!=(?= )", "=="),
    ("arithmetic", r"(?<= )\+(?= )", "-"),
    ("arithmetic", r"(?<= )-(?= )", "+"),
    ("arithmetic", r"(?<= )\*(?= )", "+"),
    ("arithmetic", r"(?<= )%(?= )", "*"),
    ("bits", r"(?<= )&(?= )", "|"),
    ("bits", r"(?<= )\|(?= )", "&"),
    ("bits", r"(?<= )<<(?= )", ">>"),
    ("bits", r"(?<= )>>(?= )", "<<"),
    ("assignment", r"(?<= )\+=(?= )", "-="),
    ("assignment", r"(?<= )\|=(?= )", "&="),
    ("number", r"(?<![\w.'])0(?![\w.'])", "1"),
    ("number", r"(?<![\w.'])1(?![\w.'])", "2"),
    ("number", r"(?<![\w.'])([2-9]|[1-9]\d+)(?![\w.'])", r"(\1 + 1)"),
    ("jump", r"\bcontinue\b", "break"),
    ("extreme", r"\bmin\(", "max("),
    ("extreme", r"\bmax\(", "min("),
]
C_LIKE = [
    *SHARED,
    ("logic", r"(?<= )&&(?= )", "||"),
    ("logic", r"(?<= )\|\|(?= )", "&&"),
    ("negation", r"(?<=[( ])!(?=[\w(])", ""),
    ("literal", r"\btrue\b", "false"),
    ("literal", r"\bfalse\b", "true"),
    ("condition", r"(?<=\bif )\((.*)\)(?= \{$| return\b| continue;| break;)", r"(!(\1))"),
    ("match", r"(?<=\breturn )[^;{}]+(?=;)", "{}"),
    ("statement", r"^(\s*)(?!return|delete|throw)[\w:.>-]+\([^{}]*\);$", r"\1;"),
    ("step", r"\+\+(?=\w)", "--"),
]
PYTHON_LIKE = [
    *SHARED,
    ("logic", r"\band\b", "or"),
    ("logic", r"\bor\b", "and"),
    ("negation", r"(?<!is )\bnot (?!in\b)", ""),
    ("identity", r"\bis not None\b", "is None"),
    ("identity", r"\bis None\b", "is not None"),
    ("membership", r"(?<=\bif )(\w+) in\b", r"\1 not in"),
    ("membership", r"\bnot in\b", "in"),
    ("literal", r"\bTrue\b", "False"),
    ("literal", r"\bFalse\b", "True"),
    ("condition", r"(?<=\bif )(.+)(?=:$)", r"not (\1)"),
    ("match", r"(?<=\breturn )\S.*$", "None"),
    ("statement", r"^(\s+)(?!super)[\w.]+\([^()]*\)$", r"\1pass"),
]
OPERATORS = {".cpp": C_LIKE, ".hpp": C_LIKE, ".py": PYTHON_LIKE, ".pyx": PYTHON_LIKE}
# Declarations, and names that the compiler checks: no change of behavior.
NO_BEHAVIOR = re.compile(
    r"^\s*(#|import\b|from\b.*\bimport\b|cimport\b|template\b|static_assert|using\b|namespace\b|@)"
    r"|\boperator\b"
)
STRINGS_C = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])\''
STRINGS_PYTHON = (
    r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'|#[^\n]*"
)

# The result by which a Cython function signals an exception: the caller also queries the exception.
EXCEPTION_VALUE = re.compile(r"(?<=\) )except(?: -|\? ?-?)\w+(?=:?$| nogil)", re.M)
# A function of a type for which `{}` is zero, and the zeros that it may return.
ZERO_FUNCTION = re.compile(
    r"^\s*(?:(?:static|inline|constexpr|virtual|explicit|const|extern \0+) )*"
    r"(?:(?:bool|char|short|int|long|unsigned|float|double|size_t|\w+_ssize_t|u?int\d+_t) |"
    r"[\w:]+ ?\* ?)(?:[\w:]+)\(",
)
LAMBDA = re.compile(r"\](?:\(.*\).*)? \{$")
ZERO = re.compile(r"(?<=\breturn )(?:0|false|nullptr)(?=;)")


@dataclass(frozen=True)
class Mutant:
    """A line of a file, original and changed."""

    path: str
    line: int
    operator: str
    before: str
    after: str

    def text(self, source: str) -> str:
        """Return the file with the change."""
        lines = source.splitlines(keepends=True)
        assert lines[self.line - 1].rstrip("\n") == self.before
        lines[self.line - 1] = self.after + "\n"
        return "".join(lines)


def without_text(source: str, suffix: str) -> str:
    """Return a source of the same shape whose comments and strings are filled with a letter."""
    pattern = STRINGS_C if suffix in (".cpp", ".hpp") else STRINGS_PYTHON
    blank = re.compile(r"[^\n]")
    return re.sub(pattern, lambda match: blank.sub("\0", match.group()), source, flags=re.S)


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """Return all mutants of a file, in the order of its lines."""
    suffix = Path(path).suffix
    bare_lines = without_equivalents(source, without_text(source, suffix), suffix).splitlines()
    for number, (line, bare) in enumerate(zip(source.splitlines(), bare_lines, strict=True), 1):
        if NO_BEHAVIOR.search(bare):
            continue
        for operator, pattern, replacement in OPERATORS[suffix]:
            for match in re.finditer(pattern, bare.rstrip()):
                if operator == "match" and returns_zero(bare_lines, number, match):
                    continue
                # the pattern's groups give positions, the text comes from the line
                after = line[: match.start()] + filled(replacement, match, line)
                after += line[match.end() :]
                if after.strip() != line.strip():
                    yield Mutant(path, number, operator, line, after)


def without_equivalents(source: str, bare: str, suffix: str) -> str:
    """Fill the places where no change is seen when the program runs."""
    if suffix == ".pyx":
        bare = EXCEPTION_VALUE.sub(lambda match: "\0" * len(match.group()), bare)
        return re.sub(r"\bif TYPE_CHECKING:", lambda match: "\0" * len(match.group()), bare)
    if suffix != ".py":
        return bare
    lines = bare.splitlines(keepends=True)
    for first, last in unevaluated(ast.parse(source)):
        for row in range(first.lineno - 1, last.end_lineno):
            line = lines[row]
            start = first.col_offset if row == first.lineno - 1 else 0
            end = last.end_col_offset if row == last.end_lineno - 1 else len(line.rstrip("\n"))
            lines[row] = line[:start] + "\0" * (end - start) + line[end:]
    return "".join(lines)


def unevaluated(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Return the first and last node of what nothing evaluates, or only type checkers."""
    postponed = any(
        isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body
    )
    annotations = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield node, node.body[-1]
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if is_function:  # annotations of its variables are never evaluated
            annotations += [each.annotation for each in node.body if is_variable(each)]
        if postponed and is_function:
            annotations.append(node.returns)
        if postponed and isinstance(node, (ast.arg, ast.AnnAssign)):
            annotations.append(node.annotation)
    yield from ((each, each) for each in annotations if each)


def is_variable(node: ast.AST) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)


def returns_zero(lines: list[str], number: int, match: re.Match) -> bool:
    """Return whether a statement of C++ returns the zero that `{}` is for the function's type."""
    if not ZERO.match(match.string, match.start()):
        return False
    indent = indent_of(match.string)
    for line in reversed(lines[: number - 1]):
        if line.strip() and indent_of(line) < indent:
            indent = indent_of(line)
            if ZERO_FUNCTION.match(line):
                return True
            if LAMBDA.search(line):
                return False  # its type is not told
    return False


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def filled(replacement: str, match: re.Match, line: str) -> str:
    return re.sub(r"\\(\d)", lambda group: line[slice(*match.span(int(group[1])))], replacement)


def sources(root: Path, only: tuple = ()) -> list[str]:
    """Return the hand-written sources that git tracks, or those below some folders."""
    listed = subprocess.run(["git", "ls-files", *SOURCES], cwd=root, capture_output=True, text=True)
    return [
        name
        for name in sorted(listed.stdout.split())
        if Path(name).suffix in OPERATORS
        and not name.startswith(LEFT_OUT)
        and (not only or name.startswith(only))
    ]


def sample(root: Path, seed: int, count: int, only: tuple = ()) -> list[Mutant]:
    """Return `count` mutants of a tree, chosen uniformly by a seed."""
    every = [m for name in sources(root, only) for m in mutants_of(name, (root / name).read_text())]
    return random.Random(seed).sample(every, min(count, len(every)))

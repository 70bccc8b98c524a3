# SPDX-License-Identifier: Apache-2.0
"""Small one-line changes of C++, Cython and Python, like typing errors."""

import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .equivalents import Functions, without_equivalents, without_text

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


def mutants_of(path: str, source: str) -> Iterator[Mutant]:
    """Return all mutants of a file, in the order of its lines."""
    suffix = Path(path).suffix
    functions = Functions(without_equivalents(source, without_text(source, suffix), suffix), suffix)
    lines = zip(source.splitlines(), functions.lines, strict=True)
    for number, (line, bare) in enumerate(lines, 1):
        if NO_BEHAVIOR.search(bare):
            continue
        for operator, pattern, replacement in OPERATORS[suffix]:
            for match in re.finditer(pattern, bare.rstrip()):
                if functions.keeps(operator, number, match):
                    continue
                # the pattern's groups give positions, the text comes from the line
                after = line[: match.start()] + filled(replacement, match, line)
                after += line[match.end() :]
                if after.strip() != line.strip():
                    yield Mutant(path, number, operator, line, after)


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

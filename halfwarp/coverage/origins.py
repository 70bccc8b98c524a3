# SPDX-License-Identifier: Apache-2.0
"""Find the file and the line from which each line of a program came."""

import os
import sys
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path

from halfwarp.coverage.literals import MARKS, Literal, find_literals

SUFFIXES = (".cu", ".cuh", ".cuda", ".hpp", ".hxx", ".h", ".inl")
_MOST_FILES = 5000  # of a measured folder
_LEAST_RATIO = 0.5  # of the lines of a text that a program must contain


@cache
def literals_of(path, stamp):
    """Return the literals with kernels of a Python file."""
    try:
        return find_literals(Path(path).read_text("utf-8"))
    except (OSError, SyntaxError, ValueError):
        return []


@cache
def text_of(path, stamp):
    """Return the text of a file of CUDA C++ as one literal, or None."""
    try:
        text = Path(path).read_text("utf-8", "surrogateescape")
    except OSError:
        return None
    return Literal(text, list(range(1, text.count("\n") + 2)), 0)


class Origins:
    """Searches the measured files.

    Parameters
    ----------
    is_measured
        Returns whether a path is measured.
    folders
        The folders that are searched for files of CUDA C++.
    """

    def __init__(self, is_measured, folders):
        self.is_measured, self.folders = is_measured, folders

    def find(self, text, name):
        """Return (path, line) for lines of a program, by line."""
        result, code, seen = {}, set(_code_lines(text)), []
        for path, literal in self._texts(name):
            seen.append((path, literal))
            for line, position in _positions(text, literal.text).items():
                result.setdefault(line, (path, literal.line(position)))
            if result.keys() >= code:
                return result
        for path, literal in seen:
            for line, position in _similar_positions(text, literal.text).items():
                result.setdefault(line, (path, literal.line(position)))
        return result

    def _texts(self, name):
        """Yield the candidates, the likely ones first: path and literal."""
        if name and os.path.isfile(name) and self.is_measured(os.path.abspath(name)):
            path = os.path.abspath(name)
            if literal := text_of(path, _stamp(path)):
                yield path, literal
        for path in _python_files():
            if self.is_measured(path):
                yield from ((path, literal) for literal in literals_of(path, _stamp(path)))
        for path in self._files():
            if literal := text_of(path, _stamp(path)):
                yield path, literal

    def _files(self):
        count = 0
        for folder in self.folders():
            for root, folders, names in os.walk(folder):
                folders[:] = [each for each in folders if not each.startswith((".", "__"))]
                count += len(names)
                if count > _MOST_FILES:
                    return
                for each in sorted(names):
                    path = os.path.join(root, each)
                    if each.endswith(SUFFIXES) and self.is_measured(path):
                        yield path


def _stamp(path):
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def _python_files():
    """Yield the files of the calling frames, then the files of the modules."""
    seen, frame = set(), sys._getframe()
    paths = []
    while frame:
        paths.append(frame.f_code.co_filename)
        frame = frame.f_back
    paths += [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    for path in paths:
        if isinstance(path, str) and path.endswith(".py") and path not in seen:
            seen.add(path)
            yield os.path.abspath(path)


def _code_lines(text):
    """Return the numbers of the lines with more than blanks and brackets."""
    return [
        number for number, line in enumerate(text.split("\n"), 1) if len(line.strip(" \t\r{};")) > 1
    ]


def _positions(program, text):
    """Return the line of a text for each line of a program, if one contains the other."""
    for outer, inner in ((program, text), (text, program)):
        core = inner.strip()
        if core and core in outer:
            in_outer = outer.count("\n", 0, outer.index(core)) + 1
            in_inner = inner.count("\n", 0, inner.index(core)) + 1
            first, other = (in_outer, in_inner) if outer is program else (in_inner, in_outer)
            return {first + i: other + i for i in range(core.count("\n") + 1)}
    return {}


def _similar_positions(program, text):
    """Match the lines of a text that was completed, by a format for instance."""
    if not any(mark in text for mark in MARKS):
        return {}
    lines, others = [[line.strip() for line in each.split("\n")] for each in (program, text)]
    if not set(filter(lambda line: len(line) > 8, lines)) & set(others):
        return {}
    result, equal = {}, 0
    for kind, a, b, c, d in SequenceMatcher(None, lines, others, autojunk=False).get_opcodes():
        if kind == "equal" or (kind == "replace" and b - a == d - c):
            result.update({a + i + 1: c + i + 1 for i in range(b - a)})
            equal += sum(len(line) > 2 for line in lines[a:b]) if kind == "equal" else 0
    total = sum(len(line) > 2 for line in others)
    return result if equal >= _LEAST_RATIO * total else {}

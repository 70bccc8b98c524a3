# SPDX-License-Identifier: Apache-2.0
"""Report files with kernels: their statements, branches and excluded lines."""

import re

import coverage.control
from coverage.exceptions import NoSource
from coverage.parser import PythonParser
from coverage.plugin import FileReporter
from coverage.python import PythonFileReporter

from halfwarp.coverage.literals import Literal, find_literals
from halfwarp.coverage.marks import MarkedText
from halfwarp.coverage.origins import SUFFIXES


def install():
    """Make coverage.py report files with kernels, in this process."""
    coverage.control.PythonFileReporter = file_reporter


def file_reporter(morf, owner=None):
    """Return the reporter of a file, as the class that this function replaces."""
    if isinstance(morf, str) and morf.endswith(SUFFIXES):
        return KernelFileReporter(morf, owner)
    return _PythonFileReporter(morf, owner)


class Kernels:
    """The statements, branches and excluded lines of a text, as lines of its file.

    Parameters
    ----------
    literal
        The text.
    exclude, partial
        Regular expressions of lines to exclude, and of branches that need not be complete.
    """

    def __init__(self, literal, exclude, partial):
        marked, rows = MarkedText(literal.text), literal.text.split("\n")
        matches = _matching(rows, exclude)
        excluded = set(matches)
        for span in marked.spans:
            if matches & set(range(span.first, span.head + 1)):
                excluded |= set(range(span.first, span.last + 1))
        self.excluded = {literal.line(line) for line in excluded & marked.lines}
        self.statements = {literal.line(line) for line in marked.lines - excluded}
        self.arcs = {
            (literal.line(start), literal.line(end))
            for start, end in marked.arcs
            if start not in excluded
        }
        self.arcs = {(start, end) for start, end in self.arcs if start != end}
        self.no_branch = {literal.line(line) for line in _matching(rows, partial)}

    def exit_counts(self):
        """Return the number of branches by line."""
        counts = {}
        for start, end in self.arcs:
            if end in self.excluded:
                continue
            counts[start] = counts.get(start, 0) + 1
        return counts


def _matching(rows, pattern):
    """Return the lines that match a pattern for comments of Python."""
    if not pattern:
        return set()
    compiled = re.compile(pattern)
    return {number for number, row in enumerate(rows, 1) if compiled.search(row.replace("//", "#"))}


def describe(start, end):
    """Return how a branch that was not taken is described."""
    if end == -start:
        return f"line {start} didn't execute the statement in it"
    if end < 0:
        return f"line {start} didn't jump to the end of the function"
    return f"line {start} didn't jump to line {end}"


def _patterns(owner):
    """Return the patterns of excluded lines and of partial branches."""
    partial = [*owner.config.partial_list, *owner.config.partial_always_list]
    return owner._exclude_regex("exclude"), "|".join(f"(?:{each})" for each in partial)


class KernelFileReporter(FileReporter):
    """Reports a file of CUDA C++."""

    def __init__(self, path, owner):
        super().__init__(path)
        self._kernels = None
        self._owner = owner

    @property
    def kernels(self):
        if self._kernels is None:
            text = self.source()
            literal = Literal(text, list(range(1, text.count("\n") + 2)), 0)
            self._kernels = Kernels(literal, *_patterns(self._owner))
        return self._kernels

    def source(self):
        try:
            with open(self.filename, encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError as error:
            raise NoSource(f"No source for {self.filename}: {error}") from error

    def lines(self):
        return self.kernels.statements

    def excluded_lines(self):
        return self.kernels.excluded

    def arcs(self):
        return self.kernels.arcs

    def exit_counts(self):
        return self.kernels.exit_counts()

    def no_branch_lines(self):
        return self.kernels.no_branch

    def missing_arc_description(self, start, end, executed_arcs=None):
        return describe(start, end)

    def arc_description(self, start, end):
        return describe(start, end).replace("didn't ", "did ")

    def should_be_python(self):
        return False


class _PythonFileReporter(PythonFileReporter):
    """Reports a Python file with the kernels in its string literals."""

    @property
    def parser(self):
        if self._parser is None:
            exclude, partial = _patterns(self.coverage)
            self._parser = _Parser(filename=self.filename, exclude=exclude)
            self._parser.parse_source()
            self._parser.add_kernels(self.source(), exclude, partial)
        return self._parser

    def no_branch_lines(self):
        return super().no_branch_lines() | self.parser.no_branch


class _Parser(PythonParser):
    """Adds kernels to the statements of Python."""

    def __init__(self, **settings):
        super().__init__(**settings)
        self.kernel_lines, self.kernel_arcs, self.no_branch = set(), set(), set()

    def add_kernels(self, source, exclude, partial):
        own = set(self.statements) | self.excluded
        for literal in find_literals(source):
            kernels = Kernels(literal, exclude, partial)
            if literal.statement_line in self.excluded:
                self.excluded |= kernels.statements | kernels.excluded
                continue
            # A line with a statement of Python belongs to that statement.
            self.kernel_lines |= (kernels.statements | kernels.excluded) - own
            self.excluded |= kernels.excluded - own
            self.statements |= kernels.statements - own
            self.no_branch |= kernels.no_branch
            self.kernel_arcs |= {arc for arc in kernels.arcs if arc[0] not in own}
            # The lines are no part of the statement of Python any more, save the last one.
            for line in {*literal.lines[:-1], *kernels.statements, *kernels.excluded} - own:
                getattr(self, "multiline_map", {}).pop(line, None)

    def first_line(self, lineno):
        return lineno if abs(lineno) in self.kernel_lines else super().first_line(lineno)

    def arcs(self):
        return super().arcs() | self.kernel_arcs

    def missing_arc_description(self, start, end):
        if start in self.kernel_lines:
            return describe(start, end)
        return super().missing_arc_description(start, end)

    def arc_description(self, start, end):
        if start in self.kernel_lines:
            return describe(start, end).replace("didn't ", "did ")
        return super().arc_description(start, end)

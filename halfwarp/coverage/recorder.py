# SPDX-License-Identifier: Apache-2.0
"""Records which lines of kernels execute, and adds them to the data of coverage.py."""

import os
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path

from halfwarp.coverage.compiles import Compiles
from halfwarp.coverage.origins import SUFFIXES, Origins


class Recorder:
    """Adds executed lines to a `coverage.Coverage` that is running.

    Its data are added whenever the coverage flushes its own: before another context, and at
    the end.
    """

    def __init__(self, measurement):
        from cuda.core.emulation import execution_record, library

        self.collector = measurement._collector
        self.config = measurement.config
        self.omitted = measurement._inorout
        self.compiles = Compiles(Origins(self.is_measured, self.folders))
        self._program = "", {}  # of the kernel that is read
        self.session = execution_record.Session("lines")
        self.notes = {}  # ordered
        self._seen = {}  # key of a count -> its last value, to find what executed since
        self._read_marks = library.mark_counts
        self._totals = self._read_marks()
        self._flush = self.collector.flush_data
        self.collector.flush_data = self.flush

    def flush(self):
        """Flush the data of Python, then add the data of kernels to the same context."""
        result = self._flush()
        try:
            self._flush_kernels()
        except Exception as error:  # the data of Python are still good
            self.notes[f"coverage of kernels is missing: {error!r}"] = None
        return result

    def _flush_kernels(self):
        lines, arcs = defaultdict(set), defaultdict(set)
        for kernel in self.session.read():
            self._add_kernel(kernel, lines, arcs)
        self._complete_places(lines, arcs)
        self._add_places(lines, arcs)
        self._write(lines, arcs)

    # ---- executed lines
    def _add_kernel(self, kernel, lines, arcs):
        """Add what a kernel without marks executed since the last flush."""
        has_lines = False
        self._program = self.compiles.plain.get(hash(kernel.ptx.rstrip("\0\n")), ("", {}))
        for function in kernel.functions:
            key = hash(kernel.ptx), kernel.name, function.name
            for index, instruction in enumerate(function.instructions):
                if instruction.location:
                    has_lines = True
                    self._add_line((*key, index), instruction, lines)
                    self._add_branch((*key, index), function, instruction, arcs)
        if kernel.launches and not has_lines:
            self.notes[
                f"kernel {kernel.short_name}: its PTX has no line information; compile it with "
                "-lineinfo, or clear the cache that holds it"
            ] = None

    def _has_executed(self, key, count):
        """Return whether a count has grown since the last flush."""
        if count <= self._seen.get(key, 0):
            return False
        self._seen[key] = count
        return True

    def _complete_places(self, lines, arcs):
        """Add lines without code of their own, such as the head of an unrolled loop.

        The lines of a place execute together, so one of them is enough. Code of a selected value
        says nothing about its condition.
        """
        places = self.compiles.places if lines else ()
        for place in places:
            for path, line in place.lines if place.is_selected else ():
                lines[path].discard(line)
        for place in places:
            if any(line in lines.get(path, ()) for path, line in place.lines):
                _add_place(place, lines, arcs)

    def _add_places(self, lines, arcs):
        """Add the places whose marks have executed since the last flush."""
        totals = self._read_marks()
        if totals == self._totals:
            return
        before = self._totals + [0] * (len(totals) - len(self._totals))
        counts = [total - old for total, old in zip(totals, before, strict=True)]
        counts += [0] * (self.compiles.count + 1 - len(counts))
        self._totals = totals
        for place in self.compiles.places:
            if sum(counts[number] * sign for number, sign in place.terms.items()) > 0:
                _add_place(place, lines, arcs)

    def _add_line(self, key, instruction, lines):
        if self._has_executed(key, instruction.executions):
            location = instruction.location
            for file, line, *_ in ((location.file, location.line), location.inlined_at or ("", 0)):
                if place := self._place(file, line):
                    lines[place[0]].add(place[1])

    def _add_branch(self, key, function, instruction, arcs):
        branch = instruction.branch
        if not branch or not branch.is_conditional:
            return
        start = self._place(instruction.location.file, instruction.location.line)
        ends = [(branch.targets[0], branch.taken), (key[-1] + 1, branch.not_taken)]
        for target, count in ends:
            if not start or not count or target >= len(function.instructions):
                continue
            location = function.instructions[target].location
            end = location and self._place(location.file, location.line)
            if end and end[0] == start[0] and end != start:
                arcs[start[0]].add((start[1], end[1]))

    def _place(self, file, line):
        """Return the path and the line of a location, or None if it is not measured."""
        name, places = self._program
        base = os.path.basename(file)
        if places and base == os.path.basename(name):
            return places.get(line)
        if line in (named := self.compiles.by_name.get(base, {})):
            return named[line]
        path = os.path.abspath(file)
        is_source = path.endswith((".py", *SUFFIXES)) and os.path.isfile(path)
        return (path, line) if is_source and self.is_measured(path) else None

    def _write(self, lines, arcs):
        data = self.collector.covdata
        mapped = self.collector.cached_mapped_file
        if self.collector.branch:
            for path, numbers in lines.items():
                arcs[path].update((-1, number) for number in numbers)
            data.add_arcs({mapped(path): ends for path, ends in arcs.items()})
        else:
            data.add_lines({mapped(path): numbers for path, numbers in lines.items()})
        for path in self.compiles.new_files():
            data.touch_file(mapped(path))

    # ---- measured files
    def is_measured(self, path):
        """Return whether coverage.py measures a file."""
        if path.endswith(".py"):
            return path in self.collector.data or path in self.collector.covdata.measured_files()
        if self.omitted.omit_match and self.omitted.omit_match.match(path):
            return False
        return any(Path(path).is_relative_to(folder) for folder in self.folders())

    def folders(self):
        """Return the measured folders."""
        if not hasattr(self, "_folders"):
            sources = [
                *(self.config.source or ()),
                *self.config.source_dirs,
                *self.config.source_pkgs,
            ]
            self._folders = [folder for each in sources for folder in _folders_of(each)]
            if not sources:
                self._folders = [os.getcwd()]
        return self._folders

    def close(self):
        """Stop recording."""
        self.collector.flush_data = self._flush
        self.compiles.close()
        self.session.close()


def _add_place(place, lines, arcs):
    for path, line in place.lines:
        lines[path].add(line)
    for path, start, end in place.arcs:
        arcs[path].add((start, end))


def _folders_of(source):
    if os.path.isdir(source):
        return [os.path.abspath(source)]
    try:
        spec = find_spec(source)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    if spec.submodule_search_locations:
        return list(spec.submodule_search_locations)
    return [os.path.dirname(spec.origin)] if spec.has_location else []

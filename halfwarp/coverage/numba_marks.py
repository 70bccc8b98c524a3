# SPDX-License-Identifier: Apache-2.0
"""Add marks to the LLVM IR of Numba, which has a block for each block of Python."""

import os
import re

from halfwarp.coverage.marks import mark_of, test_of

_METADATA = re.compile(r"^(!\d+) = (?:distinct )?!(DILocation|DISubprogram|DIFile)\((.*)\)$", re.M)
_FIELD = {
    name: re.compile(rf"\b{name}: (?:\"([^\"]*)\"|(!?\d+))")
    for name in ("line", "scope", "file", "filename", "directory")
}
_BLOCK = re.compile(r'^"?([\w.$-]+)"?:')
_LOCATION = re.compile(r", !dbg (!\d+)")
_BRANCH = re.compile(r'\s+br i1 ([^,]+), label %"?([^",]+)"?, label %"?([^",]+)"?')
_JUMP = re.compile(r'\s+br label %"?([^",]+)"?')


class _Locations:
    """Positions of debug metadata: (path, line) by its number."""

    def __init__(self, ir):
        self._nodes = {number: (kind, text) for number, kind, text in _METADATA.findall(ir)}

    def find(self, number):
        kind, text = self._nodes.get(number, ("", ""))
        if kind != "DILocation":
            return None
        _, scope = self._nodes.get(_field(text, "scope"), ("", ""))
        _, file = self._nodes.get(_field(scope, "file"), ("", ""))
        path = os.path.join(_field(file, "directory"), _field(file, "filename"))
        return path, int(_field(text, "line") or 0)


def _field(text, name):
    match = _FIELD[name].search(text)
    return (match[1] or match[2]) if match else ""


def add_marks(ir, compiles):
    """Return IR with marks for its measured files."""
    locations = _Locations(ir)
    result, function = [], []
    for row in ir.split("\n"):
        if function or row.startswith("define "):
            function.append(row)
            if row == "}":
                result += _mark_function(function, locations, compiles)
                function = []
        else:
            result.append(row)
    return "\n".join(result + function)


def _mark_function(rows, locations, compiles):
    """Mark each change of the line in a block, and the outcomes of branches between lines."""
    places = [(match := _LOCATION.search(row)) and locations.find(match[1]) for row in rows]
    blocks = {match[1]: at for at, row in enumerate(rows) if (match := _BLOCK.match(row))}
    result, last = [], None
    for at, (row, place) in enumerate(zip(rows, places, strict=True)):
        if _BLOCK.match(row):
            last = None
        is_marked = place and place[1] and compiles.origins.is_measured(place[0])
        debug = _LOCATION.search(row)
        if is_marked and place != last and "= phi " not in row and "alloca" not in row:
            number = compiles.add_mark({place}, set())
            result.append(f'  call void asm sideeffect "{mark_of(number)}", ""(){debug[0]}')
            last = place
        if is_marked and (branch := _BRANCH.match(row)):
            ends = [_next_line(rows, places, blocks, name, place) for name in branch.groups()[1:]]
            if all(ends) and ends[0] != ends[1]:
                result += _test_of(branch[1], place, ends, compiles, debug[0], at)
        result.append(row)
    return result


def _next_line(rows, places, blocks, name, start):
    """Return the first other line that executes from a block on, or None."""
    seen = set()
    while name in blocks and name not in seen:
        seen.add(name)
        for at in range(blocks[name] + 1, len(rows)):
            place = places[at]
            if place and place[1] and place[0] == start[0] and place[1] != start[1]:
                return place[1]
            if _BLOCK.match(rows[at]) or _BRANCH.match(rows[at]):
                return None
            if jump := _JUMP.match(rows[at]):
                name = jump[1]
                break
        else:
            return None
    return None


def _test_of(condition, place, ends, compiles, debug, at):
    """Return instructions that count the outcomes of a condition."""
    path, line = place
    number = compiles.add_mark(set(), {(path, line, ends[0])})
    compiles.add_mark(set(), {(path, line, ends[1])})
    return [
        f"  %halfwarp.{at} = zext i1 {condition} to i32{debug}",
        f'  call void asm sideeffect "{test_of(number, "$0")}", "r"(i32 %halfwarp.{at}){debug}',
    ]

# SPDX-License-Identifier: Apache-2.0
"""Add a mark to each part of CUDA C++ text that executes as a whole.

A mark is a call that leaves one instruction in the PTX and that the compiler neither moves, merges
nor removes. The count of a mark gives the executed statements and the taken branches.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from halfwarp.coverage.statements import Parser
from halfwarp.coverage.tokens import Source

REGISTER = "halfwarp_mark"  # and a number: names the register by which the emulator knows a mark
_CALL, _TEST = "__halfwarp_mark", "__halfwarp_test"


def mark_of(number):
    """Return the PTX that counts the lanes that execute it."""
    return f"{{ .reg .b32 {REGISTER}{number}; mov.b32 {REGISTER}{number}, 0; }}"


def test_of(number, word):
    """Return the PTX that counts words that are not 0, and with the next number words that are."""
    name = f"{REGISTER}{number}"
    return f"{{ .reg .pred {name}; setp.ne.b32 {name}, {word}, 0; }}"


_FUNCTION = "template <int N> __device__ __forceinline__"
DECLARATION = (
    f'{_FUNCTION} void {_CALL}() {{ asm volatile("{mark_of("%0")}" :: "n"(N)); }}\n'
    f"{_FUNCTION} bool {_TEST}(bool is_true) "
    f'{{ asm volatile("{test_of("%1", "%0")}" :: "r"(int(is_true)), "n"(N)); return is_true; }}\n'
    "#line 1\n"
)
# Statements that call nothing. If they change no memory, the optimizer may execute both
# alternatives.
_SELECTABLE = re.compile(r"\{?(?:[^;{}()]*;){1,4}\s*\}?")
_LOCAL_ARRAY = re.compile(r"(?:^|[;{}])\s*(?:const\s+|unsigned\s+)*\w+\s+(\w+)\s*\[")
_SUBSCRIPTED = re.compile(r"(\w+)\s*\[")


@dataclass(slots=True)
class Place:
    """Statements and branches that execute together, and how often they do.

    A count is the count of one mark, or the difference of the counts of several marks.
    """

    terms: dict  # index of a mark -> 1 or -1
    lines: set = field(default_factory=set)
    arcs: set = field(default_factory=set)  # (line, line); negative: a function or inner statement
    is_selected: bool = False  # the optimizer may execute it without its condition


@dataclass(slots=True)
class Span:
    """A function or a statement with a head: a comment in the head excludes all its lines."""

    first: int
    head: int
    last: int


class MarkedText:
    """The marks of a text. The same text has the same marks."""

    def __init__(self, text):
        self.text = text
        self.places, self.spans = [], []
        self.count = 0  # of marks
        self._edits = []  # offset, index of the mark or None, text around it
        self._replaced = {}  # index of a mark that is not needed -> those whose sum it is
        for function in Parser(Source(text)).functions:
            self.mark_function(function)
        for place in self.places if self._replaced else ():
            place.terms = self._terms(place.terms)

    @property
    def lines(self):
        return set().union(*(place.lines for place in self.places))

    @property
    def arcs(self):
        """Return the branches: arcs from a line that has several."""
        ends = {}
        for start, end in (arc for place in self.places for arc in place.arcs):
            ends.setdefault(start, set()).add(end)
        return {
            (start, end)
            for start, all_ends in ends.items()
            for end in all_ends
            if len(all_ends) > 1
        }

    def with_marks(self, first):
        """Return the text with marks from number `first`; a program starts with `DECLARATION`."""
        parts, at = [], 0
        for offset, index, content in sorted(self._edits, key=lambda edit: edit[0]):
            parts += self.text[at:offset], content
            if index is not None:
                number = first + index
                parts[-1] = content.replace("MARK", f"{_CALL}<{number}>()")
                parts[-1] = parts[-1].replace("TEST", f"{_TEST}<{number}>")
            at = offset
        return "".join([*parts, self.text[at:]])

    # ---- edits
    def insert(self, offset, content, is_constant):
        """Insert text in which MARK stands for a new mark."""
        if is_constant:  # also in functions that the compiler evaluates
            content = content.replace(
                "MARK", "(__builtin_is_constant_evaluated() ? (void)0 : MARK)"
            )
        self._edits.append((offset, self.count, content))
        self.count += 1
        return self.add_place({self.count - 1: 1})

    def insert_test(self, condition):
        """Count a condition, whose branches need no marks then; return the places of both."""
        self._edits.append((condition[0], self.count, "TEST(("))
        self._edits.append((condition[1], None, ") ? true : false)"))
        self.count += 2
        places = self.add_place({self.count - 2: 1}), self.add_place({self.count - 1: 1})
        for each in places:
            each.is_selected = True
        return places

    def replace(self, place, *outcomes):
        """Derive the count of the mark of a place from other places, instead of counting it."""
        (index,) = place.terms
        self._replaced[index] = [other for each in outcomes for other in each.terms]
        at = next(at for at, edit in enumerate(self._edits) if edit[1] == index)
        offset, _, content = self._edits[at]
        self._edits[at] = offset, None, content.replace("MARK; ", "").replace("MARK;", "")

    def _terms(self, terms):
        result = Counter()
        for index, sign in terms.items():
            for each in self._replaced.get(index, [index]):
                result[each] += sign
        return dict(result)

    def add_place(self, terms):
        self.places.append(Place(terms))
        return self.places[-1]

    def write(self, offset, content):
        self._edits.append((offset, None, content))

    # ---- statements
    def mark_function(self, function):
        _Function(self, function).mark()


class _Function:
    """Marks one function. `following` is the line that executes after a statement."""

    def __init__(self, owner, function):
        self.owner, self.function = owner, function
        body = function.body
        self.local_arrays = set(_LOCAL_ARRAY.findall(owner.text[body.start : body.end]))
        self.switches = []  # the open ones: the statement; its labels, and whether one is default

    def mark(self):
        body = self.function.body
        self._add_span(body)
        self._sequence(body.body, None, -self.function.line)

    def _sequence(self, statements, mark, following):
        """Mark statements in order; return the mark of what follows, None if it needs its own."""
        for index, statement in enumerate(statements):
            next_line = _first_line(statements[index + 1 :]) or following
            if mark is None and statement.kind not in ("case", "condition"):
                mark = self._insert(statement.start, "MARK; ")
            mark = getattr(self, f"_{statement.kind}")(statement, mark, next_line)
            for nested in statement.functions:
                self.owner.mark_function(nested)
        return mark

    def _simple(self, statement, mark, following):
        if statement.is_counted:
            mark.lines.add(statement.line)
        return None if statement.jumps else mark

    def _macro(self, statement, mark, following):
        """Mark what a macro controls, if that is certain."""
        mark.lines.add(statement.line)
        if statement.has_braces:
            self._branch(statement, statement.body[0], statement.line)
        else:
            self._sequence(statement.body, mark, following)
        return None

    def _fallthrough(self, statement, mark, following):
        """Hide the attribute, since no label follows its statement any more."""
        self.owner.write(statement.start, "/*")
        self.owner.write(statement.end, "*/")
        return mark

    def _condition(self, statement, mark, following):
        return None

    def _label(self, statement, mark, following):
        return None

    def _block(self, statement, mark, following):
        return self._sequence(statement.body, mark, following)

    def _if(self, statement, mark, following):
        is_first = not mark.lines and len(mark.terms) == 1
        mark.lines.add(statement.line)
        self._add_span(statement)
        branch, alternative = statement.body[0], statement.alternative
        if statement.condition and self._is_selectable(branch, alternative):
            taken, remainder = self.owner.insert_test(statement.condition)
            if is_first:  # the test executes as often as the mark
                self.owner.replace(mark, taken, remainder)
            _add_arc(taken, statement, branch, following)
            _add_arc(remainder, statement, alternative, following)
            self._sequence([branch], taken, following)
            if alternative:
                self._sequence([alternative], remainder, following)
            return mark
        taken = self._branch(statement, branch, following)
        remainder = self._remainder(mark, taken)
        _add_arc(taken, statement, branch, following)
        _add_arc(remainder, statement, alternative, following)
        if alternative:
            self._sequence([alternative], remainder, following)
        elif branch.leaves:
            return remainder
        return None if statement.jumps else mark

    def _is_selectable(self, *branches):
        """Return whether the optimizer may replace a branch by a selection of values."""
        return not self.function.is_constexpr and all(
            branch is None
            or (
                not branch.jumps
                and "->" not in (text := self.owner.text[branch.start : branch.end])
                and set(_SUBSCRIPTED.findall(text)) <= self.local_arrays
                and _SELECTABLE.fullmatch(text)
            )
            for branch in branches
        )

    def _branch(self, statement, branch, following):
        """Mark the statement that a head controls; return its mark."""
        if branch.has_braces:
            mark = self._insert(branch.start + 1, " MARK;")
        else:
            mark = self._insert(branch.start, "{ MARK; ")
        self._sequence([branch], mark, following)
        if not branch.has_braces:
            self.owner.write(branch.end, " }")
        return mark

    def _loop(self, statement, mark, following):
        """Mark a loop. One that nothing else leaves ends as often as it starts."""
        mark.lines.add(statement.line)
        self._add_span(statement)
        leaving = None if statement.jumps or statement.is_endless else mark
        if statement.jumps and statement.condition:
            self.owner.write(statement.condition[0], "((")
            leaving = self._insert(statement.condition[1], ") ? true : (MARK, false))")
        entered = self._branch(statement, statement.body[0], statement.line)
        if leaving:
            _add_arc(entered, statement, statement.body[0], statement.line)
            _add_arc(leaving, statement, None, following)
        return None if statement.jumps else mark

    def _do(self, statement, mark, following):
        body = statement.body[0]
        if statement.is_single:
            mark = self._sequence([body], mark, following)
            return None if statement.jumps else mark
        # A mark before the statement does not count its repetitions.
        entered = self._branch(statement, body, statement.line)
        if not statement.jumps:
            entered.lines.add(statement.line)
            _add_arc(self._remainder(entered, mark), statement, body, statement.line)
            _add_arc(mark, statement, None, following)
            return mark
        if statement.condition:
            self.owner.write(statement.condition[0], "((")
            repeating = self._insert(statement.condition[1], ") ? (MARK, true)")
            leaving = self._insert(statement.condition[1], " : (MARK, false))")
            for each in (repeating, leaving):
                each.lines.add(statement.line)
            _add_arc(repeating, statement, body, statement.line)
            _add_arc(leaving, statement, None, following)
        return None

    def _switch(self, statement, mark, following):
        mark.lines.add(statement.line)
        self._add_span(statement)
        self.switches.append((statement, selected := []))
        self._sequence(statement.body[0].body, None, following)
        self.switches.pop()
        if not any(is_default for _, is_default in selected):
            absent = self._remainder(mark, *(label for label, _ in selected))
            _add_arc(absent, statement, None, following)
        return None

    def _case(self, statement, mark, following):
        """Mark the jump to a label; a statement before it that falls through skips that mark."""
        self.owner.write(statement.start, "if (0) { ")
        mark = self._insert(statement.end, " MARK; }")
        mark.lines.add(statement.line)
        if self.switches:
            switch, selected = self.switches[-1]
            _add_arc(mark, switch, statement, following)
            selected.append((mark, self.owner.text.startswith("default", statement.start)))
        return None

    def _add_span(self, statement):
        self.owner.spans.append(Span(statement.line, statement.header_line, statement.last_line))

    def _remainder(self, mark, *subtracted):
        """Return the place of executions of a mark that did not continue at the subtracted ones."""
        terms = Counter(mark.terms)
        for each in subtracted:
            terms.subtract(each.terms)
        return self.owner.add_place(dict(terms))

    def _insert(self, offset, content):
        return self.owner.insert(offset, content, self.function.is_constexpr)


def _add_arc(mark, head, target, following):
    """Add the branch from a head to the first line of a statement, or to `following`.

    One within its line has the negative line as its end.
    """
    line = (_first_line([target]) if target else None) or following
    mark.arcs.add((head.line, -head.line if line == head.line else line))


def _first_line(statements):
    """Return the line of the first statement that counts, or None."""
    for statement in statements:
        if statement.kind in ("block", "do"):
            line = _first_line(statement.body)
            if line or (statement.kind == "do" and not statement.is_single):
                return line or statement.line
        elif statement.kind not in ("condition", "label", "fallthrough") and statement.is_counted:
            return statement.line
    return None

# SPDX-License-Identifier: Apache-2.0
"""Find the functions of CUDA C++ text that run on a device, and the statements in them."""

import itertools
from dataclasses import dataclass, field

from halfwarp.coverage.tokens import CLOSING

JUMPS = {"return", "break", "continue", "goto", "throw", "co_return", "exit", "__trap"} | {
    "asm", "__asm__", "__asm", "__builtin_unreachable"
}  # fmt: skip
_ALIGNMENTS = {"alignas", "__align__", "__attribute__"}
_SPECIFIERS = _ALIGNMENTS | {"decltype", "typeof", "sizeof", "alignof", "noexcept", "typeid"}
_TYPE_SIGNS = ("*", "&", ">", "::", "(", ")", "[", "]")
_ACCESS = {"public", "private", "protected"}
_SILENT = {"using", "typedef", "static_assert", "namespace", "template", "friend", "enum"}
_CLASSES = {"class", "struct", "union"}
_CONTROL = {"if", "for", "while", "do", "switch", "case", "default", "try"}


@dataclass(slots=True)
class Statement:
    """A statement; `kind` says which fields it uses. Offsets refer to the text."""

    # simple, macro, block, if, loop, do, switch, case, label, fallthrough, condition
    kind: str
    line: int
    header_line: int  # last line of the head
    start: int
    first: int  # index of its first token
    is_counted: bool
    end: int = field(init=False)
    last_line: int = field(init=False)
    jumps: bool = field(init=False)
    has_braces: bool = False
    condition: tuple[int, int] | None = None  # offsets, of a condition that can be marked
    is_endless: bool = False
    is_single: bool = False  # do ... while (0)
    leaves: bool = False  # always jumps elsewhere
    body: list = field(default_factory=list)
    alternative: "Statement | None" = None  # of else
    functions: list = field(default_factory=list)  # lambdas


@dataclass(slots=True)
class Function:
    """A function that runs on a device."""

    line: int
    is_constexpr: bool
    body: Statement


class Parser:
    """Parses leniently: text that is no function is skipped."""

    def __init__(self, source):
        self.tokens = source.tokens
        self.source = source
        self.pairs = _pairs(self.tokens)
        self.at = 0
        self.functions = []
        self._parse_scope(len(self.tokens))

    # ---- scopes
    def _parse_scope(self, end):
        """Parse declarations of a namespace or a class."""
        while self.at < end:
            if self._text() in (";", "}", "{") or self.tokens[self.at].kind == "condition":
                self.at += 1
            else:
                self._parse_declaration(end)

    def _parse_declaration(self, end):
        """Parse up to the end of a declaration, or of the body of a function."""
        first, names, seen = self.at, set(), set()  # seen: "(", "=", and ":" after a "("
        while self.at < end and self._text() != ";":
            token = self.tokens[self.at]
            if token.text == "{":
                if self._parse_braces(first, names, seen):
                    return
            elif token.text == "template":
                self._skip_template_parameters()
            elif token.text in CLOSING:
                if token.text == "(" and self._previous() not in _SPECIFIERS:
                    seen.add("(")
                self.at = self._closing(self.at) + 1
            else:
                if token.kind == "name":
                    names.add(token.text)
                elif token.text == "=" and self._previous() != "operator":
                    seen.add("=")
                elif token.text == ":" and "(" in seen:
                    seen.add(":")
                elif self._previous() in _ACCESS:
                    break
                self.at += 1
        self.at += 1

    def _parse_braces(self, first, names, seen):
        """Parse braces in a declaration; return whether they end it."""
        opening, closing = self.at, self._closing(self.at)
        previous = self.tokens[opening - 1]
        is_member = ":" in seen and (previous.kind == "name" or previous.text == ">")
        is_value = "=" in seen or "enum" in names or is_member
        is_function = "(" in seen and not is_value
        if is_function and self._is_on_device(names):
            self.functions.append(self._parse_function(first, names, opening))
        elif not is_function and not is_value:
            self._parse_scope(closing)
        self.at = closing + 1
        return is_function or (not is_value and not _CLASSES & names)

    def _skip_template_parameters(self):
        self.at += 1
        depth = 0
        while text := self._text():
            depth += {"<": 1, ">": -1}.get(text, 0)
            self.at = self._closing(self.at) + 1 if text in CLOSING else self.at + 1
            if depth <= 0:
                return

    def _is_on_device(self, names):
        marks = {"__global__", "__device__"}
        return bool(names & marks) or any(
            self.source.macro_words(name) & marks for name in names & self.source.macros.keys()
        )

    def _parse_function(self, first, names, opening):
        self.at = opening
        body = self._parse_block()
        line = self.tokens[first].line
        body.line, body.header_line = line, self.tokens[opening].line
        return Function(line, bool({"constexpr", "consteval"} & names), body)

    # ---- statements
    def _parse_block(self):
        """Parse a statement in braces."""
        closing = self._closing(self.at)
        block = self._open("block")
        block.has_braces = True
        self.at += 1
        block.body = self._parse_until(closing)
        block.leaves = bool(block.body) and block.body[-1].leaves
        self.at = min(closing + 1, len(self.tokens))
        return self._close(block)

    def _parse_until(self, end):
        result = []
        while self.at < end:
            result.append(self._parse_statement(end))
        return result

    def _parse_statement(self, end):
        token = self.tokens[self.at]
        if token.kind == "condition":
            self.at += 1
            return self._close(self._open("condition", at=self.at - 1, is_counted=False))
        if token.text == "{":
            return self._parse_block()
        if token.text == "[" and self._text(1) == "[":  # attributes
            opening = self.at
            self.at = self._closing(opening) + 1
            if self._text() not in (";", "}", ""):
                return self._parse_statement(end)
            self.at += self._text() == ";"
            return self._close(self._open("fallthrough", opening, is_counted=False))
        if token.text in _CONTROL:
            return self._parse_control(token.text, end)
        if token.kind == "name" and self._text(1) == ":":
            self.at += 2
            return self._close(self._open("label", at=self.at - 2, is_counted=False))
        return self._parse_simple(end)

    def _parse_control(self, word, end):
        """Parse a statement with a head; an unclear one is one statement up to a semicolon."""
        at = self.at
        try:
            return getattr(self, f"_parse_{word}")(end)
        except Unclear:
            self.at = at
            result = self._parse_simple(end)
            while self._is_else_next(end):
                self._parse_simple(end)
            self._close(result)
            result.is_counted = result.jumps = True
            return result

    def _parse_if(self, end):
        result = self._open("if")
        self.at += 1
        is_constant = self._text() in ("constexpr", "consteval", "!")
        self.at += is_constant
        opening = self.at
        self._skip_head(result)
        if not is_constant:
            self._set_condition(result, opening + 1, self.at - 1)
        result.body = [self._parse_branch(end)]
        if self._text() == "else":
            self.at += 1
            result.alternative = self._parse_branch(end)
        return self._close(result)

    def _parse_branch(self, end):
        """Parse the statement that a head controls."""
        if self._text() in ("}", "") or self.tokens[self.at].kind == "condition":
            raise Unclear
        first = self._text()
        branch = self._parse_statement(end)
        if branch.kind in ("label", "case") or self.tokens[self.at - 1].text not in (";", "}"):
            raise Unclear
        if branch.kind == "macro" and not self._is_loop(first):
            raise Unclear
        # An `else` would belong to an `if` in a macro.
        if first in self.source.macros and "if" in self.source.macro_words(first):
            raise Unclear
        if self._text() != "else" and self._is_else_next(end):
            raise Unclear
        return branch

    def _is_else_next(self, end):
        """Return whether an `else` follows, or does after directives."""
        following = itertools.islice(self.tokens, self.at, end)
        return next((each.text for each in following if each.kind != "condition"), "") == "else"

    def _is_loop(self, name):
        """Return whether a macro is the head of a loop."""
        replacement = self.source.macros.get(name, "").rstrip()
        return replacement.endswith(")") and {"for", "while"} & self.source.macro_words(name)

    def _parse_while(self, end):
        result = self._open("loop")
        self.at += 1
        opening = self.at
        self._skip_head(result)
        self._set_condition(result, opening + 1, self.at - 1)
        result.body = [self._parse_branch(end)]
        return self._close(result)

    def _parse_for(self, end):
        result = self._open("loop")
        self.at += 1
        opening = self.at
        self._skip_head(result)
        parts, at = [], opening + 1
        while at < self.at:
            if self.tokens[at].text == ";":
                parts.append(at)
            at = self._closing(at) + 1 if self.tokens[at].text in CLOSING else at + 1
        if len(parts) == 2:
            self._set_condition(result, parts[0] + 1, parts[1])
        result.body = [self._parse_branch(end)]
        return self._close(result)

    def _parse_do(self, end):
        result = self._open("do")
        self.at += 1
        result.body = [self._parse_branch(end)]
        if self._text() != "while":
            raise Unclear
        opening = self.at + 1
        result.line = self.tokens[self.at].line
        self.at += 1
        self._skip_head(result)
        self._set_condition(result, opening + 1, self.at - 1)
        self.at += self._text() == ";"
        return self._close(result)

    def _parse_switch(self, end):
        result = self._open("switch")
        self.at += 1
        self._skip_head(result)
        branch = self._parse_branch(end)
        if branch.kind != "block":
            raise Unclear
        result.body = [branch]
        return self._close(result)

    def _parse_case(self, end):
        result = self._open("case")
        while self._text() not in (":", "}", ""):
            self.at = self._closing(self.at) + 1 if self._text() in CLOSING else self.at + 1
        self.at += self._text() == ":"
        return self._close(result)

    _parse_default = _parse_case

    def _parse_try(self, end):
        raise Unclear

    def _parse_simple(self, end):
        """Parse an expression, a declaration or a jump, up to its semicolon."""
        result, first = self._open("simple"), self.at
        words = set()
        while (text := self._text()) not in (";", "}", ""):
            words.add(text)
            if text == "{" and words & _CLASSES:
                closing = self._closing(self.at)
                self._parse_scope(closing)
                self.at = closing + 1
            elif text in CLOSING:
                self._parse_brackets(result)
                if self._ends_macro(first):
                    return self._parse_macro(result, self.tokens[first].text, end)
            else:
                self.at += 1
        tokens = self.tokens[first : self.at]
        self.at = min(self.at + 1, end)
        result.is_counted = _is_executable(tokens)
        result.leaves = bool(tokens) and tokens[0].text in ("return", "break", "continue", "goto")
        return self._close(result)

    def _parse_macro(self, statement, name, end):
        """Parse what follows a macro without a semicolon: it may be the head of a loop."""
        replacement = self.source.macros.get(name, "").rstrip()
        if replacement.endswith((";", "}")) or self._text() in ("}", ""):
            return self._close(statement)
        statement.kind = "macro"
        statement.header_line = self.tokens[self.at - 1].line
        statement.body = [self._parse_statement(end)]
        statement.has_braces = bool(self._is_loop(name)) or statement.body[0].has_braces
        return self._close(statement)

    def _parse_brackets(self, statement):
        """Skip brackets, and parse the lambdas in them."""
        closing = self._closing(self.at)
        if self._text() == "[" and self._is_lambda(closing):
            first, names = self.at, set()
            while self._text() not in ("{", ";", ""):
                names.add(self._text())
                self.at = self._closing(self.at) + 1 if self._text() in CLOSING else self.at + 1
            if self._text() == "{":
                statement.functions.append(self._parse_function(first, names, self.at))
            return
        self.at += 1
        while self.at <= closing:
            if self._text() in CLOSING:
                self._parse_brackets(statement)
            else:
                self.at += 1

    def _is_lambda(self, closing):
        before = self.tokens[self.at - 1]
        is_index = before.kind != "sign" or before.text in (")", "]")
        following = self._text(closing + 1 - self.at)
        return (not is_index or before.text == "return") and (
            following in ("(", "{", "<", "mutable", "__device__", "->")
        )

    def _ends_macro(self, first):
        """Return whether ``NAME(...)`` is a macro that needs no semicolon."""
        name = self.tokens[first]
        is_call = (
            name.kind == "name"
            and name.text not in _SPECIFIERS | _CONTROL
            and not name.text.startswith("__")
            and self.tokens[first + 1].text == "("
            and self._closing(first + 1) == self.at - 1
        )
        return is_call and (self._text() in ("{", "}", "") or self.tokens[self.at].kind == "name")

    # ---- positions
    def _open(self, kind, at=None, is_counted=True):
        first = self.at if at is None else at
        token = self.tokens[first]
        return Statement(kind, token.line, token.line, token.start, first, is_counted)

    def _close(self, statement):
        last = self.tokens[self.at - 1]
        statement.end, statement.last_line = last.end, last.line
        ignored = {"continue"} if statement.kind in ("loop", "do") else set()
        statement.jumps = self._has_jump(statement, JUMPS - ignored)
        return statement

    def _has_jump(self, statement, jumps):
        macros = self.source.macros
        return any(
            token.text in jumps
            or (token.text in macros and jumps & self.source.macro_words(token.text))
            for token in itertools.islice(self.tokens, statement.first, self.at)
        )

    def _skip_head(self, statement):
        if self._text() != "(":
            raise Unclear
        self._parse_brackets(statement)
        statement.header_line = self.tokens[self.at - 1].line

    def _set_condition(self, statement, first, end):
        tokens = self.tokens[first:end]
        words = [token.text for token in tokens]
        statement.is_endless = words in ([], ["true"], ["1"])
        statement.is_single = words in (["false"], ["0"])
        is_declaration = "=" in words and _has_type(tokens)
        if not statement.is_endless and not is_declaration and ";" not in words:
            statement.condition = tokens[0].start, tokens[-1].end

    def _text(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) else ""

    def _previous(self):
        return self.tokens[self.at - 1].text if self.at else ""

    def _closing(self, at):
        """Return the index of the bracket that closes one; the last index if there is none."""
        return self.pairs.get(at, len(self.tokens) - 1)


def _pairs(tokens):
    """Return the index of the closing bracket by the index of the opening one."""
    result, opened = {}, []
    for index, token in enumerate(tokens):
        if token.kind == "sign" and token.text in CLOSING:
            opened.append((index, CLOSING[token.text]))
        elif token.kind == "sign" and opened and token.text == opened[-1][1]:
            result[opened.pop()[0]] = index
    return result


class Unclear(Exception):
    """The statements of the text depend on the preprocessor."""


def _is_executable(tokens):
    """Return whether a statement is neither empty nor a declaration without an initial value."""
    if not tokens or tokens[0].text in _SILENT:
        return False
    texts, depth, previous = [], 0, ""
    for token in tokens:
        depth -= token.text == "]"
        if not depth and not (token.text == "(" and previous in _ALIGNMENTS):
            texts.append(token.text)
        depth += token.text == "["
        previous = token.text
    if tokens[0].text in JUMPS or {"=", "(", "{", "++", "--"} & set(texts):
        return True
    return not _has_type(tokens)


def _has_type(tokens):
    """Return whether a statement starts with a type and a name."""
    if tokens[0].kind != "name":
        return False
    depth, previous = 0, tokens[0]
    for token in tokens[1:]:
        depth += {"<": 1, ">": -1}.get(token.text, 0)
        if depth == 0 and token.kind == "name" and previous.text != "::":
            return previous.kind == "name" or previous.text in (">", "*", "&", "]", ")")
        is_part = token.kind == "name" or previous.text == "("
        if depth == 0 and not is_part and token.text not in _TYPE_SIGNS:
            return False
        previous = token
    return False

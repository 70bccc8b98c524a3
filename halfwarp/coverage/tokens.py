# SPDX-License-Identifier: Apache-2.0
"""Split CUDA C++ into tokens, with the branches of the preprocessor that belong together."""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<skip>\s+|\\\r?\n|//(?:\\\r?\n|[^\n])*|/\*.*?\*/)
    |(?P<directive>(?m:^)[ \t]*\#(?:\\\r?\n|/\*.*?\*/|[^\n])*)
    |(?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
      |(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"|(?:u8|[uUL])?'(?:\\.|[^'\\\n])*')
    |(?P<name>[A-Za-z_$][\w$]*)
    |(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
    |(?P<sign>::|->|\+\+|--|&&|\|\||[<>=!]=|.)""",
    re.VERBOSE | re.DOTALL,
)
_CONDITION = re.compile(
    r"\s*#\s*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(.*)", re.DOTALL
)
_DEFINITION = re.compile(r"\s*#\s*define\s+(\w+)(.*)", re.DOTALL)
CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(slots=True)
class Token:
    """A token, or a directive of the preprocessor that selects text."""

    kind: str  # name, number, string, sign, condition
    text: str
    start: int
    end: int
    line: int  # from 1


class Source:
    """The tokens of a text, and the macros that it defines."""

    def __init__(self, text):
        self.macros = {}  # name -> replacement, with its parameters
        tokens, line = [], 1
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup if match.lastgroup != "mark" else "string"
            content = match.group()
            if kind == "directive":
                if definition := _DEFINITION.match(content):
                    self.macros[definition[1]] = definition[2]
                elif _CONDITION.match(content):
                    tokens.append(Token("condition", content, match.start(), match.end(), line))
            elif kind != "skip":
                tokens.append(Token(kind, content, match.start(), match.end(), line))
            line += content.count("\n")
        self.tokens = _without_unbalanced(tokens)

    def macro_words(self, name):
        """Return the words that a macro expands to, at any depth."""
        words, pending = set(), [name]
        while pending:
            new = set(re.findall(r"\w+", self.macros.get(pending.pop(), ""))) - words
            words |= new
            pending += new & self.macros.keys()
        return words


def _without_unbalanced(tokens):
    """Drop text after ``#if 0``, and alternatives that would unbalance the brackets."""
    result, groups = [], []  # of each open #if: index of its first token; whether one is kept
    for token in tokens:
        if token.kind != "condition":
            result.append(token)
            continue
        word, condition = _CONDITION.match(token.text).groups()
        if word in ("if", "ifdef", "ifndef"):
            groups.append([len(result), condition.strip() == "0", False, token])
        elif groups:
            _end_alternative(result, groups[-1])
            if word == "endif":
                groups.pop()
            else:
                groups[-1][:2] = len(result), word == "elif" and condition.strip() == "0"
        result.append(token)
    return result


def _end_alternative(tokens, group):
    start, is_never, is_split, _ = group
    part = tokens[start:]
    if is_never or is_split:
        del tokens[start + 1 :]
    elif not _is_balanced(part):
        group[2] = True  # the first alternative stands for all


def _is_balanced(tokens):
    depth = []
    for token in tokens:
        if token.kind != "sign":
            continue
        if token.text in CLOSING:
            depth.append(CLOSING[token.text])
        elif token.text in (")", "]", "}") and (not depth or depth.pop() != token.text):
            return False
    return not depth

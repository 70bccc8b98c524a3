# SPDX-License-Identifier: Apache-2.0
"""Places of a source where no change can be seen when the program runs, or none compiles."""

import ast
import re
from bisect import bisect_right
from collections.abc import Iterator

STRINGS_C = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])\''
STRINGS_PYTHON = (
    r'"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'|#[^\n]*"
)

# The result by which a Cython function signals an exception: the caller also queries the exception.
EXCEPTION_VALUE = re.compile(r"\bexcept(?: -|\? ?-?)\w+(?=:?$| nogil| with gil)", re.M)
TYPE_CHECKING = re.compile(r"\bif TYPE_CHECKING:")
# Numbers that no program reads: the compiler refuses an alignment of one byte more, it alone reads
# the positions of a format's arguments, and a static type has no items whose number counts.
DECLARED = re.compile(
    r"\balignas\(\d+\)|\[\[gnu::format\([^)]*\)\]\]|\bPyObject_HEAD_INIT\([^{}]*\) 0(?=\})"
)
# A container's capacity changes its speed only, unless the program handles a lack of memory here.
CAPACITY = re.compile(r"\s*\w+\.(?:\w+\.)?reserve\([^,]*\);")

# Values that `{}` equals too, with the types of their functions.
NUMBER = r"(?:(?:std::)?(?:bool|char|short|int|long|unsigned|float|double|size_t|u?int\d+_t)\s?)+"
POINTER = r"(?:const )?[\w:]+(?:<.*>)?\s?\*+|std::(?:shared|unique)_ptr<.*>"
CODE = r"CUresult|cudaError_t|nvmlReturn_t|nvrtcResult|nvJitLinkResult"
ZEROS = {
    "0": rf"{NUMBER}|Py_s?size_t|{POINTER}",
    "false": "bool",
    "nullptr": POINTER,
    "std::nullopt": r"std::optional<.*>",
    "result::success": "result",  # of NCCL
    "CUDA_SUCCESS": CODE,
    "cudaSuccess": CODE,
    "NVML_SUCCESS": CODE,
    "NVRTC_SUCCESS": CODE,
}
BLOCK = re.compile(r"(?:if|else|for|while|do|switch|case|default|try|catch)\b.*|.*:|")
LAMBDA = re.compile(r"\](?: ?\(.*\))?(?: mutable| noexcept)*(?: -> (?P<type>.*))?")
FUNCTION = re.compile(
    r"(?:template <.*> )?(?:(?:\[\[.*?\]\]|static|inline|constexpr|virtual|explicit|extern \0+) )*"
    r"(?P<type>.*?) ?(?P<name>[\w:~]+)\(.*\)[^()]*?(?: -> (?P<trailing>.*))?"
)
CYTHON_FUNCTION = re.compile(r"\s*(?:cdef|cpdef|def)\b(?: inline)?(?: (?P<type>[^(]*?[ *]))?\w+\(")
CYTHON_TYPE = re.compile(
    r"(?:const )?(?:(?:void|bint|char|short|int|long|unsigned|float|double|size_t|Py_ssize_t|"
    r"u?int\d+_t|uintptr_t|intptr_t) ?)+|.*\* ?"
)


def without_text(source: str, suffix: str) -> str:
    """Return a source of the same shape: its strings are filled with a letter, comments empty."""
    pattern = STRINGS_C if suffix in (".cpp", ".hpp") else STRINGS_PYTHON
    blank = re.compile(r"[^\n]")
    return re.sub(
        pattern,
        lambda match: blank.sub(" " if match[0][0] in "/#" else "\0", match[0]),
        source,
        flags=re.S,
    )


def without_equivalents(source: str, bare: str, suffix: str) -> str:
    """Fill the places where no change is seen when the program runs."""
    if suffix == ".pyx":
        return emptied(TYPE_CHECKING, emptied(EXCEPTION_VALUE, bare))
    if suffix != ".py":
        return emptied(DECLARED, bare)
    lines = bare.splitlines(keepends=True)
    for first, last in unevaluated(ast.parse(source)):
        for row in range(first.lineno - 1, last.end_lineno):
            line = lines[row]
            start = first.col_offset if row == first.lineno - 1 else 0
            end = last.end_col_offset if row == last.end_lineno - 1 else len(line.rstrip("\n"))
            lines[row] = line[:start] + "\0" * (end - start) + line[end:]
    return "".join(lines)


def emptied(pattern: re.Pattern, text: str) -> str:
    return pattern.sub(lambda match: "\0" * len(match[0]), text)


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


class Functions:
    """The function around each place of a source, and which results no other may replace."""

    def __init__(self, bare: str, suffix: str):
        self.bare = bare
        self.lines = bare.splitlines()
        self.is_c = suffix in (".cpp", ".hpp")
        self.starts = [0]
        for line in bare.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.positions, self.blocks = blocks_of(bare) if self.is_c else ([], [])

    def keeps(self, operator: str, number: int, match: re.Match) -> bool:
        """Return whether a change of a line would change nothing, or could not be compiled."""
        if self.is_c:
            at = self.starts[number - 1] + match.start()
            if CAPACITY.fullmatch(match.string.rstrip()):
                return self.header(self.innermost(at)) != "try"
            return operator == "match" and self.is_zero(at, match[0].strip())
        if operator != "match":
            return False
        return not is_closed(match[0]) or self.has_c_type(number)

    def is_zero(self, at: int, value: str) -> bool:
        """Return whether `{}` is the returned value, or not possible where a type is deduced."""
        header = self.function(at)
        if header is None:
            return False
        matched = LAMBDA.search(header) if "operator" not in header else None
        if matched and matched.end() == len(header):
            type_name = matched["type"] or "auto"
        elif matched := FUNCTION.fullmatch(header):
            type_name = matched["trailing"] or matched["type"]
        else:
            return False
        if re.fullmatch(r"(?:const )?auto ?[&*]*", type_name):
            return True
        return value in ZEROS and bool(re.fullmatch(ZEROS[value], type_name))

    def function(self, at: int) -> str | None:
        """Return the text before the body of the function around a place of C++."""
        opening = self.innermost(at)
        while opening is not None:
            header = self.header(opening)
            if not BLOCK.fullmatch(header):
                return header
            opening = self.innermost(opening)
        return None

    def innermost(self, at: int) -> int | None:
        """Return where the innermost braces around a place begin."""
        index = bisect_right(self.positions, at - 1) - 1
        return self.blocks[index] if index >= 0 else None

    def header(self, opening: int | None) -> str:
        """Return the text before a brace, from the end of the statement before, in one line."""
        if opening is None:
            return ""
        depth, start = 0, opening
        while start > 0 and depth >= 0:
            character = self.bare[start - 1]
            if character in ";{}" and depth == 0:
                break
            depth += (character in ")]") - (character in "([")
            start -= 1
        # in an argument the text begins after the parenthesis that is still open
        text = self.bare[start + (depth < 0 and self.bare[start] == "(") : opening]
        text = re.sub(r"^\s*(?:#.*|(?:public|private|protected):)$", "", text, flags=re.M)
        return " ".join(text.split())

    def has_c_type(self, number: int) -> bool:
        """Return whether a line is in a Cython function of a type that has no None."""
        indent = indent_of(self.lines[number - 1])
        for line in reversed(self.lines[: number - 1]):
            if line.strip() and indent_of(line) < indent:
                indent = indent_of(line)
                if matched := CYTHON_FUNCTION.match(line):
                    return bool(matched["type"] and CYTHON_TYPE.fullmatch(matched["type"]))
        return False


def blocks_of(bare: str) -> tuple[list[int], list[int | None]]:
    """Return the places of braces, and which opening brace is innermost after each."""
    positions, blocks, opened = [], [], []
    for match in re.finditer(r"[{}]", bare):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            opened.pop()
        else:  # two branches of the preprocessor: nothing is known of this file
            return [], []
        positions.append(match.start())
        blocks.append(opened[-1] if opened else None)
    return ([], []) if opened else (positions, blocks)


def is_closed(text: str) -> bool:
    """Return whether an expression ends on its line."""
    opened = sum(text.count(each) for each in "([{") - sum(text.count(each) for each in ")]}")
    return opened == 0 and not text.endswith("\\")


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())

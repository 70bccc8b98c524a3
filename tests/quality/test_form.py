# SPDX-License-Identifier: Apache-2.0
"""Form of the tree: file headers, sizes, folders, and forbidden content."""

import ast
import re
from collections import Counter

import pytest

SOURCES = {".py", ".pyx", ".pxd", ".hpp", ".cpp", ".h", ".toml"}
CODE = {".py", ".pyx", ".pxd", ".hpp", ".cpp"}
FOLDER_LIMIT = 15
FILE_LIMIT = 800
FUNCTION_LIMIT = 60
COLUMNS = 100


def with_suffix(tracked, suffixes):
    return [path for path in tracked if path.suffix in suffixes and "golden" not in path.parts]


def test_every_source_begins_with_license_and_purpose(root, tracked):
    wrong = []
    for path in with_suffix(tracked, SOURCES - {".toml"}):
        lines = [line for line in (root / path).read_text().splitlines()[:4] if line != "#!"]
        head = [line for line in lines if not line.startswith("#!")]
        if len(head) < 2 or "SPDX-License-Identifier: Apache-2.0" not in head[0]:
            wrong.append(str(path))
        elif not head[1].lstrip("#/* \"'").strip():
            wrong.append(f"{path}: no purpose")
    assert not wrong


def test_no_file_is_too_long(root, tracked):
    lengths = {
        str(path): len((root / path).read_text().splitlines())
        for path in with_suffix(tracked, CODE)
    }
    assert not {path: n for path, n in lengths.items() if n > FILE_LIMIT}


def test_no_folder_is_too_full(tracked):
    """A header and its source, or a .pxd and its .pyx, count as one."""
    stems = {(path.parent, path.stem) for path in with_suffix(tracked, CODE)}
    counts = Counter(folder for folder, _ in stems)
    assert not {str(folder): n for folder, n in counts.items() if n > FOLDER_LIMIT}


def test_no_line_is_too_long(root, tracked):
    wrong = [
        f"{path}:{number}"
        for path in with_suffix(tracked, CODE)
        for number, line in enumerate((root / path).read_text().splitlines(), 1)
        if len(line) > COLUMNS and "http" not in line
    ]
    assert not wrong


def test_lines_end_cleanly(root, tracked):
    wrong = []
    for path in with_suffix(tracked, SOURCES | {".md", ".api"}):
        text = (root / path).read_text()
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            wrong.append(f"{path}: end of file")
        if re.search(r"[ \t\r]$|\t", text, re.M):
            wrong.append(f"{path}: trailing blanks or tabs")
    assert not wrong


def python_functions(text):
    all_lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = all_lines[body[0].lineno - 1 : node.end_lineno] if body else []
            yield node.name, [line for line in lines if not line.strip().startswith("#")]


def indented_functions(text):
    """Return the functions of Cython: a head, and the body indented below it, without the
    docstring."""
    text = re.sub(r'"""(?:.|\n)*?"""', "", text)
    lines = text.splitlines()
    for start, line in enumerate(lines):
        head = re.match(r"(\s*)(?:def|cdef|cpdef)\b(?! class)[^=]*\(", line)
        if not head:
            continue
        body = []
        for later in lines[start + 1 :]:
            if later.strip() and len(later) - len(later.lstrip()) <= len(head[1]):
                if later.strip().startswith(")"):
                    continue
                break
            body.append(later)
        yield line.strip(), [each for each in body if not each.strip().startswith("#")]


def braced_functions(text):
    """Return the functions of C++: each brace after a parameter list, and its body."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])*\'', "0", text)
    is_head = re.compile(r"\)\s*(const|noexcept(\([^)]*\))?|override|->[^;{}]*|:[^;{}]*|\s)*$")
    open_braces, start = [], 0
    for match in re.finditer(r"[{};]", text):
        head = " ".join(text[start : match.start()].split())
        start = match.end()
        if match.group() == "{":
            is_control = re.match(r"(else )?(if|for|while|switch|catch|do)\b", head)
            open_braces.append((head if is_head.search(head) and not is_control else None, start))
        elif match.group() == "}" and open_braces:
            head, first = open_braces.pop()
            if head is not None:
                yield head[:80], text[first : match.start()].splitlines()


READERS = {
    ".py": python_functions,
    ".pyx": indented_functions,
    ".pxd": indented_functions,
    ".hpp": braced_functions,
    ".cpp": braced_functions,
}


@pytest.fixture(scope="module")
def functions(root, tracked):
    """List (path, name, number of lines) of every function."""
    return [
        (path, name, sum(bool(line.strip()) for line in body))
        for path in with_suffix(tracked, CODE)
        for name, body in READERS[path.suffix]((root / path).read_text())
    ]


def test_no_function_is_too_long(functions):
    wrong = [f"{path}: {name}: {n} lines" for path, name, n in functions if n > FUNCTION_LIMIT]
    assert not wrong


def test_nine_of_ten_functions_are_short(functions):
    lengths = sorted(length for _, _, length in functions)
    assert lengths[len(lengths) * 9 // 10] <= 20


@pytest.mark.parametrize(
    ("pattern", "suffixes"),
    [
        (r"\b(TODO|FIXME|XXX|HACK)\b", CODE),
        (r"except[^:\n]*:\s*\n?\s*pass\b", {".py", ".pyx"}),
        (r"^\s*(?:#|//)\s*(?:if|for|while|return|def|auto|const)\b.*[:;{]$", CODE),
        (r"^\s*#\s*define\s+\w+\(", {".hpp", ".cpp"}),
    ],
    ids=["reminders", "swallowed exceptions", "commented-out code", "function-like macros"],
)
def test_forbidden_patterns_are_not_in_the_tree(root, tracked, pattern, suffixes):
    wrong = [
        f"{path}: {match.group().strip()}"
        for path in with_suffix(tracked, suffixes)
        if path.name != "test_form.py"
        for match in re.finditer(pattern, (root / path).read_text(), re.M)
    ]
    assert not wrong


def test_no_folder_or_file_has_a_generic_name(tracked):
    banned = {"utils", "helpers", "misc", "common", "base2"}
    public = [path for path in tracked if path.parts[0] in ("cpp", "cuda", "generator")]
    wrong = [str(path) for path in public if {path.stem, *path.parts[:-1]} & banned]
    # Names of the reference, which its users import.
    theirs = ("cuda/bindings/utils/", "cuda/bindings/_internal/utils.py", "cuda/core/utils.py")
    assert [path for path in wrong if not path.startswith(theirs)] == []


def test_no_generated_file_is_in_the_tree(root, tracked):
    wrong = [
        str(path)
        for path in with_suffix(tracked, CODE | {".pyi"})
        if "generated by" in (root / path).read_text().partition("\n")[0].lower()
    ]
    assert not wrong


def test_the_namespace_has_no_init(root):
    assert not (root / "cuda" / "__init__.py").exists()

# SPDX-License-Identifier: Apache-2.0
"""The names that a file of Cython defines at module level, and those that it uses."""

import re

INCLUDE = re.compile(r'^include "([^"]+)"', re.M)
TEXT = re.compile(
    r"#[^\n]*"
    r'|([rbf]*)("{3}(?:\\.|[^\\])*?"{3}|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')',
    re.S | re.I,
)
IMPORT = re.compile(r"^ *from +([\w.]+) +c?import +(\([^)]*\)|.+)$|^ *c?import +.+$", re.M)
# Names that a file looks up at run time by their text.
LATE = re.compile(
    r'(?:public_object|import_module)\("(?:cuda\.core\.)?(\w+)"\)'
    r'|import_module\("cuda\.core(?:\._core)?"\)\.(\w+)'
)
WORD = re.compile(r"(?<![\w.])([A-Za-z_]\w*)\b(?! *=[^=])")
TYPE = re.compile(
    r"(?:cdef |ctypedef )?(?:packed )?(class|cppclass|struct|union|enum)\b *(?:class )?(\w*)"
)
EXTERN = re.compile(r"cdef extern\b")
STRUCT = re.compile(r"(?:cdef |ctypedef )(?:packed )?(?:struct|union)\b")
FUNCTION = re.compile(r"(?:async )?(?:def|cdef|cpdef) (?!class|enum|extern|struct)[^=]*\(")
BINDING = re.compile(
    r"^(?!cdef )[(*]?(\w+(?:[,* ()]+\w+)*)\)? *(?:[-+*/%&|^]|//|<<|>>)?=(?!=)"
    r"|\bfor ([\w ,()*]+?) in\b|\bas (\w+)|(\w+) *:="
)


def code_of(source):
    """Return a source without comments and strings; the fields of f-strings remain."""

    def replace(match):
        if match[1] is None:
            return ""
        fields = re.findall(r"{([^{}]+?)(?:[:!][^]:!)}]*)?}", match[2]) if "f" in match[1] else ""
        return '""' + code_of("".join(f"({field})" for field in fields))

    return TEXT.sub(replace, source)


def statements(code):
    """Return (indentation, text) of each statement; a statement is one line."""
    lines, joined = [], ""
    for line in code.splitlines():
        joined = f"{joined} {line.strip()}" if joined else line.rstrip()
        if joined.endswith("\\"):
            joined = joined[:-1]
        elif sum(map(joined.count, "([{")) <= sum(map(joined.count, ")]}")) and joined:
            lines.append((len(joined) - len(joined.lstrip()), joined.strip()))
            joined = ""
    assert not joined, f"unbalanced brackets: {joined}"
    return lines


def block(lines, start):
    """Return the end of the statements that are indented below a statement."""
    end = start + 1
    while end < len(lines) and lines[end][0] > lines[start][0]:
        end += 1
    return end


def without_brackets(text):
    """Return a text without the contents of its brackets."""
    while (shorter := re.sub(r"\([^()[\]{}]*\)|\[[^()[\]{}]*\]|{[^()[\]{}]*}", "", text)) != text:
        text = shorter
    return text


def declared(text):
    """Return the names that a C declaration binds."""
    text = re.sub(r"^(?:cdef|ctypedef|cpdef|inline) ", "", text)
    function = re.match(r"[^(=]*\( *\* *(\w+)|[^=(]*?(\w+) *(?:\"\")? *\(", text)
    if function:
        return {function[1] or function[2]}
    parts = [part.partition("=")[0] for part in without_brackets(text).split(",")]
    return {names[-1] for part in parts if (names := re.findall(r"\w+", part))}


def parameters(head):
    """Return the names of the parameters of a function."""
    return declared(head[head.index("(") + 1 : head.rindex(")")].replace("(*", ""))


def defined_names(lines):
    """Return the names that statements at module level define."""
    names, place = set(), 0
    while place < len(lines):
        text, end = lines[place][1], block(lines, place)
        inside = lines[place + 1 : end]
        if EXTERN.match(text):
            base = min((indent for indent, _ in inside), default=0)
            names |= defined_names([(indent - base, line) for indent, line in inside])
        elif kind := TYPE.match(text):
            names.add(kind[2])
            if kind[1] == "enum" and "enum class" not in text:
                names |= set().union(*(declared(line) for _, line in inside))
        elif assigned := re.match(r"(\w+(?:, *\w+)*) *=[^=]", text):
            names |= set(re.findall(r"\w+", assigned[1]))
        elif re.match(r"(?!if|for|del|try|else|with|include)\w+[ *&]+[\w*&( ]", text):
            names |= declared(text)
        place = end
    return names - {"", "pass"}


def names_of_function(lines):
    """Return the names that a function uses, except its parameters and variables."""
    text = lines[0][1]
    local, shared, used = parameters(text) | declared(text), set(), set(WORD.findall(text))
    for _, text in lines[1:]:
        used |= set(WORD.findall(text))
        if text.startswith("global "):
            shared |= set(re.findall(r"\w+", text[7:]))
        elif text.startswith("cdef "):
            local |= declared(text)
        for groups in BINDING.findall(text):
            local |= set(re.findall(r"\w+", " ".join(groups)))
    return used - local | shared


def used_names(lines):
    """Return the names that a file uses, except variables of functions and members of classes.

    It skips declarations of C++, whose headers have their own order.
    """
    used, place = set(), 0
    while place < len(lines):
        indent, text = lines[place]
        is_function, is_type = FUNCTION.match(text), STRUCT.match(text)
        has_block = is_function or is_type or EXTERN.match(text)
        end = block(lines, place) if has_block else place + 1
        if is_function and ")" in text:
            used |= names_of_function(lines[place:end])
        elif is_type:
            for _, member in lines[place + 1 : end]:
                used |= set(WORD.findall(member)) - declared(member)
        elif indent and text.startswith("cdef "):
            used |= set(WORD.findall(text)) - declared(text)
        elif not has_block:
            used |= set(WORD.findall(text))
        place = end
    return used

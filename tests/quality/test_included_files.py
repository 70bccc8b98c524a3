# SPDX-License-Identifier: Apache-2.0
"""An included file of an extension does not depend on other included files: it, or the head of
the extension, imports each name that it uses."""

import re

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+c?import[ \t]+(?:\(([^)]*)\)|(.+))|c?import[ \t]+(.+))$", re.M
)
INCLUDE = re.compile(r'^include "([^"]+)"', re.M)
DOCUMENTATION = re.compile(r'""".*?"""', re.S)
TEXT = re.compile(r"""(f?)("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
COMMENT = re.compile(r"#.*")


def imported(source):
    """Return the names that imports and cimports of a file bind."""
    names = set()
    for several, listed, modules in IMPORT.findall(COMMENT.sub("", source)):
        for item in re.split(r"\s*,\s*", (several or listed or modules).strip(" \t\n,")):
            name = item.split(" as ")[-1].strip()
            names.add(name.partition(".")[0] if modules else name)
    return names


def code_of(source):
    """Return a file without imports, comments and strings; fields of f-strings remain."""

    def braces(match):
        return " ".join(re.findall(r"\{([^{}]*)\}", match[2])) if match[1] else '""'

    source = TEXT.sub(braces, DOCUMENTATION.sub('""', source))
    return IMPORT.sub("", COMMENT.sub("", source))


def uses(code, name):
    """Return whether the name is used, except as an attribute or a keyword of a call."""
    return re.search(rf"(?<![\w.]){name}\b(?!\s*=[^=])", code) is not None


def borrowed(head, files):
    """Return (file, name) for each name that a file uses and only another file imports."""
    own = {path: imported(source) for path, source in files.items()}
    for path, source in files.items():
        code = code_of(source)
        for name in sorted(set().union(*own.values()) - own[path] - head):
            if uses(code, name):
                yield path, name


def read_extension(folder, main):
    """Return the imports of an extension's head, and its included files."""
    source, declarations = main.read_text(), main.with_suffix(".pxd")
    head, files = imported(source), {}
    places = INCLUDE.findall(source)
    if declarations.exists():
        head |= imported(declarations.read_text())
        places += INCLUDE.findall(declarations.read_text())
    for place in places:
        text = (folder / place).read_text()
        if place.endswith(".pxd"):
            head |= imported(text)
        else:
            files[place] = text
    return head, files


def test_a_file_uses_only_its_own_imports_or_those_of_the_head(root, tracked):
    mains = [p for p in tracked if p.parent.name in ("core", "bindings") and p.suffix == ".pyx"]
    wrong = []
    for main in mains:
        head, files = read_extension(root / main.parent, root / main)
        wrong += [f"{main}: {path} uses {name}" for path, name in borrowed(head, files)]
    assert not wrong, "import it there, or for all files in the head"


def test_a_borrowed_import_is_found():
    files = {
        "a.pyx": "import os, sys\nfrom libc.string cimport (\n    memcmp, memset)\nos.sep",
        "b.pyx": 'def f(sys=1):\n    """memcmp of os"""\n    g(memset=1)\n    f"{os.sep}"  # sys\n',
        "c.pyx": "def f():\n    import os\n    return os.sep, None if memset else sys\n",
    }
    assert list(borrowed({"sys"}, files)) == [("b.pyx", "os"), ("c.pyx", "memset")]
    assert list(borrowed({"sys", "os", "memset"}, files)) == []

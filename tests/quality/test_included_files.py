# SPDX-License-Identifier: Apache-2.0
"""A file that an extension includes leans on no other one: each name that it uses and others have
imported, it imports itself, or the head of the extension does, for all files."""

import re

IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+c?import[ \t]+(?:\(([^)]*)\)|(.+))|c?import[ \t]+(.+))$", re.M
)
INCLUDE = re.compile(r'^include "([^"]+)"', re.M)
DOCUMENTATION = re.compile(r'""".*?"""', re.S)
TEXT = re.compile(r"""(f?)("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')""")
COMMENT = re.compile(r"#.*")


def imported(source):
    """The names that imports and cimports of a file bind."""
    names = set()
    for several, listed, modules in IMPORT.findall(COMMENT.sub("", source)):
        for item in re.split(r"\s*,\s*", (several or listed or modules).strip(" \t\n,")):
            name = item.split(" as ")[-1].strip()
            names.add(name.partition(".")[0] if modules else name)
    return names


def code_of(source):
    """A file without its imports, comments and texts; of the latter, what stands in braces."""

    def braces(match):
        return " ".join(re.findall(r"\{([^{}]*)\}", match[2])) if match[1] else '""'

    source = TEXT.sub(braces, DOCUMENTATION.sub('""', source))
    return IMPORT.sub("", COMMENT.sub("", source))


def uses(code, name):
    """Whether a name stands there, but for an attribute's or a keyword's of a call."""
    return re.search(rf"(?<![\w.]){name}\b(?!\s*=[^=])", code) is not None


def borrowed(head, files):
    """(file, name): what a file uses that another one imports and the head does not."""
    own = {path: imported(source) for path, source in files.items()}
    for path, source in files.items():
        code = code_of(source)
        for name in sorted(set().union(*own.values()) - own[path] - head):
            if uses(code, name):
                yield path, name


def read_extension(folder, main):
    """What the head of an extension imports, and the files that it includes."""
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


def test_a_file_uses_what_it_or_the_head_imports(root, tracked):
    mains = [p for p in tracked if p.parent.name in ("core", "bindings") and p.suffix == ".pyx"]
    wrong = []
    for main in mains:
        head, files = read_extension(root / main.parent, root / main)
        wrong += [f"{main}: {path} uses {name}" for path, name in borrowed(head, files)]
    assert not wrong, "import it there, or for all files in the head"


def test_what_is_borrowed_is_found():
    files = {
        "a.pyx": "import os, sys\nfrom libc.string cimport (\n    memcmp, memset)\nos.sep",
        "b.pyx": 'def f(sys=1):\n    """memcmp of os"""\n    g(memset=1)\n    f"{os.sep}"  # sys\n',
        "c.pyx": "def f():\n    import os\n    return os.sep, None if memset else sys\n",
    }
    assert list(borrowed({"sys"}, files)) == [("b.pyx", "os"), ("c.pyx", "memset")]
    assert list(borrowed({"sys", "os", "memset"}, files)) == []

# SPDX-License-Identifier: Apache-2.0
"""Conversion of docs/design, and of the Markdown that it uses, to pages."""

import re

from .tables import list_table, literal, underlined

BAR = re.compile(r"\|(?=(?:[^`]*`[^`]*`)*[^`]*$)")  # a bar outside of inline code
INTRODUCTION = """
These notes are for developers of the package. Each subject has a page, maintained with the code.
:doc:`/guide/architecture` is the overview.
"""


def pages(folder):
    """Return path: text of the index and of each note."""
    paths = sorted(folder.glob("*.md"))
    entries = "".join(f"   {path.stem}\n" for path in paths)
    index = f"{underlined('Design notes', '=')}{INTRODUCTION}\n.. toctree::\n\n{entries}"
    return {"index.rst": index, **{f"{p.stem}.rst": page(p.read_text("utf-8")) for p in paths}}


def page(markdown):
    """Convert headings, tables, code blocks, lists, code and emphasis."""
    lines, rows, in_code = [], [], False
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("```"):
            in_code = not in_code
            lines += ["", ".. code-block:: text", ""] if in_code else [""]
        elif in_code:
            lines.append(f"   {line}")
        elif line.startswith("|"):
            rows.append([literal(cell.strip()) for cell in BAR.split(line.strip()[1:-1])])
        else:
            if rows:
                lines += ["", list_table(rows[0], rows[2:])]
                rows = []
            lines += text_line(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def text_line(line):
    """Convert a line of text or a heading; add an empty line before an item of a list."""
    heading = re.match(r"(#{1,3}) (.*)", line)
    if heading:
        return ["", underlined(literal(heading[2]), "=-~"[len(heading[1]) - 1])]
    is_item = re.match(r" *(- |\d+\. )", line)
    return ["", literal(line)] if is_item else [literal(line)]

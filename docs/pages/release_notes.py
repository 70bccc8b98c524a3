# SPDX-License-Identifier: Apache-2.0
"""CHANGELOG.md as a page: the few forms of Markdown that it uses."""

import re

from .tables import literal, underlined


def page(markdown):
    """Headings, lists, code and links between the files."""
    lines = []
    for line in markdown.splitlines():
        heading = re.match(r"(#{1,2}) (.*)", line)
        if heading:
            text = "Release notes" if heading[1] == "#" else heading[2]
            lines.append(underlined(text, "=-"[len(heading[1]) - 1]))
        else:
            lines.append(line)
    text = literal("\n".join(lines))
    return re.sub(r"\[docs/(guide/\w+)\.rst\]\([^)]*\)", r":doc:`/\1`", text) + "\n"

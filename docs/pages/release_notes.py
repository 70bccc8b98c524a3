# SPDX-License-Identifier: Apache-2.0
"""Conversion of CHANGELOG.md, and of the Markdown that it uses, to a page."""

import re

from .tables import literal, underlined


def page(markdown):
    """Convert headings, lists, code and links between files."""
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

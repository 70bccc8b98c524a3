# SPDX-License-Identifier: Apache-2.0
"""Headings, tables and code in reStructuredText."""

import re
import textwrap


def underlined(text, mark):
    """Return a heading."""
    return f"{text}\n{mark * len(text)}\n"


def literal(text):
    """Convert inline code from Markdown to reStructuredText."""
    return re.sub(r"`([^`]+)`", r"``\1``", text)


def list_table(head, rows, widths=None):
    """Return a table whose cells are single lines."""
    lines = [".. list-table::", "   :header-rows: 1"]
    lines += [f"   :widths: {' '.join(map(str, widths))}"] if widths else []
    for row in [head, *rows]:
        lines.append("")
        lines += [f"   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(row)]
    return "\n".join([*lines, ""])


def code_block(code, language="python"):
    """Return code as a block."""
    return f".. code-block:: {language}\n\n{textwrap.indent(code, '   ')}\n"

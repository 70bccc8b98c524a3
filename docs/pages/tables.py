# SPDX-License-Identifier: Apache-2.0
"""Headings and tables in reStructuredText."""


def underlined(text, mark):
    """A heading."""
    return f"{text}\n{mark * len(text)}\n"


def list_table(head, rows, widths=None):
    """A table of texts, each of one line."""
    lines = [".. list-table::", "   :header-rows: 1"]
    lines += [f"   :widths: {' '.join(map(str, widths))}"] if widths else []
    for row in [head, *rows]:
        lines.append("")
        lines += [f"   {'* -' if i == 0 else '  -'} {cell}" for i, cell in enumerate(row)]
    return "\n".join([*lines, ""])

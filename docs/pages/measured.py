# SPDX-License-Identifier: Apache-2.0
"""Figures of the README and of the benchmarks' budget, as tables: they stand in one place."""

import re
import tomllib

from .tables import list_table, literal


def measured(readme):
    """The README's table, what stands before it, and its sentences on how it was measured."""
    section = re.search(r"^## Measured\n+(.*?)(?=^## )", readme, re.M | re.S)[1]
    before, table, after = re.fullmatch(
        r"(.*?)\n\n(\|.*?\|)\n\n(.*)", section.strip(), re.S
    ).groups()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    head, body = rows[0], rows[2:]
    return "\n".join(
        [
            literal(before),
            "",
            list_table(head, [list(map(literal, r)) for r in body]),
            literal(after),
            "",
        ]
    )


def budget(text):
    """Rows and the part of NVIDIA's time that each may take."""
    rows = [[f"``{row}``", str(part)] for row, part in tomllib.loads(text)["ratios"].items()]
    return list_table(["call", "of NVIDIA's time"], rows, [75, 25])

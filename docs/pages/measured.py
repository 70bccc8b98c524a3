# SPDX-License-Identifier: Apache-2.0
"""Figures of the README and of the benchmarks' budget, as tables: they stand in one place."""

import json
import re
import tomllib

from benchmarks.growth import NAMES, WHO, svg

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


def growth(text):
    """What `python -m benchmarks --growth --json` wrote, as pictures and one table."""
    found = json.loads(text)
    run = found["run"]
    lines = [
        f"Measured on {run['date']} on {run['machine']}, {run['backend']} driver, Python "
        f"{run['python']}, beside {' and '.join(run['reference'])}.",
        "",
    ]
    for sweep in found["sweeps"]:
        if "memory" not in sweep["sweep"]:
            lines += [".. raw:: html", "", *(f"   {line}" for line in svg(sweep).splitlines()), ""]
    rows = [
        [f"{sweep['sweep']}, {sweep['unit']}", f"{point['at']:,} {sweep['x']}"]
        + [f"{point[who]:,}" if isinstance(point[who], float) else "" for who in WHO]
        for sweep in found["sweeps"]
        for point in sweep["points"]
    ]
    head = ["what", "at", *(NAMES[who] for who in WHO)]
    return "\n".join([*lines, list_table(head, rows, [40, 26, 17, 17])])

# SPDX-License-Identifier: Apache-2.0
"""Tables of the figures in the README and the benchmarks' budget, which are their only source."""

import json
import re
import tomllib

from benchmarks import pictures
from benchmarks.growth import NAMES, WHO, svg

from .tables import list_table, literal, underlined


def measured(readme):
    """Return the README's table of figures with the text before and after it."""
    section = re.search(r"^## Performance\n+(.*?)(?=^## )", readme, re.M | re.S)[1]
    before, table, after = re.fullmatch(
        r"(.*?)\n\n(\|.*?\|)\n\n(.*)", section.strip(), re.S
    ).groups()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    head, body = rows[0], rows[2:]
    return "\n".join(
        [
            literal(before),
            "",
            list_table(head, [[literal(cell) if cell != "-" else "" for cell in r] for r in body]),
            literal(after),
            "",
        ]
    )


def budget(text):
    """Return the budget table: each row's limit as a fraction of NVIDIA's time."""
    rows = [[f"``{row}``", str(part)] for row, part in tomllib.loads(text)["ratios"].items()]
    return list_table(["call", "of NVIDIA's time"], rows, [75, 25])


def rows(text):
    """Return the results of `python -m benchmarks --beside --json` as picture and table."""
    results = json.loads(text)
    records = [r for r in results["rows"] if r["unit"] == "ns" and isinstance(r["ours"], float)]
    who = [w for w in pictures.WHO if any(isinstance(r.get(w), float) for r in records)]
    head = ["call, ns", *(pictures.WHO[w][0] for w in who)]
    cells = [
        [f"``{r['row']}``"] + [f"{r[w]:,.0f}" if isinstance(r.get(w), float) else "" for w in who]
        for r in records
    ]
    command = f"``{results['command']}``. {machine(results['run'])}"
    lines = [heading(results["run"]), "", command, ""]
    return "\n".join([*lines, *drawn(pictures.bars(records)), list_table(head, cells)])


def heading(run):
    """Return a heading of the third level that names the backend."""
    text = "On a GPU" if run["backend"] == "gpu" else "On the null driver"
    return underlined(text, "~")


def machine(run):
    """Return a sentence with date, machine and versions."""
    gpu = f"{run['gpu']}; " if run.get("gpu") else ""
    return (
        f"Measured on {run['date']}: {gpu}{run['machine']}, Python {run['python']}, beside "
        f"{' and '.join(run['reference'])}."
    )


def drawn(picture):
    """Return a picture as lines of reStructuredText."""
    inside = (f"   {line}" for line in picture.splitlines())
    return [".. raw:: html", "", '   <div class="drawn">', *inside, "   </div>", ""]


def growth(text):
    """Return the results of `python -m benchmarks --growth --json` as pictures and table."""
    results = json.loads(text)
    lines = [heading(results["run"]), "", machine(results["run"]), ""]
    for sweep in results["sweeps"]:
        if "memory" not in sweep["sweep"]:
            lines += drawn(svg(sweep))
    rows = [
        [f"{sweep['sweep']}, {sweep['unit']}", f"{point['at']:,} {sweep['x']}"]
        + [f"{point[who]:,}" if isinstance(point[who], float) else "" for who in WHO]
        for sweep in results["sweeps"]
        for point in sweep["points"]
    ]
    head = ["measurement", "at", *(NAMES[who] for who in WHO)]
    return "\n".join([*lines, list_table(head, rows, [40, 26, 17, 17])])

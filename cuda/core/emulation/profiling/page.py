# SPDX-License-Identifier: Apache-2.0
"""A profile as HTML: a table for notebooks, and a page with the source beside the counts."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import TYPE_CHECKING

from cuda.core.emulation.profiling.counts import PTX, lines_of_file
from cuda.core.emulation.profiling.text import COLUMNS, cells_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cuda.core.emulation.profiling.counts import Counts, KernelCounts, LineCounts

STYLE = """
body { font: 14px sans-serif; margin: 2em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { padding: 1px 8px; text-align: right; white-space: nowrap; }
th { border-bottom: 1px solid #888; }
td.source, th.text { text-align: left; }
td.source { font-family: monospace; white-space: pre; }
td.line { color: #888; }
tr.unexecuted td.source { color: #888; }
"""
HOT = "linear-gradient(90deg, #f4a58288 {share:.0%}, transparent {share:.0%})"


def table_of(kernels: list[KernelCounts], advice: list[str]) -> str:
    """Return a table of the kernels, with the advice below."""
    used = _used_columns(kernels)
    rows = "".join(
        f'<tr><td class="source">{escape(each.name)}</td><td>{each.launches}</td>'
        f"{_cells(each, used)}</tr>"
        for each in kernels
    )
    heads = _heads(["kernel"], ["launches"], used)
    items = "".join(f"<li>{escape(each)}</li>" for each in advice)
    return f"<table><tr>{heads}</tr>{rows}</table>" + (f"<ul>{items}</ul>" if items else "")


def page_of(kernels: list[KernelCounts], advice: list[str]) -> str:
    """Return a page: the table of kernels, and the source of each with its counts."""
    sources = "".join(_kernel(each) for each in kernels)
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Profile</title>'
        f"<style>{STYLE}</style></head><body><h1>Profile of the kernels</h1>"
        f"{table_of(kernels, advice)}{sources}</body></html>\n"
    )


def _kernel(kernel: KernelCounts) -> str:
    most = max((each.instructions for each in kernel.lines), default=0)
    used = _used_columns(kernel.lines)
    files = "".join(
        f'<tr><th class="text" colspan="2">{escape(file)}</th></tr>'
        + "".join(_row(*each, most, used) for each in _source(file, list(lines)))
        for file, lines in groupby(kernel.lines, key=lambda each: each.file)
    )
    heads = _heads(["", "source"], [], used)
    return f"<h2>{escape(kernel.full_name)}</h2><table><tr>{heads}</tr>{files}</table>"


def _source(file: str, lines: list[LineCounts]) -> Iterator[tuple[int, str, LineCounts | None]]:
    """Yield the lines around those that have code, with their counts or None."""
    counts = {each.line: each for each in lines}
    first, last = min(counts), max(counts)
    text = None if file == PTX else lines_of_file(file)
    if text is None:
        yield from ((number, counts[number].source, counts[number]) for number in sorted(counts))
        return
    for number in range(max(1, first - 2), min(len(text), last + 2) + 1):
        yield number, text[number - 1], counts.get(number)


def _row(number: int, source: str, counts: LineCounts | None, most: int, used: list[int]) -> str:
    """Return the row of a line; its bar shows its part of the instructions."""
    kind = ' class="unexecuted"' if counts and not counts.instructions else ""
    share = counts.instructions / most if counts and most else 0
    bar = f' style="background: {HOT.format(share=share)}"' if share else ""
    cells = _cells(counts, used) if counts else ""
    return (
        f'<tr{kind}><td class="line">{number}</td><td class="source"{bar}>{escape(source)}</td>'
        f"{cells}</tr>"
    )


def _used_columns(rows: Sequence[Counts]) -> list[int]:
    """Return the indices of the columns in which a row has a value."""
    cells = [cells_of(each) for each in rows]
    return [i for i in range(len(COLUMNS)) if any(row[i] for row in cells)]


def _heads(texts: list[str], numbers: list[str], used: list[int]) -> str:
    columns = list(COLUMNS)
    heads = "".join(f'<th class="text">{each}</th>' for each in texts)
    return heads + "".join(f"<th>{each}</th>" for each in [*numbers, *(columns[i] for i in used)])


def _cells(counts: Counts, used: list[int]) -> str:
    cells = cells_of(counts)
    return "".join(f"<td>{escape(cells[i])}</td>" for i in used)

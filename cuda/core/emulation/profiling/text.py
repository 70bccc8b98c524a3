# SPDX-License-Identifier: Apache-2.0
"""A profile as a table for terminals, and as data for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from cuda.core.emulation.profiling.counts import Counts, KernelCounts

# The heading of a column, and the counter.
COLUMNS = {
    "instructions": "instructions",
    "lanes": "lanes_per_instruction",
    "divergent": "divergent_branches",
    "requests": "global_requests",
    "sectors": "global_sectors",
    "efficiency": "global_efficiency",
    "conflicts": "bank_conflicts",
    "local bytes": "local_bytes",
    "atomics": "atomics",
    "barriers": "barriers",
    "operations/byte": "operations_per_byte",
}


def cells_of(counts: Counts) -> list[str]:
    """Return the values of the columns as text; empty for 0."""
    return [_text(name, getattr(counts, name)) for name in COLUMNS.values()]


def _text(name: str, value: float) -> str:
    if name == "global_efficiency":
        return f"{value:.0%}" if value else ""
    return f"{value:.3g}" if isinstance(value, float) and value else f"{value or ''}"


def table_of(kernels: list[KernelCounts], advice: list[str]) -> str:
    """Return a table of the kernels, with the advice below."""
    if not kernels:
        return "no kernel was launched"
    rows = [["kernel", "launches", *COLUMNS]]
    rows += [[each.name, f"{each.launches}", *cells_of(each)] for each in kernels]
    return "\n".join([*aligned(rows), *advice])


def table_of_lines(kernel: KernelCounts) -> str:
    """Return a table of the lines of a kernel that were executed."""
    rows = [["line", "source", *COLUMNS]]
    for line in kernel.lines:
        if line.instructions:
            rows.append([f"{line.line}", line.source.strip()[:48], *cells_of(line)])
    return "\n".join(aligned(rows))


def aligned(rows: list[list[str]]) -> Iterable[str]:
    """Yield rows with columns of equal width: the name to the left, values to the right."""
    used = [i for i in range(len(rows[0])) if any(row[i] for row in rows[1:])]
    widths = {i: max(len(row[i]) for row in rows) for i in used}
    for row in rows:
        cells = [
            row[i].ljust(widths[i]) if _is_text(rows, i) else row[i].rjust(widths[i]) for i in used
        ]
        yield "  ".join(cells).rstrip()


def _is_text(rows: list[list[str]], column: int) -> bool:
    return rows[0][column] in ("kernel", "source")


def json_of(kernels: list[KernelCounts], advice: list[str]) -> dict[str, Any]:
    """Return the counters of the kernels and lines."""
    return {"kernels": [_kernel(each) for each in kernels], "advice": advice}


def _kernel(kernel: KernelCounts) -> dict[str, Any]:
    lines = [
        {"file": each.file, "line": each.line, "source": each.source, "counters": each.as_dict()}
        for each in kernel.lines
        if each.instructions
    ]
    return {
        "name": kernel.name,
        "full_name": kernel.full_name,
        "launches": kernel.launches,
        "counters": kernel.as_dict(),
        "lines": lines,
    }

# SPDX-License-Identifier: Apache-2.0
"""Draws rows as bars for NVIDIA, halfwarp, C and others, on a logarithmic scale."""

import math
from xml.sax.saxutils import escape

WHO = {
    "theirs": ("NVIDIA's", "#8a8a8a"),
    "ours": ("halfwarp", "#2878c8"),
    "floor": ("C", "#3a9a5b"),
    "cupy": ("CuPy", "#c98a1b"),
    "numba": ("Numba", "#b0508f"),
}
WIDTH, LEFT, RIGHT, TOP, BAR, GAP = 720, 250, 20, 34, 5, 7


def bars(records):
    """Draw the rows in nanoseconds, from one; the length of a bar is the logarithm."""
    records = [r for r in records if r["unit"] == "ns" and isinstance(r["ours"], float)]
    who = [w for w in WHO if any(isinstance(r.get(w), float) for r in records)]
    highest = max(r[w] for r in records for w in who if isinstance(r.get(w), float))
    powers = max(1, math.ceil(math.log10(highest)))
    across = (WIDTH - LEFT - RIGHT) / powers
    height = TOP + len(records) * (len(who) * BAR + GAP) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        'font-family="sans-serif" font-size="11" fill="currentColor">',
        "<title>Nanoseconds of each row, on a logarithmic scale</title>",
    ]
    for power in range(powers + 1):
        x = LEFT + power * across
        parts.append(
            f'<path d="M{x:.1f} {TOP - 4}V{height - 6}" stroke="currentColor" stroke-opacity=".2"/>'
        )
        parts.append(text(x, TOP - 8, time_text(power), "end" if power == powers else "middle"))
    for i, w in enumerate(who):
        name, color = WHO[w]
        parts.append(f'<rect x="{8 + 78 * i}" y="4" width="9" height="9" fill="{color}"/>')
        parts.append(text(20 + 78 * i, 12, name, "start"))
    y = TOP
    for record in records:
        parts.append(text(LEFT - 6, y + len(who) * BAR / 2 + 4, record["row"], "end"))
        for w in who:
            if isinstance(record.get(w), float):
                length = math.log10(max(record[w], 1)) * across
                parts.append(
                    f'<rect x="{LEFT}" y="{y}" width="{max(length, 1):.1f}" height="{BAR - 1}" '
                    f'fill="{WHO[w][1]}"><title>{WHO[w][0]}: {record[w]:,.0f} ns</title></rect>'
                )
            y += BAR
        y += GAP
    return "\n".join([*parts, "</svg>", ""])


def time_text(power):
    """Format a power of ten nanoseconds."""
    unit, zeros = divmod(power, 3)
    return f"{10**zeros} {('ns', 'µs', 'ms', 's')[unit]}"


def text(x, y, content, anchor):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(content)}</text>'

# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks --growth`: cost by number of arguments, threads, buffers, modules, nodes.

Prints a table per sweep, writes JSON with `--json`, and a picture of each to the folder of `--svg`.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

from benchmarks.environments import FOLDER

ROUNDS = 3
WHO = ("theirs", "ours")
NAMES = {"theirs": "NVIDIA's", "ours": "halfwarp"}


def sweeps():
    """Return the registered sweeps by name."""
    sys.path.insert(0, str(FOLDER / "worker"))
    from grow import SWEEPS

    return SWEEPS


def run_worker(python, env, name):
    """Map each point of a sweep to its result or an error text, in a separate process."""
    command = [python, str(FOLDER / "worker" / "grow.py"), name]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr}\nthe measurement stopped: {' '.join(command[:2])}")
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return {r["point"]: r["found"] for r in records}


def measure(name, places, count):
    """Map each implementation and point to the minimum of alternating rounds or the last error."""
    rounds = [{who: run_worker(*places[who], name) for who in WHO} for _ in range(count)]
    return {who: {p: least([r[who][p] for r in rounds]) for p in rounds[0][who]} for who in WHO}


def least(values):
    numbers = [each for each in values if isinstance(each, float)]
    return round(min(numbers), 1) if numbers else values[-1]


def record(name, sweep, results):
    """Return a sweep as a record for JSON."""
    points = [{"at": p} | {who: results[who].get(p) for who in WHO} for p in sweep.points]
    return {"sweep": name, "x": sweep.x, "unit": sweep.unit, "points": points}


def table(record):
    """Yield the lines of a sweep's table."""
    yield f"{record['sweep']} [{record['unit']}]"
    yield f"{record['x']:>16}{NAMES['theirs']:>12}{NAMES['ours']:>12}{'ratio':>8}"
    for point in record["points"]:
        numbers = [point[who] for who in WHO]
        cells = "".join(f"{n:12.1f}" if isinstance(n, float) else f"{'-':>12}" for n in numbers)
        known = all(isinstance(n, float) for n in numbers) and point["ours"] > 0
        yield f"{point['at']:16}{cells}{f'{numbers[0] / numbers[1]:7.1f}x' if known else '-':>8}"
        yield from (f"    {NAMES[who]}: {point[who]}" for who in WHO if type(point[who]) is str)


# --- pictures ------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 560, 260, 70, 40, 20, 45
COLORS = {"theirs": "#8a8a8a", "ours": "#2878c8"}


def svg(record):
    """Draw a sweep: points at equal distances, values from 0."""
    points = record["points"]
    highest = max((p[who] for p in points for who in WHO if isinstance(p[who], float)), default=1)
    step, top = ticks(highest)
    across = (WIDTH - LEFT - RIGHT) / max(1, len(points) - 1)
    down = (HEIGHT - TOP - BOTTOM) / top

    def position(i, value):
        return f"{LEFT + i * across:.1f},{HEIGHT - BOTTOM - value * down:.1f}"

    title = f"{record['sweep']}, {record['unit']}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'font-family="sans-serif" font-size="12" fill="currentColor">',
        f"<title>{title}</title>",
        text(LEFT, 16, title, "start"),
    ]
    for i in range(round(top / step) + 1):
        y = HEIGHT - BOTTOM - i * step * down
        parts.append(text(LEFT - 8, y + 4, f"{i * step:,.10g}", "end"))
        parts.append(
            f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="currentColor" stroke-opacity=".2"/>'
        )
    for i, point in enumerate(points):
        parts.append(text(LEFT + i * across, HEIGHT - BOTTOM + 18, f"{point['at']:,}", "middle"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, record["x"], "middle"))
    for row, who in enumerate(WHO):
        at = [position(i, p[who]) for i, p in enumerate(points) if isinstance(p[who], float)]
        parts.append(f'<g fill="{COLORS[who]}">')
        parts.append(
            f'<polyline points="{" ".join(at)}" fill="none" stroke="{COLORS[who]}" '
            'stroke-width="2"/>'
        )
        parts += ['<circle cx="{}" cy="{}" r="3"/>'.format(*each.split(",")) for each in at]
        parts += [text(WIDTH - RIGHT, 16 + 15 * row, NAMES[who], "end"), "</g>"]
    return "\n".join([*parts, "</svg>", ""])


def text(x, y, content, anchor):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{content}</text>'


def ticks(highest):
    """Return the step between about five lines, 1, 2 or 5 times a power of ten, and the last."""
    power = 10.0 ** math.floor(math.log10(max(highest, 1e-9) / 5))
    step = next(power * n for n in (1, 2, 5, 10) if power * n * 5 >= highest)
    return step, step * max(1, math.ceil(highest / step))


# --- the command ---------------------------------------------------------------------------------


def run(name_parts, places, description, options):
    """Measure the sweeps whose names contain one of `name_parts`, and write the results."""
    records = []
    for name, sweep in sweeps().items():
        if not name_parts or any(part in name for part in name_parts):
            records.append(record(name, sweep, measure(name, places, min(ROUNDS, options.rounds))))
            print("\n".join(table(records[-1])), "\n", flush=True)
            if options.json:  # after each sweep, in case a machine's lease ends early
                with open(options.json, "w") as file:
                    json.dump({"run": description, "sweeps": records}, file, indent=1)
                    file.write("\n")
    if options.svg:
        Path(options.svg).mkdir(parents=True, exist_ok=True)
        for each in records:
            name = each["sweep"].replace(",", "").replace(" ", "-")
            Path(options.svg, f"{name}.svg").write_text(svg(each))
    return 0

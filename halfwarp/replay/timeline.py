# SPDX-License-Identifier: Apache-2.0
"""Draws the bytes in use and reserved over time, as SVG."""

from html import escape

from halfwarp.replay.text import size_text, time_text

WIDTH, HEIGHT = 960, 360
LEFT, TOP, RIGHT, BOTTOM = 90, 40, 20, 40
POINTS = 800  # about one step per pixel
RESERVED, IN_USE = "#c0ccd8", "#1f6fb4"


def thinned(samples):
    """Reduce the samples to at most `POINTS`, taking the maximum of each interval."""
    if len(samples) <= POINTS:
        return samples
    result = []
    for i in range(POINTS):
        part = samples[i * len(samples) // POINTS : (i + 1) * len(samples) // POINTS]
        result.append((part[0][0], max(s[1] for s in part), max(s[2] for s in part)))
    return [*result, samples[-1]]


def steps(points):
    """Return a path that holds each value until the next one."""
    text = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    return text + "".join([f"H{x:.1f}V{y:.1f}" for x, y in points[1:]])


def draw(title, samples):
    """Return the SVG text. `samples`: (time in ns, bytes in use, bytes reserved)."""
    samples = thinned(samples)
    begin, end = samples[0][0], samples[-1][0]
    highest = max(max(sample[1:]) for sample in samples) or 1
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def x(time):
        return LEFT + width * (time - begin) / max(1, end - begin)

    def y(value):
        return TOP + height * (1 - value / highest)

    reserved = steps([(x(s[0]), y(s[2])) for s in samples])
    in_use = steps([(x(s[0]), y(s[1])) for s in samples])
    bottom = TOP + height
    area = f"{reserved}V{bottom}H{x(begin):.1f}Z"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" font-size="14">{escape(title)}</text>',
        *grid(highest, y),
        f'<path d="{area}" fill="{RESERVED}"/>',
        f'<path d="{in_use}" fill="none" stroke="{IN_USE}" stroke-width="1.5"/>',
        f'<path d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}" fill="none" stroke="black"/>',
        f'<text x="{LEFT}" y="{HEIGHT - 14}">0</text>',
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 14}" text-anchor="end">'
        f"{time_text(end - begin)}</text>",
        *legend(),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def grid(highest, y):
    """Yield a line and a label at each quarter of the maximum."""
    for quarter in range(5):
        value = highest * quarter // 4
        height = f"{y(value):.1f}"
        yield f'<path d="M{LEFT} {height}H{WIDTH - RIGHT}" stroke="#e4e4e4"/>'
        yield f'<text x="{LEFT - 6}" y="{height}" text-anchor="end">{size_text(value)}</text>'


def legend():
    for left, color, name in ((WIDTH - 200, IN_USE, "in use"), (WIDTH - 120, RESERVED, "reserved")):
        yield f'<rect x="{left}" y="14" width="10" height="10" fill="{color}"/>'
        yield f'<text x="{left + 16}" y="23">{name}</text>'

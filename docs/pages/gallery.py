# SPDX-License-Identifier: Apache-2.0
"""A page for each example: its description, output and pictures on the emulator, source."""

import ast
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from html import escape
from pathlib import Path

from .tables import underlined

HEAD = """
Complete programs, which the tests run on the emulator and on a GPU. The output on these pages was
printed on the emulator when the pages were built; its times do not predict a GPU.
"""


# What one learns, and the examples that show it, in reading order.
GROUPS = {
    "First kernels": "saxpy vector_add show_devices occupancy monitor",
    "Arrays of other packages": "array_views texture_filter tensor_map",
    "Memory": "pinned_memory pool growing_memory managed_memory ping_pong out_of_memory",
    "Graphs": "graph_in_place picture solver",
    "Compiling and linking": "program_cache link_time_optimization nvvm",
    "Threads of several blocks": "cooperative_launch clusters stream_values partition",
    "Several devices and processes": (
        "threads_over_devices processes shared_pool neighbors mpi_sum nccl_sum actors"
    ),
    "What kernels execute": "reduction stencil transpose",
    "The low layer": "plain_driver_calls runtime_saxpy",
}


def grouped(names):
    """Return title -> names. An example that no group names is in the last group."""
    groups = {title: text.split() for title, text in GROUPS.items()}
    placed = {name for group in groups.values() for name in group}
    groups["Others"] = sorted(set(names) - placed)
    return {title: [n for n in group if n in names] for title, group in groups.items()}


def index_of(titles, pictures):
    """Return the page of all examples: a card with title and picture for each, by topic."""
    parts = [f"{underlined('Examples', '=')}{HEAD}"]
    for group, names in grouped(titles).items():
        if names:
            cards = "".join(card(name, titles[name], pictures.get(name)) for name in names)
            entries = "".join(f"   {name}\n" for name in names)
            tree = f".. toctree::\n   :hidden:\n\n{entries}"
            parts.append(f"{underlined(group, '-')}\n.. container:: cards\n\n{cards}{tree}")
    return "\n".join(parts)


def card(name, title, picture):
    """Return the picture and the title of an example, which link to its page."""
    text = f"   .. container:: card\n\n      :doc:`{title} <{name}>`\n\n"
    if picture:
        text += f"      .. image:: {picture}\n         :target: {name}.html\n"
        text += f"         :alt: {title}\n\n"
    return text


def pages(folder):
    """Return path: content of the index, of each example in a folder, and of its picture.

    The card of an example without a picture shows the output.
    """
    files, titles, pictures = {}, {}, {}
    for path in sorted(folder.rglob("*.py")):
        printed = output(path)
        picture = picture_in(printed)
        shown = picture and f"{path.stem}{SHOWN[picture.suffix]}"
        files[f"{path.stem}.rst"] = page(path, folder, printed, shown)
        titles[path.stem] = title_of(path)
        if picture is not None:
            files[shown] = as_shown(picture)
        elif printed:
            shown = f"{path.stem}.svg"
            files[shown] = screen(without_random_names(printed))
        pictures[path.stem] = shown
    return {"index.rst": index_of(titles, pictures), **files}


def title_of(path):
    """Return the first sentence of an example."""
    text = ast.get_docstring(ast.parse(path.read_text())).partition("\n\n")[0]
    return text.rstrip(".").replace("`", "").replace("\n", " ")


def page(path, folder, printed, picture=None):
    text = ast.get_docstring(ast.parse(path.read_text())).partition("\n\n")[2]
    name = path.relative_to(folder).as_posix()
    printed = "".join(f"   {line}\n" for line in without_random_names(printed).splitlines())
    picture = f".. image:: {picture}\n\n" if picture else ""
    return (
        f"{underlined(title_of(path), '=')}\n{literal(text)}\n\n"
        ".. code-block:: text\n\n"
        f"   $ HALFWARP_BACKEND=emulator python examples/{name}\n{printed}\n{picture}"
        f".. literalinclude:: /../examples/{name}\n   :language: python\n"
    )


def without_random_names(printed):
    """Remove the random part from the names of temporary files."""
    return re.sub(rf"{tempfile.gettempdir()}/([\w-]+?)-?\w{{8}}(?=/|\s|$)", r"/tmp/\1", printed)


def literal(text):
    return text.replace("`", "``")


# Formats of pictures that examples write, and the formats for browsers.
SHOWN = {".svg": ".svg", ".ppm": ".png"}


def as_shown(picture):
    """Return a picture as text (SVG), or as bytes (PNG)."""
    return picture.read_text("utf-8") if picture.suffix == ".svg" else png(picture.read_bytes())


def png(ppm):
    """Convert a picture from the format P6 to PNG."""
    kind, width, height, _, pixels = ppm.split(maxsplit=4)
    if kind != b"P6":
        raise ValueError(f"expected a picture in the format P6, got {kind!r}")
    size, row = (int(width), int(height)), 3 * int(width)
    pixels = ppm[-row * size[1] :]  # the split may have taken bytes that look like spaces
    lines = b"".join(b"\0" + pixels[i : i + row] for i in range(0, len(pixels), row))
    parts = (
        b"IHDR" + struct.pack(">IIBBBBB", *size, 8, 2, 0, 0, 0),
        b"IDAT" + zlib.compress(lines),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(chunk, (*parts, b"IEND")))


def chunk(part):
    return struct.pack(">I", len(part) - 4) + part + struct.pack(">I", zlib.crc32(part))


# The output of an example as a small picture: columns, rows
COLUMNS, ROWS = 46, 9
FEWEST_ROWS = 3
# pixels: a column, a row, the margin
WIDTH, HEIGHT, MARGIN = 6, 13, 8
SCREEN_WIDTH = COLUMNS * WIDTH + 2 * MARGIN
NO_BREAK_SPACE = "&#160;"  # browsers join other spaces
STYLE = 'font-family="monospace" font-size="10" fill="#24292f"'


def screen(printed):
    """Return the first lines of an output as SVG. Each line has its width in every font."""
    lines = [shortened(line, COLUMNS) for line in printed.expandtabs().splitlines() if line.strip()]
    if len(lines) > ROWS:
        lines[ROWS - 1 :] = ["..."]
    texts = "".join(text(line, row) for row, line in enumerate(lines))
    width, height = SCREEN_WIDTH, max(len(lines), FEWEST_ROWS) * HEIGHT + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}">'
        f'<rect width="100%" height="100%" rx="4" fill="#f6f8fa"/><g {STYLE}>{texts}</g></svg>'
    )


def text(line, row):
    """Return one line as an element of SVG."""
    indent = len(line) - len(line.lstrip())
    x, y = MARGIN + indent * WIDTH, MARGIN + row * HEIGHT + 10
    length = WIDTH * (len(line) - indent)
    return (
        f'<text x="{x}" y="{y}" textLength="{length}" lengthAdjust="spacingAndGlyphs">'
        f"{escape(line.strip()).replace(' ', NO_BREAK_SPACE)}</text>"
    )


def shortened(line, columns):
    line = line.rstrip()
    return line if len(line) <= columns else line[: columns - 3].rstrip() + "..."


def picture_in(printed):
    """Return the picture, or the SVG in the folder, that the last line names; or None."""
    path = Path(printed.split()[-1]) if printed else Path()
    paths = sorted(path.glob("*.svg")) if path.is_absolute() and path.is_dir() else [path]
    return paths[0] if paths and paths[0].suffix in SHOWN and paths[0].is_file() else None


def output(path):
    """Return the output of an example on the emulator; raise if the example fails."""
    environment = {**os.environ, "HALFWARP_BACKEND": "emulator"}
    command = [sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{path}: {done.stderr}")
    return done.stdout.strip()

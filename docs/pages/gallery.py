# SPDX-License-Identifier: Apache-2.0
"""A page for each example: what it does, what it prints and draws on the emulator, its source."""

import ast
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from .tables import underlined

HEAD = """
Whole programs, each run by the tests, on the emulator and on a GPU. What they print here was
printed on the emulator when these pages were built; its times say nothing about a GPU.
"""


# Titles of the folders of examples, in this order; first those of no folder.
THEMES = {
    ".": "Basics",
    "kernels": "Kernels",
    "memory": "Memory",
    "streams": "Streams",
    "graphs": "Graphs",
    "machine": "The machine",
    "recipes": "Several devices and processes",
}


def index_of(paths, folder):
    """The list of all examples, by theme."""
    parts = [f"{underlined('Examples', '=')}{HEAD}"]
    for theme, title in THEMES.items():
        found = [path.stem for path in paths if path.parent.relative_to(folder).as_posix() == theme]
        if found:
            entries = "".join(f"   {name}\n" for name in found)
            parts.append(f"{underlined(title, '-')}\n.. toctree::\n   :maxdepth: 1\n\n{entries}")
    return "\n".join(parts)


def pages(folder):
    """Path -> text, of the index, of each example below a folder, and of what it draws."""
    paths = sorted(folder.rglob("*.py"))
    made = {}
    for path in paths:
        printed = output(path)
        picture = picture_in(printed)
        shown = picture and f"{path.stem}{SHOWN[picture.suffix]}"
        made[f"{path.stem}.rst"] = page(path, folder, printed, shown)
        if picture is not None:
            made[shown] = as_shown(picture)
    return {"index.rst": index_of(paths, folder), **made}


def page(path, folder, printed, picture=None):
    title, _, text = ast.get_docstring(ast.parse(path.read_text())).partition("\n\n")
    name = path.relative_to(folder).as_posix()
    printed = "".join(f"   {line}\n" for line in without_random_names(printed).splitlines())
    picture = f".. image:: {picture}\n\n" if picture else ""
    return (
        f"{underlined(title.rstrip('.').replace('`', ''), '=')}\n{literal(text)}\n\n"
        ".. code-block:: text\n\n"
        f"   $ HALFWARP_BACKEND=emulator python examples/{name}\n{printed}\n{picture}"
        f".. literalinclude:: /../examples/{name}\n   :language: python\n"
    )


def without_random_names(printed):
    """Files in temporary folders under the part of their names that is the same each time."""
    return re.sub(rf"{tempfile.gettempdir()}/([\w-]+?)-?\w{{8}}(?=/|\s|$)", r"/tmp/\1", printed)


def literal(text):
    return text.replace("`", "``")


# Files of pictures that examples write, and what browsers show of them.
SHOWN = {".svg": ".svg", ".ppm": ".png"}


def as_shown(picture):
    """A picture as text (SVG), or as bytes (PNG)."""
    return picture.read_text("utf-8") if picture.suffix == ".svg" else png(picture.read_bytes())


def png(ppm):
    """A picture of the form P6, as browsers know it."""
    kind, width, height, _, pixels = ppm.split(maxsplit=4)
    if kind != b"P6":
        raise ValueError(f"a picture of the form P6, not {kind!r}")
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


def picture_in(printed):
    """The picture that the last line names, or the SVG in a folder that it names; else None."""
    named = Path(printed.split()[-1]) if printed else Path()
    found = sorted(named.glob("*.svg")) if named.is_absolute() and named.is_dir() else [named]
    return found[0] if found and found[0].suffix in SHOWN and found[0].is_file() else None


def output(path):
    """What an example prints on the emulator; the build fails when it does."""
    environment = {**os.environ, "HALFWARP_BACKEND": "emulator"}
    command = [sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{path}: {done.stderr}")
    return done.stdout.strip()

# SPDX-License-Identifier: Apache-2.0
"""A page for each example: what it does, what it prints and draws on the emulator, its source."""

import ast
import os
import subprocess
import sys
from pathlib import Path

from .tables import underlined

HEAD = """
Whole programs, each run by the tests, on the emulator and on a GPU. What they print here was
printed on the emulator when these pages were built; its times say nothing about a GPU.
"""


def pages(folder):
    """Path -> text, of the index, of each example below a folder, and of what it draws."""
    paths = sorted(folder.rglob("*.py"))
    entries = "".join(f"   {path.stem}\n" for path in paths)
    made = {}
    for path in paths:
        printed = output(path)
        picture = picture_in(printed)
        made[f"{path.stem}.rst"] = page(path, folder, printed, picture is not None)
        if picture is not None:
            made[f"{path.stem}.svg"] = picture.read_text("utf-8")
    index = f"{underlined('Examples', '=')}{HEAD}\n.. toctree::\n   :maxdepth: 1\n\n{entries}"
    return {"index.rst": index, **made}


def page(path, folder, printed, has_picture=False):
    title, _, text = ast.get_docstring(ast.parse(path.read_text())).partition("\n\n")
    name = path.relative_to(folder).as_posix()
    printed = "".join(f"   {line}\n" for line in printed.splitlines())
    picture = f".. image:: {path.stem}.svg\n\n" if has_picture else ""
    return (
        f"{underlined(title.rstrip('.').replace('`', ''), '=')}\n{literal(text)}\n\n"
        ".. code-block:: text\n\n"
        f"   $ HALFWARP_BACKEND=emulator python examples/{name}\n{printed}\n{picture}"
        f".. literalinclude:: /../examples/{name}\n   :language: python\n"
    )


def literal(text):
    return text.replace("`", "``")


def picture_in(printed):
    """The SVG file that the last line names, or the one in a folder that it names; else None."""
    named = Path(printed.split()[-1]) if printed else Path()
    found = sorted(named.glob("*.svg")) if named.is_absolute() and named.is_dir() else [named]
    return found[0] if found and found[0].suffix == ".svg" and found[0].is_file() else None


def output(path):
    """What an example prints on the emulator; the build fails when it does."""
    environment = {**os.environ, "HALFWARP_BACKEND": "emulator"}
    command = [sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{path}: {done.stderr}")
    return done.stdout.strip()

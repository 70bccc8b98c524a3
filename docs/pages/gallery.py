# SPDX-License-Identifier: Apache-2.0
"""A page for each example: what it does, what it prints on the emulator, its source."""

import ast
import os
import subprocess
import sys

from .tables import underlined

HEAD = """
Whole programs, each run by the tests, on the emulator and on a GPU. What they print here was
printed on the emulator when these pages were built; its times say nothing about a GPU.
"""


def pages(folder):
    """Path -> text, of the index and of each example below a folder."""
    paths = sorted(folder.rglob("*.py"))
    entries = "".join(f"   {path.stem}\n" for path in paths)
    made = {f"{path.stem}.rst": page(path, folder) for path in paths}
    index = f"{underlined('Examples', '=')}{HEAD}\n.. toctree::\n   :maxdepth: 1\n\n{entries}"
    return {"index.rst": index, **made}


def page(path, folder):
    title, _, text = ast.get_docstring(ast.parse(path.read_text())).partition("\n\n")
    name = path.relative_to(folder).as_posix()
    printed = "".join(f"   {line}\n" for line in output(path).splitlines())
    return (
        f"{underlined(title.rstrip('.').replace('`', ''), '=')}\n{literal(text)}\n\n"
        ".. code-block:: text\n\n"
        f"   $ HALFWARP_BACKEND=emulator python examples/{name}\n{printed}\n"
        f".. literalinclude:: /../examples/{name}\n   :language: python\n"
    )


def literal(text):
    return text.replace("`", "``")


def output(path):
    """What an example prints on the emulator; the build fails when it does."""
    environment = {**os.environ, "HALFWARP_BACKEND": "emulator"}
    command = [sys.executable, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    if done.returncode:
        raise RuntimeError(f"{path}: {done.stderr}")
    return done.stdout.strip()

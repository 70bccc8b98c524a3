# SPDX-License-Identifier: Apache-2.0
"""The front page leads to a running kernel: its program prints the shown output."""

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "index.rst").read_text()
GUIDE = ROOT / "docs" / "guide"


def blocks(language, page=PAGE):
    matches = re.findall(rf"^\.\. code-block:: {language}\n\n((?:(?:   .*)?\n)+)", page, re.M)
    return [textwrap.dedent(block).strip() for block in matches]


def test_its_program_prints_the_shown_output(tmp_path):
    (program,), (shown,) = blocks("python"), blocks("text")
    (tmp_path / "first.py").write_text(program)
    command = blocks("sh")[1].split()
    assert command == ["HALFWARP_BACKEND=auto", "python", "first.py"]
    done = subprocess.run(
        [sys.executable, "first.py"],
        cwd=tmp_path,
        env={**os.environ, "HALFWARP_BACKEND": "emulator"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == shown, done.stderr


def test_its_commands_install_existing_extras():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (extras,) = re.findall(r"pip install '\.\[([\w,]+)\]'", PAGE)
    assert set(extras.split(",")) <= set(project["optional-dependencies"])
    assert project["requires-python"].strip(">=") in PAGE


def test_the_timed_walk_has_exactly_its_steps():
    walk = (GUIDE / "five_minutes.rst").read_text()
    rows = re.findall(r"^   \* - (.*)$", walk, re.M)
    steps = {step for row in [*rows, walk.partition("From the source")[2]] for step in code(row)}
    commands = {line for block in blocks("sh") for line in block.splitlines()}
    with_wheel = blocks("sh", (GUIDE / "install.rst").read_text())
    assert commands <= steps
    assert steps - commands <= {line for block in with_wheel for line in block.splitlines()} | {
        "first.py"
    }


def code(text):
    return re.findall(r"``(.*?)``", text)


def test_the_walk_takes_less_than_five_minutes():
    walk = (GUIDE / "five_minutes.rst").read_text()
    tables = walk.split(".. list-table::")[1:]
    totals = [re.search(r"\* - together\n     - (\d+) s", table) for table in tables]
    assert totals[0] and int(totals[0][1]) < 300
    for table, total in zip(tables, totals, strict=True):
        seconds = list(map(int, re.findall(r"^     - (\d+) s$", table, re.M)))
        assert sum(seconds[:-1]) == int(total[1]) == seconds[-1]


def test_every_named_page_exists():
    for name in re.findall(r":doc:`(?:[^`<]*<)?(guide/\w+)>?`", PAGE):
        assert (ROOT / "docs" / f"{name}.rst").exists()

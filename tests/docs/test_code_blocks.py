# SPDX-License-Identifier: Apache-2.0
"""Every Python block of the README and of the guide runs unchanged, page by page."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "index.rst"]
PAGES += sorted((ROOT / "docs" / "guide").rglob("*.rst"))


def blocks_of(page):
    text = page.read_text()
    if page.suffix == ".md":
        return re.findall(r"```python\n(.*?)```", text, re.S)
    result = re.findall(r"^\.\. code-block:: python\n\n((?:(?:   .*)?\n)+)", text + "\n", re.M)
    return [textwrap.dedent(block) for block in result]


def test_the_guide_has_blocks_to_run():
    assert sum(len(blocks_of(page)) for page in PAGES) >= 7


PROGRAM = re.compile(r"^\.\. code-block:: (?:python|sh)\n\n((?:(?:   .*)?\n)+)", re.M)


@pytest.mark.parametrize("page", PAGES[1:], ids=lambda page: page.name)
def test_code_is_no_wider_than_its_column(page):
    blocks = PROGRAM.findall(page.read_text() + "\n")
    lines = [line for block in blocks for line in block.split("\n")]
    assert [line for line in lines if len(line) > 103] == []  # 100 columns, and the indentation


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks_of(page)], ids=lambda page: page.name
)
def test_blocks_of_a_page_run(page, tmp_path):
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks_of(page)))
    command = [sys.executable, str(program)]
    # in that folder, since pages write files as well
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Examples of the reference.

`PAGE_examples.py` below `docs/reference` has the examples of the names on a page. A line
``# example: NAME, NAME`` begins the example of these names, below `cuda.core`. The lines before
the first one are common to all examples of the page. The tests run each file as a whole.
"""

import re
from pathlib import Path

from .tables import code_block

FOLDER = Path(__file__).resolve().parents[1] / "reference"
MARK = re.compile(r"^# example: (.+)\n", re.M)


class Examples:
    """The examples of a page: full name -> code."""

    def __init__(self, text):
        head, *parts = MARK.split(text)
        self.common = "\n".join(head.split("\n")[2:]).strip("\n")
        self.codes = {}
        for names, code in zip(parts[::2], parts[1::2], strict=True):
            for name in names.split(", "):
                full_name = name if name.startswith("cuda.") else f"cuda.core.{name}"
                self.codes[full_name] = code.strip("\n")

    def introduction(self):
        """Return what all examples of the page begin with."""
        if not self.common:
            return ""
        return "The examples of this page begin with these lines:\n\n" + code_block(self.common)

    def text(self, full_name):
        """Return the example of a name, or an empty string."""
        code = self.codes.get(full_name)
        return f"\n{code_block(code)}" if code else ""


def examples_of(page):
    path = next(FOLDER.rglob(f"{page}_examples.py"), None)
    return Examples(path.read_text("utf-8") if path else "")


def all_examples():
    """Return full name -> code of all pages."""
    codes = {}
    for path in sorted(FOLDER.rglob("*.py")):
        codes |= Examples(path.read_text("utf-8")).codes
    return codes

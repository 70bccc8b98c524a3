# SPDX-License-Identifier: Apache-2.0
"""Corrects Cython's output for an extension that consists of many included files."""

from __future__ import annotations

import sys
from pathlib import Path

# Cython caches the code object of each line that raised, and looks it up by the line alone, so a
# traceback would name the file that first raised on that line number. No file has 1024 lines, so
# adding the address of the file name makes the key unique.
BY_LINE = "code_object(c_line ? -c_line : py_line"
BY_FILE_AND_LINE = "code_object((int)((unsigned)(size_t)filename * 1024u + (unsigned)py_line)"
LOOKUPS = 4  # lookup and insertion, each with and without the limited API


def distinguish_files(source: Path) -> None:
    """Make tracebacks name the included file and the function in which an error was raised.

    If Cython's output differs, the extension is built unchanged, and only tracebacks are affected;
    `tests/core/extension/test_classes.py` detects this.
    """
    text = source.read_text()
    if text.count(BY_FILE_AND_LINE) == LOOKUPS:
        return
    if text.count(BY_LINE) != LOOKUPS:
        problem = "Cython has a new way to look up the code objects of tracebacks"
        print(f"{source}: {problem}", file=sys.stderr)
        return
    source.write_text(text.replace(BY_LINE, BY_FILE_AND_LINE))

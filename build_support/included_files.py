# SPDX-License-Identifier: Apache-2.0
"""Corrects what Cython writes for an extension that is made of many included files."""

from __future__ import annotations

import sys
from pathlib import Path

# Cython keeps the code object of each line that raised, and looks it up by the line alone: the
# traceback of an error would name whichever file raised in that line first. No file of ours has
# 1024 lines, so with the address of its name the key is one of its own.
BY_LINE = "code_object(c_line ? -c_line : py_line"
BY_FILE_AND_LINE = "code_object((int)((unsigned)(size_t)filename * 1024u + (unsigned)py_line)"
LOOKUPS = 4  # finding and keeping, with the limited API and without


def tell_apart(source: Path) -> None:
    """Let tracebacks name the included file and the function in which an error was raised.

    With a Cython that writes something else the extension is as good but for that, so that it is
    built as it is; `tests/core/extension/test_classes.py` tells.
    """
    text = source.read_text()
    if text.count(BY_FILE_AND_LINE) == LOOKUPS:
        return
    if text.count(BY_LINE) != LOOKUPS:
        what = "Cython has a new way to look up the code objects of tracebacks"
        print(f"{source}: {what}", file=sys.stderr)
        return
    source.write_text(text.replace(BY_LINE, BY_FILE_AND_LINE))

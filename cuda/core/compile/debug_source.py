# SPDX-License-Identifier: Apache-2.0
"""A file with the source of a program, for debuggers and profilers to show."""

import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path

# The first kernel's name: what stands before its parameters, past attributes such as
# __launch_bounds__(256).
_ATTRIBUTE = r"__\w+__\s*\((?:[^()]|\([^()]*\))*\)"
_FIRST_KERNEL = re.compile(
    rf"__global__(?:\s|{_ATTRIBUTE}|[\w:*&<>,])*?\b(?!__)([A-Za-z_]\w*)\s*\("
)


def write(source):
    """Write a source to a new temporary file named after the caller and the first kernel.

    Returns its path, or None when no file can be written: then the program just has no file.

    Raises
    ------
    UnicodeEncodeError
        If the source is no text that can be encoded; nothing is left behind then.
    """
    content = source.encode()
    found = _FIRST_KERNEL.search(source)
    stem = f"{_caller_stem()}_{found[1] if found else 'kernel'}_"
    try:
        number, path = tempfile.mkstemp(prefix=stem, suffix=".cu")
    except OSError:
        return None
    try:
        with open(number, "wb") as file:
            file.write(content)
    except OSError:
        remove(path, os.getpid())
        return None
    return path


def remove(path, owner):
    """Delete the file, if this is the process that wrote it and no child that was forked from it.

    One that is gone already is no error.
    """
    if os.getpid() == owner:
        with contextlib.suppress(OSError):
            os.unlink(path)


def named(source, path):
    """The source with its lines counted in the file of that path.

    The compiler goes on to look for quoted includes where it would without the file: beside the
    program's name, which is not the path.
    """
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{escaped}"\n{source}'


def _caller_stem():
    """File name, without suffix, of the code that makes the program; compiled code has no frame."""
    frame = sys._getframe(2)
    return re.sub(r"\W+", "_", Path(frame.f_code.co_filename).stem).strip("_") or "program"

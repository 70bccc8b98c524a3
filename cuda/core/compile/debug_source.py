# SPDX-License-Identifier: Apache-2.0
"""A file with the source of a program, which debuggers and profilers display."""

import contextlib
import os
import re
import sys
import tempfile
from pathlib import Path

# Matches the name of the first kernel, before its parameters and after attributes such as
# __launch_bounds__(256).
_ATTRIBUTE = r"__\w+__\s*\((?:[^()]|\([^()]*\))*\)"
_FIRST_KERNEL = re.compile(
    rf"__global__(?:\s|{_ATTRIBUTE}|[\w:*&<>,])*?\b(?!__)([A-Za-z_]\w*)\s*\("
)


def write(source):
    """Write a source to a new temporary file named after the caller and the first kernel.

    Return its path, or None if no file can be written; the file is optional.

    Raises
    ------
    UnicodeEncodeError
        If the source cannot be encoded; no file remains then.
    """
    content = source.encode()
    match = _FIRST_KERNEL.search(source)
    stem = f"{_caller_stem()}_{match[1] if match else 'kernel'}_"
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
    """Delete the file if this process wrote it; a forked child must not delete it.

    A missing file is no error.
    """
    if os.getpid() == owner:
        with contextlib.suppress(OSError):
            os.unlink(path)


def named(source, path):
    """Return the source with a #line directive that names the file.

    The compiler still searches quoted includes in the folder of the program's name, which is
    independent of the path.
    """
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{escaped}"\n{source}'


def _caller_stem():
    """Return the stem of the file that creates the program; compiled code has no frame."""
    frame = sys._getframe(2)
    return re.sub(r"\W+", "_", Path(frame.f_code.co_filename).stem).strip("_") or "program"

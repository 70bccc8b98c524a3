# SPDX-License-Identifier: Apache-2.0
"""Corrects the function of Cython's output that adds a frame to a traceback."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# Cython caches the code object of each line that raised, and looks it up by the line alone, so a
# traceback would name the file that first raised on that line number. No file has 1024 lines, so
# adding the address of the file name makes the key unique.
BY_LINE = "code_object(c_line ? -c_line : py_line"
BY_FILE_AND_LINE = "code_object((int)((unsigned)(size_t)filename * 1024u + (unsigned)py_line)"
LOOKUPS = 4  # lookup and insertion, each with and without the limited API

# A frame inside the package names a file that is not installed, so nothing can show its line.
# Without such frames the last frame is the user's call, as for the functions of Python itself.
# Cython adds a frame when a function ends with an error, and when a handler begins. The code of a
# handler needs a traceback, so its frame is removed when the function ends.
PYTHON = '#include "Python.h"\n'
DECLARED = PYTHON + '#include "python/traceback.hpp"\n'
ADDITION = re.compile(r"static void __Pyx_AddTraceback(\([^)]*\)) \{\n")
DEFINITIONS = 2  # with and without the limited API
HANDLER = re.compile(r"__Pyx_AddTraceback(\([^;]*\);\s*if \(__Pyx_GetException\()")
PARAMETERS = "(const char *funcname, int c_line, int py_line, const char *filename)"
PROTOTYPE = "/* AddTraceback.proto */\n"
ADD_FRAME = f"static void halfwarp_add_frame{PARAMETERS};\n"
AT_END = f"""/* AddTraceback */
static void __Pyx_AddTraceback{PARAMETERS} {{
    if (halfwarp::python::has_inner_frames()) {{
        halfwarp_add_frame(funcname, c_line, py_line, filename);
    }} else {{
        halfwarp::python::remove_inner_frames(__pyx_mstate_global->__pyx_d);
    }}
}}
"""
HEADING = "/* AddTraceback */\n"


def keyed_by_file(text: str) -> str | None:
    """Return C code whose tracebacks name the included file in which an error was raised."""
    if text.count(BY_FILE_AND_LINE) == LOOKUPS:
        return text
    if text.count(BY_LINE) == LOOKUPS:
        return text.replace(BY_LINE, BY_FILE_AND_LINE)
    return None


def shortened(text: str) -> str | None:
    """Return C++ code whose tracebacks have the frames of the package only on request."""
    if text.count(AT_END) == 1:
        return text
    once = (PYTHON, PROTOTYPE, HEADING)
    if any(text.count(each) != 1 for each in once) or len(ADDITION.findall(text)) != DEFINITIONS:
        return None
    text = ADDITION.sub(lambda match: f"static void halfwarp_add_frame{match[1]} {{\n", text)
    text = HANDLER.sub(lambda match: f"halfwarp_add_frame{match[1]}", text)
    for place, addition in zip(once, (DECLARED, PROTOTYPE + ADD_FRAME, AT_END), strict=True):
        text = text.replace(place, addition)
    return text


def correct(source: Path) -> None:
    """Correct the tracebacks of an extension.

    If Cython's output differs, the extension is built unchanged, and only tracebacks are affected;
    `tests/core/extension/test_tracebacks.py` detects this.
    """
    text = original = source.read_text()
    for correction in (keyed_by_file, shortened) if source.suffix == ".cpp" else (keyed_by_file,):
        corrected = correction(text)
        if corrected is None:
            problem = f"Cython has a new way to add frames to tracebacks ({correction.__name__})"
            print(f"{source}: {problem}", file=sys.stderr)
        text = corrected or text
    if text != original:
        source.write_text(text)

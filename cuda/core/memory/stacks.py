# SPDX-License-Identifier: Apache-2.0
"""Python stacks of allocations, formatted only when they are printed."""

import sys
from pathlib import PurePath
from traceback import FrameSummary, format_list

DEPTH = 64  # frames
_OWN = str(PurePath(__file__).parent)  # frames of this package are omitted


def stack_here():
    """Return the stack of the caller outside this package, outermost first. Host only.

    Returns
    -------
    tuple of (str, int, str)
        File, line and function of each frame, without references to the frames.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    frames = []
    while frame is not None and len(frames) < DEPTH:
        code = frame.f_code
        frames.append((code.co_filename, frame.f_lineno or 0, code.co_name))
        frame = frame.f_back
    return tuple(reversed(frames))


def format_stack(stack):
    """Return the lines of a stack, as `traceback.format_list` formats them. Host only."""
    return format_list([FrameSummary(*each) for each in stack])


def innermost(stack):
    """Return the place of an allocation as text; empty if it is unknown. Host only."""
    if not stack:
        return ""
    file, line, function = stack[-1]
    return f", {function}() at {file}:{line}"

# SPDX-License-Identifier: Apache-2.0
"""Python stacks of allocations: recorded cheaply, written out only when they are shown."""

import sys
from pathlib import PurePath
from traceback import FrameSummary, format_list

DEPTH = 64  # frames
_OWN = str(PurePath(__file__).parent)  # whose frames tell the user nothing


def stack_here():
    """The stack of the caller outside this package, outermost first. Host only.

    Returns
    -------
    tuple of (str, int, str)
        File, line and function of each frame; without references to the frames.
    """
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    found = []
    while frame is not None and len(found) < DEPTH:
        code = frame.f_code
        found.append((code.co_filename, frame.f_lineno or 0, code.co_name))
        frame = frame.f_back
    return tuple(reversed(found))


def format_stack(stack):
    """The lines of a stack, as `traceback.format_list` writes them. Host only."""
    return format_list([FrameSummary(*each) for each in stack])


def innermost(stack):
    """Where an allocation was made, in a few words; empty if that is not known. Host only."""
    if not stack:
        return ""
    file, line, function = stack[-1]
    return f", {function}() at {file}:{line}"

# SPDX-License-Identifier: Apache-2.0
"""Finds where a library was loaded from, or where it was searched for."""

import os
import re
from pathlib import Path

MAPS = Path("/proc/self/maps")


def mapped_file(address):
    """Return the file mapped at an address, with links resolved, or None if unknown."""
    if not MAPS.exists():
        return None
    for line in MAPS.read_text("utf-8", "replace").splitlines():
        fields = line.split(maxsplit=5)
        start, _, end = fields[0].partition("-")
        if int(start, 16) <= address < int(end, 16):
            return fields[5] if len(fields) == 6 else None
    return None


def searched(error):
    """Return the folders in a library's error message and the folders of the system."""
    folders = re.findall(r'listdir\("([^"]+)"\)', str(error))
    path = os.environ.get("LD_LIBRARY_PATH")
    system = f"LD_LIBRARY_PATH ({path or 'not set'}), the cache of ldconfig, /lib and /usr/lib"
    return [*folders, system]


def first_line(error):
    """Return the first line of a message; the pathfinder appends the content of every folder."""
    return next(iter(str(error).splitlines()), "")

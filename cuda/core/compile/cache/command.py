# SPDX-License-Identifier: Apache-2.0
"""The command ``halfwarp cache``: print the content of a cache folder, and shrink it."""

import os
import re
import sys

from cuda.core.compile.cache.file_stream import FileStreamProgramCache
from cuda.core.compile.cache.folders import program_cache_folder

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def main(folder, prune, clear):
    """Remove the requested programs, print path, entries and bytes; return the exit status."""
    if prune is not None and clear:
        return _complain("--prune and --clear exclude each other")
    limit = None if prune is None else _bytes_of(prune)
    if prune is not None and limit is None:
        return _complain(f"--prune requires a number of bytes such as 50M, got {prune!r}")
    path = program_cache_folder() if folder is None else folder
    # The command creates no folder, and does not clear a folder that is not a cache.
    if not os.path.isdir(os.path.join(path, "entries")):
        if folder is not None:
            return _complain(f"{path} is not a program cache: it has no folder 'entries'")
        print(f"{path}: no cache exists yet")
        return 0
    try:
        cache = FileStreamProgramCache(path)
        removed = _shrink(cache, limit, clear)
        stats = cache.stats()
    except OSError as error:
        return _complain(str(error))
    if removed is not None:
        print(f"removed {removed} of {removed + stats['entries']}")
    print(f"path     {os.path.abspath(path)}")
    print(f"entries  {stats['entries']}")
    print(f"bytes    {stats['bytes']}")
    return 0


def _shrink(cache, limit, clear):
    """Return the number of removed programs; None if no removal was requested."""
    if clear:
        count = len(cache)
        cache.clear()
        return count - len(cache)
    return None if limit is None else cache.prune(limit)


def _bytes_of(text):
    match = re.fullmatch(r"(\d+)([KMG]?)", text.strip().upper())
    return int(match[1]) * _UNITS[match[2]] if match else None


def _complain(text):
    print(f"halfwarp cache: {text}", file=sys.stderr)
    return 1

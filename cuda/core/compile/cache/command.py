# SPDX-License-Identifier: Apache-2.0
"""The command ``halfwarp cache``: what a cache folder has, and making it smaller."""

import os
import re
import sys

from cuda.core.compile.cache.file_stream import FileStreamProgramCache
from cuda.core.compile.cache.folders import program_cache_folder

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def main(folder, prune, clear):
    """Print path, entries and bytes; before that, remove what is asked for. The exit status."""
    if prune is not None and clear:
        return _complain("--prune and --clear exclude each other")
    limit = None if prune is None else _bytes_of(prune)
    if prune is not None and limit is None:
        return _complain(f"--prune needs a number of bytes such as 50M, got {prune!r}")
    path = program_cache_folder() if folder is None else folder
    # Looking makes nothing, and what is no cache is not emptied.
    if not os.path.isdir(os.path.join(path, "entries")):
        if folder is not None:
            return _complain(f"{path} is no program cache: it has no folder 'entries'")
        print(f"{path}: there is no cache yet")
        return 0
    try:
        cache = FileStreamProgramCache(path)
        removed = _shrink(cache, limit, clear)
        now = cache.stats()
    except OSError as error:
        return _complain(str(error))
    if removed is not None:
        print(f"removed {removed} of {removed + now['entries']}")
    print(f"path     {os.path.abspath(path)}")
    print(f"entries  {now['entries']}")
    print(f"bytes    {now['bytes']}")
    return 0


def _shrink(cache, limit, clear):
    """How many programs were removed; None where that is not asked for."""
    if clear:
        before = len(cache)
        cache.clear()
        return before - len(cache)
    return None if limit is None else cache.prune(limit)


def _bytes_of(text):
    found = re.fullmatch(r"(\d+)([KMG]?)", text.strip().upper())
    return int(found[1]) * _UNITS[found[2]] if found else None


def _complain(text):
    print(f"halfwarp cache: {text}", file=sys.stderr)
    return 1

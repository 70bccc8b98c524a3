# SPDX-License-Identifier: Apache-2.0
"""Runs rows in this interpreter, on its `cuda.core`; prints one JSON line per row.

Started by `python -m benchmarks` in each environment. The folder of this script is first on the
path, so that the working tree's `cuda/` cannot replace an installed package.
"""

import json
import sys

import rows.buffers
import rows.compiling
import rows.graphs
import rows.launch
import rows.libraries
import rows.low_level
import rows.machine
import rows.objects
import rows.plain_values  # noqa: F401  (importing registers the rows)
from rows import ROWS, World
from timing import least


def time_of(row, world):
    """Return nanoseconds of one call above an empty Python call."""
    whole, empty = least(row.prepare(world))
    return whole - empty if row.calls == 1 else whole / row.calls


def main(names):
    world = World()
    for name in names:
        try:
            result = {"row": name, "ns": time_of(ROWS[name], world)}
        except Exception as error:  # continue with the other rows
            result = {"row": name, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""Runs rows in this interpreter, on whatever `cuda.core` it has; one JSON line a row on stdout.

Started by `python -m benchmarks` in each environment: the folder of this script is the first on the
path, so the working tree's `cuda/` cannot take the place of an installed package.
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
    """Nanoseconds of one call above an empty Python call."""
    whole, empty = least(row.prepare(world))
    return whole - empty if row.calls == 1 else whole / row.calls


def main(names):
    world = World()
    for name in names:
        try:
            result = {"row": name, "ns": time_of(ROWS[name], world)}
        except Exception as error:  # one row that cannot run here must not hide the others
            result = {"row": name, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

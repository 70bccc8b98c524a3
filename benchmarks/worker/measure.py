# SPDX-License-Identifier: Apache-2.0
"""Runs rows in this interpreter, on whatever `cuda.core` it has; one JSON line a row on stdout.

Started by `python -m benchmarks` in each environment: the folder of this script is the first on the
path, so the working tree's `cuda/` cannot take the place of an installed package.
"""

import json
import sys

import rows.launch
import rows.libraries
import rows.low_level
import rows.objects  # noqa: F401  (importing registers the rows)
from rows import EMPTY, ROWS, World
from timing import empty_call, least


def time_of(row, world, empty):
    """Nanoseconds of one call, and of the empty Python call that is taken off every row."""
    whole = least(row.prepare(world))
    return whole if row.calls == 1 else whole / row.calls + empty


def main(names):
    world = World()
    empty = empty_call()
    for name in names:
        try:
            result = {"row": name, "ns": time_of(ROWS[name], world, empty)}
        except Exception as error:  # one row that cannot run here must not hide the others
            result = {"row": name, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(result), flush=True)
        empty = min(empty, empty_call())
    print(json.dumps({"row": EMPTY, "ns": empty}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""Counts the corpus with ncu on a GPU, and prints the values for `tests/data/ncu_counters.json`.

Needs CuPy and ncu: ``python tests/emulator/profile/measure.py METRIC... > values.json``.
"""

import csv
import json
import subprocess
import sys

from corpus import CASES, ELEMENTS

PREFIX = "case_"
NCU = ["ncu", "--csv", "--page", "raw", "--print-units", "base", "--kernel-name-base", "function"]


def launch_all():
    """Launch each kernel once, under the name of its case."""
    import cupy

    a = cupy.arange(8 * ELEMENTS, dtype=cupy.float32) % 3
    b, c = cupy.zeros(8 * ELEMENTS, cupy.float32), cupy.zeros(8 * ELEMENTS, cupy.int32)
    for case in CASES:
        c[:] = 0
        name = PREFIX + case.name
        kernel = cupy.RawKernel(case.source.replace("void kernel(", f"void {name}("), name)
        kernel((2,), (128,), (a, b, c))
        cupy.cuda.Device().synchronize()


def measured(metrics):
    """Return the values of the metrics by kernel."""
    options = ["--kernel-name", f"regex:^{PREFIX}", "--metrics", ",".join(metrics)]
    command = [*NCU, *options, sys.executable, __file__, "launch"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = csv.DictReader(line for line in done.stdout.splitlines() if line.startswith('"'))
    return {
        row["Kernel Name"].removeprefix(PREFIX): [int(row[m].replace(",", "")) for m in metrics]
        for row in rows
        if row["ID"]  # the first row has the units
    }


def main(arguments):
    if arguments == ["launch"]:
        launch_all()
        return
    print(json.dumps({"metrics": arguments, "kernels": measured(arguments)}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])

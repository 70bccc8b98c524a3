# SPDX-License-Identifier: Apache-2.0
"""Coverage of kernels of numba-cuda equals a count by hand; skipped without the package."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("coverage")

ROOT = Path(__file__).parents[3]
SITE = Path(os.environ.get("HALFWARP_CLIENTS") or ROOT / ".clients" / "site")
PACKAGES = ("cffi", "llvmlite", "numba", "numba-cuda", "pycparser", "psutil")

# hand_counted.py explains the comments.
SCRIPT = """\
import numpy as np

np.row_stack = np.vstack  # numba-cuda 0.30 names it at import; NumPy 2.5 removed it
from numba import cuda


@cuda.jit(device=True)
def clamp(value, limit):
    if value > limit:               #+ 2/2
        return limit                #+
    return value                    #+


@cuda.jit
def kernel(x, n):
    i = cuda.grid(1)                #+
    if i >= n:                      #+ 2/2
        return                      #+
    total = 0                       #+
    for j in range(4):              #+ 2/2
        if j == 9:                  #+ 1/2
            total += 100            #-
        total += j                  #+
    if i > 100:                     #+ 1/2
        x[0] = -1                   #-
    elif i % 2 == 0:                #+ 2/2
        x[i] = clamp(total + i, 8)  #+
    else:
        x[i] = i                    #+


x = cuda.to_device(np.zeros(32, dtype=np.int32))
kernel[1, 32](x, 20)
assert x.copy_to_host().tolist()[:10] == [6, 1, 8, 3, 8, 5, 8, 7, 8, 9]
"""
LAUNCHER = """\
import site, sys
for folder in sys.argv[2:]:
    site.addsitedir(folder)
sys.argv[:] = ["coverage", "run", sys.argv[1]]
from coverage.cmdline import main
sys.exit(main())
"""


def test_lines_and_branches_equal_the_count_by_hand(tmp_path):
    folders = [str(SITE / package) for package in PACKAGES]
    if not all(map(os.path.isdir, folders)):
        pytest.skip("numba-cuda is not in the folder of clients")
    for name, text in {
        "script.py": SCRIPT,
        "launcher.py": LAUNCHER,
        ".coveragerc": "[run]\nbranch = True\nsource = .\nplugins = halfwarp.coverage\n",
    }.items():
        (tmp_path / name).write_text(text)
    path = subprocess.run(
        [sys.executable, "-m", "halfwarp", "emulate", "path"], capture_output=True, text=True
    )
    environment = {
        **os.environ,
        "HALFWARP_BACKEND": "emulator",
        "LD_LIBRARY_PATH": path.stdout.strip(),
    }
    for command in (["launcher.py", "script.py", *folders], ["-m", "coverage", "json"]):
        outcome = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path, env=environment, capture_output=True, text=True,
        )  # fmt: skip
        assert outcome.returncode == 0, outcome.stderr + outcome.stdout
    counted = json.loads((tmp_path / "coverage.json").read_text())["files"]["script.py"]
    missing = set()
    for number, line in enumerate(SCRIPT.split("\n"), 1):
        if count := re.search(r"#([+-])(?: (\d)/(\d))?", line):
            missing |= {number} if count[1] == "-" else set()
            if count[2]:
                taken = [end for start, end in counted["executed_branches"] if start == number]
                missed = [end for start, end in counted["missing_branches"] if start == number]
                assert (len(taken), len(taken + missed)) == (int(count[2]), int(count[3])), line
    assert set(counted["missing_lines"]) == missing

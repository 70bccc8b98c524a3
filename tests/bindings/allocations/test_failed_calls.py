# SPDX-License-Identifier: Apache-2.0
"""Each allocation of each call of cuda.bindings fails once: an exception, no crash, no leak."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("_testcapi", reason="the hooks of CPython's allocators")
FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[2]
# Groups of operations of each library in their order, with the least number of each.
LIBRARIES = {
    "driver": {
        "first_uses": 450,
        "structs": 700,
        "enums": 40,
        "handles": 500,
        "filled_structs": 40,
        "arguments": 60,
        "functions": 900,
    },
    "runtime": {"first_uses": 250, "structs": 500, "functions": 600},
    "nvml": {"first_uses": 100, "structs": 100, "enums": 40, "raising_functions": 700},
    "cufile": {"first_uses": 10, "structs": 20, "raising_functions": 60},
    "nvvm": {"raising_functions": 20},
    "v2_driver": {"raising_functions": 900},
    "v2_nvrtc": {"raising_functions": 40},
}


def run(*arguments):
    """Run the program on the null driver, and return what it prints."""
    settings = {
        "HALFWARP_BACKEND": "emulator",
        "HALFWARP_EMULATOR_MODE": "null",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{FOLDER}",
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("library", LIBRARIES)
def test_calls_survive_a_failed_allocation(library):
    least = LIBRARIES[library]
    report = json.loads(run(FOLDER / "failed_calls.py", library, *least))
    assert {group: wrong for group, (_, wrong) in report.items() if wrong} == {}
    assert {group: n for group, (n, _) in report.items() if n < least[group]} == {}


FAULTY = """
import ctypes, failed_calls

def hide():
    try:
        return bytearray(100)
    except MemoryError:
        return None

def replace():
    try:
        return bytearray(100)
    except MemoryError:
        raise KeyError("of a check") from None

lost = []
for call in (hide, replace, lambda: lost.append([0])):
    print(*failed_calls.Failures(call.__name__, call).run(), sep="\\n")
"""


def test_failures_are_reported():
    failures = run("-c", FAULTY)
    assert "hide: without allocation 0: NoneType None, else bytearray" in failures
    assert "replace: without allocation 0: KeyError: 'of a check', else bytearray" in failures
    assert "objects are lost" in failures

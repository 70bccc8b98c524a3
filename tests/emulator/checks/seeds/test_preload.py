# SPDX-License-Identifier: Apache-2.0
"""`seeds.preload` opens no emulator, and shared code equals compiled code."""

import subprocess
import sys

from ..run_cases import ROOT

SCRIPT = """
import sys
from pathlib import Path

from tests.emulator.checks.seeds import preload

preload.load()
print("libcuda_emulated" in Path("/proc/self/maps").read_text())
preload.share_programs(sys.argv[1])

from cuda.core import Program, ProgramOptions

SOURCE = 'extern "C" __global__ void k(int* out) { *out = 1; }'


def compiled(**options):
    with Program(SOURCE, "c++", ProgramOptions(arch="sm_90", **options)) as program:
        return program.compile("ptx").code


codes = [compiled(), compiled(), compiled(include_path=sys.argv[1])]
print(len(set(codes)), sum(path.is_file() for path in Path(sys.argv[1], "entries").glob("*/*")))
"""


def test_the_emulator_is_not_opened_and_equal_programs_are_compiled_once(tmp_path):
    call = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "False\n1 1\n"), done.stderr

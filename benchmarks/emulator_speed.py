# SPDX-License-Identifier: Apache-2.0
"""python -m benchmarks.emulator_speed [--threads N] [--rounds N]

Times SAXPY, a matrix product and a reduction on the emulator with its default checks, and the same
kernels in C with OpenMP, both with N threads. The goal is a factor of 3 to 10. The times are the
minima of the wall times in milliseconds, so other programs should not run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import environments


def build_twins(folder):
    """Compile the C twins, or end the program without a compiler."""
    compiler = environments.find_compiler()
    if not compiler:
        sys.exit("no C compiler: set CC, or install gcc")
    source, library = environments.FOLDER / "floor" / "openmp.c", Path(folder) / "openmp.so"
    options = ["-O3", "-march=native", "-fopenmp", "-shared", "-fPIC"]
    subprocess.run([compiler, *options, str(source), "-o", str(library)], check=True)
    return str(library)


def measure(threads, rounds):
    """Return the results of the worker, one dict per kernel."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    variables |= {"HALFWARP_BACKEND": "emulator", "OMP_NUM_THREADS": str(threads)}
    if threads > 1:
        variables["HALFWARP_EMULATOR_THREADS"] = str(threads)
    worker = str(environments.FOLDER / "worker" / "emulated.py")
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, worker, build_twins(folder), str(rounds)]
        done = subprocess.run(command, env=variables, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def count(text):
    """Return a positive number, or raise the error that argparse prints."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number from 1 on is needed, not {text!r}")
    return int(text)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.emulator_speed", description=__doc__
    )
    parser.add_argument("--threads", type=count, default=2)
    parser.add_argument("--rounds", type=count, default=30)
    parsed = parser.parse_args(arguments)
    print(f"{'ms':12}{'OpenMP':>10}{'emulator':>10}{'factor':>9}")
    for row in measure(parsed.threads, parsed.rounds):
        twin, emulated = row["openmp"], row["emulated"]
        print(f"{row['kernel']:12}{twin:10.3f}{emulated:10.3f}{emulated / twin:8.1f}x")


if __name__ == "__main__":
    main()

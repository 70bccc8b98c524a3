# SPDX-License-Identifier: Apache-2.0
"""Runs changed PTX in child processes, and reports the mutants that crash or hang one.

``python tests/emulator/fuzz/fuzz.py --seed 1 --mutants 0:100000``; exit status 1 when there are
any. ``--library`` takes another build of the emulator, such as one with sanitizers.
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from halfwarp.progress import progress

HERE = Path(__file__).resolve().parent
CORPUS = HERE.parent / "corpus"
ARCHITECTURES = ("75", "90")
PATIENCE = 30  # seconds for one mutant
BATCH = 5000  # mutants per process


def write_corpus(folder):
    """The PTX of every kernel source, for each architecture."""
    from cuda.core import Program, ProgramOptions

    for source in sorted(CORPUS.glob("*.cu")):
        for architecture in ARCHITECTURES:
            options = ProgramOptions(
                arch=f"compute_{architecture}", std="c++17", use_bundled_headers=True
            )
            code = Program(source.read_text(), "c++", options).compile("ptx").code
            text = code.decode().rstrip("\0")
            (folder / f"{source.stem}_{architecture}.ptx").write_text(text)


def emulator_library():
    import cuda.bindings

    return Path(cuda.bindings.__path__[0]) / "libcuda_emulated.so"


class Run:
    """Runs mutants `first` to `end` of a seed; `problems` lists the crashes and hangs."""

    def __init__(self, library, corpus, seed):
        self.library, self.corpus, self.seed = library, corpus, seed
        self.problems, self.counts, self.peak = [], Counter(), 0

    def mutants(self, first, end):
        with progress("mutants", end - first) as counted:
            while first < end:
                following = self.child(first, min(end, first + BATCH))
                counted.step(following - first)
                first = following
        return self

    def child(self, first, end):
        """Run some mutants; return the number of the next one to run."""
        with tempfile.NamedTemporaryFile() as place:
            place.write(struct.pack("<q", first))
            place.flush()
            command = [sys.executable, HERE / "worker.py", self.library, self.corpus]
            command += ["--seed", str(self.seed), "--mutants", f"{first}:{end}"]
            process = subprocess.Popen(
                [*command, "--progress", place.name],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            *texts, has_hung = self.wait(process, place.name)
            out, err = (text.decode(errors="replace") for text in texts)  # kernels print anything
            at = number_in(place.name)
        if process.returncode == 0 and not has_hung:
            summary = json.loads(out.splitlines()[-1])
            self.peak = max(self.peak, summary.pop("peak_kib"))
            self.counts.update(summary)
            return end
        outcome = "hang" if has_hung else f"status {process.returncode}"
        self.problems.append(
            {"seed": self.seed, "mutant": at, "how": outcome, "stderr": err[-3000:]}
        )
        return at + 1

    @staticmethod
    def wait(process, place):
        """Return the output of a process, and whether it was killed for its duration."""
        last, since = -1, time.monotonic()
        while True:
            try:
                return *process.communicate(timeout=1), False
            except subprocess.TimeoutExpired:
                now = number_in(place)
                if now != last:
                    last, since = now, time.monotonic()
                elif time.monotonic() - since > PATIENCE:
                    process.kill()
                    return *process.communicate(), True


def number_in(path):
    return struct.unpack("<q", Path(path).read_bytes()[:8])[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mutants", default="0:1000", help="first:end")
    parser.add_argument("--library", type=Path, default=None)
    parser.add_argument("--corpus", type=Path, default=None, help="a folder of PTX")
    options = parser.parse_args()
    first, _, end = options.mutants.partition(":")
    with tempfile.TemporaryDirectory() as folder:
        corpus = options.corpus or Path(folder)
        if not options.corpus:
            write_corpus(corpus)
        run = Run(options.library or emulator_library(), corpus, options.seed)
        run.mutants(int(first), int(end))
    report = {"problems": run.problems, "peak_kib": run.peak, **dict(sorted(run.counts.items()))}
    print(json.dumps(report, indent=1))
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())

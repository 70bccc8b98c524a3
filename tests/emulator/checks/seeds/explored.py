# SPDX-License-Identifier: Apache-2.0
"""Explore planted mistakes with 20 seeds, as `halfwarp emulate explore 20` does.

    python -m tests.emulator.checks.seeds.explored [--only MODULE,...] [--sample]
    python -m tests.emulator.checks.seeds.explored --run MODULE NAME

The first form explores each mistake. Only the start of a run differs from the command: it is a
fork, so that it costs no import and no compilation. The exit status is 1 if a mistake is not found,
no schedule repeats it, no command is printed, or the last command of a module does not repeat the
mistake. The second form runs one mistake, as the printed commands do. Its status is 1 if the
mistake has reports.
"""

import argparse
import contextlib
import io
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile

from cuda.core.emulation import explore

from tests.emulator.checks.cases import all_cases
from tests.emulator.checks.planted import hazards
from tests.emulator.checks.planted import programs as more
from tests.emulator.checks.seeds import __main__ as seeds
from tests.emulator.checks.seeds import mistakes, programs

SEEDS = 20
SAMPLE = {
    "races": ("last_block_no_fence", "shared_exchange"),
    "barriers": ("barrier_in_a_branch",),
    mistakes.HAZARDS: ("kernel_after_kernel",),
}


def names_of(module):
    """Return the names of a module's mistakes."""
    if module == mistakes.HAZARDS:
        return list(hazards.CASES | more.CASES)
    planted = programs.planted(module)
    return [name for name in all_cases(planted) if name not in getattr(planted, "CORRECT", {})]


def run_one(module, name, code):
    """Run a mistake."""
    if module == mistakes.HAZARDS:
        return mistakes.run_streams(code, name)
    return mistakes.run_kernels(module, code, name)


class ForkedRuns(explore.Runs):
    """The runs of a planted mistake."""

    def __init__(self, module, name, code, folder):
        command = [sys.executable, "-m", "tests.emulator.checks.seeds.explored", "--run"]
        super().__init__([*command, module, name], folder)
        self.arguments = (module, name, code)

    def run(self, options):
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                os.environ.update(options)
                output = os.open(os.devnull, os.O_WRONLY)
                os.dup2(output, 1)
                os.dup2(output, 2)
                run_one(*self.arguments)
                os._exit(0)
            os._exit(1)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def explored(module, name, code):
    """Return what `explore` prints about a mistake."""
    text = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(text):
        explore.explore(SEEDS, ForkedRuns(module, name, code, folder))
    return text.getvalue()


def faults_of(text):
    """Return what is wrong with the output of `explore` for a mistake."""
    *findings, last = text.split("\n\n")
    faults = []
    if not findings or not last.startswith(f"{SEEDS} seeds: {len(findings)} findings, 0 other"):
        faults.append(f"no finding alone: {last!r}")
    for each in findings:
        if "  repeat: " not in each or "SCHEDULE=" not in each:
            faults.append(f"not repeated by a schedule: {each}")
    return faults


def compiled(module):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(mistakes.compiled, (module,))


def repeats(text):
    """Return whether the command that `explore` prints has the reports again."""
    (command,) = re.findall(r"^  repeat: (.*)$", text, re.M)[:1]
    return subprocess.run(command, shell=True, check=False).returncode == 1


def explore_all(names):
    """Explore mistakes by module, and return the faults by name."""
    faults = {}
    for module, chosen in names.items():
        code = compiled(module)
        for name in chosen:
            text = explored(module, name, code)
            if wrong := faults_of(text):
                faults[f"{module}.{name}"] = wrong
        if not repeats(text):
            faults[f"{module}.{name}: repeated"] = [text]
    return faults


def main():
    modules = [*programs.MODULES, mistakes.HAZARDS]
    if not mistakes.has_library_headers():
        modules.remove("libraries")
    parser = argparse.ArgumentParser(prog="explored", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default=",".join(modules), help="modules, with commas between")
    parser.add_argument("--sample", action="store_true", help="explore four mistakes")
    parser.add_argument("--run", nargs=2, metavar=("MODULE", "NAME"), help="run one mistake")
    chosen = parser.parse_args()
    if chosen.run:
        module, name = chosen.run
        return int(any(run_one(module, name, compiled(module)).values()))
    seeds.set_paths()
    os.environ.setdefault("HALFWARP_EMULATOR_STEP_LIMIT", "2000000")
    names = SAMPLE if chosen.sample else {each: names_of(each) for each in chosen.only.split(",")}
    faults = explore_all(names)
    for name, texts in faults.items():
        print(f"--- {name}", *texts, sep="\n")
    count = sum(map(len, names.values()))
    print(f"{count} mistakes explored with {SEEDS} seeds, {len(faults)} faults: {[*faults]}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())

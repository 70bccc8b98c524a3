# SPDX-License-Identifier: Apache-2.0
"""python tests/differential/functions [MODULE...] [--backend emulator|gpu] [--reference PYTHON]
    [--wheels DIR] [--json FILE]

Calls every function of the low layer in NVIDIA's packages and in ours with the same arguments,
and prints the results that differ. Exit status 1 if a difference is accepted by no rule.
"""

import argparse
import collections
import concurrent.futures
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(1, str(ROOT))  # the generator's model lists the functions

import compare  # noqa: E402
import plan  # noqa: E402
import supervise  # noqa: E402

SHOWN = 60  # printed differences of a module; the file of --json has all
MODULES = ["driver", "runtime", "nvrtc", "nvjitlink", "nvvm", "nvfatbin", "nvml", "cufile", "cudla"]


def emulator_folder():
    """Return a folder whose `libcuda.so.1` is the emulator, for foreign programs."""
    command = [sys.executable, "-m", "cuda.core.emulation", "path"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return done.stdout.strip().splitlines()[-1]


def library_folders():
    """Return the library folders of this interpreter, which both sides use."""
    spec = importlib.util.find_spec("nvidia")
    folders = {
        library.parent
        for place in (spec.submodule_search_locations if spec else [])
        for library in Path(place).glob("**/lib*.so*")
    }
    return sorted(map(str, folders))


def own_folder():
    """Return the folder of the package under test: this tree, or an installed wheel that
    precedes it."""
    from cuda.bindings import _low  # missing in NVIDIA's packages

    return str(Path(_low.__file__).parents[2])


def with_library(names):
    """Return the modules whose library this machine has: others return nothing that rules are
    about."""
    from cuda.bindings import _low
    from cuda.pathfinder import DynamicLibNotFoundError

    for name in names:
        try:
            _low.load(name)
        except DynamicLibNotFoundError:
            continue
        yield name


def unpacked(wheels):
    """Unpack the reference's packages into a folder that is put first on the path."""
    target = tempfile.mkdtemp(prefix="halfwarp-reference-")
    files = sorted(map(str, Path(wheels).glob("cuda_bindings*.whl")))
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*command, "--target", target, *files], check=True)
    return target


def places(options):
    """Map each implementation to its interpreter and environment variables."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    theirs, ours = dict(variables), dict(variables)
    theirs.pop("PYTHONPATH", None)  # a working tree would shadow the reference
    libraries = [variables.get("LD_LIBRARY_PATH", ""), *library_folders()]
    if options.backend == "emulator":
        libraries.insert(0, emulator_folder())
    theirs["LD_LIBRARY_PATH"] = ours["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
    ours["HALFWARP_BACKEND"] = "emulator" if options.backend == "emulator" else "driver"
    ours["PYTHONPATH"] = own_folder()
    python = options.reference or sys.executable
    if options.wheels:
        theirs["PYTHONPATH"] = unpacked(options.wheels)
    return {
        "theirs": (python, theirs),
        "repeated": (python, theirs),
        "ours": (sys.executable, ours),
    }


def compared(name, backend, implementations, pool):
    """Return the differences of a module, and the number of cases."""
    planned = plan.of_library(name, backend)
    runs = {
        implementation: pool.submit(supervise.run, planned, *place)
        for implementation, place in implementations.items()
    }
    outcomes = {implementation: run.result() for implementation, run in runs.items()}
    cases = [case for function in planned["functions"] for case in function["cases"]]
    skipped = collections.Counter(
        case["call"].partition("(")[0]
        for case, *three in zip(cases, *outcomes.values(), strict=True)
        if compare.NOT_RUN in three
    )
    if skipped:
        print(f"{name}: {skipped.total()} calls not made, after hangs: {skipped}")
    return compare.differences(cases, **outcomes, no_answer=planned["no answer"]), len(cases)


def report(name, differences, count, accepted):
    """Print each kind of difference that no rule accepts on one line, and return them."""
    unexpected = [d for d in differences if accepted.rule_for(name, d) is None]
    sorts = collections.defaultdict(list)
    for d in unexpected:
        sorts[
            d["kind"].rpartition(":")[0] or d["kind"], d["variant"], d["theirs"], d["ours"]
        ].append(d)
    print(
        f"{name}: {count} calls, {len(differences)} answers differ, {len(unexpected)} unexpectedly"
    )
    for (kind, variant, theirs, ours), some in sorted(sorts.items(), key=many_first)[:SHOWN]:
        print(f"  {len(some)} x {kind} {variant}: {some[0]['call']}")
        print(f"      theirs: {theirs[:300]}\n      ours:   {ours[:300]}")
    return unexpected


def many_first(item):
    return -len(item[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(MODULES)}")
    parser.add_argument("--backend", choices=["emulator", "gpu"], default="emulator")
    parser.add_argument("--reference", metavar="PYTHON", help="interpreter with NVIDIA's packages")
    parser.add_argument("--wheels", metavar="DIR", help="folder with NVIDIA's wheels, instead")
    parser.add_argument("--json", metavar="FILE", help="write all differences here")
    options = parser.parse_args()
    if not options.reference and not options.wheels:
        parser.error("say where NVIDIA's packages are: --reference or --wheels")
    implementations, names = places(options), options.modules or MODULES
    accepted = compare.Accepted(options.backend)
    reports = {}
    with concurrent.futures.ThreadPoolExecutor(max(2, (os.cpu_count() or 2) // 2)) as pool:
        for name in names:
            differences, count = compared(name, options.backend, implementations, pool)
            unexpected = report(name, differences, count, accepted)
            reports[name] = {"calls": count, "differences": differences, "unexpected": unexpected}
    # The machine decides which rules a GPU run needs, and only a run of all modules needs all
    # rules.
    everything = options.backend == "emulator" and set(names) == set(MODULES)
    unused = accepted.unused(list(with_library(names))) if everything else []
    for title in unused:
        print(f"no difference needs the rule any more: {title}")
    if options.json:
        text = json.dumps({"modules": reports, "unused rules": unused}, indent=1)
        Path(options.json).write_text(text)
    return 1 if unused or any(module["unexpected"] for module in reports.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

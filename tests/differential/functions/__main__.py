# SPDX-License-Identifier: Apache-2.0
"""python tests/differential/functions [MODULE...] [--backend emulator|gpu] [--reference PYTHON]
    [--wheels DIR] [--json FILE]

Calls every function of the low layer in NVIDIA's packages and in ours with the same arguments, and
prints where the answers differ. Exit status 1 if a difference is accepted by no rule.
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
sys.path.insert(1, str(ROOT))  # the generator's model says which functions there are

import compare  # noqa: E402
import plan  # noqa: E402
import supervise  # noqa: E402

SHOWN = 60  # sorts of differences of a module; the file of --json has all
MODULES = ["driver", "runtime", "nvrtc", "nvjitlink", "nvvm", "nvfatbin", "nvml", "cufile", "cudla"]


def emulator_folder():
    """A folder whose `libcuda.so.1` is the emulator, for programs that are not ours."""
    command = [sys.executable, "-m", "cuda.core.emulation", "path"]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return found.stdout.strip().splitlines()[-1]


def library_folders():
    """Folders of the libraries that this interpreter has: both sides are to use the same."""
    spec = importlib.util.find_spec("nvidia")
    found = {
        library.parent
        for place in (spec.submodule_search_locations if spec else [])
        for library in Path(place).glob("**/lib*.so*")
    }
    return sorted(map(str, found))


def own_folder():
    """Where the package under test lies: this tree, or an installed wheel that comes first."""
    from cuda.bindings import _low  # which NVIDIA's packages do not have

    return str(Path(_low.__file__).parents[2])


def with_library(names):
    """The modules whose library this machine has: others answer nothing that rules are about."""
    from cuda.bindings import _low
    from cuda.pathfinder import DynamicLibNotFoundError

    for name in names:
        try:
            _low.load(name)
        except DynamicLibNotFoundError:
            continue
        yield name


def unpacked(wheels):
    """A folder with the reference's packages, to be put first on the path."""
    target = tempfile.mkdtemp(prefix="halfwarp-reference-")
    files = sorted(map(str, Path(wheels).glob("cuda_bindings*.whl")))
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps"]
    subprocess.run([*command, "--target", target, *files], check=True)
    return target


def places(options):
    """Implementation -> (interpreter, environment variables)."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    theirs, ours = dict(variables), dict(variables)
    theirs.pop("PYTHONPATH", None)  # a working tree would take the reference's place
    libraries = [variables.get("LD_LIBRARY_PATH", ""), *library_folders()]
    if options.backend == "emulator":
        libraries.insert(0, emulator_folder())
    theirs["LD_LIBRARY_PATH"] = ours["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
    ours["HALFWARP_BACKEND"] = "emulator" if options.backend == "emulator" else "driver"
    ours["PYTHONPATH"] = own_folder()
    python = options.reference or sys.executable
    if options.wheels:
        theirs["PYTHONPATH"] = unpacked(options.wheels)
    return {"theirs": (python, theirs), "again": (python, theirs), "ours": (sys.executable, ours)}


def compared(name, backend, where, pool):
    """The differences of a module, and how many cases there were."""
    made = plan.of_library(name, backend)
    runs = {who: pool.submit(supervise.run, made, *place) for who, place in where.items()}
    outcomes = {who: run.result() for who, run in runs.items()}
    cases = [case for function in made["functions"] for case in function["cases"]]
    left = collections.Counter(
        case["call"].partition("(")[0]
        for case, *three in zip(cases, *outcomes.values(), strict=True)
        if compare.NOT_RUN in three
    )
    if left:
        print(f"{name}: {left.total()} calls not made, since those before did not return: {left}")
    return compare.differences(cases, **outcomes, no_answer=made["no answer"]), len(cases)


def report(name, differences, count, accepted):
    """Print what no rule accepts, one line for each sort, and give it back."""
    left = [d for d in differences if accepted.rule_for(name, d) is None]
    sorts = collections.defaultdict(list)
    for d in left:
        sorts[
            d["kind"].rpartition(":")[0] or d["kind"], d["variant"], d["theirs"], d["ours"]
        ].append(d)
    print(f"{name}: {count} calls, {len(differences)} answers differ, {len(left)} unexpectedly")
    for (kind, variant, theirs, ours), some in sorted(sorts.items(), key=many_first)[:SHOWN]:
        print(f"  {len(some)} x {kind} {variant}: {some[0]['call']}")
        print(f"      theirs: {theirs[:300]}\n      ours:   {ours[:300]}")
    return left


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
    where, names = places(options), options.modules or MODULES
    accepted = compare.Accepted(options.backend)
    found = {}
    with concurrent.futures.ThreadPoolExecutor(max(2, (os.cpu_count() or 2) // 2)) as pool:
        for name in names:
            differences, count = compared(name, options.backend, where, pool)
            left = report(name, differences, count, accepted)
            found[name] = {"calls": count, "differences": differences, "unexpected": left}
    # the machine decides which rules a GPU needs, and every module which a rule for all needs
    everything = options.backend == "emulator" and set(names) == set(MODULES)
    unused = accepted.unused(list(with_library(names))) if everything else []
    for title in unused:
        print(f"no difference needs the rule any more: {title}")
    if options.json:
        text = json.dumps({"modules": found, "unused rules": unused}, indent=1)
        Path(options.json).write_text(text)
    return 1 if unused or any(module["unexpected"] for module in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

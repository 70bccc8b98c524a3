# SPDX-License-Identifier: Apache-2.0
"""Runs the test suites of packages that no wheel brings on the emulator.

Run: ``python -m tests.programs.package_suites NAME FOLDER``. The folder is a checkout of the
package's repository; a missing one is cloned. ``--python`` names an interpreter that has the
package and pytest. Each file of tests has a process of its own. So has each test that faults in a
kernel, as package_suites.toml lists it: a fault makes the context of its process unusable. The
failed tests are compared with that list.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

EXPECTED = Path(__file__).with_suffix(".toml")
TIME_LIMIT = 600


def checkout(suite: dict, root: Path) -> Path:
    """Clone the repository if the folder is absent, and return the folder of the tests."""
    if not root.exists():
        subprocess.run(["git", "clone", "-q", suite["url"], root], check=True)
        subprocess.run(["git", "-C", root, "checkout", "-q", suite["commit"]], check=True)
    return root / suite["tests"]


def read_report(path: Path, file: str) -> dict[str, str]:
    """Read the outcome of each test; a process without a report failed as a whole."""
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return {file: "failed"}
    module = file.removesuffix(".py").replace("/", ".")
    outcomes = {}
    for case in cases:
        classes = (case.get("classname") or "").partition(module)[2]
        name = "::".join([file, *filter(None, classes.split(".")), case.get("name")])
        tags = {child.tag for child in case}
        outcome = "failed" if tags & {"failure", "error"} else "passed"
        outcomes[name] = "skipped" if "skipped" in tags else outcome
    return outcomes


def run(suite: dict, folder: Path, python: str, targets: list[str]) -> dict[str, str]:
    """Run a file without some of its tests, or one test, in a process."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        command = [sys.executable, "-m", "cuda.core.emulation", "exec", python, "-m", "pytest"]
        command += ["-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        command += ["-c", os.devnull, "--rootdir", "."]  # names as below the folder of the tests
        command += [word for plugin in suite.get("plugins", ()) for word in ("-p", plugin)]
        try:
            subprocess.run(
                [*command, *targets], cwd=folder, capture_output=True, timeout=TIME_LIMIT
            )
        except subprocess.TimeoutExpired:
            return {targets[0]: "failed"}
        return read_report(report, targets[0].partition("::")[0])


def run_suite(suite: dict, folder: Path, python: str) -> dict[str, str]:
    groups = [group for kind, group in suite["failing"].items() if kind != "host"]
    alone = {name for group in [*groups, suite.get("alone", {})] for name in group}
    left_out = set(suite.get("not_run", {}))
    outcomes = {}
    for path in sorted(folder.glob(suite["files"])):
        file = path.relative_to(folder).as_posix()
        if file.startswith(tuple(suite.get("without", ()))):
            continue
        apart = {name for name in alone if name.startswith(f"{file}::")}
        deselected = [f"--deselect={name}" for name in sorted(apart | left_out)]
        results = run(suite, folder, python, [file, *deselected])
        for name in sorted(apart):
            results |= run(suite, folder, python, [name])
        print(f"{file:60} {dict(Counter(results.values()))}", flush=True)
        outcomes |= results
    return outcomes


def main() -> int:
    suites = tomllib.loads(EXPECTED.read_text("utf-8"))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=suites)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable)
    chosen = parser.parse_args()
    suite = suites[chosen.name]
    outcomes = run_suite(suite, checkout(suite, chosen.folder.resolve()), chosen.python)
    failed = {name for name, outcome in outcomes.items() if outcome == "failed"}
    differing = sorted(failed ^ {name for group in suite["failing"].values() for name in group})
    for name in differing:
        print(f"{'fails' if name in failed else 'does not fail'}, unlike before: {name}")
    print(dict(Counter(outcomes.values())), f"{len(differing)} differ from {EXPECTED.name}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())

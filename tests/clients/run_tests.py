# SPDX-License-Identifier: Apache-2.0
"""Run the tests inside a package, on our bindings and our cuda.core only.

    run_tests.py PACKAGE REPORT [NAME...]

It runs all test modules, or the modules, classes and tests that are named, in this process. It
leaves out each test whose name follows a "-".

REPORT gets a JSON object: the name of each test -> "passed", "skipped", or the last line of what
went wrong. PYTHONPATH is as run_script.py wants it.
"""

import json
import os
import pkgutil
import sys
import unittest
from importlib import import_module
from pathlib import Path

import numpy as np
from run_script import add_folders, foreign_modules


class Outcomes(unittest.TestResult):
    """Outcome of each test, by its name without the package."""

    def __init__(self, package):
        super().__init__()
        self.of = {}
        self.prefix = package + "."

    def note(self, test, outcome):
        self.of[test.id().removeprefix(self.prefix)] = outcome

    def addSuccess(self, test):
        self.note(test, "passed")

    def addSkip(self, test, reason):
        self.note(test, "skipped")

    def addExpectedFailure(self, test, error):
        self.note(test, "skipped")

    def addUnexpectedSuccess(self, test):
        self.note(test, "passed")

    def addFailure(self, test, error):
        # pytest's skip is an exception like any other to unittest
        is_skip = error[0].__name__ == "Skipped"
        last = self._exc_info_to_string(error, test).strip().splitlines()[-1]
        self.note(test, "skipped" if is_skip else last)

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.addFailure(subtest, error)


def modules_of(package, names):
    if names:
        yield from (f"{package}.{name}" for name in names)
        return
    for each in pkgutil.iter_modules(import_module(package).__path__):
        if each.name.startswith("test_"):
            yield f"{package}.{each.name}"


def tests_of(suite):
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from tests_of(each)
        else:
            yield each


def main(package, report, *names):
    left_out = {f"{package}{name.replace('-', '.', 1)}" for name in names if name[0] == "-"}
    modules = modules_of(package, [name for name in names if name[0] != "-"])
    tests = tests_of(unittest.defaultTestLoader.loadTestsFromNames(modules))
    suite = unittest.TestSuite(test for test in tests if test.id() not in left_out)
    outcomes = Outcomes(package)
    suite.run(outcomes)
    Path(report).write_text(json.dumps(outcomes.of, indent=1, sort_keys=True))
    if os.environ.get("HALFWARP_CLIENT_CORE") != "ours":
        return
    if strangers := foreign_modules("cuda.bindings", "cuda.core"):
        sys.exit(f"not ours: {', '.join(strangers)}")


add_folders()  # in the processes that a test starts, too
if not hasattr(np, "row_stack"):  # numba-cuda 0.30 names it at import; NumPy 2.5 removed it
    np.row_stack = np.vstack
if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""Outcome of one mutant: killed, survived, or equivalent."""

import re
import time
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path

from .mutants import Mutant
from .workspace import PASSED, TIME_IS_OVER, Workspace

SUITES = tomllib.loads(Path(__file__).with_name("suites.toml").read_text())
FIRST_FAILURE = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.M)  # a name may have spaces


@dataclass(frozen=True)
class Outcome:
    """``verdict``: killed, survived, uncompilable or equivalent; ``why``: the test or reason."""

    mutant: Mutant
    verdict: str
    why: str
    seconds: float

    def record(self) -> dict:
        """Return it as one level of values, for JSON."""
        return {**asdict(self.mutant), "outcome": self.verdict, "why": self.why} | {
            "seconds": round(self.seconds, 1)
        }


def suite_of(path: str) -> dict:
    """Return the parts and tests for a source from the rows of `suites.toml`."""
    rows = [SUITES[prefix] for prefix in prefixes_of(path)]
    suite = next(row for row in rows if "tests" in row)
    first = [test for row in rows[: rows.index(suite)] for test in row["first"]]
    return {"parts": suite["parts"], "tests": list(dict.fromkeys([*first, *suite["tests"]]))}


def prefixes_of(path: str) -> list[str]:
    """Return the rows of folders above a source and of its name without suffix, longest first."""
    prefixes = [prefix for prefix in SUITES if path.startswith((prefix + "/", prefix + "."))]
    return sorted(prefixes, key=len, reverse=True)


def put_to_trial(workspace: Workspace, mutant: Mutant) -> Outcome:
    """Build with the mutant, run the tests of its source, and restore everything."""
    source = (workspace.root / mutant.path).read_text()
    changed, start = mutant.text(source), time.monotonic()
    try:
        workspace.write(mutant.path, changed)
        verdict, why = judge(workspace, mutant, source, changed)
    finally:
        workspace.restore(mutant.path, source)
    return Outcome(mutant, verdict, why, time.monotonic() - start)


def judge(workspace: Workspace, mutant: Mutant, source: str, changed: str) -> tuple[str, str]:
    suite, is_python = suite_of(mutant.path), mutant.path.endswith(".py")
    if is_python:
        try:
            if code_of(source) == code_of(changed):
                return "equivalent", "the same code of the interpreter"
        except SyntaxError as error:
            return "uncompilable", str(error)
    if suite["parts"] and not (is_python and mutant.path.startswith("cuda/")):
        is_generator = mutant.path.startswith("generator/")
        built = workspace.build(suite["parts"])
        if built.returncode != 0:
            # the build notices a generator that stops
            return ("killed" if is_generator else "uncompilable"), complaint(built.stdout)
        if not is_python and workspace.digests() == workspace.fingerprint:
            return "equivalent", "the same machine code"
    tested = workspace.test(suite["tests"])
    if tested.returncode == TIME_IS_OVER:
        return "survived", f"the tests had no more than {workspace.budget} s"
    if tested.returncode in PASSED:
        return "survived", ""
    failure = FIRST_FAILURE.search(tested.stdout)
    last = tested.stdout.strip().splitlines()[-1:] or [""]
    return "killed", failure[1] if failure else last[0]


def complaint(output: str) -> str:
    """Return the first line of a compiler's diagnostics."""
    lines = [line for line in output.splitlines() if "rror:" in line]
    return lines[0].strip() if lines else "the build fails"


def code_of(text: str) -> list:
    """Return the bytecode of a module and of all functions in it, without line numbers."""
    code, result = [compile(text, "mutant", "exec")], []
    while code:
        one = code.pop()
        inner = [each for each in one.co_consts if hasattr(each, "co_code")]
        constants = [repr(each) for each in one.co_consts if not hasattr(each, "co_code")]
        result.append((one.co_code, constants, one.co_names, one.co_varnames))
        code += inner
    return result

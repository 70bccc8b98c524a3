# SPDX-License-Identifier: Apache-2.0
"""Each planted mistake is found and named rightly; correct kernels have no report."""

import functools
import importlib
from typing import NamedTuple

import pytest

from .cases import has_library_headers
from .run_cases import run_all, twins_with_reports, without_addresses


class Contract(NamedTuple):
    """The cases of a module, the checks that find them, and the kinds of their reports."""

    module: str
    group: str
    check: str
    kinds: tuple
    step_limit: str = ""

    def cases(self):
        planted = importlib.import_module(f"tests.emulator.checks.planted.{self.module}")
        return getattr(planted, self.group)

    def findings(self):
        options = {"step_limit": self.step_limit} if self.step_limit else {}
        return run_once(self.module, check=self.check, **options)


def run(module, *names, **options):
    if module == "libraries" and not has_library_headers():
        pytest.skip("the headers of CCCL are not installed")
    return run_all(module, *names, **options)


run_once = functools.cache(run)
BARRIER_KINDS = ("barrier", "deadlock", "divergent-barrier", "member-mask", "step-limit")
ALL_KINDS = ("race: ", "uninitialized: ", "async-copy: ", "out-of-bounds ", *BARRIER_KINDS)
CONTRACTS = (
    Contract("races", "CASES", "race", ("race: ",)),
    Contract("uninitialized", "CASES", "init", ("uninitialized: ",)),
    Contract("barriers", "CASES", "memory,sync,barrier", BARRIER_KINDS, "2000000"),
    Contract("copies", "CASES", "barrier", ("async-copy: ",)),
    Contract("copies", "RACES", "race", ("race: ",)),
    Contract("neighbors", "CASES", "all", ("out-of-bounds ",)),
    Contract("neighbors", "LANDINGS", "memory,neighbor", ("neighbor: ",)),
    Contract("libraries", "CASES", "memory,sync,race,barrier", ("race: ", "async-copy: ")),
    Contract("reports", "CASES", "all", ("race: ", "uninitialized: ", "barrier: ")),
    Contract("variants", "CASES", "all", ALL_KINDS, "2000000"),
)
PLANTED = [(contract, name) for contract in CONTRACTS for name in contract.cases()]
MODULES = tuple(dict.fromkeys(contract.module for contract in CONTRACTS))


def id_of(value):
    return value if isinstance(value, str) else f"{value.module}-{value.group}"


@pytest.mark.parametrize(("contract", "name"), PLANTED, ids=id_of)
def test_a_mistake_is_found(contract, name):
    reports = contract.findings()[name]["mistake"]
    assert reports and all(each.startswith(contract.kinds) for each in reports)


@pytest.mark.parametrize("contract", CONTRACTS, ids=id_of)
def test_correct_kernels_have_no_report(contract):
    assert not twins_with_reports(contract.findings())


@pytest.mark.parametrize("module", MODULES)
def test_all_checks_have_no_report_about_correct_kernels(module):
    assert not twins_with_reports(
        run(module, check="all", mode="adversarial", seed="7", step_limit="2000000")
    )


@pytest.mark.parametrize("contract", CONTRACTS[:2], ids=id_of)
def test_reports_do_not_depend_on_the_mode(contract):
    in_eager_mode = run(contract.module, check=contract.check, mode="eager")
    assert without_addresses(in_eager_mode) == without_addresses(contract.findings())


def test_twenty_launches_have_equal_reports_in_each_run():
    options = {"check": "all", "mode": "adversarial", "seed": "11"}
    runs = [
        run("races", *["last_block_no_fence"] * 20, runner="repeated", **options)["texts"]
        for _ in range(2)
    ]
    assert len(runs[0]) == 20 and all(runs[0])
    assert without_addresses(runs[0]) == without_addresses(runs[1])


@pytest.mark.parametrize(
    ("module", "name"), [("races", "block_store_store"), ("uninitialized", "as_address")]
)
def test_without_the_check_nothing_is_reported(module, name):
    assert run(module, name, check="memory,sync") == {name: {"mistake": [], "twin": []}}

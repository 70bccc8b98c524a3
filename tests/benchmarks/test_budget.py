# SPDX-License-Identifier: Apache-2.0
"""Evaluation of times by `python -m benchmarks`: quartiles, ratios, the budget."""

import json
import re
import tomllib

import pytest

from benchmarks import __main__ as command
from benchmarks.environments import FOLDER

ROW = "cuCtxGetCurrent()"


def record(row=ROW, theirs=100.0, ours=10.0, **extra):
    return {"row": row, "unit": "ns", "theirs": theirs, "ours": ours, "target": 20.0} | extra


def budget():
    return tomllib.loads((FOLDER / "budget.toml").read_text())["ratios"]


def never(names):
    pytest.fail(f"measured again: {names}")


# --- times ---------------------------------------------------------------------------------------


def test_the_lower_quartile_of_several_rounds_counts():
    rounds = [{"row": float(ns)} for ns in (9, 30, 11, 10, 12, 50, 13, 14)]
    assert command.lower_quartiles(rounds) == {"row": 11.0}


def test_a_failed_round_is_ignored():
    assert command.lower_quartiles([{"row": "no device"}, {"row": 5.0}, {"row": 6.0}]) == {
        "row": 5.0
    }


def test_a_row_that_failed_in_each_round_has_the_error():
    assert command.lower_quartiles([{"row": "no device"}, {"row": "no device"}]) == {
        "row": "no device"
    }


def test_the_ratio_is_the_speedup_of_ours():
    assert command.ratio(record(theirs=100.0, ours=10.0)) == 10.0


@pytest.mark.parametrize("missing", [{"theirs": None}, {"ours": "TypeError: no"}])
def test_without_a_number_there_is_no_ratio(missing):
    assert command.ratio(record(**missing)) is None


def test_a_time_below_the_empty_call_does_not_divide_by_zero():
    assert command.ratio(record(theirs=100.0, ours=-0.4)) == 1000.0


# --- the budget ----------------------------------------------------------------------------------


def test_rows_of_the_budget_exist():
    """A renamed row would be left unchecked."""
    assert set(budget()) <= set(command.rows())


def test_each_shared_row_has_a_budget():
    rows = command.rows()
    shared = {n for n, row in rows.items() if "null" in row.backends and not row.ours_only}
    of_some_nanoseconds = {"cimported cuCtxGetCurrent()"}  # noise is a large part of it
    assert shared - of_some_nanoseconds <= set(budget())


def test_a_row_within_the_budget_passes(capsys):
    assert command.check_budget([record()], never) == 0
    assert capsys.readouterr().out == "within the budget\n"


def test_a_row_without_a_budget_is_ignored(capsys):
    assert command.check_budget([record(row="import cuda.core", ours=500.0)], never) == 0


def test_a_row_above_the_budget_is_measured_a_second_time(capsys):
    requested = []

    def measure(names):
        requested.append(names)
        return [record(ours=11.0, floor=6.2)]

    slow = record(ours=99.0)
    assert command.check_budget([slow, record(row="enum from int")], measure) == 0
    assert requested == [[ROW]]
    assert "above the budget, so measured again alone" in capsys.readouterr().out


def test_a_row_above_the_budget_twice_fails_with_its_figure(capsys):
    slow = record(theirs=100.0, ours=98.0, floor=None)
    assert command.check_budget([slow], lambda names: [slow]) == 1
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"{ROW}: 0.98 of the reference's time, the budget is {budget()[ROW]}"


def test_a_row_that_cannot_be_measured_fails(capsys):
    broken = record(ours="RuntimeError: no library", floor=None)
    assert command.check_budget([broken], lambda names: [broken]) == 1
    assert "no figure (ours RuntimeError: no library, theirs 100.0)" in capsys.readouterr().out


# --- output --------------------------------------------------------------------------------------


def test_a_missed_target_is_marked(capsys):
    command.show([record(ours=21.0, floor=None), record(row="enum from int", floor=4.25)])
    _, missed, met = capsys.readouterr().out.splitlines()
    assert missed.endswith("above target")
    assert re.fullmatch(r"enum from int \[ns\] +100\.0 +10\.0 +10\.0x +20 +4\.2", met)


def test_an_error_is_printed_under_its_row(capsys):
    command.show([record(ours="ImportError: no module", floor=None)])
    assert capsys.readouterr().out.splitlines()[-1] == "    ours: ImportError: no module"


def test_the_run_names_its_machine():
    run = command.describe_run("null")
    keys = {"date", "backend", "python", "machine", "gpu", "system", "reference", "commit"}
    assert set(run) == keys and run["gpu"] is None
    assert json.loads(json.dumps(run)) == run

# SPDX-License-Identifier: Apache-2.0
"""The counters equal those that ncu measured on a GPU, which tests/data/ncu_counters.json holds."""

import json
from pathlib import Path

import pytest
from cuda.core.emulation.profiling.counters import DEFINITIONS, SUM_METRICS

from .corpus import CASES
from .launching import compiled, run

pytestmark = pytest.mark.usefixtures("emulated")
RECORD = json.loads((Path(__file__).parents[2] / "data" / "ncu_counters.json").read_text())
COUNTERS = {each.metric: name for name, each in DEFINITIONS.items() if each.metric}
COUNTERS |= {metric: name for name, metric in SUM_METRICS.items()}
SOURCES = {case.name: case.source for case in CASES}
EQUAL = [each for each in RECORD["metrics"] if each not in RECORD["unequal"]]


def measured(name):
    """Return the values of ncu that must be equal."""
    values = dict(zip(RECORD["metrics"], RECORD["kernels"][name], strict=True))
    return {
        metric: values[metric]
        for metric in EQUAL
        if metric not in RECORD["differences"].get(name, {})
    }


def test_at_least_eight_counters_are_equal_on_forty_kernels():
    names = list(RECORD["kernels"])
    is_used = {metric: any(measured(n).get(metric) for n in names) for metric in EQUAL}
    everywhere = [m for m in EQUAL if is_used[m] and all(m in measured(n) for n in names)]
    assert len(names) >= 40
    assert len(everywhere) >= 8


@pytest.mark.parametrize("name", RECORD["kernels"])
def test_the_counters_equal_those_of_ncu(name):
    kernel = run(compiled(SOURCES[name]))["kernel"]
    expected = measured(name)
    assert {metric: getattr(kernel, COUNTERS[metric]) for metric in expected} == expected

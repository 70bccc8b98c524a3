# SPDX-License-Identifier: Apache-2.0
"""Accesses beside an allocation or variable are faults with every set of checks."""

import pytest

from .planted.neighbors import CASES, CORRECT
from .run_cases import run_all


@pytest.fixture(scope="module")
def findings():
    return run_all("neighbors", check="all")


@pytest.mark.parametrize("name", CASES)
def test_an_access_beside_its_object_is_found(findings, name):
    reports = findings[name]["mistake"]
    assert reports and reports[0].startswith("out-of-bounds ")


@pytest.mark.parametrize("name", [*CASES, *CORRECT])
def test_an_access_inside_is_no_fault(findings, name):
    assert findings[name]["twin"] == []

# SPDX-License-Identifier: Apache-2.0
"""A check of several loads at once finds what a check of each load finds."""

import pytest

from ..planted import groups
from ..run_cases import run_all, twins_with_reports, without_addresses


@pytest.mark.parametrize("check", ["all", "race,memory", "init,memory"])
def test_a_profile_changes_no_report(check, tmp_path):
    at_once = run_all("groups", check=check)
    one_by_one = run_all("groups", check=check, profile=tmp_path / "profile.json")
    assert without_addresses(at_once) == without_addresses(one_by_one)
    assert not twins_with_reports(at_once)
    reported = {name for name, each in at_once.items() if each["mistake"]}
    uninitialized = {"row_not_written"}
    expected = {"init,memory": uninitialized, "race,memory": groups.CASES.keys() - uninitialized}
    assert reported == expected.get(check, groups.CASES.keys())

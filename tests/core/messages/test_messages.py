# SPDX-License-Identifier: Apache-2.0
"""Wrong calls and the messages that users get, compared with golden files.

`golden.py` writes the files again. Read the difference before the commit: each message names the
call, the option, the value, the rule and the next step.
"""

import difflib

import pytest

from . import golden


def uses_another_compiler(area):
    """Whether the messages have texts of a compiler of another version."""
    required = golden.area_of(area).get("nvrtc")
    if required is None:
        return False
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    return list(nvrtc.nvrtcVersion()[1:]) != required


@pytest.mark.parametrize("area", golden.AREAS)
def test_messages_are_those_of_the_golden_file(area):
    if uses_another_compiler(area):
        pytest.skip("the golden file has the log of NVRTC of another version")
    expected = golden.expected_path(area).read_text().splitlines()
    messages = golden.golden_text(area).splitlines()
    difference = "\n".join(difflib.unified_diff(expected, messages, "expected", "now", lineterm=""))
    assert not difference, f"\n{difference}"


def test_at_least_150_wrong_calls_are_compared():
    areas = [golden.area_of(area) for area in golden.AREAS]
    assert sum(len(area["calls"]) for area in areas) >= 150


def test_a_silent_call_has_a_reason():
    for area in golden.AREAS:
        entries = golden.expected_path(area).read_text().split("\n## ")[1:]
        silent = {entry.splitlines()[0] for entry in entries if "\nsilent: " in entry}
        assert silent == set(golden.area_of(area).get("silent", ())), area

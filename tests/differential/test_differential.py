# SPDX-License-Identifier: Apache-2.0
"""Results of NVIDIA's and of our packages for the same snippet, on the same emulated driver."""

import re
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
THEMES = sorted(path.stem for path in (FOLDER / "themes").glob("*/*.py"))
ACCEPTED = tomllib.loads((FOLDER / "accepted.toml").read_text())


def accepts(row, outcome, on_gpu):
    """Return whether a row accepts that difference; a GPU row holds a pattern."""
    if on_gpu and "gpu" in row:
        return re.fullmatch(row["gpu"], outcome) is not None
    return row.get("ours") == outcome


def difference(theirs, ours):
    """Return None when both results are equal, otherwise our result."""
    if theirs["result"].startswith("names:"):
        lacking = set(theirs["result"].split()) - set(ours["result"].split())
        return f"lacks {' '.join(sorted(lacking))}" if lacking else None
    # Our exception class may derive from the class that existing code catches.
    alike = theirs["result"] == ours["result"] or theirs["result"] in ours["bases"]
    if alike and theirs["warnings"] == ours["warnings"]:
        return None
    return " ".join([ours["result"], *(f"warns {kind}" for kind in ours["warnings"])])


@pytest.mark.parametrize("theme", THEMES)
def test_only_accepted_differences_exist(theme, theirs, ours, on_gpu):
    accepted = ACCEPTED.get(theme, {})
    if theme not in theirs:
        pytest.skip("settings of a real machine are not changed")
    if theirs[theme] is None:
        pytest.skip("a GPU's driver ends the process of NVIDIA's packages there")
    assert set(theirs[theme]) == set(ours[theme])
    different = {
        case: result
        for case, outcome in theirs[theme].items()
        if (result := difference(outcome, ours[theme][case])) is not None
    }
    unexpected = [
        f"{case}\n  theirs: {theirs[theme][case]['result']}\n  ours:   {result}"
        for case, result in different.items()
        if not accepts(accepted.get(case, {}), result, on_gpu)
    ]
    assert not unexpected, "\n".join(unexpected)
    stale = sorted({case for case, row in accepted.items() if "ours" in row} - set(different))
    # The visibility of a difference may depend on the driver's features.
    assert on_gpu or not stale, f"no difference any more: {stale}"


def test_every_accepted_difference_has_a_reason():
    assert set(ACCEPTED) <= set(THEMES)
    for theme, rows in ACCEPTED.items():
        for case, row in rows.items():
            keys = row.keys() - {"reason"}
            assert keys and keys <= {"ours", "gpu"} and len(row["reason"]) > 10, (theme, case)

# SPDX-License-Identifier: Apache-2.0
"""The README agrees with the package."""

import json
import re
from pathlib import Path

import pytest
from cuda.core import emulation

from halfwarp.command_line import COMMANDS
from tests.docs import public_names

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
GUIDE = (ROOT / "docs" / "guide" / "emulator.rst").read_text()


def test_the_table_of_cuda_core_has_its_public_names():
    (table,) = re.findall(r"<!-- tests/docs/public_names\.py.*?-->\n\n(.*?)\n\n", README, re.S)
    assert table == public_names.markdown()


def test_the_named_commands_exist():
    named = set(re.findall(r"`halfwarp ([a-z]+)", README))
    assert named and named <= set(COMMANDS)


def test_the_folders_of_the_tree_exist():
    rows = re.findall(r"^\| (`[^|]*/`[^|]*) \|", README, re.M)
    folders = [name for row in rows for name in re.findall(r"`([^`]*)`", row)]
    assert len(folders) > 10
    assert [name for name in folders if not (ROOT / name).is_dir()] == []


@pytest.mark.parametrize("name", ["mode", "check"])
def test_the_guide_lists_the_accepted_values_of_options(name):
    """Compare with the values that the error of a wrong one names."""
    from cuda.core.emulation import library as emulator_library

    with pytest.raises(ValueError) as refused:
        emulator_library.check_option(name, "nothing of the kind")
    words = set(re.findall(r"[a-z]+", str(refused.value).partition(" takes ")[2]))
    listed = re.search(rf"``{name.upper()}`` \(([^)]*)\)", GUIDE)[1]
    assert set(re.findall(r"``([a-z]+)``", listed)) == {
        each for each in words if accepts(name, each)
    }


def accepts(name, value):
    from cuda.core.emulation import library as emulator_library

    try:
        emulator_library.check_option(name, value)
    except ValueError:
        return False
    return True


def test_the_guide_lists_the_options():
    if not emulation.is_active():
        pytest.skip("the emulator tells its options where it runs")
    listed = re.search(r"``HALFWARP_EMULATOR_``:\s+(.*?)Another name", GUIDE, re.S)[1]
    names = {name.lower() for name in re.findall(r"``([A-Z_]+)``", listed)}
    assert names == set(emulation.options())


def rows_of_the_readme():
    """Map rows to NVIDIA's and halfwarp's figures on the null driver and on the GPU."""
    cells = re.findall(r"^\| `(.*?)` \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", README, re.M)
    return {row: tuple(map(int, numbers)) for row, *numbers in cells}


@pytest.mark.parametrize(("name", "first"), [("rows", 0), ("rows_gpu", 2)])
def test_its_figures_are_close_to_the_latest_benchmarks(name, first):
    """They are from another day and another GPU: the ratios are within a factor of 2.5."""
    written = json.loads((ROOT / "benchmarks" / f"{name}.json").read_text())["rows"]
    last = {r["row"]: r["theirs"] / r["ours"] for r in written if r["theirs"]}
    shown = rows_of_the_readme()
    assert len(shown) > 10 and set(shown) <= set(last)
    ratios = {row: (n[first] / n[first + 1], last[row]) for row, n in shown.items()}
    assert {r: pair for r, pair in ratios.items() if not 0.4 < pair[0] / pair[1] < 2.5} == {}

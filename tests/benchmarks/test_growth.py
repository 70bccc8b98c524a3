# SPDX-License-Identifier: Apache-2.0
"""Measurements, tables and pictures of `python -m benchmarks --growth`."""

import json
import re
import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from benchmarks import environments, growth

SVG = "{http://www.w3.org/2000/svg}"
LITTLE = {"launches of several threads": 2}


def measurements(*points):
    return {
        "sweep": "allocate and close",
        "x": "live buffers",
        "unit": "ns",
        "points": [dict(zip(("at", "theirs", "ours"), p, strict=True)) for p in points],
    }


def test_each_sweep_runs_at_a_small_point():
    """Run it in a process of its own, like the command; ten of each suffice."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import json, grow; world = grow.World();"
        f"little = {LITTLE};"
        "print(json.dumps({n: s.measure(world, little.get(n, 10) if s.x != 'arguments' else 8)"
        " for n, s in grow.SWEEPS.items()}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(growth.FOLDER / "worker")],
        env=environments.environment("ours", "null"),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result.keys() == growth.sweeps().keys()
    assert all(number >= 0 for number in result.values())
    assert all(number > 0 for name, number in result.items() if "memory" not in name)


def test_the_minimum_of_the_rounds_counts_or_an_error_is_shown():
    assert growth.least([3.04, "no memory", 2.0]) == 2.0
    assert growth.least(["no device", "no memory"]) == "no memory"


def test_the_table_has_a_line_for_each_point_and_the_failures():
    lines = list(growth.table(measurements((10, 40.0, 10.0), (1000, "MemoryError: full", 12.5))))
    assert lines[0] == "allocate and close [ns]"
    assert lines[1].split() == ["live", "buffers", "NVIDIA's", "halfwarp", "ratio"]
    assert lines[2].split() == ["10", "40.0", "10.0", "4.0x"]
    assert lines[3].split() == ["1000", "-", "12.5", "-"]
    assert lines[4] == "    NVIDIA's: MemoryError: full"


@pytest.mark.parametrize(
    ("highest", "step", "top"),
    [(1.0, 0.2, 1.0), (9.0, 2, 10), (26, 10, 30), (1039.1, 500, 1500), (0.0, 1e-10, 1e-10)],
)
def test_grid_lines_are_at_round_numbers(highest, step, top):
    assert growth.ticks(highest) == pytest.approx((step, top))


def test_the_picture_contains_both_lines_with_their_points():
    root = ElementTree.fromstring(growth.svg(measurements((10, 40.0, 10.0), (100, 44.0, 0.0))))
    assert root.find(f"{SVG}title").text == "allocate and close, ns"
    lines = [each.get("points").split() for each in root.iter(f"{SVG}polyline")]
    assert [len(line) for line in lines] == [2, 2]
    for x, y in (map(float, at.split(",")) for line in lines for at in line):
        assert growth.LEFT <= x <= growth.WIDTH and 0 <= y <= growth.HEIGHT - growth.BOTTOM
    heights = [float(line[0].split(",")[1]) for line in lines]
    assert heights[0] < heights[1]  # larger values are higher up
    shown = [each.text for each in root.iter(f"{SVG}text")]
    assert {"10", "100", "live buffers", "NVIDIA's", "halfwarp", "50"} <= set(shown)


def test_a_point_without_a_number_is_omitted_from_the_picture():
    drawn = growth.svg(measurements((10, "no", 1.0), (20, 3.0, 2.0)))
    assert [len(p.split()) for p in re.findall(r'points="([^"]*)"', drawn)] == [1, 2]


def test_the_command_writes_its_output(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        growth,
        "measure",
        lambda name, places, count: {w: {100_000: 3.0} for w in growth.WHO},
    )
    options = SimpleNamespace(
        json=str(tmp_path / "all.json"), svg=str(tmp_path / "drawn"), rounds=1
    )
    assert growth.run(["memory of Buf"], {}, {"date": "today"}, options) == 0
    written = json.loads((tmp_path / "all.json").read_text())
    assert written["run"] == {"date": "today"}
    (sweep,) = written["sweeps"]
    assert sweep["points"][0] == {"at": 100_000, "theirs": 3.0, "ours": 3.0}
    drawn = (tmp_path / "drawn" / "memory-of-Buffers.svg").read_text()
    assert drawn == growth.svg(sweep)
    assert "memory of Buffers [bytes each]" in capsys.readouterr().out

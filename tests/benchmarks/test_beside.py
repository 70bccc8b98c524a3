# SPDX-License-Identifier: Apache-2.0
"""`python -m benchmarks --beside`: CuPy's and Numba's columns, and the picture of the rows."""

import json
import sys
from xml.etree import ElementTree

import pytest

from benchmarks import __main__ as command
from benchmarks import environments, pictures

SVG = "{http://www.w3.org/2000/svg}"


def record(row, **extra):
    result = {"row": row, "unit": "ns", "theirs": 100.0, "ours": 10.0, "target": 9.0, "floor": 1.0}
    return result | extra


def test_a_missing_package_is_omitted(tmp_path, capsys):
    (tmp_path / "cupy.py").write_text("raise ImportError('not here')")
    env = environments.environment("reference", "null") | {"PYTHONPATH": str(tmp_path)}
    assert command.run_beside((sys.executable, env), "cupy") == {}
    assert "cupy is left out: ImportError: not here" in capsys.readouterr().err


def test_its_rows_exist():
    source = (environments.FOLDER / "worker" / "beside.py").read_text()
    named = {line.split('"')[1] for line in source.splitlines() if ": lambda: " in line}
    assert named and named <= set(command.rows())


def test_cupy_is_not_measured_on_the_null_driver(monkeypatch):
    monkeypatch.setattr(environments, "cached_python", lambda name, *packages: f"python of {name}")
    assert set(environments.places_beside("null", None)) == {"numba"}
    assert set(environments.places_beside("gpu", None)) == {"numba", "cupy"}
    theirs = ("python", {})
    assert environments.places_beside("gpu", theirs, "wheels")["cupy"] is theirs


def test_the_table_has_their_columns(capsys):
    command.show([record("a row", numba=5000.0, cupy="RuntimeError: no"), record("b", numba=None)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[-2:] == ["cupy", "numba"]
    assert lines[1].split()[-4:] == ["-", "5000.0", "above", "target"]
    assert "    cupy: RuntimeError: no" in lines


def test_the_picture_has_a_bar_for_each_figure():
    records = [record("fast & small", cupy=50.0), record("slow", ours=2000.0, floor=None)]
    root = ElementTree.fromstring(pictures.bars([*records, record("no", ours=None)]))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    assert {"fast & small", "slow", "CuPy", "10 µs"} <= set(texts) and "no" not in texts
    output = [each.text for each in root.iter(f"{SVG}title")]
    assert output[1:] == [
        *("NVIDIA's: 100 ns", "halfwarp: 10 ns", "C: 1 ns", "CuPy: 50 ns"),
        *("NVIDIA's: 100 ns", "halfwarp: 2,000 ns"),
    ]


@pytest.mark.parametrize("value", [["launch", "--json", "a b.json"], ["launch", "--svg", "x"]])
def test_the_command_is_recorded_without_its_files(value, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["benchmarks", *value])
    assert command.command_line() == "python -m benchmarks launch"


def test_the_record_names_command_machine_and_date():
    for name in ("rows", "rows_gpu"):
        result = json.loads((environments.FOLDER / f"{name}.json").read_text())
        assert result["command"].startswith("python -m benchmarks")
        assert {"date", "machine", "python", "reference"} <= set(result["run"])

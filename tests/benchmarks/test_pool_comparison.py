# SPDX-License-Identifier: Apache-2.0
"""``python -m benchmarks.pool_comparison``: its measurements, and the packages that it skips by
name."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_it_measures_installed_packages_and_skips_the_rest_by_name(tmp_path):
    out = tmp_path / "out.json"
    command = [sys.executable, "-m", "benchmarks.pool_comparison", "--no-reference"]
    command += ["--threads", "1", "2", "--rounds", "1", "--json", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    for name in ("an empty Python call", "our pool", "our DeviceMemoryResource"):
        assert [result[name][threads]["ns"] > 0 for threads in ("1", "2")] == [True, True]
    assert result["our pool"]["1"]["ns"] > result["an empty Python call"]["1"]["ns"]
    for name, module in (
        ("CuPy's pool", "cupy"),
        ("torch.empty", "torch"),
        ("rmm's pool", "rmm"),
    ):
        if importlib.util.find_spec(module) is None:
            assert result[name]["1"] == {"absent": f"No module named {module!r}"}
            assert f"skipped: No module named {module!r}" in done.stdout
    assert "skipped: --no-reference" in done.stdout

# SPDX-License-Identifier: Apache-2.0
"""The golden files of wrong calls: `python tests/core/messages/golden.py` writes them again."""

import json
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
AREAS = sorted(path.stem for path in (HERE / "calls").glob("*.toml"))


def area_of(name):
    return tomllib.loads((HERE / "calls" / f"{name}.toml").read_text())


def expected_path(name):
    return HERE / "expected" / f"{name}.txt"


def outcomes_of(name):
    """Run the calls of an area: together, or each in its own process if one ruins the next."""
    area = area_of(name)
    groups = [[call] for call in area["calls"]] if area.get("separate") else [[]]
    outcomes = {}
    for group in groups:
        command = [sys.executable, str(HERE / "calling.py"), name, *group]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        outcomes.update(json.loads(result.stdout[result.stdout.index("{") :]))
    return outcomes


def golden_text(name):
    """Return the golden file of an area: each call with what the caller sees."""
    area = area_of(name)
    parts = [area["title"]]
    for call, outcome in outcomes_of(name).items():
        if outcome == "silent":
            outcome = f"silent: {area['silent'].get(call, 'no reason')}"
        code = textwrap.indent(area["calls"][call].strip(), "    ")
        parts.append(f"## {call}\n{code}\n{outcome}")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    for area_name in sys.argv[1:] or AREAS:
        expected_path(area_name).write_text(golden_text(area_name))

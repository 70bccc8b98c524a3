# SPDX-License-Identifier: Apache-2.0
"""Every function of the low layer, in NVIDIA's packages and in ours, with the same arguments."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
RULES = tomllib.loads((FOLDER / "accepted.toml").read_text())["rule"]


@pytest.fixture(scope="module")
def report(reference, tmp_path_factory):
    out = tmp_path_factory.mktemp("functions") / "report.json"
    command = [sys.executable, str(FOLDER), "--reference", reference, "--json", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=900)
    assert out.exists(), done.stderr
    return {"text": done.stdout, "errors": done.stderr} | json.loads(out.read_text())


def test_every_difference_is_accepted_by_a_rule(report):
    assert not any(m["unexpected"] for m in report["modules"].values()), report["text"]


def test_every_rule_is_needed(report):
    assert report["unused rules"] == []


def test_every_function_of_a_module_is_called(report):
    from generator import libraries

    for name, module in report["modules"].items():
        functions = [f for f in libraries.load(name).functions if f.in_python]
        assert module["calls"] >= 3 * len(functions), name


def test_every_rule_and_every_exclusion_has_a_reason():
    left_out = tomllib.loads((FOLDER / "left_out.toml").read_text())
    for row in [*RULES, *(row for rows in left_out.values() for row in rows)]:
        assert len(row["reason"]) > 10, row
        for pattern in (v for k, v in row.items() if isinstance(v, str) and k != "reason"):
            re.compile(pattern)

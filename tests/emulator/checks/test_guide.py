# SPDX-License-Identifier: Apache-2.0
"""The programs of the guide: each check finds its mistake, and nothing in the corrected program."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[3] / "docs/guide/checks"
KINDS = {
    "race": "race",
    "init": "uninitialized",
    "hazard": "hazard",
    "barrier": "barrier",
    "neighbor": "neighbor",
}


def outputs(name, *arguments):
    done = subprocess.run(
        [sys.executable, f"{name}.py", *arguments],
        env={
            **os.environ,
            "HALFWARP_BACKEND": "emulator",
            "HALFWARP_EMULATOR_CHECK": "all",
        },
        cwd=PROGRAMS,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def run(name, *arguments):
    _, errors = outputs(name, *arguments)
    reports = errors.splitlines()
    return [line for line in reports if line.startswith(tuple(f"{k}: " for k in KINDS.values()))]


@pytest.mark.parametrize("name", KINDS)
def test_the_mistake_is_reported(name):
    reports = run(name)
    assert reports and all(each.startswith(f"{KINDS[name]}: ") for each in reports)


def test_a_hazard_names_the_lines_of_both_operations():
    (report,) = run("hazard")
    places = re.findall(r" at (\S+):(\d+) on stream ", report)
    kernel, fill = (Path(file).read_text().splitlines()[int(line) - 1] for file, line in places)
    assert kernel.strip().startswith("launch(")
    assert fill.strip().startswith("values.fill(")


@pytest.mark.parametrize("name", KINDS)
def test_the_corrected_program_has_no_report(name):
    assert run(name, "corrected") == []


def test_the_recipe_writes_a_file_without_a_report(tmp_path):
    recipe = (PROGRAMS.parent / "ci/checks.yml").read_text(encoding="utf-8")
    (step,) = [line for line in recipe.splitlines() if "emulate sarif" in line]
    command = step.strip().removeprefix("run: ")
    assert command.count("halfwarp ") == 1
    command = command.replace("halfwarp ", f"{sys.executable} -m halfwarp ")
    subprocess.run(command, shell=True, cwd=tmp_path, check=True, timeout=300)
    log = json.loads((tmp_path / "reports.sarif").read_text())
    assert log["runs"][0]["results"] == []


def test_the_writer_of_a_value_is_printed():
    output, _ = outputs("origin")
    lines = output.splitlines()
    assert [line.rpartition(" ")[0] for line in lines] == [
        "kernel 'k' (0, 0, 0) (4, 0, 0)",
        "kernel 'k' (0, 0, 0) (5, 0, 0)",
    ]

# SPDX-License-Identifier: Apache-2.0
"""The page on testing without a GPU: its test passes, its samples run, its workflow is valid."""

import os
import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from ..programs.pytest_command import COMMAND

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide"
PAGE = (GUIDE / "continuous_integration.rst").read_text()
SAMPLE = GUIDE / "ci" / "test_scale.py"


def run_pytest(folder, *arguments):
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    command = [*COMMAND, "-q", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=inherited)


@pytest.mark.parametrize("mode", ["async", "adversarial"])
def test_the_test_passes(tmp_path, mode):
    done = run_pytest(tmp_path, "--cuda-emulate", "--cuda-mode", mode, SAMPLE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


def test_the_test_finds_the_intended_mistake(tmp_path):
    """Without the comparison, the last threads write past the end."""
    wrong = SAMPLE.read_text().replace("if (i < n) ", "")
    (tmp_path / "test_wrong.py").write_text(wrong)
    done = run_pytest(tmp_path, "--cuda-emulate", "test_wrong.py")
    assert done.returncode == 1
    assert "out-of-bounds" in done.stdout


def test_the_samples_of_tests_pass(tmp_path):
    blocks = re.findall(r"^\.\. code-block:: python\n\n((?:(?:   .*)?\n)+)", PAGE, re.M)
    (tmp_path / "test_page.py").write_text("\n".join(map(textwrap.dedent, blocks)))
    done = run_pytest(tmp_path, "--cuda-emulate", "test_page.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_shown_options_exist(tmp_path):
    shown = set(re.findall(r"--cuda-\w+", PAGE + (GUIDE / "ci" / "workflow.yml").read_text()))
    assert shown <= set(re.findall(r"--cuda-\w+", run_pytest(tmp_path, "--help").stdout))


def test_the_workflow_installs_existing_extras():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed (extra `dev`)")
    workflow = yaml.safe_load((GUIDE / "ci" / "workflow.yml").read_text())
    (job,) = workflow["jobs"].values()
    commands = [step["run"] for step in job["steps"] if "run" in step]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = re.search(r"'halfwarp\[([\w,]+)\]'", commands[0])[1].split(",")
    assert set(extras) <= set(project["optional-dependencies"])
    stated = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    assert job["strategy"]["matrix"]["python"] == stated
    assert commands[-1].startswith("python -m pytest --cuda-emulate")


def test_the_farm_runs_every_file_of_tests_once(tmp_path):
    """Run its command in a repository of three files, in each of the parts."""
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed (extra `dev`)")
    (job,) = yaml.safe_load((GUIDE / "ci" / "farm.yml").read_text())["jobs"].values()
    for number in range(3):
        text = "from cuda.core import Device\n\n\ndef test_devices():\n"
        text += "    assert len(Device.get_all_devices()) == 8\n"
        (tmp_path / f"test_{number}.py").write_text(text)
    subprocess.run("git init -q . && git add .", shell=True, cwd=tmp_path, check=True)
    values = {"devices": "8", "cc": "9.0", "shard": ""}
    passed = 0
    for shard in job["strategy"]["matrix"]["shard"]:
        settings = {
            name: re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda m: values[m[1]], str(value))
            for name, value in job["env"].items()
        } | {"SHARD": str(shard), "HALFWARP_EMULATOR_SEED": "7"}
        settings["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        settings["PYTHONPATH"] = str(ROOT)
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-ec", job["steps"][-1]["run"]],
            cwd=tmp_path,
            env=os.environ | settings,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        passed += sum(map(int, re.findall(r"(\d+) passed", done.stdout)))
    assert passed == 3

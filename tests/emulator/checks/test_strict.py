# SPDX-License-Identifier: Apache-2.0
"""Options of the reports: ``STRICT``, ``SUPPRESS``, and a SARIF file as ``REPORT``."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = '''
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

device = Device(0)
device.set_current()
stream = device.create_stream()
source = """extern "C" __global__ void k(int* o) {
    *o = blockIdx.x;
}"""
options = ProgramOptions(lineinfo=True, name="kernel.cu")
kernel = Program(source, "c++", options).compile("ptx").get_kernel("k")
buffer = device.allocate(64, stream=stream)
for _ in range(2):
    launch(stream, LaunchConfig(grid=2, block=1), kernel, buffer)
stream.sync()
'''


def run(folder, **options):
    (folder / "kernel.cu").write_text("\n*o = blockIdx.x;\n")
    settings = {f"HALFWARP_EMULATOR_{name.upper()}": value for name, value in options.items()}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "HALFWARP_BACKEND": "emulator", "HALFWARP_EMULATOR_CHECK": "race"}
        | settings,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_finding_is_no_error(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("race: write-write") == 2


def test_a_strict_finding_fails_the_launch(tmp_path):
    done = run(tmp_path, strict="1")
    assert done.returncode == 1
    assert done.stderr.count("race: write-write") == 1
    assert "CUDA_ERROR_LAUNCH_FAILED" in done.stderr


def test_a_known_finding_is_left_out(tmp_path):
    rules = tmp_path / "known"
    rules.write_text("# a comment\nrace k kernel.cu:2 any block may win\n")
    done = run(tmp_path, strict="1", suppress=str(rules))
    assert done.returncode == 0, done.stderr
    assert "race" not in done.stderr


@pytest.mark.parametrize("rule", ["race k kernel.cu:1 a", "hazard k * a", "race j * a"])
def test_another_rule_leaves_the_finding(tmp_path, rule):
    rules = tmp_path / "known"
    rules.write_text(f"{rule} reason\n")
    assert "race: write-write" in run(tmp_path, suppress=str(rules)).stderr


def test_a_wrong_rule_is_refused(tmp_path):
    rules = tmp_path / "known"
    rules.write_text("race k\n")
    done = run(tmp_path, suppress=str(rules))
    assert done.returncode == 1
    assert "'kind kernel-glob file-glob[:line] reason'" in done.stderr


def test_a_sarif_file_counts_a_mistake_once(tmp_path):
    path = tmp_path / "reports.sarif"
    assert run(tmp_path, report=str(path)).returncode == 0
    (result,) = json.loads(path.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "halfwarp/race"
    assert result["occurrenceCount"] == 2
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 2}
    assert result["partialFingerprints"]["halfwarpKey/v1"].startswith("race k ")

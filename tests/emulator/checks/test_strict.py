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


# The writer of device 0 runs first; the memset of device 1, which is called later, waits.
HAZARD = """
from cuda.bindings import driver
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch

source = 'extern "C" __global__ void k(int* o) { *o = 1; }'
devices = [Device(0), Device(1)]
streams = []
for each in devices:
    each.set_current()
    streams.append(each.create_stream())
devices[0].set_current()
kernel = Program(source, "c++").compile("ptx").get_kernel("k")
buffer = LegacyPinnedMemoryResource().allocate(64)
launch(streams[0], LaunchConfig(grid=1, block=1), kernel, buffer)
devices[1].set_current()
driver.cuMemsetD8Async(int(buffer.handle), 1, 64, int(streams[1].handle))
for number in (0, 1):
    devices[number].set_current()
    print(int(driver.cuStreamSynchronize(int(streams[number].handle))[0]))
"""


def run(folder, program=PROGRAM, **options):
    (folder / "kernel.cu").write_text("\n*o = blockIdx.x;\n")
    settings = {f"HALFWARP_EMULATOR_{name.upper()}": value for name, value in options.items()}
    return subprocess.run(
        [sys.executable, "-c", program],
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


@pytest.mark.parametrize("mode", ["eager", "async", "adversarial"])
def test_a_strict_hazard_fails_the_later_operation(tmp_path, mode):
    done = run(tmp_path, HAZARD, check="hazard", strict="1", mode=mode, devices="2")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("hazard: a memset ") == 1
    assert done.stdout.split() == ["0", "719"]


def test_a_strict_uninitialized_copy_fails(tmp_path):
    program = """
from cuda.bindings import driver
driver.cuInit(0)
driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
print(int(driver.cuMemcpyDtoH(bytearray(64), driver.cuMemAlloc(64)[1], 64)[0]))
"""
    done = run(tmp_path, program, check="init", strict="1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "719\n"


def test_an_unused_rule_is_told_once_at_the_end(tmp_path):
    rules = tmp_path / "known"
    rules.write_text("# a comment\nrace k * any block\n\nhazard  k*  a.cu:7  no\n")
    done = run(tmp_path, suppress=str(rules))
    assert done.returncode == 0, done.stderr
    unused = f"emulator: {rules}:4: hazard  k*  a.cu:7  no: no report matched this suppression\n"
    assert done.stderr.endswith(unused)
    assert done.stderr.count("no report matched") == 1


@pytest.mark.parametrize("rule", ["race k kernel.cu:1 a", "hazard k * a", "race j * a"])
def test_another_rule_leaves_the_finding(tmp_path, rule):
    rules = tmp_path / "known"
    rules.write_text(f"{rule} reason\n")
    assert "race: write-write" in run(tmp_path, suppress=str(rules)).stderr


@pytest.mark.parametrize("rule", ["race k", "race k *", "race k a.cu:x why", "race k a.cu: why"])
def test_a_wrong_rule_is_refused(tmp_path, rule):
    rules = tmp_path / "known"
    rules.write_text(f"\n{rule}\n")
    done = run(tmp_path, suppress=str(rules))
    assert done.returncode == 1
    form = "'kind kernel-glob file-glob[:line] reason'"
    assert f"({rules}:2: '{rule}' is not of the form {form})" in done.stderr


def test_a_file_of_rules_that_cannot_be_read_is_refused(tmp_path):
    missing = run(tmp_path, suppress=str(tmp_path / "none"))
    assert f"({tmp_path / 'none'}: No such file or directory)" in missing.stderr
    folder = run(tmp_path, suppress=str(tmp_path))
    assert f"({tmp_path}: Is a directory)" in folder.stderr
    assert missing.returncode == folder.returncode == 1


@pytest.mark.parametrize("converts", [False, True])
def test_a_path_in_a_sarif_file_is_escaped(tmp_path, converts):
    path = tmp_path / ("reports.jsonl" if converts else "reports.sarif")
    (tmp_path / "a kernel.cu").write_text("\n*o = blockIdx.x;\n")
    program = PROGRAM.replace("kernel.cu", "a kernel.cu")
    assert run(tmp_path, program, report=str(path)).returncode == 0
    if converts:
        call = [sys.executable, "-m", "cuda.core.emulation", "sarif", str(path), "reports.sarif"]
        assert subprocess.run(call, cwd=tmp_path, timeout=300).returncode == 1
    (result,) = json.loads((tmp_path / "reports.sarif").read_text())["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place == {"uri": "a%20kernel.cu", "uriBaseId": "SRCROOT"}


def test_a_sarif_file_counts_a_mistake_once(tmp_path):
    path = tmp_path / "reports.sarif"
    assert run(tmp_path, report=str(path)).returncode == 0
    (result,) = json.loads(path.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "halfwarp/race"
    assert result["occurrenceCount"] == 2
    assert result["locations"][0]["physicalLocation"]["region"] == {"startLine": 2}
    assert result["partialFingerprints"]["halfwarpKey/v1"].startswith("race k ")

# SPDX-License-Identifier: Apache-2.0
"""``halfwarp emulate explore`` and ``sarif``: repeat runs, and convert reports."""

import json
import os
import re
import subprocess
import sys

import pytest
from cuda.core.emulation import explore

from .run_cases import ROOT

PROGRAM = '''
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch

device = Device(0)
device.set_current()
stream = device.create_stream()
code = Program(
    """extern "C" __global__ void k(int* o) {
    *o = blockIdx.x;
}""",
    "c++",
    ProgramOptions(lineinfo=True, name="kernel.cu"),
).compile("ptx")
buffer = device.allocate(64, stream=stream)
launch(stream, LaunchConfig(grid={blocks}, block=1), code.get_kernel("k"), buffer)
stream.sync()
'''


def run(*arguments, folder, **options):
    settings = {f"HALFWARP_EMULATOR_{name.upper()}": value for name, value in options.items()}
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "HALFWARP_BACKEND": "emulator"} | settings,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def emulate(*arguments, folder, **options):
    return run("-m", "cuda.core.emulation", *arguments, folder=folder, **options)


def test_sarif_of_wrong_input_says_what_is_wrong(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"kind": 1}\n{"kind": \n')
    (tmp_path / "none.jsonl").write_text("")
    for arguments, message in (
        (("a.jsonl", "o.sarif"), "sarif: a.jsonl:2: no JSON object: "),
        (("b.jsonl", "o.sarif"), "sarif: [Errno 2] No such file or directory: 'b.jsonl'"),
        (("--suppress",), "usage: sarif "),
        (("--suppress", "rules", "none.jsonl", "o.sarif"), "sarif: [Errno 2] No such file"),
    ):
        done = emulate("sarif", *arguments, folder=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith(message)
    assert not (tmp_path / "o.sarif").exists()


@pytest.fixture
def reports(tmp_path):
    """The path of a report file with one race."""
    (tmp_path / "racy.py").write_text(PROGRAM.replace("{blocks}", "2"))
    (tmp_path / "kernel.cu").write_text("\n*o = blockIdx.x;\n")
    path = tmp_path / "reports.jsonl"
    done = run("racy.py", folder=tmp_path, check="race", report=str(path))
    assert done.returncode == 0, done.stderr
    return path


def test_explored_mistakes_are_found_and_their_commands_repeat_them():
    """`seeds.explored` does so for all mistakes."""
    done = run("-m", "tests.emulator.checks.seeds.explored", "--sample", folder=ROOT)
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stdout
    assert re.search(r"^4 mistakes explored with 20 seeds, 0 faults", done.stdout, re.M)


def test_explore_names_a_finding_once_and_the_command_that_repeats_it(tmp_path):
    (tmp_path / "racy.py").write_text(PROGRAM.replace("{blocks}", "2"))
    done = emulate("explore", "3", "--", sys.executable, "racy.py", folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("race: write-write") == 1
    assert "  schedule: no choice of the seed, only defaults\n" in done.stdout
    assert "HALFWARP_EMULATOR_SEED=0 HALFWARP_EMULATOR_SCHEDULE=0" in done.stdout
    assert done.stdout.endswith("3 seeds: 1 findings, 0 other failures\n")


SWAPPED = """
import sys
from cuda.bindings import driver

driver.cuInit(0)
driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
address = driver.cuMemAlloc(64)[1]
streams = [driver.cuStreamCreate(1)[1] for _ in range(2)]
for _ in range(4):
    for number, stream in enumerate(streams):
        driver.cuMemsetD8Async(address, number, 64, stream)
    driver.cuCtxSynchronize()
value = bytearray(1)
driver.cuMemcpyDtoH(value, address, 1)
sys.exit(value[0] == 0)
"""


def test_explore_finds_the_shortest_schedule_of_a_failure(tmp_path):
    (tmp_path / "swapped.py").write_text(SWAPPED)
    done = emulate("explore", "20", sys.executable, "swapped.py", folder=tmp_path, check="memory")
    assert done.returncode == 1
    assert done.stdout.endswith("20 seeds: 0 findings, 1 other failures\n")
    pattern = r"  schedule: 1 choice of the seed \((\d+-\d+)\), else the default\n"
    (choice,) = re.findall(pattern, done.stdout)
    (command,) = re.findall(r"  repeat: (.*)\n", done.stdout)
    with_fewer = command.replace(f"SCHEDULE={choice}", "SCHEDULE=0")
    assert with_fewer != command
    for each, status in ((command, 1), (with_fewer, 0)):
        repeated = subprocess.run(each, shell=True, cwd=tmp_path, env=os.environ, timeout=300)
        assert repeated.returncode == status


@pytest.mark.parametrize("needed", [(), (1,), (7,), (2, 9), (1, 8, 9, 16), tuple(range(1, 17))])
def test_each_choice_of_a_reduced_schedule_is_needed(needed):
    tried = []

    def fails(choices):
        tried.append(choices)
        return set(needed) <= set(choices)

    reduced = explore.fewest_choices(range(1, 17), fails)
    assert set(needed) <= set(reduced)
    assert len(reduced) == max(len(needed), 1)
    assert len(set(tried)) <= 100


def test_a_schedule_of_choices_is_a_text_of_ranges():
    assert explore.ranges_of(()) == "0"
    assert explore.ranges_of((3,)) == "3-3"
    assert explore.ranges_of((1, 2, 3, 7, 9, 10)) == "1-3,7-7,9-10"


@pytest.mark.parametrize("arguments", [(), ("3",), ("0", "true"), ("x", "true"), ("3", "--")])
def test_explore_without_a_number_or_a_program_shows_its_usage(tmp_path, arguments):
    done = emulate("explore", *arguments, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "usage: explore N [--] PROGRAM [ARG]...\n"


def test_explore_of_a_missing_program_names_it(tmp_path):
    done = emulate("explore", "2", "./missing", folder=tmp_path)
    assert done.returncode == 127
    assert done.stderr == "explore: ./missing: No such file or directory\n"


def test_explore_of_a_correct_program_succeeds(tmp_path):
    (tmp_path / "fine.py").write_text(PROGRAM.replace("{blocks}", "1"))
    done = emulate("explore", "2", sys.executable, "fine.py", folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "2 seeds: 0 findings, 0 other failures\n")


def test_explore_reports_a_failure_without_a_finding(tmp_path):
    done = emulate("explore", "2", sys.executable, "-c", "raise SystemExit(3)", folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("exit status 3 without a report\n  schedule: no choice of")


def test_sarif_has_a_result_with_its_place_and_key(reports, tmp_path):
    output = tmp_path / "reports.sarif"
    assert emulate("sarif", str(reports), str(output), folder=tmp_path).returncode == 1
    (result,) = json.loads(output.read_text())["runs"][0]["results"]
    assert result["ruleId"] == "halfwarp/race"
    assert result["level"] == "error"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "kernel.cu", "uriBaseId": "SRCROOT"}
    assert place["region"] == {"startLine": 2}
    assert result["partialFingerprints"]["halfwarpKey/v1"].startswith("race k ")
    assert result["message"]["text"].startswith("race: write-write of 4 bytes")


def test_a_suppressed_report_has_its_reason_and_no_failure(reports, tmp_path):
    rules = tmp_path / "suppressions"
    rules.write_text("# known\nrace k kernel.cu:2 any block may win\nhazard * * never\n")
    output = tmp_path / "reports.sarif"
    done = emulate("sarif", "--suppress", str(rules), str(reports), str(output), folder=tmp_path)
    assert done.returncode == 0
    unused = f"sarif: {rules}:3: hazard * * never: no report matched this suppression\n"
    assert done.stderr == unused
    (result,) = json.loads(output.read_text())["runs"][0]["results"]
    assert result["suppressions"][0]["justification"] == "any block may win"


def test_a_wrong_suppression_names_its_line(reports, tmp_path):
    rules = tmp_path / "suppressions"
    rules.write_text("race k\n")
    done = emulate("sarif", "--suppress", str(rules), str(reports), "o.sarif", folder=tmp_path)
    assert done.returncode == 2
    assert f"{rules}:1: 'race k' is not of the form" in done.stderr

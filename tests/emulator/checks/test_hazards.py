# SPDX-License-Identifier: Apache-2.0
"""The check of hazards names operations of several streams that miss an order."""

import os
import re
import subprocess
import sys

import pytest

from .planted import hazards, programs
from .run_cases import run_all, twins_with_reports

CASES = hazards.CASES | programs.CASES
# The cleanup after a failed call calls the driver while an exception is set.
FAILURES = """
from cuda.core import CUDAError, Device, ManagedMemoryResource, emulation

device = Device(0)
device.set_current()
stream = device.create_stream()
for function in ("cuMemPoolCreate", "cuMemAllocFromPoolAsync"):
    for _ in range(20):
        try:
            with emulation.inject(function, error="CUDA_ERROR_OUT_OF_MEMORY"):
                ManagedMemoryResource({}).allocate(16, stream=stream)
        except CUDAError as error:
            assert "CUDA_ERROR_OUT_OF_MEMORY" in str(error), error
        else:
            raise AssertionError(function)
print("done")
"""
LEAK = """
from cuda.bindings import driver

driver.cuInit(0)
driver.cuCtxSetCurrent(driver.cuDevicePrimaryCtxRetain(0)[1])
driver.cuMemAlloc(64)
"""


def run_hazards(*names, **options):
    return run_all(None, *names, runner="run_hazards", **options)


@pytest.fixture(scope="module")
def findings():
    return run_hazards(check="hazard")


@pytest.mark.parametrize("name", CASES)
def test_a_hazard_is_found(findings, name):
    reports = findings[name]["mistake"]
    assert reports and all(each.startswith("hazard: ") for each in reports)


@pytest.mark.parametrize("name", CASES)
def test_the_correct_twin_has_no_report(findings, name):
    assert findings[name]["twin"] == []


@pytest.mark.parametrize("name", hazards.CORRECT)
def test_an_ordered_program_has_no_report(findings, name):
    assert findings[name]["mistake"] == findings[name]["twin"] == []


@pytest.mark.parametrize("mode", ["eager", "adversarial"])
def test_findings_do_not_depend_on_the_interleaving(findings, mode):
    repeated = run_hazards(check="hazard", mode=mode, seed="5")
    assert {name: len(each["mistake"]) for name, each in repeated.items()} == {
        name: len(each["mistake"]) for name, each in findings.items()
    }
    assert not twins_with_reports(repeated)


def test_a_report_names_both_operations_and_the_wait(findings):
    (report,) = findings["kernel_after_kernel"]["mistake"]
    lines = report.splitlines()
    assert re.fullmatch(
        r"hazard: kernel 'read' at .*hazards.py:\d+ on stream \d+ reads bytes that kernel 'write' "
        r"at .*hazards.py:\d+ on stream \d+ writes, and nothing orders the two operations",
        lines[0],
    )
    assert lines[1].startswith("  memory: 0 bytes into the live 4096-byte allocation at ")
    assert "stream.wait(other.record())" in lines[-1]


@pytest.mark.parametrize(
    ("name", "verbs"),
    [
        ("allocated_on_other_stream", {"allocates", "writes"}),
        ("freed_on_other_stream", {"frees", "writes"}),
    ],
)
def test_a_report_names_what_each_operation_does(findings, name, verbs):
    (report,) = findings[name]["mistake"]
    pattern = r"(reads|writes|updates|allocates|frees)\b"
    assert set(re.findall(pattern, report.splitlines()[0])) == verbs


def test_only_the_last_write_of_bytes_is_named():
    findings = run_hazards("write_over_a_write", check="hazard", mode="eager")
    assert [len(each) for each in findings["write_over_a_write"].values()] == [1, 0]


def test_other_checks_have_no_report_about_ordered_programs():
    assert not twins_with_reports(run_hazards(check="memory,sync,race,hazard"))


def run_program(folder, program, **options):
    (folder / "program.py").write_text(program)
    settings = {f"HALFWARP_EMULATOR_{name.upper()}": value for name, value in options.items()}
    return subprocess.run(
        [sys.executable, "program.py"],
        env={**os.environ, "HALFWARP_BACKEND": "emulator"} | settings,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("options", [{"check": "hazard"}, {"trace": "site"}])
def test_an_exception_survives_the_calls_of_its_cleanup(tmp_path, options):
    done = run_program(tmp_path, FAILURES, **options)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_variables_of_the_environment_are_enough(tmp_path):
    done = run_program(tmp_path, LEAK, check="leak", trace="site")
    assert f"{tmp_path}/program.py:6" in done.stderr

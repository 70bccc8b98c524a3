# SPDX-License-Identifier: Apache-2.0
"""Conclusions from several findings, on simulated machines."""

import pytest

from halfwarp.doctor.relations import compare

DRIVER = {
    "is_found": True,
    "version": "13.5",
    "api_version": "13.5",
    "library": "/usr/lib/x86_64-linux-gnu/libcuda.so.600.10",
    "release": "600.10",
    "kernel_module": "600.10",
    "functions": 500,
    "missing_functions": [],
}
DEVICE = {"ordinal": 0}
BACKEND = {"setting": "driver", "backend": "driver", "devices": [DEVICE]}
ABSENT = {"is_found": False, "kernel_module": None, "has_device_node": False}
NO_DRIVER = {"setting": "driver", "devices": [], "error": "cuInit() needs the driver. Install it"}


@pytest.fixture
def compared(findings):
    def run(driver=None, backend=None, **versions):
        libraries = {name: {"is_found": True, "version": v} for name, v in versions.items()}
        facts = {"driver": {**DRIVER, **(driver or {})}, "backend": {**BACKEND, **(backend or {})}}
        compare(findings, {**facts, "libraries": libraries})
        return findings

    return run


def messages(entries):
    return [each["what"] for each in entries]


def test_a_sound_machine_has_no_findings(compared):
    findings = compared(nvrtc="13.5", nvJitLink="13.5")
    assert messages(findings.problems) == messages(findings.warnings) == []


def test_an_empty_examination_is_no_failure(findings):
    half = {"setting": "driver", "backend": "driver"}
    for backend in ({}, half):
        compare(findings, {"driver": {}, "backend": backend, "libraries": {"nvrtc": {}}})
    assert not findings.problems


@pytest.mark.parametrize("version", ["11.8", "9.2"])
def test_a_driver_before_12_is_a_problem(compared, version):
    (message,) = messages(compared(driver={"version": version}).problems)
    assert message == f"the driver supports only CUDA {version}: too old"


@pytest.mark.parametrize("version", ["12.0", "12.4", "12.0.1"])
def test_a_driver_of_12_is_reported(compared, version):
    driver = {"version": version, "missing_functions": ["cuA", "cuB"]}
    findings = compared(driver=driver)
    assert not findings.problems
    assert "2 of 500 functions are missing" in messages(findings.warnings)[0]
    assert "cudaErrorInsufficientDriver" in messages(findings.warnings)[0]


def test_another_kernel_module_is_a_problem(compared):
    (problem,) = compared(driver={"kernel_module": "580.1"}).problems
    assert "kernel module is of release 580.1" in problem["what"]
    assert "restart" in problem["remedy"]


def test_a_newer_compat_library_is_no_problem(compared):
    driver = {"kernel_module": "580.1", "library": "/usr/local/cuda/compat/libcuda.so.600.10"}
    assert not compared(driver=driver).problems


@pytest.mark.parametrize(
    ("nvrtc", "driver", "is_told"),
    [("13.5", "13.0", True), ("13.0", "13.5", False), ("12.9", "13.0", False)],
)
def test_a_compiler_newer_than_the_driver_is_reported(compared, nvrtc, driver, is_told):
    findings = compared(driver={"version": driver}, nvrtc=nvrtc)
    assert (
        messages(findings.warnings)
        == [
            f"NVRTC {nvrtc} is newer than the driver, which supports CUDA {driver}: the driver may "
            "reject its PTX (CUDA_ERROR_UNSUPPORTED_PTX_VERSION)"
        ]
        * is_told
    )


def test_a_linker_older_than_the_compiler_is_reported(compared):
    (warning,) = compared(nvrtc="13.5", nvJitLink="13.0").warnings
    assert warning["remedy"] == "pip install 'nvidia-nvjitlink==13.5.*'"


@pytest.mark.parametrize(
    ("driver", "backend", "remedy"),
    [
        (ABSENT, NO_DRIVER, "HALFWARP_BACKEND=emulator"),
        ({**ABSENT, "has_device_node": True}, NO_DRIVER, "NVIDIA_DRIVER_CAPABILITIES"),
        (ABSENT, {**NO_DRIVER, "setting": "cpu"}, "driver, emulator or auto"),
        (ABSENT, {**NO_DRIVER, "setting": "emulator"}, "reinstall"),
        ({}, {**NO_DRIVER, "error_name": "CUDA_ERROR_SYSTEM_NOT_READY"}, "fabric"),
        ({}, {**NO_DRIVER, "error_name": "CUDA_ERROR_NEW"}, "nvidia-smi"),
        ({}, {"devices": []}, "CUDA_VISIBLE_DEVICES"),
    ],
    ids=["no driver", "no library", "setting", "no emulator", "not ready", "other", "no device"],
)
def test_a_backend_that_does_not_start_is_a_problem(compared, driver, backend, remedy):
    (problem,) = compared(driver=driver, backend=backend).problems
    assert remedy in problem["remedy"]
    assert "Install" not in problem["what"]


def test_a_missing_driver_is_no_problem_with_the_emulator(compared):
    backend = {"setting": "emulator", "backend": "emulator", "devices": [DEVICE]}
    assert not compared(driver=ABSENT, backend=backend).problems

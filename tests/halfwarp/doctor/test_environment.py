# SPDX-License-Identifier: Apache-2.0
"""Our variables and CUDA's: valid values pass, others are reported."""

import os

import pytest

from halfwarp.doctor.probes import environment


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    for name in list(os.environ):
        if environment.SHOWN.match(name):
            monkeypatch.delenv(name)


UNDERSTOOD = [
    ("HALFWARP_BACKEND", "auto"),
    ("HALFWARP_BACKEND", ""),
    ("HALFWARP_FLIGHT_RECORDER", "64"),
    ("HALFWARP_EMULATOR_DEVICES", "2"),
    ("HALFWARP_EMULATOR_CHECK", "memory,sync"),
    ("CUDA_VISIBLE_DEVICES", ""),
    ("CUDA_VISIBLE_DEVICES", "0,2"),
    ("CUDA_VISIBLE_DEVICES", "-1"),
    ("CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,1"),
    ("CUDA_VISIBLE_DEVICES", "MIG-GPU-8932f937/1/2"),
    ("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
    ("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "1"),
    ("CUDA_PATH", "/tmp"),
    ("CUDA_SOMETHING_NEW", "x"),
]
REFUSED = [
    ("HALFWARP_BACKEND", "cpu", "driver, emulator, auto"),
    ("HALFWARP_SYNC_LAUNCH", "yes", "0, 1"),
    ("HALFWARP_FLIGHT_RECORDER", "many", "a number"),
    ("HALFWARP_EMULATOR_DEVICES", "zero", "devices"),
    ("HALFWARP_EMULATOR_DEVICE", "1", "device"),
    ("HALFWARP_BACKENDS", "driver", "did you mean HALFWARP_BACKEND?"),
    ("HALFWARP_QQQ", "1", "does not read a variable of that name"),
    ("CUDA_VISIBLE_DEVICES", "all", "ordinals"),
    ("CUDA_DEVICE_ORDER", "pci", "FASTEST_FIRST, PCI_BUS_ID"),
    ("CUDA_PATH", "/no/such/folder", "no such folder"),
    ("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM", "yes", "a number"),
]


@pytest.mark.parametrize(("name", "value"), UNDERSTOOD)
def test_valid_values_are_only_shown(findings, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    environment.probe(findings)
    shown = {"name": name, "value": value, "is_understood": True}
    assert findings.facts["variables"] == [shown]
    assert not findings.warnings


@pytest.mark.parametrize(("name", "value", "message"), REFUSED)
def test_invalid_values_are_reported(findings, monkeypatch, name, value, message):
    monkeypatch.setenv(name, value)
    environment.probe(findings)
    assert not findings.facts["variables"][0]["is_understood"]
    (warning,) = findings.warnings
    assert warning["what"].startswith(f"{name}={value!r}: ")
    assert message in warning["what"]
    assert warning["remedy"] == f"correct or unset {name}"


def test_unrelated_variables_are_not_shown(findings, monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("MY_CUDA_PATH", "x")
    environment.probe(findings)
    assert findings.facts["variables"] == []


def test_each_variable_that_launches_read_is_known():
    read = {"HALFWARP_LAUNCH_CHECKS", "HALFWARP_SYNC_LAUNCH", "HALFWARP_FLIGHT_RECORDER"}
    assert read <= set(environment.CHECKS)

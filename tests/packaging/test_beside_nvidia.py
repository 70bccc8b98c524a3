# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's published wheels in the same environment: both orders of installing and uninstalling."""

import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from .conftest import make_environment, need_build_tools

THEIRS = ("cuda-bindings==13.5.0", "cuda-core==1.2.2")
NAMES = ("cuda-bindings", "cuda-core")
TOOLS = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py.py")
USE = """
from cuda.core import Device, __implementation__
Device().set_current()
stream = Device().create_stream()
stream.sync()
stream.close()
print(__implementation__, Device().name)
"""
INSTALLED = "from importlib import metadata; print(*(metadata.version(n) for n in {!r}))"


@pytest.fixture(scope="session")
def nvidias_wheels(tmp_path_factory):
    """Download from the package index; skip without one."""
    need_build_tools()
    folder = tmp_path_factory.mktemp("nvidia")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", str(folder)]
    done = subprocess.run([*command, *THEIRS], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"NVIDIA's wheels are not to be had: {done.stderr.strip()[-200:]}")
    return sorted(folder.glob("*.whl"))


@pytest.fixture(scope="module", params=["ours first", "NVIDIA's first"])
def original(request, wheel, nvidias_wheels, tmp_path_factory):
    """Return an environment with both, and the folder of a copy, which no test changes."""
    folder = tmp_path_factory.mktemp("mixed") / "environment"
    environment = make_environment(folder)
    steps = [[wheel], nvidias_wheels]
    for wheels in steps if request.param == "ours first" else steps[::-1]:
        environment.install(*wheels)
    environment.borrow("pytest", *TOOLS)
    environment.borrow("numpy", "cuda/pathfinder")
    copy = folder.with_name("copy")
    folder.rename(copy)
    return SimpleNamespace(environment=environment, folder=folder, copy=copy)


@pytest.fixture
def mixed(original):
    """Return the environment in its first state, in one place: its scripts contain their path."""
    shutil.copytree(original.copy, original.folder, symlinks=True)
    yield original.environment
    shutil.rmtree(original.folder)


def command(environment, *arguments):
    """Return the output of the command `halfwarp` in an environment."""
    line = [environment.python.with_name("halfwarp"), *arguments]
    unset = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    variables = unset | {"HALFWARP_BACKEND": "emulator"}
    return subprocess.run(line, cwd="/", env=variables, capture_output=True, text=True)


def problems_of(environment):
    done = command(environment, "doctor", "--json")
    assert done.stdout, done.stderr
    problems = json.loads(done.stdout)["problems"]
    assert done.returncode == (1 if problems else 0), done.stderr
    return problems


def pytest_header(environment, tmp_path, **variables):
    """Return the output of pytest for an unrelated test, in any state of the installation."""
    (tmp_path / "test_other.py").write_text("def test_other():\n    assert 1 + 1 == 2\n")
    arguments = ["-m", "pytest", "-p", "no:cacheprovider", tmp_path / "test_other.py"]
    output = environment.run(*arguments, **variables)
    assert "1 passed" in output
    return output


def assert_is_mended(environment):
    done = command(environment, "repair")
    assert done.returncode == 0, done.stdout + done.stderr
    assert problems_of(environment) == []
    implementation = environment.run("-W", "error", "-c", USE)
    assert implementation.startswith("halfwarp ") and "Emulated" in implementation


def test_mixed_files_are_reported_and_repaired(mixed, tmp_path):
    problems = problems_of(mixed)
    assert (
        "the installation is mixed: cuda-bindings 13.5.0 and cuda-core 1.2.2"
        in (problems[0]["what"])
    )
    assert {each["probe"] for each in problems} == {"files"}  # without its consequences
    assert all(each["remedy"] == "halfwarp repair" for each in problems)
    assert "halfwarp repair" in pytest_header(mixed, tmp_path)
    assert_is_mended(mixed)
    assert "damage" not in pytest_header(mixed, tmp_path)
    assert mixed.run("-c", INSTALLED.format(NAMES)).split() == [
        "13.5.0+halfwarp",
        "1.2.2+halfwarp",
    ]


def test_a_dry_run_changes_nothing(mixed):
    before = problems_of(mixed)
    done = command(mixed, "repair", "--dry-run")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "would be uninstalled: cuda-bindings 13.5.0"
    assert problems_of(mixed) == before


def test_files_removed_with_theirs_are_restored(mixed, tmp_path):
    mixed.uninstall(*NAMES)
    problems = problems_of(mixed)
    assert any("files are missing" in each["what"] for each in problems)
    assert all(each["remedy"] == "halfwarp repair" for each in problems)
    assert "halfwarp repair" in pytest_header(mixed, tmp_path)
    assert_is_mended(mixed)


def test_uninstalling_ours_removes_the_stand_ins(mixed, tmp_path):
    assert command(mixed, "repair").returncode == 0
    mixed.uninstall("halfwarp")
    assert pytest_header(mixed, tmp_path)
    remaining = {path.name for path in mixed.packages.iterdir() if "dist-info" in path.name}
    assert not [name for name in remaining if name.startswith(("cuda_bindings", "cuda_core"))]
    assert not any((mixed.packages / "cuda" / name).exists() for name in ("bindings", "core"))


def test_pytest_starts_with_only_theirs_left(mixed, tmp_path):
    mixed.uninstall("halfwarp")
    assert pytest_header(mixed, tmp_path)
    assert not (mixed.packages / "halfwarp").exists()


def test_theirs_over_the_stand_ins_is_reported(wheel, nvidias_wheels, tmp_path):
    """pip installs NVIDIA's package by name over ours and its stand-ins."""
    environment = make_environment(tmp_path)
    environment.install(wheel)
    environment.borrow("numpy", "cuda/pathfinder")
    assert command(environment, "shims", "--here").returncode == 0
    environment.install("--force-reinstall", *nvidias_wheels)
    assert "the installation is mixed" in problems_of(environment)[0]["what"]
    assert_is_mended(environment)


def test_ours_over_theirs_warns_at_import(wheel, nvidias_wheels, tmp_path):
    environment = make_environment(tmp_path)
    environment.install(*nvidias_wheels)
    environment.install(wheel)
    code = "import warnings; warnings.simplefilter('error'); import cuda.core"
    done = subprocess.run([environment.python, "-c", code], cwd="/", capture_output=True, text=True)
    assert "UserWarning" in done.stderr and "halfwarp repair" in done.stderr

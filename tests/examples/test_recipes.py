# SPDX-License-Identifier: Apache-2.0
"""The recipes for several devices and processes, with one, two and three emulated devices.

On GPUs they use the existing ones; recipes whose dependencies are missing are skipped.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "examples" / "recipes"
PART = r"(device \d+: \d[\d,]* (numbers|of 4 parts|chunks)\n)"


def devices_of(count):
    """Return the number of devices if this many are requested: GPUs have a fixed number."""
    from cuda.core import Device, emulation

    return count if emulation.is_active() else len(Device.get_all_devices())


def run(name, *arguments, devices=2, start=(), **variables):
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    settings = {"HALFWARP_EMULATOR_DEVICES": str(devices), "PYTHONPATH": path}
    done = subprocess.run(
        [*start, sys.executable, str(RECIPES / name), *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | settings | {"RAY_AUTH_MODE": "disabled"} | variables,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("devices", [1, 2, 3])
@pytest.mark.parametrize("name", ["threads_over_devices.py", "neighbors.py", "processes.py"])
def test_each_device_is_used(name, devices):
    printed = run(name, devices=devices)
    assert len(re.findall(PART, printed)) == devices_of(devices)
    assert re.search(r"correct$", printed.strip())


@pytest.mark.parametrize("name", ["threads_over_devices.py", "neighbors.py"])
def test_no_wait_is_missing(name):
    """Queued work runs as late as possible, and every resource is released."""
    variables = {"HALFWARP_EMULATOR_MODE": "adversarial", "HALFWARP_EMULATOR_SEED": "11"}
    assert run(name, devices=3, **variables).strip().endswith("correct")


def test_a_missing_wait_for_the_neighbors_is_found(tmp_path, monkeypatch):
    """On the emulator, the test above fails if the events are removed."""
    from cuda.core import emulation

    if not emulation.is_active():
        pytest.skip("a GPU may be in time without them")
    text = (RECIPES / "neighbors.py").read_text()
    assert text.count("self.stream.wait(neighbor.done)") == 1
    (tmp_path / "wrong.py").write_text(text.replace("self.stream.wait(neighbor.done)", "pass"))
    monkeypatch.setattr(sys.modules[__name__], "RECIPES", tmp_path)
    with pytest.raises(AssertionError, match="WRONG"):
        run("wrong.py", devices=3, HALFWARP_EMULATOR_MODE="adversarial")


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks_of_mpi_share_the_devices(ranks):
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if not (find_spec("mpi4py") and mpiexec):
        pytest.skip("mpi4py or mpiexec is not installed (pip install mpi4py mpich)")
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    printed = run("mpi_sum.py", start=(mpiexec, "-n", str(ranks)), **allowed)
    lines = printed.strip().splitlines()
    count = devices_of(2)
    assert [re.match(r"rank (\d): device (\d)", line).groups() for line in lines[:-1]] == [
        (str(rank), str(rank % count)) for rank in range(ranks)
    ]
    assert lines[-1] == "sum 2666466670000: correct"


@pytest.mark.parametrize("library, package", [("dask", "distributed"), ("ray", "ray")])
def test_an_actor_owns_a_device(library, package):
    if not find_spec(package):
        pytest.skip(f"{package} is not installed (pip install {package})")
    *reports, data, total = run("actors.py", library).splitlines()
    assert sum(int(re.search(r": (\d+) chunks$", line)[1]) for line in reports) == 12
    assert len(reports) == devices_of(2)
    assert data == "12 MiB in all, at most 3 on a device at a time"
    assert total.endswith("correct")


@pytest.mark.parametrize("package", ["nccl", "cupy"])
def test_nccl_sums_over_all_devices(package):
    from cuda.core import emulation

    if not find_spec(package):
        pytest.skip(f"{package} is not installed")
    if package == "cupy" and emulation.is_active():
        pytest.skip("CuPy's wheels contain NVIDIA's runtime, which cannot be emulated")
    start = [sys.executable, "-m", "cuda.core.emulation", "exec"] if emulation.is_active() else ()
    output = run("nccl_sum.py", package, devices=4, start=start)
    assert re.search(r"\d+ devices, sum \d+: correct\n$", output)


def test_nccl_is_skipped_without_a_package():
    assert run("nccl_sum.py", "no_such_package").startswith("nothing to do: ")

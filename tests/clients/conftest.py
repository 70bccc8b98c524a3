# SPDX-License-Identifier: Apache-2.0
"""Foreign packages in processes of their own: their folders and dependencies."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("HALFWARP_CLIENTS") or HERE.parents[1] / ".clients" / "site")
CORE = "cuda-core"  # the wheel whose absence makes a client run on our cuda.core


@pytest.fixture(scope="session")
def home():
    """Return the location of our packages: the source tree, or an installation."""
    import cuda.bindings

    return Path(cuda.bindings.__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command(home):
    """Return the output of one of our commands; not run in the source tree, which `-m` would put
    first."""

    def output_of(*arguments):
        environment = os.environ | {"PYTHONPATH": str(home)}
        call = [sys.executable, "-m", *map(str, arguments)]
        done = subprocess.run(call, cwd="/", env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return output_of


@pytest.fixture(scope="session")
def stand_ins(command, tmp_path_factory):
    """Build the distributions whose versions some clients check."""
    folder = tmp_path_factory.mktemp("stand-ins")
    command("cuda.core", "shims", folder)
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture(scope="session")
def driver_folder(command):
    """Return the folder with the emulator as `libcuda.so.1`, for packages that open it
    themselves."""
    return command("cuda.core.emulation", "path")


@pytest.fixture
def run(home, stand_ins, driver_folder):
    """Run a script of this folder with the client's folders first and ours after them."""
    from cuda.core import emulation

    def run_with(client, *arguments, script="run_script.py"):
        wheels = client.get("wheels", ())
        laid_out = [FOLDER / name for name in wheels if (FOLDER / name).is_dir()]
        before = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        path = os.pathsep.join(map(str, [*laid_out, home, stand_ins, *before]))
        variables = {
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
            "HALFWARP_CLIENT_CORE": "theirs" if CORE in wheels else "ours",
        }
        if client.get("opens_driver") and emulation.is_active():
            variables["LD_LIBRARY_PATH"] = driver_folder
        return subprocess.run(
            [sys.executable, str(HERE / script), *arguments],
            env=os.environ | variables,
            capture_output=True,
            text=True,
            timeout=300,
        )

    return run_with


@pytest.fixture
def missing(run):
    """Return the missing dependencies of a client, as a text."""

    def missing_of(client):
        needed = (",".join(client.get(kind, ())) for kind in ("modules", "libraries"))
        done = run(client, "--missing", *needed)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return missing_of


@pytest.fixture
def need(missing):
    """Return the client, or skip the test."""

    def needed(client):
        if absent := missing(client):
            wheels = f" (wheels: {', '.join(client['wheels'])})" if "wheels" in client else ""
            pytest.skip(f"not at hand: {absent}{wheels}; see tests/clients/README.md")
        return client

    return needed

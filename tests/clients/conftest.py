# SPDX-License-Identifier: Apache-2.0
"""Foreign packages in processes of their own: where they lie, and what runs beside them."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("HALFWARP_CLIENTS") or HERE.parents[1] / ".clients" / "site")
CORE = "cuda-core"  # the wheel without which a client runs on our cuda.core


@pytest.fixture(scope="session")
def home():
    """Where our packages are: the source tree, or an installation."""
    import cuda.bindings

    return Path(cuda.bindings.__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def command(home):
    """What a command of ours prints; not run in the source tree, which `-m` would put first."""

    def output_of(*arguments):
        environment = os.environ | {"PYTHONPATH": str(home)}
        call = [sys.executable, "-m", *map(str, arguments)]
        done = subprocess.run(call, cwd="/", env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return output_of


@pytest.fixture(scope="session")
def stand_ins(command, tmp_path_factory):
    """The distributions whose version some clients ask for."""
    folder = tmp_path_factory.mktemp("stand-ins")
    command("cuda.core", "shims", folder)
    for wheel in folder.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder)
    return folder


@pytest.fixture(scope="session")
def driver_folder(command):
    """Where the emulator is a `libcuda.so.1`, for packages that open that themselves."""
    return command("cuda.core.emulation", "path")


@pytest.fixture
def run(home, stand_ins, driver_folder):
    """A script of this folder with the client's folders first and ours after them."""
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
    """What a client needs and is not there, as a text."""

    def missing_of(client):
        needed = (",".join(client.get(kind, ())) for kind in ("modules", "libraries"))
        done = run(client, "--missing", *needed)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return missing_of


@pytest.fixture
def need(missing):
    """The client, or the test is skipped."""

    def needed(client):
        if absent := missing(client):
            wheels = f" (wheels: {', '.join(client['wheels'])})" if "wheels" in client else ""
            pytest.skip(f"not at hand: {absent}{wheels}; see tests/clients/README.md")
        return client

    return needed

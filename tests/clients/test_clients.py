# SPDX-License-Identifier: Apache-2.0
"""Foreign packages, as they were published, on top of ours: each script does real work."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CLIENTS = tomllib.loads((HERE / "clients.toml").read_text())
FOLDER = Path(os.environ.get("HALFWARP_CLIENTS") or HERE.parents[1] / ".clients" / "site")


def parameter(name):
    reason = CLIENTS[name].get("gpu")
    return pytest.param(name, id=name, marks=[pytest.mark.gpu(reason)] if reason else [])


def run(client, *arguments):
    """`run_script.py` with the client's folders first and ours after them."""
    import cuda.bindings

    ours = Path(cuda.bindings.__file__).parents[2]
    laid_out = [FOLDER / name for name in client.get("wheels", ()) if (FOLDER / name).is_dir()]
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = os.pathsep.join(filter(None, [*map(str, [*laid_out, ours]), *before]))
    return subprocess.run(
        [sys.executable, str(HERE / "run_script.py"), *arguments],
        env=os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )


def missing(client):
    modules, libraries = (",".join(client.get(kind, ())) for kind in ("modules", "libraries"))
    done = run(client, "--missing", modules, libraries)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", [parameter(name) for name in CLIENTS])
def test_it_runs_on_ours(name):
    client = CLIENTS[name]
    if absent := missing(client):
        wheels = f" (wheels: {', '.join(client['wheels'])})" if "wheels" in client else ""
        pytest.skip(f"not at hand: {absent}{wheels}; tests/clients/README.md says how to get them")
    done = run(client, str(HERE / "scripts" / f"{name}.py"))
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(client["prints"], done.stdout.strip()), done.stdout + done.stderr


def test_every_script_has_its_row():
    assert {path.stem for path in (HERE / "scripts").glob("*.py")} == CLIENTS.keys()

# SPDX-License-Identifier: Apache-2.0
"""Published foreign packages on top of our packages: each script does real work."""

import re
import tomllib

import pytest

from .conftest import CORE, HERE

CLIENTS = tomllib.loads((HERE / "clients.toml").read_text())


def on_our_core(client):
    """Return the same client without NVIDIA's cuda-core."""
    wheels = [wheel for wheel in client["wheels"] if wheel != CORE]
    modules = [name for name in client["modules"] if not name.startswith("cuda.core.")]
    return client | {"wheels": wheels, "modules": modules}


ROWS = CLIENTS | {
    f"{name} on our cuda.core": on_our_core(client)
    for name, client in CLIENTS.items()
    if CORE in client.get("wheels", ())
}


def script_of(row):
    return str(HERE / "scripts" / f"{row.split()[0]}.py")


def parameter(row):
    reason = ROWS[row].get("gpu")
    return pytest.param(row, id=row, marks=[pytest.mark.gpu(reason)] if reason else [])


@pytest.mark.parametrize("row", [parameter(row) for row in ROWS])
def test_it_runs_on_ours(row, run, need):
    client = need(ROWS[row])
    done = run(client, script_of(row))
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(client["prints"], done.stdout.strip()), done.stdout + done.stderr


@pytest.mark.parametrize("row", [row for row, each in ROWS.items() if "imports" in each])
def test_it_is_imported_without_a_gpu(row, run, need):
    client = need(ROWS[row])
    done = run(client, "--import", client["imports"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == client["imports"].split(",")


def test_every_script_has_its_row():
    scripts = HERE / "scripts"
    result = {path.relative_to(scripts).with_suffix("") for path in scripts.rglob("*.py")}
    assert {path.as_posix() for path in result} == CLIENTS.keys()

# SPDX-License-Identifier: Apache-2.0
"""Locations of NVIDIA's packages, and the results of both implementations on the emulated
driver."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
THEMES = sorted((FOLDER / "themes").glob("*/*.py"))


def find_reference():
    """Return the interpreter with NVIDIA's packages: named by a variable, or created by the
    benchmarks."""
    if named := os.environ.get("HALFWARP_REFERENCE_PYTHON"):
        return named
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "halfwarp"
    version = f"{sys.version_info[0]}{sys.version_info[1]}"
    for done in sorted(cache.glob(f"benchmarks-py{version}/*/.complete")):
        return str(done.parent / "bin" / "python")
    return None


@pytest.fixture(scope="session")
def on_gpu(request):
    """Return whether both run on a GPU instead of the emulated driver."""
    return request.config.getoption("backend") == "gpu"


@pytest.fixture(scope="session")
def reference():
    """Return the interpreter with the reference; this one, if a variable names a folder for its
    path."""
    if os.environ.get("HALFWARP_REFERENCE_PATH"):
        return sys.executable
    python = find_reference()
    if python is None:
        pytest.skip(
            "NVIDIA's packages are not at hand: `python -m benchmarks` fetches them, or "
            "HALFWARP_REFERENCE_PYTHON names an interpreter that has them"
        )
    return python


def run_workers(python, out, is_alone=False, **variables):
    """Return the outcomes of every theme, from one process for each folder of themes.

    With `is_alone`, on a GPU, each theme has a process of its own; its outcome is None if a
    signal terminated it. Themes that change settings of the machine are skipped.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
    if python != sys.executable:
        environment.pop("PYTHONPATH", None)  # a working tree would shadow the reference
    environment |= variables
    outcomes = {}
    run = [theme for theme in THEMES if not (is_alone and theme.parent.name == "settings")]
    for group in sorted({theme if is_alone else theme.parent for theme in run}):
        themes = [str(theme) for theme in run if group in (theme, theme.parent)]
        command = [python, "-X", "faulthandler", str(FOLDER / "worker.py"), str(out), *themes]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
        if is_alone and done.returncode < 0:
            outcomes[group.stem] = None
            continue
        assert done.returncode == 0, f"{python} ended with {done.returncode}:\n{done.stderr}"
        outcomes |= json.loads(out.read_text())
    return outcomes


@pytest.fixture(scope="session")
def theirs(reference, on_gpu, tmp_path_factory):
    out = tmp_path_factory.mktemp("reference") / "outcomes.json"
    variables = {}
    if path := os.environ.get("HALFWARP_REFERENCE_PATH"):
        variables["PYTHONPATH"] = path
    if on_gpu:
        return run_workers(reference, out, is_alone=True, **variables)
    result = subprocess.run(
        [sys.executable, "-m", "cuda.core.emulation", "path"],
        check=True,
        capture_output=True,
        text=True,
    )
    folder = result.stdout.strip().splitlines()[-1]
    return run_workers(reference, out, LD_LIBRARY_PATH=folder, **variables)


@pytest.fixture(scope="session")
def ours(reference, on_gpu, tmp_path_factory):
    out = tmp_path_factory.mktemp("ours") / "outcomes.json"
    backend = "driver" if on_gpu else "emulator"
    return run_workers(sys.executable, out, is_alone=on_gpu, HALFWARP_BACKEND=backend)

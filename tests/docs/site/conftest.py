# SPDX-License-Identifier: Apache-2.0
"""The site, built once for all tests of this folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[3] / "docs"
TOOLS = ("sphinx", "numpydoc", "furo", "sphinx_copybutton")


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Build the pages with warnings as errors; HALFWARP_SITE names an existing build."""
    if already := os.environ.get("HALFWARP_SITE"):
        return Path(already).resolve()
    for tool in TOOLS:
        pytest.importorskip(tool, reason=f"{tool} is not installed: pip install halfwarp[docs]")
    folder = tmp_path_factory.mktemp("html")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=580)
    assert done.returncode == 0, done.stderr
    return folder

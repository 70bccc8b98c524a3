# SPDX-License-Identifier: Apache-2.0
"""The documentation builds without a warning."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.slow
def test_the_documentation_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install halfwarp[docs]")
    pytest.importorskip("numpydoc", reason="numpydoc is not installed: pip install halfwarp[docs]")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(DOCS), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=580)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "generated" / "bindings" / "driver" / "functions.html").exists()

# SPDX-License-Identifier: Apache-2.0
"""Type checkers run on files of the corpus, without any configuration of the tree."""

import contextlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

import cuda.core
import pytest

HERE = Path(__file__).parent
PACKAGES = Path(cuda.core.__path__[0]).parents[1]
ERROR = re.compile(r":(\d+): error: .*\[([\w-]+)\]$")


@pytest.fixture(scope="session")
def mypy(tmp_path_factory):
    """Run mypy on a file of this folder; return {(line, code)}."""
    api = pytest.importorskip("mypy.api", reason="mypy is not installed (extra `dev`)")
    cache = tmp_path_factory.mktemp("mypy")

    def run(path):
        options = ["--strict", "--no-error-summary", "--explicit-package-bases"]
        options += ["--follow-imports=silent", "--enable-error-code=deprecated"]
        with contextlib.chdir(cache), mock.patch.dict(os.environ, MYPYPATH=str(PACKAGES)):
            output, errors, _ = api.run([*options, f"--cache-dir={cache}", str(path)])
        assert not errors
        messages = [line for line in output.splitlines() if ": note:" not in line]
        return {(int(line), code) for line, code in (ERROR.search(f).groups() for f in messages)}

    return run


@pytest.fixture(scope="session")
def run_pyright(tmp_path_factory):
    """Return a function that runs pyright on files at once; it returns {file: {line: message}}."""
    pytest.importorskip("basedpyright", reason="basedpyright is not installed (extra `dev`)")

    def run(paths):
        project = tmp_path_factory.mktemp("pyright")
        configuration = {
            "include": [str(path) for path in paths],
            "extraPaths": [str(PACKAGES)],
            "pythonVersion": "3.12",  # the first with a type for the buffer protocol
            "typeCheckingMode": "standard",
        }
        (project / "pyrightconfig.json").write_text(json.dumps(configuration))
        command = [sys.executable, "-m", "basedpyright", "--outputjson"]
        command += ["--pythonpath", sys.executable, "--project", str(project)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=project, timeout=300)
        messages = {}
        for each in json.loads(done.stdout)["generalDiagnostics"]:
            if each["severity"] == "error":
                lines = messages.setdefault(Path(each["file"]), {})
                lines[each["range"]["start"]["line"] + 1] = each["message"]
        return messages

    return run


@pytest.fixture(scope="session")
def pyright(run_pyright):
    """Run pyright on all files of the corpus."""
    return run_pyright([HERE / "accepted", HERE / "rejected"])

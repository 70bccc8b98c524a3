# SPDX-License-Identifier: Apache-2.0
"""Type checkers accept typical code, reject mistakes, and see what the compiled modules are."""

import os
import re
import subprocess
import sys
from pathlib import Path

import cuda.core
import pytest

HERE = Path(__file__).parent
PACKAGES = Path(cuda.core.__path__[0]).parents[1]
MARK = re.compile(r"# E: ([\w, -]+)")
ERROR = re.compile(r":(\d+): error: .*\[([\w-]+)\]$")


@pytest.fixture(scope="module")
def check(tmp_path_factory):
    """Run mypy on a file of this folder; the lines that it writes."""
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    cache = tmp_path_factory.mktemp("mypy")

    def run(name):
        options = ["--strict", "--no-error-summary", "--explicit-package-bases"]
        options += ["--follow-imports=silent", "--enable-error-code=deprecated"]
        output, errors, _ = api.run([*options, f"--cache-dir={cache}", str(HERE / name)])
        assert not errors
        return [line for line in output.splitlines() if ": note:" not in line]

    before, here = os.environ.get("MYPYPATH"), os.getcwd()
    os.environ["MYPYPATH"] = str(PACKAGES)
    os.chdir(cache)  # a configuration file of the tree must not matter
    yield run
    os.chdir(here)
    os.environ.pop("MYPYPATH") if before is None else os.environ.update(MYPYPATH=before)


def test_typical_code_is_accepted(check):
    assert check("accepted.py") == []


def test_each_mistake_is_found_and_nothing_else(check):
    lines = (HERE / "rejected.py").read_text().splitlines()
    marked = ((number, MARK.search(line)) for number, line in enumerate(lines, 1))
    expected = {(number, code) for number, mark in marked if mark for code in mark[1].split(", ")}
    found = {(int(line), code) for line, code in map(error_of, check("rejected.py"))}
    assert found == expected


def error_of(line):
    return ERROR.search(line).groups()


def test_the_stubs_describe_the_compiled_modules(tmp_path):
    pytest.importorskip("mypy.stubtest", reason="mypy is not installed")
    modules = ["cuda.core._core", "cuda.core._compile"]
    configuration = tmp_path / "mypy.ini"
    configuration.write_text("[mypy]\nnamespace_packages = True\nexplicit_package_bases = True\n")
    options = ["--concise", "--ignore-missing-stub", "--ignore-disjoint-bases"]
    options += ["--mypy-config-file", str(configuration)]
    options += ["--allowlist", str(HERE / "allowlist.txt"), "--ignore-unused-allowlist"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", *options, *modules],
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": str(PACKAGES), "HALFWARP_BACKEND": "emulator"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr

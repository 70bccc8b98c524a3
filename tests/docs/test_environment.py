# SPDX-License-Identifier: Apache-2.0
"""The page on environment variables lists exactly those that the code reads."""

import re
import subprocess
from pathlib import Path

import pytest
from cuda.core import emulation

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guide" / "environment.rst").read_text()
FOLDERS = ("cuda", "cpp", "halfwarp", "build_support", "setup.py")
SUFFIXES = {".py", ".pyx", ".cpp", ".hpp"}
# Patterns around the names of variables that are read.
READ = (
    r'getenv\(("\w+")\)',
    r'read_flag\(("\w+")',
    r'(?:environ|environment)\.get\(("\w+")',
    r'environ\[("\w+")\]',
    r'("\w+") in os\.environ',
    r'^(?:VARIABLE|_OPT_OUT) = ("\w+")',
    r"os\.environ\.get\(name\) for name in (\(.*?\))",
    r"os\.environ\.get\(v, c\)\) for v, c in (\(.*\)\))",
    r"^FLAGS = (\(.*\))",
)
# Variables that users do not set: of the system, of Python, of foreign builds.
OF_OTHERS = {"LOCALAPPDATA", "PATH", "PYTHONINSPECT"}


@pytest.fixture(scope="module")
def sources():
    command = ["git", "ls-files", *FOLDERS]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    paths = [ROOT / line for line in listed.stdout.splitlines()]
    return [p for p in paths if p.suffix in SUFFIXES and "tests" not in p.parts and p.is_file()]


def shown():
    rows = re.findall(r"^   \* - (``.*)$", PAGE, re.M)
    return [name for row in rows for name in re.findall(r"``(\w+)``", row)]


def test_no_variable_is_listed_twice():
    names = shown()
    assert len(names) > 30
    assert sorted(set(names)) == sorted(names)


def test_it_lists_exactly_the_variables_that_the_code_reads(sources):
    text = "\n".join(path.read_text() for path in sources)
    names = [part for pattern in READ for part in re.findall(pattern, text, re.M)]
    read = {name for part in names for name in re.findall(r'"([A-Z_0-9]+)"', part)}
    options = {name for name in shown() if name.startswith("HALFWARP_EMULATOR_")}
    assert set(shown()) - options == read - options - OF_OTHERS


def test_it_has_the_options_of_the_emulator():
    if not emulation.is_active():
        pytest.skip("the emulator tells its options where it runs")
    prefix = "HALFWARP_EMULATOR_"
    names = {n.removeprefix(prefix).lower() for n in shown() if n.startswith(prefix)}
    assert names == set(emulation.options())


def test_the_doctor_knows_our_variables():
    from halfwarp.doctor.probes import environment

    ours = {n for n in shown() if n.startswith("HALFWARP_") and "EMULATOR" not in n}
    of_build = {"HALFWARP_EXTENSIONS", "HALFWARP_SANITIZE"}
    assert {n for n in ours - of_build if environment.objection_to(n, "")} == set()

# SPDX-License-Identifier: Apache-2.0
"""A small library with every feature: its header, facts, model and goldens."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from generator import api_file, decisions
from generator.resolution import resolve

TOY = Path(__file__).parent / "toy"


@pytest.fixture(scope="session")
def toy_folder():
    return TOY


@pytest.fixture
def toy_decisions():
    return decisions.read(TOY / "toy.toml")


@pytest.fixture
def toy_facts():
    return api_file.read(TOY / "golden" / "toy.api.golden")


@pytest.fixture
def toy(toy_facts, toy_decisions):
    return resolve.resolve(toy_facts, toy_decisions)


@pytest.fixture
def golden():
    """Compare a text with a file of `toy/golden`; HALFWARP_UPDATE_GOLDENS=1 writes it instead.

    Goldens have a suffix of their own, so that no tool mistakes them for sources.
    """

    def compare(name, text):
        path = TOY / "golden" / f"{name}.golden"
        if os.environ.get("HALFWARP_UPDATE_GOLDENS") == "1":
            path.write_text(text)
        assert path.read_text() == text

    return compare


@pytest.fixture
def compile_only():
    """``compile_only(text, language)``: compile the text without a diagnostic."""
    compiler = os.environ.get("CC", "gcc").split()[-1]
    if not shutil.which(compiler):
        pytest.skip("no C compiler")

    def check(text, language, *flags):
        command = [compiler, "-x", language, "-Wall", "-Werror", "-fsyntax-only", *flags, "-"]
        done = subprocess.run(command, input=text, text=True, capture_output=True)
        assert done.returncode == 0, done.stderr

    return check

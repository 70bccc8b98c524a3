# SPDX-License-Identifier: Apache-2.0
"""Damaged images are refused or load; they never end the process."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


def load_images():
    spec = importlib.util.spec_from_file_location("image_fuzz", HERE / "images.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    load_images().write_corpus(folder)
    return folder


def check(corpus, seed, count):
    command = [sys.executable, HERE / "images.py", corpus, "--seed", str(seed)]
    done = subprocess.run(
        [*command, "--mutants", f"0:{count}"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-300:], done.stderr[-3000:])
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["CUDA_ERROR_INVALID_IMAGE"] > count / 10
    assert counts["loaded"] > count / 100, "hardly any image loads: the changes are too wild"


def test_damaged_images_never_end_the_process(corpus):
    check(corpus, seed=1, count=2000)


@pytest.mark.slow
def test_a_hundred_thousand_damaged_images_never_end_the_process(corpus):
    check(corpus, seed=2, count=100_000)

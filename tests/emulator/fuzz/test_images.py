# SPDX-License-Identifier: Apache-2.0
"""Damaged images are refused or load; they never end the process."""

import importlib.util
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def images():
    spec = importlib.util.spec_from_file_location("image_fuzz", HERE / "images.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def corpus(images, tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    images.write_corpus(folder)
    return folder


def check(images, corpus, seed, count):
    done = images.search(corpus, seed, range(count))
    assert done.problems == []
    assert done.counts["CUDA_ERROR_INVALID_IMAGE"] > count / 10
    assert done.counts["loaded"] > count / 100, "hardly any image loads: the changes are too wild"


def test_damaged_images_never_end_the_process(images, corpus):
    check(images, corpus, seed=1, count=2000)


@pytest.mark.slow
def test_a_hundred_thousand_damaged_images_never_end_the_process(images, corpus):
    check(images, corpus, seed=2, count=100_000)

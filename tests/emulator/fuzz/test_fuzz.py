# SPDX-License-Identifier: Apache-2.0
"""Changed PTX is refused or runs; it never crashes or hangs the process."""

import importlib.util
from pathlib import Path

import pytest
from cuda.bindings import nvrtc

MEMORY = 1 << 20  # kilobytes of memory that a process may use


@pytest.fixture(scope="module")
def fuzz():
    place = Path(__file__).with_name("fuzz.py")
    spec = importlib.util.spec_from_file_location("ptx_fuzz", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def corpus(fuzz, tmp_path_factory):
    _, *version = nvrtc.nvrtcVersion()
    if tuple(version) < (13, 3):
        pytest.skip("the headers of half.cu come with NVRTC 13.3 or newer")
    folder = tmp_path_factory.mktemp("ptx")
    fuzz.write_corpus(folder)
    return folder


def check(fuzz, corpus, seed, count):
    run = fuzz.search(fuzz.emulator_library(), corpus, seed, range(count))
    assert not run.problems
    assert run.peak < MEMORY
    assert run.counts["launch 0"] > count / 20, "hardly any mutant ran: the changes are too wild"
    assert run.counts.total() > count


@pytest.mark.timeout(300)
def test_mutated_ptx_never_crashes_the_process(fuzz, corpus):
    check(fuzz, corpus, seed=1, count=500)


@pytest.mark.slow
def test_a_hundred_thousand_mutated_texts_never_crash_the_process(fuzz, corpus):
    check(fuzz, corpus, seed=2, count=100_000)

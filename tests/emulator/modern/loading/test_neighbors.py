# SPDX-License-Identifier: Apache-2.0
"""Twenty thousand forms of instructions load as an assembler of CUDA 13 answered."""

import pytest
from cuda.core import Device

from . import neighbors

DIFFERENCES = 15  # a mark in the record: the emulator answers otherwise; the limit may only fall


@pytest.fixture(autouse=True)
def hopper():
    if Device().arch != "90":
        pytest.skip("the answers are for compute capability 9.0")


def test_forms_load_from_their_first_version_and_target_on():
    answers = list(neighbors.recorded())
    assert len(answers) > 20_000
    wrong = [
        (form, first)
        for form, first, differs in answers
        if not differs and not neighbors.emulated(form, first)
    ]
    assert wrong == []


def test_few_forms_differ():
    assert sum(differs for _, _, differs in neighbors.recorded()) <= DIFFERENCES

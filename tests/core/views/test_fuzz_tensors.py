# SPDX-License-Identifier: Apache-2.0
"""Malformed DLPack tensors do not crash the process: a sample here, 100,000 with ``-m slow``."""

import pytest

from .fuzz_tensors import IMPORTERS, search


def check_outcomes(seed, count):
    done = search(seed, range(count))
    assert done.problems == []
    for importer in IMPORTERS:
        outcomes = [done.counts[f"{importer.__name__} {each}"] for each in ("accepted", "refused")]
        assert sum(outcomes) == count
        assert min(outcomes) > 0


def test_a_sample_is_accepted_or_refused():
    check_outcomes(1, 1500)


@pytest.mark.slow
def test_100_000_are_accepted_or_refused():
    check_outcomes(2, 100_000)

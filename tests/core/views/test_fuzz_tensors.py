# SPDX-License-Identifier: Apache-2.0
"""Malformed DLPack tensors do not crash the process: a sample here, 100,000 with ``-m slow``."""

import pytest

from .fuzz_tensors import IMPORTERS


def check_outcomes(run_python, seed, count):
    output = run_python(f"from tests.core.views.fuzz_tensors import main\nmain({seed}, {count})")
    outcomes = {tuple(line.split()[:2]): int(line.split()[2]) for line in output.splitlines()}
    for importer in IMPORTERS:
        accepted, refused = (outcomes[importer.__name__, each] for each in ("accepted", "refused"))
        assert accepted + refused == count
        assert min(accepted, refused) > 0


def test_a_sample_is_accepted_or_refused(run_python):
    check_outcomes(run_python, 1, 1500)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_100_000_are_accepted_or_refused(run_python, seed):
    check_outcomes(run_python, seed, 10_000)

# SPDX-License-Identifier: Apache-2.0
"""The seeded test order: all tests, files together, reproducible."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from ..order import groups, shuffled


@pytest.fixture
def items():
    return [
        SimpleNamespace(
            path=Path(f"test_{file}.py"), cls=cls, originalname=f"{name}", number=number
        )
        for file in "abcde"
        for cls in (None, "First", "Second")
        for name in ("one", "two", "three")
        for number in range(3)
    ]


def test_the_order_contains_the_same_tests(items):
    mixed = shuffled(items, 1)
    assert mixed != items
    assert sorted(map(id, mixed)) == sorted(map(id, items))


def test_a_seed_gives_one_order(items):
    assert shuffled(items, 7) == shuffled(items, 7)
    assert shuffled(items, 7) != shuffled(items, 8)


def test_files_and_their_classes_stay_together(items):
    mixed = shuffled(items, 3)
    assert len(groups(mixed, lambda item: item.path)) == 5
    assert len(groups(mixed, lambda item: (item.path, item.cls))) == 15
    assert len(groups(mixed, lambda item: (item.path, item.cls, item.originalname))) == 45


@pytest.mark.parametrize("key", ["path", "cls", "originalname", "number"])
def test_each_level_is_shuffled(items, key):
    """The first entry differs with the seed, at every level."""
    first = {getattr(shuffled(items, seed)[0], key) for seed in range(20)}
    assert len(first) > 1

# SPDX-License-Identifier: Apache-2.0
"""A random but reproducible test order: files, then classes and functions inside them.

The tests of a file stay together, so that its fixtures are created once and its leaks can be
attributed. pytest's own grouping by parametrized fixtures of wider scope runs later.
"""

import random
from itertools import groupby


def shuffled(items, seed):
    """Return the items in an order that depends only on the seed and the items."""
    chance = random.Random(seed)
    return [
        item
        for file in mixed(chance, groups(items, lambda item: item.path))
        for cls in mixed(chance, groups(file, lambda item: item.cls))
        for function in mixed(chance, groups(cls, lambda item: item.originalname))
        for item in mixed(chance, function)
    ]


def groups(items, key):
    """Return runs of consecutive items with the same key."""
    return [list(group) for _, group in groupby(items, key)]


def mixed(chance, items):
    items = list(items)
    chance.shuffle(items)
    return items

# SPDX-License-Identifier: Apache-2.0
"""An order of tests that a seed makes: files, then classes and functions inside them.

The tests of a file stay together, so that its fixtures are made once and what it leaves behind can
be told. pytest's own grouping by parametrised fixtures of wider scope comes after this.
"""

import random
from itertools import groupby


def shuffled(items, seed):
    """The items in another order; the same seed and the same tests give the same one."""
    chance = random.Random(seed)
    return [
        item
        for file in mixed(chance, groups(items, lambda item: item.path))
        for cls in mixed(chance, groups(file, lambda item: item.cls))
        for function in mixed(chance, groups(cls, lambda item: item.originalname))
        for item in mixed(chance, function)
    ]


def groups(items, key):
    """The items in lists of the same key, as they follow each other."""
    return [list(group) for _, group in groupby(items, key)]


def mixed(chance, things):
    things = list(things)
    chance.shuffle(things)
    return things

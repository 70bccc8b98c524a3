# SPDX-License-Identifier: Apache-2.0
"""A random sequence of collectives over random communicators, compared with NumPy.

All processes draw the same numbers, so all ranks agree on the sequence.
"""

import sys

import api
import numpy as np
from collectives import KINDS, check
from ranks import Rank, destroy, join


class Member:
    """A rank of a derived communicator, as `check` uses it."""

    def __init__(self, parent: Rank, comm, number):
        self.parent, self.comm, self.number = parent, comm, number
        self.stream = parent.stream

    def __getattr__(self, name):
        return getattr(self.parent, name)


def split(ranks, total, generator):
    """Split the communicator by random colors; return the parts with a member in this process."""
    colors, keys = generator.integers(-1, 3, total), generator.permutation(total)
    handles = [api.c.c_void_p() for _ in ranks]
    with api.group():
        for each, handle in zip(ranks, handles, strict=True):
            color, key = int(colors[each.number]), int(keys[each.number])
            api.call("ncclCommSplit", each.comm, color, key, api.c.byref(handle), None)
    parts = {}
    for color in range(3):
        order = sorted((int(keys[r]), r) for r in range(total) if colors[r] == color)
        positions = {rank: i for i, (_, rank) in enumerate(order)}
        members = [
            Member(each, handle, positions[each.number])
            for each, handle in zip(ranks, handles, strict=True)
            if each.number in positions
        ]
        if order:
            parts[color] = members, len(order)
    return parts


def main(per_process, seed, steps):
    ranks, total = join(per_process)
    generator = np.random.default_rng(seed)
    communicators = [(ranks, total)]
    for _ in range(steps):
        if generator.random() < 0.15 and len(communicators) < 6:
            communicators += split(ranks, total, generator).values()
        members, size = communicators[generator.integers(len(communicators))]
        kind, name = KINDS[generator.integers(len(KINDS))], api.TYPES[generator.integers(12)]
        count, operation = int(generator.integers(0, 5000)), int(generator.integers(0, 5))
        if members:
            check(kind, name, count, operation, members, size)
    for members, _ in communicators[1:]:
        destroy(members)
    destroy(ranks)
    print("equal")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

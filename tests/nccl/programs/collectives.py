# SPDX-License-Identifier: Apache-2.0
"""Compares every collective with NumPy: all types, operations and counts, also in place."""

import sys

import api
import numpy as np
from ranks import destroy, dtype_of, join, random_values, reduced

ODD = 1027
COUNTS = (0, 1, ODD, 20_001)
LARGE = 70_001  # several chunks
BEHIND = np.full(64, 0xA5, np.uint8)  # behind a receive buffer, where nothing may be written
REDUCTIONS = ("AllReduce", "Reduce", "ReduceScatter")
KINDS = (*REDUCTIONS, "Broadcast", "AllGather", "AlltoAll", "Gather", "Scatter")
ROOTED = ("Reduce", "Broadcast", "Gather", "Scatter")
IN_PLACE = ("AllReduce", "Reduce", "ReduceScatter", "Broadcast", "AllGather", "Gather", "Scatter")
BY_PARTS = ("ReduceScatter", "AlltoAll", "Scatter")
GATHERED = ("AllGather", "AlltoAll", "Gather")


def expected(kind, name, inputs, operation, root, rank):
    """Return the contents of a rank's receive buffer; None if it is unchanged."""
    ranks, own = len(inputs), inputs[rank]
    part = len(own) // ranks if kind in BY_PARTS else len(own)
    mine = slice(rank * part, (rank + 1) * part)
    if kind in ("Reduce", "Gather") and rank != root:
        return None
    if kind in REDUCTIONS:
        total = reduced(name, inputs, operation)
        return total[mine] if kind == "ReduceScatter" else total
    if kind == "Broadcast":
        return inputs[root]
    if kind == "Scatter":
        return inputs[root][mine]
    return np.concatenate([x[mine] if kind == "AlltoAll" else x for x in inputs])


def submit(kind, each, send, receive, count, name, operation, root):
    extra = [operation] if kind in REDUCTIONS else []
    extra += [root] if kind in ROOTED else []
    number = api.NUMBER_OF[name]
    api.call(f"nccl{kind}", send, receive, count, number, *extra, each.comm, each.stream)


def place(kind, each, values, count, name, ranks, root, in_place):
    """Return the addresses of the buffers and the one to free."""
    size, parts = api.SIZES[name], kind in BY_PARTS
    if not in_place:
        output = np.zeros(count * (ranks if kind in GATHERED else 1), dtype_of(name))
        return each.upload(values), each.upload(np.concatenate([output.view(np.uint8), BEHIND]))
    if kind in GATHERED:
        whole = np.zeros(count * ranks, dtype_of(name))
        index = root if kind == "Gather" and each.number != root else each.number
        whole[index * count : (index + 1) * count] = values
        address = each.upload(whole)
        return address + index * count * size, address
    address = each.upload(values)
    index = root if kind == "Scatter" and each.number != root else each.number
    return address, address + (index * count * size if parts else 0)


def check(kind, name, count, operation, ranks, total, in_place=False):
    root = (count + operation) % total
    length = count * (total if kind in BY_PARTS else 1)
    inputs = [random_values(name, length, seed) for seed in range(total)]
    buffers = [
        place(kind, each, inputs[each.number], count, name, total, root, in_place) for each in ranks
    ]
    with api.group():
        for each, (send, receive) in zip(ranks, buffers, strict=True):
            submit(kind, each, send, receive, count, name, operation, root)
    for each, (send, receive) in zip(ranks, buffers, strict=True):
        result = expected(kind, name, inputs, operation, root, each.number)
        if result is None:
            each.download(send, inputs[0][:0])
        else:
            actual = each.download(receive, result)
            same = actual.view(f"V{actual.itemsize}") == result.view(f"V{result.itemsize}")
            equal = same | ((actual != actual) & (result != result)) if len(same) else same
            case = kind, name, count, operation, each.number, in_place
            if not in_place:
                assert (each.download(receive + result.nbytes, BEHIND) == BEHIND).all(), case
            assert np.all(equal), (case, actual[~equal][:4], result[~equal][:4])
        base = {min(send, receive)} if in_place else {send, receive}
        each.free(*base)


def main(per_process):
    ranks, total = join(per_process)
    for kind in KINDS:
        for name in api.TYPES:
            for count in (*COUNTS, LARGE) if name == "float32" else COUNTS:
                check(kind, name, count, api.SUM, ranks, total)
            if kind in IN_PLACE:
                check(kind, name, ODD, api.SUM, ranks, total, in_place=True)
            if kind in REDUCTIONS:
                for operation in (api.PROD, api.MAX, api.MIN, api.AVG):
                    check(kind, name, ODD, operation, ranks, total)
    destroy(ranks)
    print("equal")


if __name__ == "__main__":
    main(int(sys.argv[1]))

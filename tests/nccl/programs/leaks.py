# SPDX-License-Identifier: Apache-2.0
"""Repeats operations of two ranks; prints the bytes that each operation left on the heap."""

import ctypes

import api
import numpy as np
from ranks import join

WARM, REPEATED = 100, 500


class MallocInfo(ctypes.Structure):
    """The result of ``mallinfo2``."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in [*"abcdefg", "used", "free", "top"])


def used_bytes():
    query = ctypes.CDLL(None).mallinfo2
    query.restype = MallocInfo
    return query().used


def main():
    ranks, _ = join(2)
    addresses = [each.upload(np.zeros(64, np.float32)) for each in ranks]

    def repeat(count):
        for _ in range(count):
            with api.group():
                for each, address in zip(ranks, addresses, strict=True):
                    operation = address, address, 64, api.NUMBER_OF["float32"], api.SUM
                    api.call("ncclAllReduce", *operation, each.comm, each.stream)
            for each in ranks:
                api.synchronize(each.stream)

    repeat(WARM)
    before = used_bytes()
    repeat(REPEATED)
    print((used_bytes() - before) // REPEATED)


main()

# SPDX-License-Identifier: Apache-2.0
"""Sums over all ranks as one that a launcher started, on the device of its LOCAL_RANK."""

import os
import sys

import api
import numpy as np
import ranks


def main():
    rank, size = api.process_rank()
    joined, _ = ranks.join(per_process=1)
    mine = joined[0]
    assert mine.number == int(os.environ["LOCAL_RANK"])
    values = np.full(1000, rank + 1, np.float32)
    address = mine.upload(values)
    kind = api.NUMBER_OF["float32"]
    api.call("ncclAllReduce", address, address, 1000, kind, api.SUM, mine.comm, mine.stream)
    total = mine.download(address, values)
    assert (total == total[0]).all()
    sys.stdout.write(f"rank {rank} of {size}: {total[0]}\n")  # at once: the ranks share it
    mine.free(address)
    ranks.destroy(joined)


if __name__ == "__main__":
    main()

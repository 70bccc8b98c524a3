# SPDX-License-Identifier: Apache-2.0
"""Sums over all ranks by PyTorch and NCCL, on the device of LOCAL_RANK."""

import os
import sys

import torch
from torch import distributed


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl")
    rank, size = distributed.get_rank(), distributed.get_world_size()
    values = torch.full((1000,), rank + 1.0).cuda()  # a copy: no kernel of PyTorch has PTX
    distributed.all_reduce(values)
    total = values.cpu()
    assert (total == total[0]).all()
    sys.stdout.write(f"rank {rank} of {size}: {total[0]}\n")  # at once: the ranks share it
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of a script with the variables of torchrun, on this machine."""

import argparse
import os
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nproc-per-node", type=int, default=1)
    parser.add_argument("script", nargs=argparse.REMAINDER)
    chosen = parser.parse_args()
    size = str(chosen.nproc_per_node)
    with tempfile.TemporaryDirectory() as folder:
        shared = {"WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size, "NCCL_ID": f"{folder}/id"}
        processes = [
            subprocess.Popen(
                [sys.executable, *chosen.script],
                env=os.environ | shared | {"RANK": str(i), "LOCAL_RANK": str(i)},
            )
            for i in range(chosen.nproc_per_node)
        ]
        return max([process.wait() for process in processes], key=abs)


if __name__ == "__main__":
    sys.exit(main())

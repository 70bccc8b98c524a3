# SPDX-License-Identifier: Apache-2.0
"""Every example runs to completion in a process of its own and prints the promised output."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROMISED = {
    "array_views.py": r"(NumPy.*: \([35], [35]\), correct\n?){3}"
    r"((PyTorch|CuPy|Numba|JAX): .*correct\n?)*$",
    "graph_in_place.py": r"0: scale .*\n1: add .* after 0\n20 launches of 2 nodes: correct$",
    "graphs/picture.py": r"(\d: .*\n){4}4: add .* after 2, 3\n5 nodes, 4 edges, in .*$",
    "graphs/solver.py": r"0: while\n(.*\n){4}\d{3,4} steps in one launch, off by 0\.\d+: ok$",
    "kernels/clusters.py": r"(clusters of 4 blocks, \d+ at most: correct|nothing to do: .*)$",
    "kernels/cooperative_launch.py": r"(\d blocks of 64 threads, 10 steps: correct|nothing .*)$",
    "kernels/nvvm.py": r"NVVM IR \(\d, \d\): correct$",
    "kernels/tensor_map.py": r"(TensorMapDescriptor\(tiled, .*: correct|nothing to do: .*)$",
    "memory/growing_memory.py": r"(\d+ MiB at 0x[0-9a-f]+\n)+4,194,304 numbers, correct$",
    "link_time_optimization.py": r".+: \d+ bytes of linked code, \d+ of PTX$",
    "memory/managed_memory.py": r"prefetched to <Device .*\nprefetched to Host\(\)\n"
    r"100,000 .* correct$",
    "memory/pinned_memory.py": r"65,536 numbers there and back, correct$",
    "memory/out_of_memory.py": r"\d+ bytes requested, \d+ of 6291456 in use\n\d+ bytes are from\n"
    r" +File .*, in result\n.*\npeak in the log: \d+ bytes$",
    "memory/shared_pool.py": r"(\S+ +took \d+ bytes: correct\n)+still in use: \d+ bytes$",
    "machine/monitor.py": r"(device  .*\n(\d \S.* of \d+ .*\n)+){2}CUDA \d+\.\d+, \d+ in all$",
    "machine/occupancy.py": r"compiled to cubin by NVRTC in .*\noccupancy of spread\n(.*\n){33}"
    r"best with \d+ threads: \d+ %, in .*\.svg$",
    "memory/ping_pong.py": r"5 turns on 10,000 numbers: correct$",
    "memory/pool.py": r"20 allocations, \d upstream\n32 MiB requested, 40 of 64 used\n"
    r"the largest has 40 MiB:\n.*pool.py.*\n(.*\n)*1 in use, \d+ MiB freed: correct$",
    "profile/reduction.py": r"(?s)kernel .*\nsum_in_warps .*\ncorrect$",
    "profile/stencil.py": r"(?s)kernel .*\nstencil_shared .*\ncorrect$",
    "profile/transpose.py": r"(?s)kernel .*\ntranspose_padded .* a padded row of 33 words has none"
    r".*\ncorrect$",
    "recipes/actors.py": r"((device \d+: \d+ chunks\n)+12 MiB .*\nsum \d+: correct|nothing .*)$",
    "recipes/mpi_sum.py": r"(rank 0: device 0, 20,000 .*\nsum \d+: correct|nothing to do: .*)$",
    "recipes/nccl_sum.py": r"(\w+: \d+ devices, sum \d+: correct|nothing to do: .*)$",
    "recipes/neighbors.py": r"(device \d+: [1-4] of 4 parts\n)+20 steps, off by .*: correct$",
    "recipes/processes.py": r"(device \d+: [\d,]+ numbers\n)+correct$",
    "recipes/threads_over_devices.py": r"(device \d+: [\d,]+ numbers\n)+correct$",
    "plain_driver_calls.py": r"device .+\nclassic +256 bytes, _v2 256 bytes\n"
    r"a failure +InvalidDeviceError: ERROR_INVALID_DEVICE \(101\)\nagree$",
    "partition.py": r"groups     \d+, \d+ of \d+ multiprocessors, \d+ left\nverified$",
    "runtime_saxpy.py": r"elements   1,000,000\n.*\nmax error  \S+ against NumPy\nverified$",
    "program_cache.py": r"first .* compiled .*\nsecond .* found .*\n2 entries, .*, correct$",
    "saxpy.py": r"elements   1,000,000\n.*\n.*max error  \S+ against NumPy\nverified$",
    "streams/stream_values.py": r"turns +(1 2 ?){4}\ncorrect$",
    "texture_filter.py": r"128 x 128 pixels, at most [0-2]\.\d+ of 255 from NumPy, in .*\.ppm$",
    "vector_add.py": r"add<int>: .* correct\nadd<float>: .* correct\nadd<double>: .* correct$",
    "show_devices.py": r"device 0: .+(\n.*)+\n\d+ devices?$",
}


def test_every_example_has_a_promise():
    result = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.py")}
    assert result == set(PROMISED)


@pytest.mark.parametrize("name", PROMISED)
def test_an_example_prints_the_promised_output(name):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(PROMISED[name], done.stdout.strip()), done.stdout

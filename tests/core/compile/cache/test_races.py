# SPDX-License-Identifier: Apache-2.0
"""Processes that share a cache folder while others evict, prune and clear: no wrong number.

``python -m pytest -m slow`` of this file searches for HALFWARP_RACE_SECONDS (60) per kind.
"""

import os
import subprocess
import sys

import pytest

# Each launch passes an int for a float: without declarations, its bits would be a wrong number.
WORKER = """
import random, sys, time
import numpy as np
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import FileStreamProgramCache

root, number, removal, seconds = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
generator = random.Random(number)
device = Device(); device.set_current()
stream = device.create_stream()
buffer = device.allocate(4, stream=stream)
limit = 30_000 if removal == "evict" else None  # half of the programs
cache = FileStreamProgramCache(root, max_size_bytes=limit)
options = ProgramOptions(arch=f"sm_{device.arch}")
source = 'template <class T> __global__ void add(T a, T* x) {{ x[0] = a + {0}; }}\\n' \\
    'extern "C" __global__ void k(float a, float* x) {{ x[0] = a + {0}; }}'
programs = [Program(source.format(n), "c++", options) for n in range(6)]
programs[0].handle  # opens NVRTC before the time runs
config = LaunchConfig(grid=1, block=1)
value = np.zeros(1, np.float32)
launches = wrong = 0
end = time.monotonic() + seconds

def has_raced():
    counts = cache.stats()
    return counts["hits"] > 0 and (counts["evictions"] > 0 or removal == "clear")

while time.monotonic() < end or not has_raced():
    choice = generator.randrange(6)
    names = ("add<float>",) if generator.random() < 0.3 else ()
    code = programs[choice].compile("cubin", names, cache=cache)
    kernel = code.get_kernel(names[0] if names else "k")
    for _ in range(10):
        launch(stream, config, kernel, launches % 1000, buffer)
        buffer.copy_to(value, stream=stream)
        stream.sync()
        wrong += value[0] != launches % 1000 + choice
        launches += 1
    chance = generator.random()
    if removal == "prune" and chance < 0.04:
        cache.prune(10_000)
    if removal == "clear" and chance < 0.01:
        cache.clear()
statistics = cache.stats()
print(launches, wrong, statistics["hits"], statistics["evictions"])
"""


def search(root, processes, seconds, removal):
    """Return the numbers of launches, wrong results, hits and evictions of all processes."""
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(root), str(number), removal, str(seconds)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    rows = []
    for worker in workers:
        output, errors = worker.communicate(timeout=seconds * 10 + 300)
        assert worker.returncode == 0, errors
        assert "could not store" not in errors, errors
        rows.append(tuple(map(int, output.split())))
    return tuple(map(sum, zip(*rows, strict=True)))


def check(counts, removal):
    launches, wrong, hits, evictions = counts
    assert launches > 0 and wrong == 0
    assert hits > 0 and (evictions > 0 or removal == "clear")


@pytest.mark.parametrize("removal", ["evict", "prune", "clear"])
def test_launches_of_shared_programs_are_right(tmp_path, removal):
    check(search(tmp_path, 4, 0.75, removal), removal)


@pytest.mark.slow
@pytest.mark.parametrize("removal", ["evict", "prune", "clear"])
def test_a_long_search_finds_no_wrong_launch(tmp_path, removal):
    seconds = float(os.environ.get("HALFWARP_RACE_SECONDS", "60"))
    counts = search(tmp_path, 8, seconds, removal)
    names = ("launches by 8 processes", "wrong", "hits", "evictions")
    print(f"{removal}:", ", ".join(f"{n} {name}" for n, name in zip(counts, names, strict=True)))
    check(counts, removal)

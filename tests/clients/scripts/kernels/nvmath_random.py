# SPDX-License-Identifier: Apache-2.0
"""nvmath-python: cuRAND's generator inside a kernel of numba-cuda, linked as LTO-IR."""

import numpy as np
from numba import cuda
from nvmath.device import random

BLOCKS, BLOCK, DRAWS = 4, 64, 16
library = random.Compile(cc=None)


@cuda.jit(link=library.files, extensions=library.extension)
def start(states):
    i = cuda.grid(1)
    random.init(1234, i, 0, states[i])


@cuda.jit(link=library.files, extensions=library.extension)
def draw(states, values):
    i = cuda.grid(1)
    for n in range(DRAWS):
        values[i, n] = random.uniform(states[i])


def sample():
    states = random.StatesPhilox4_32_10(BLOCKS * BLOCK)
    values = cuda.to_device(np.zeros((BLOCKS * BLOCK, DRAWS), np.float32))
    start[BLOCKS, BLOCK](states)
    draw[BLOCKS, BLOCK](states, values)
    return values.copy_to_host()


values = sample()
assert np.array_equal(values, sample())
assert values.min() > 0.0 and values.max() <= 1.0 and np.unique(values).size > 4000
assert abs(values.mean() - 0.5) < 0.02
print(f"nvmath: {values.size} random numbers in a kernel")

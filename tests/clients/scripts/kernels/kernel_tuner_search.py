# SPDX-License-Identifier: Apache-2.0
"""kernel_tuner: checks each variant of a kernel against the right answer."""

import kernel_tuner
import numpy as np

SOURCE = """extern "C" __global__ void add(float* c, const float* a, const float* b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}"""
a = np.random.default_rng(0).random(1000).astype(np.float32)
arguments = [np.zeros_like(a), a, 2 * a, np.int32(a.size)]
results, environment = kernel_tuner.tune_kernel(
    "add",
    SOURCE,
    a.size,
    arguments,
    {"block_size_x": [32, 64, 128]},
    answer=[3 * a, None, None, None],
    lang="nvcuda",
    iterations=1,
    quiet=True,
)
tried = sorted(each["block_size_x"] for each in results if isinstance(each["time"], float))
print(f"kernel_tuner: blocks of {tried}")

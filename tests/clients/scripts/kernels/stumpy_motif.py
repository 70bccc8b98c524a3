# SPDX-License-Identifier: Apache-2.0
"""stumpy: the matrix profile on a device finds the two places of a pattern."""

import numpy as np

if not hasattr(np, "row_stack"):  # numba-cuda 0.30 names it at import; NumPy 2.5 removed it
    np.row_stack = np.vstack
import stumpy

series = np.random.default_rng(1).random(200)
series[130:146] = series[20:36]
profile = stumpy.gpu_stump(series, m=16)
distances, neighbors = profile[:, 0].astype(float), profile[:, 1].astype(int)
first = int(np.argmin(distances))
assert sorted((first, neighbors[first])) == [20, 130]
print(f"stumpy: {first} is like {neighbors[first]}")

# SPDX-License-Identifier: Apache-2.0
"""Fetches of a warp from one plane equal fetches by any other way, in each bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.emulator.texture.bench import BORDER, CLAMP, MIRROR, WRAP, Array, Bench, Texture

# The emulator fetches from a level lane by lane.
KERNELS = r"""
#define EACH int i = threadIdx.x; if (i >= n) return; const float* at = p + 4 * i
extern "C" __global__ void together(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = tex2D<float4>(t, at[0], at[1]);
}
extern "C" __global__ void of_a_level(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = tex2DLod<float4>(t, at[0], at[1], 0);
}
extern "C" __global__ void of_some(unsigned long long t, const float* p, float4* to, int n) {
    EACH; if (i % 3 != 1) to[i] = tex2D<float4>(t, at[0], at[1]);
}
"""
NORMALIZED = 2  # CU_TRSF_NORMALIZED_COORDINATES
DATA = np.random.default_rng(5).standard_normal((3, 7)).astype(np.float32)
DATA[1, 2], DATA[2, 6] = np.inf, np.nan
NUMBERS = [0, -0.0, 0.5, 1, 6.999, 7, -0.001, 2.5, 1e9, -1e30, np.inf, -np.inf, np.nan, 16777217]
COORDINATES = st.sampled_from(NUMBERS) | st.floats(-9, 9, width=32)


@pytest.fixture(scope="module")
def bench():
    result = Bench(KERNELS, "together")
    yield result
    result.stream.close()


@given(
    points=st.lists(st.tuples(COORDINATES, COORDINATES), min_size=1, max_size=40),
    mode=st.sampled_from([WRAP, CLAMP, MIRROR, BORDER]),
    is_linear=st.booleans(),
    is_normalized=st.booleans(),
)
def test_a_plane_of_floats(bench, points, mode, is_linear, is_normalized):
    flags = NORMALIZED * is_normalized
    with (
        Array(DATA, (7, 3, 0)) as array,
        Texture(array.resource(), mode, is_linear, flags) as texture,
    ):
        rows = [bench.run(name, texture, points) for name in ("together", "of_a_level")]
        some = bench.run("of_some", texture, points)
    together, one_by_one = (each.view(np.uint32) for each in rows)
    assert (together == one_by_one).all()
    active = [i for i in range(len(points)) if i % 3 != 1]
    assert (some.view(np.uint32)[active] == together[active]).all()


def test_places_far_outside_a_wide_plane(bench):
    # All elements are equal there. The weights decide how their sum rounds.
    data = np.full((2, 131071), 53 / 7, np.float32)
    points = [(16000 + 37.3 * i, i / 64) for i in range(64)]
    with (
        Array(data, (131071, 2, 0)) as array,
        Texture(array.resource(), CLAMP, True, NORMALIZED) as texture,
    ):
        rows = [bench.run(name, texture, points) for name in ("together", "of_a_level")]
    assert (rows[0].view(np.uint32) == rows[1].view(np.uint32)).all()

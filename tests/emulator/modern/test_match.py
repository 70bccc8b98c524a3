# SPDX-License-Identifier: Apache-2.0
"""match.any, against the lanes that Python finds."""

import random

import pytest

WARPS, LANES = 4, 32
HALVES = """{
    .reg .pred second;
    .reg .b64 wide;
    setp.ne.u32 second, i3, 0;
    mov.b64 wide, {i0, i1};
    @second bra other;
    match.any.sync.BITS o0, VALUE, i2;
    bra.uni done;
other:
    match.any.sync.BITS o0, VALUE, i2;
done:
}"""


def rows_of(seed, values):
    """Return for each lane a value, the lanes of its half, and the half."""
    generator = random.Random(seed)
    rows = []
    for _ in range(WARPS):
        half = generator.getrandbits(LANES)
        for lane in range(LANES):
            is_second = half >> lane & 1
            low, high = generator.choice(values)
            rows.append([low, high, half if is_second else ~half & 0xFFFFFFFF, is_second])
    return rows


def expected(rows, has_high):
    results = []
    for warp in range(0, len(rows), LANES):
        keys = [(low, high if has_high else 0, half) for low, high, _, half in rows[warp:][:LANES]]
        results += [sum(1 << n for n, other in enumerate(keys) if other == key) for key in keys]
    return results


@pytest.mark.parametrize("is_wide", [False, True])
@pytest.mark.parametrize("count", [1, 2, 5, 1000])
def test_each_lane_gets_the_lanes_of_its_half_with_its_value(run_words, is_wide, count):
    generator = random.Random(count)
    low = [generator.getrandbits(32) for _ in range((count + 1) // 2)]
    values = [(generator.choice(low), generator.getrandbits(32)) for _ in range(count)]
    rows = rows_of(count, values)
    body = HALVES.replace("BITS", "b64" if is_wide else "b32")
    body = body.replace("VALUE", "wide" if is_wide else "i0")
    assert run_words(body, rows, 1)[:, 0].tolist() == expected(rows, is_wide)

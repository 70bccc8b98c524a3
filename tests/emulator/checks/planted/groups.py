# SPDX-License-Identifier: Apache-2.0
"""Planted mistakes that concern loads of a basic block with the same address registers."""

from ..cases import Case

TILES = """
__shared__ int s[16][16], t[16][16]; int x = threadIdx.x % 16, y = threadIdx.x / 16, sum = 0;
"""
SUM = "for (int i = 0; i < 16; ++i) sum += s[y][i] * t[i][x];"
STORE = "s[y][x] = out[threadIdx.x]; t[y][x] = out[threadIdx.x + 256];"
USE = "if (sum > 3) out[threadIdx.x] = sum;"
SYNC = "__syncthreads();"

CASES = {
    "no_barrier_before_sums": Case(f"{TILES}{STORE} @ {SUM} {USE}", "", SYNC, 2, 256),
    "no_barrier_after_sums": Case(
        f"{TILES} for (int k = 0; k < 3; ++k) {{ {STORE} {SYNC} {SUM} @ }} {USE}", "", SYNC, 2, 256
    ),
    "row_not_written": Case(
        f"{TILES} s[y][x] = x; @ t[y][x] = y; {SYNC} {SUM} {USE}", "if (y != 11)", "", 1, 256
    ),
    "store_between_sums": Case(
        f"{TILES}{STORE} {SYNC} {SUM} @ {SUM} {USE}",
        "if (threadIdx.x == 64) t[3][3] = 1;",
        f"{SYNC} if (threadIdx.x == 64) t[3][3] = 1; {SYNC}",
        2,
        256,
    ),
    "store_of_another_block": Case(
        "int g = blockIdx.x * 64 + threadIdx.x; out[@] = g; int sum = 0; "
        "for (int i = 0; i < 8; ++i) sum += out[1024 + threadIdx.x + 16 * i]; out[g] = sum;",
        "1024 + g",
        "g",
        2,
        64,
    ),
    "overlapping_groups": Case(
        f"{TILES}{STORE} {SYNC} for (int i = 0; i < 4; ++i) sum += s[i][x] * s[y & 3][i]; @ "
        f"s[y][x] = sum; {SYNC} {USE}",
        "",
        SYNC,
        1,
        256,
    ),
}

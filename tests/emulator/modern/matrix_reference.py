# SPDX-License-Identifier: Apache-2.0
"""Products of matrices in NumPy, whose terms are exact and whose sums need no rounding."""

import numpy as np

LANES = 32


def f16(values):
    return np.asarray(values, np.float16).view(np.uint16)


def bf16(values):
    """Return the bits of values that bf16 represents exactly."""
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def f32(values):
    return np.asarray(values, np.float32).view(np.uint32)


def small_integers(generator, shape, limit=4):
    """Return numbers whose products every format represents exactly."""
    return generator.integers(-limit, limit + 1, shape).astype(np.float64)


def nibbles(values):
    """Pack numbers of 4 bits, two to a byte, the first in the low bits."""
    flat = np.asarray(values).astype(np.int64) & 15
    return (flat[..., 0::2] | flat[..., 1::2] << 4).astype(np.uint8)


def packed_bits(values):
    """Pack bits, eight to a byte, the first in the lowest bit."""
    return np.packbits(np.asarray(values).astype(np.uint8), axis=-1, bitorder="little")

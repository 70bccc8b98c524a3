# SPDX-License-Identifier: Apache-2.0
"""Conversions of fp8 and tf32, against the nearest number of a list of all numbers."""

import bisect
import itertools
import math
import random
import struct
from fractions import Fraction

import numpy as np
import pytest

THREADS = 64
# fraction bits, bias, code of the highest finite number
FORMATS = {"e4m3": (3, 7, 0x7E), "e5m2": (2, 15, 0x7B)}


def value_of(name, code):
    """Return the number of a code without its sign."""
    fraction_bits, bias, _ = FORMATS[name]
    field, fraction = code >> fraction_bits, code & (1 << fraction_bits) - 1
    significand = fraction | (1 << fraction_bits if field else 0)
    return Fraction(significand) * Fraction(2) ** (max(field, 1) - bias - fraction_bits)


NUMBERS = {
    name: [value_of(name, c) for c in range(last + 1)] for name, (*_, last) in FORMATS.items()
}


def nearest(name, number, is_relu):
    """Round a float to the code of the nearest number, ties to the even code."""
    if math.isnan(number):
        return 0x7F
    sign = 0x80 if math.copysign(1, number) < 0 else 0
    if sign and is_relu:
        return 0
    numbers = NUMBERS[name]
    if math.isinf(number) or abs(number) >= numbers[-1]:
        return sign | len(numbers) - 1
    magnitude = Fraction(abs(number))
    upper = bisect.bisect_left(numbers, magnitude)
    candidates = [c for c in (upper - 1, upper) if 0 <= c < len(numbers)]
    return sign | min(candidates, key=lambda c: (abs(numbers[c] - magnitude), c & 1))


def float_of(word):
    return struct.unpack("f", struct.pack("I", word))[0]


def float_words(name, count):
    """Floats of every size, and the points halfway between two numbers of the format."""
    generator = random.Random(name)
    numbers = [float(x) for x in NUMBERS[name]]
    halves = [(a + b) / 2 for a, b in itertools.pairwise(numbers)]
    special = [0x7F800000, 0xFF800000, 0x7FC00000, 0xFFFFFFFF, 0, 0x80000000, 1, 0x80000001]
    words = [*special]
    while len(words) < count:
        base = struct.unpack("I", struct.pack("f", generator.choice(numbers + halves)))[0]
        base += generator.choice([-1, 0, 1]) if base else 0
        words += [base, base | 1 << 31, generator.getrandbits(32)]
    return words[:count]


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
class TestToFp8:
    def test_from_floats(self, run_words, name, relu):
        words = float_words(name, 16 * THREADS)
        rows = np.array(words, np.uint32).reshape(THREADS, 16)
        body = "".join(
            f"cvt.rn.satfinite{relu}.{name}x2.f32 h, i{2 * n}, i{2 * n + 1};cvt.u32.u16 o{n}, h;"
            for n in range(8)
        )
        # the sources have the type f32
        body = "".join(f"mov.b32 f{n}, i{n};" for n in range(16)) + body.replace(" i", " f")
        declarations = ".reg .b16 h; .reg .f32 f<16>;"
        results = run_words(body, rows, 8, declarations=declarations)
        for row, result in zip(rows.tolist(), results.tolist(), strict=True):
            codes = [nearest(name, float_of(word), bool(relu)) for word in row]
            assert result == [a << 8 | b for a, b in zip(codes[::2], codes[1::2], strict=True)]

    def test_from_halves(self, run_words, name, relu):
        rows = np.random.default_rng(5).integers(0, 1 << 32, (THREADS, 8), dtype=np.uint32)
        rows[0] = [0x7C00FC00, 0x7FFFFE00, 0x80000001, 0x7BFFFBFF, 0, 0x8000, 0x5F005F01, 0x1]
        body = "".join(
            f"cvt.rn.satfinite{relu}.{name}x2.f16x2 h, i{n};cvt.u32.u16 o{n}, h;" for n in range(8)
        )
        results = run_words(body, rows, 8, declarations=".reg .b16 h;")
        halves = rows.view(np.float16).astype(float)
        expected = [nearest(name, x, bool(relu)) for x in halves.ravel().tolist()]
        expected = np.array(expected).reshape(THREADS, 8, 2)
        assert (results == expected[:, :, 1] << 8 | expected[:, :, 0]).all()


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", FORMATS)
def test_from_fp8(run_words, name, relu):
    rows = np.arange(256, dtype=np.uint32).reshape(32, 8)
    body = "".join(
        f"shl.b32 w, i{n}, 8;or.b32 w, w, 0x7f;cvt.u16.u32 h, w;"
        f"cvt.rn{relu}.f16x2.{name}x2 o{n}, h;"
        for n in range(8)
    )
    results = run_words(body, rows, 8, declarations=".reg .b16 h; .reg .b32 w;").ravel().tolist()
    for code, result in enumerate(results):
        assert result & 0xFFFF == 0x7FFF  # a NaN in the low half
        magnitude, is_negative = code & 0x7F, code >> 7
        if magnitude >= len(NUMBERS[name]):
            is_infinite = name == "e5m2" and magnitude == 0x7C
            expected = (0x7C00 | is_negative << 15) if is_infinite else 0x7FFF
        else:
            expected = int(np.float16(float(NUMBERS[name][magnitude])).view(np.uint16))
            expected |= is_negative << 15
        if relu and is_negative and expected != 0x7FFF:
            expected = 0
        assert result >> 16 == expected, (name, code)


def tf32_of(word, mode, is_relu):
    magnitude, is_negative = word & 0x7FFFFFFF, word >> 31
    if magnitude > 0x7F800000:
        return word & 0xFFFFE000 if mode == "rna" else 0x7FFFE000
    if is_negative and is_relu:
        return 0
    unit, rest = 1 << 13, magnitude & 0x1FFF
    lower = magnitude - rest
    is_odd = lower >> 13 & 1
    rounds_up = {"rna": rest >= unit // 2, "rz": False}.get(
        mode, rest > unit // 2 or (rest == unit // 2 and is_odd)
    )
    return is_negative << 31 | lower + unit * rounds_up


@pytest.mark.parametrize("mode", ["rna", "rn", "rz", "rn.relu", "rz.relu"])
def test_tf32(run_words, mode):
    rounding, _, relu = mode.partition(".")
    generator = random.Random(mode)
    words = [0x7F800000, 0xFF800000, 0x7FC00001, 0x7F7FFFFF, 0xFF7FF000, 0x00001000, 0x80003000]
    words += [generator.getrandbits(32) for _ in range(100)]
    words += [generator.getrandbits(19) << 13 | 0x1000 for _ in range(100)]
    words = [w for w in words if not (w & 0x7F800000 == 0x7F800000 and 0 < w & 0x7FFFFF < 0x2000)]
    body = f"mov.b32 f, i0;cvt.{mode}.tf32.f32 o0, f;"
    results = run_words(body, [[w] for w in words], 1, declarations=".reg .f32 f;")
    assert results[:, 0].tolist() == [tf32_of(w, rounding, relu) for w in words]

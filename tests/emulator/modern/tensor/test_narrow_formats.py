# SPDX-License-Identifier: Apache-2.0
"""Conversions with random bits, matrices of narrow elements, and stores of zeros."""

import numpy as np
import pytest

from .words import run

FORMATS = {  # bits, fraction bits, bias, codes of the largest number and of NaN
    "e4m3": (8, 3, 7, 0x7E, 0x7F),
    "e5m2": (8, 2, 15, 0x7B, 0x7F),
    "e2m3": (6, 3, 1, 0x1F, 0x1F),
    "e3m2": (6, 2, 3, 0x1F, 0x1F),
    "e2m1": (4, 1, 1, 7, 7),
    "f16": (16, 10, 15, 0x7BFF, 0x7FFF),
    "bf16": (16, 7, 127, 0x7F7F, 0x7FFF),
}


def rounded(name, value, random, count, has_infinity=False):
    """Add `count` random bits below the last bit of a number, and truncate."""
    bits, fraction, bias, highest, nan = FORMATS[name]
    if np.isnan(value):
        return nan
    sign = (1 << bits - 1) if np.signbit(value) else 0
    magnitude = float(abs(value))
    if magnitude == 0:
        return sign
    if np.isinf(magnitude):
        return sign | highest + has_infinity
    exponent = max(int(np.floor(np.log2(magnitude))), 1 - bias)
    scaled = magnitude * 2.0 ** (fraction - exponent)
    whole = int(scaled)
    whole += int((scaled - whole) * 2**count) + random >= 2**count
    code = (exponent + bias - 1) * 2**fraction + whole
    return sign | (min(code, highest + has_infinity))


def reversed16(value):
    return int(f"{value:016b}"[::-1], 2)


def numbers(generator, count, scale):
    values = generator.normal(0, scale, (64, count)).astype(np.float32)
    special = [0, -0.0, 1e-9, -1e-9, 1e30, -1e30, 6, 448, np.inf, -np.inf, np.nan, -np.nan]
    for column in range(count):
        values[len(special) * column :][: len(special), column] = special
    return values


def test_four_numbers_with_random_bits(run_emulated, tmp_path):
    generator = np.random.default_rng(1)
    names = ("e4m3", "e5m2", "e2m3", "e3m2", "e2m1")
    values = numbers(generator, 4, 3)
    random = generator.integers(0, 2**32, 64, dtype=np.uint64)
    words = np.hstack([values.view(np.uint32), random[:, None].astype(np.uint32)])
    cases = []
    for name in names:
        to, more = ("o0", "") if name != "e2m1" else ("h", ".reg .b16 h;")
        body = f"cvt.rs.satfinite.{name}x4.f32 {to}, {{i0, i1, i2, i3}}, i4;"
        cases.append((body + ("cvt.u32.u16 o0, h;" if more else ""), words, 1, more))
    for name, result in zip(names, run(run_emulated, tmp_path, cases), strict=True):
        step = 4 if name == "e2m1" else 8
        for thread, word in enumerate(result):
            high, low = int(random[thread]) >> 16, int(random[thread]) & 0xFFFF
            if name == "e2m1":  # the high bytes of both halves, and the low bytes
                high, low = high & 0xFF00 | low >> 8, (high & 0xFF) << 8 | low & 0xFF
            bits = (reversed16(high), high, reversed16(low), low)
            expected = 0
            for value, each in zip(values[thread], bits, strict=True):
                expected = expected << step | rounded(name, value, each, 16)
            assert word == expected, (name, values[thread])


def test_two_numbers_with_random_bits(run_emulated, tmp_path):
    generator = np.random.default_rng(2)
    values = numbers(generator, 2, 1000)
    random = generator.integers(0, 2**32, 64, dtype=np.uint64)
    words = np.hstack([values.view(np.uint32), random[:, None].astype(np.uint32)])
    forms = [("f16", ""), ("bf16", ""), ("f16", ".satfinite"), ("bf16", ".relu")]
    cases = [(f"cvt.rs{m}.{n}x2.f32 o0, i0, i1, i2;", words, 1, "") for n, m in forms]
    for (name, word), result in zip(forms, run(run_emulated, tmp_path, cases), strict=True):
        count = 13 if name == "f16" else 16
        for thread, pair in enumerate(result):
            expected = 0
            for value, shift in zip(values[thread], (16, 0), strict=True):
                each = int(random[thread]) >> shift & (1 << count) - 1
                code = rounded(name, value, each, count, word != ".satfinite")
                is_zero = word == ".relu" and np.signbit(value) and not np.isnan(value)
                code = 0 if is_zero else code
                expected = expected << 16 | code
            assert pair == expected, (name, word, values[thread])


def test_matrices_of_narrow_elements(run_emulated, tmp_path):
    generator = np.random.default_rng(3)
    words = generator.integers(0, 2**32, (32, 4), dtype=np.uint64)
    prefix = (
        """.reg .b32 a, b;""",
        """
        mov.u32 a, memory; mad.lo.u32 b, t, 16, a;
        st.shared.v4.b32 [b], {i0, i1, i2, i3}; bar.sync 0;""",
    )
    cases = []
    for form in ("b6x16_p32", "b4x16_p64"):
        for count in (1, 4):
            registers = ", ".join(f"o{n}" for n in range(count))
            load = f"ldmatrix.sync.aligned.m8n16.x{count}.shared.b8x16.{form} {{{registers}}}, [b];"
            cases.append((prefix[1] + load, words, count, prefix[0]))
    results = run(run_emulated, tmp_path, cases)
    data = np.ascontiguousarray(words.astype(np.uint32)).view(np.uint8)
    for result, (bits, count) in zip(results, ((6, 1), (6, 4), (4, 1), (4, 4)), strict=True):
        lanes = np.array(result, np.uint32).reshape(32, count)
        for matrix in range(count):
            for lane in range(32):
                row = int.from_bytes(data[8 * matrix + lane // 4].tobytes(), "little")
                elements = [row >> bits * (4 * (lane % 4) + n) & (1 << bits) - 1 for n in range(4)]
                expected = sum(v << 8 * n for n, v in enumerate(elements))
                assert lanes[lane, matrix] == expected


FILL = """mov.u32 a, memory; mad.lo.u32 b, t, 16, a;
    st.shared.v4.b32 [b], {i0, i1, i2, i3}; bar.sync 0;"""


def test_transposed_matrices_of_16_rows(run_emulated, tmp_path):
    """Register r of matrix j has column lane / 4 + 8 r of four rows, 4 (lane % 4) and the next."""
    words = np.random.default_rng(5).integers(0, 2**32, (32, 4), dtype=np.uint64)
    forms = [(".b8", 8), (".b8x16.b6x16_p32", 6), (".b8x16.b4x16_p64", 4)]
    cases, kinds = [], []
    for form, bits in forms:
        for count in (1, 2):
            registers = ", ".join(f"o{n}" for n in range(2 * count))
            load = f"ldmatrix.sync.aligned.m16n16.x{count}.trans.shared{form} {{{registers}}}, [b];"
            cases.append((FILL + load, words, 2 * count, ".reg .b32 a, b;"))
            kinds.append((bits, count))
    data = np.ascontiguousarray(words.astype(np.uint32)).view(np.uint8)
    rows = [int.from_bytes(row.tobytes(), "little") for row in data]
    for result, (bits, count) in zip(run(run_emulated, tmp_path, cases), kinds, strict=True):
        lanes = np.array(result, np.uint32).reshape(32, 2 * count)
        for lane, n in np.ndindex(lanes.shape):
            column = lane // 4 + 8 * (n % 2)
            first = 16 * (n // 2) + 4 * (lane % 4)
            elements = [rows[first + e] >> bits * column & (1 << bits) - 1 for e in range(4)]
            assert lanes[lane, n] == sum(v << 8 * e for e, v in enumerate(elements)), (bits, n)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_stores_of_transposed_bytes(run_emulated, tmp_path, count):
    """Each lane has two rows of two columns, as results of mma; the columns become rows."""
    words = np.random.default_rng(6).integers(0, 2**32, (32, 4), dtype=np.uint64)
    registers = ", ".join(f"i{n}" for n in range(count))
    store = f"stmatrix.sync.aligned.m16n8.x{count}.trans.shared.b8 [b], {{{registers}}};"
    read = "bar.sync 0; ld.shared.v4.b32 {o0, o1, o2, o3}, [b];"
    (result,) = run(run_emulated, tmp_path, [(FILL + store + read, words, 4, ".reg .b32 a, b;")])
    expected = np.ascontiguousarray(words.astype(np.uint32)).view(np.uint8).copy()
    for matrix in range(count):
        for lane in range(32):
            for e in range(4):
                row, column = lane // 4 + 8 * (e // 2), 2 * (lane % 4) + e % 2
                value = int(words[lane, matrix]) >> 8 * e & 255
                expected[8 * matrix + column, row] = value
    assert (np.array(result, np.uint32).view(np.uint8).reshape(32, 16) == expected).all()


def test_stores_of_zeros(run_emulated, tmp_path):
    words = np.full((32, 1), 0xFFFFFFFF)
    fill = """
        mov.u32 a, memory; mad.lo.u32 b, t, 4, a; st.shared.b32 [b], i0; bar.sync 0;
        mov.b64 n, {bytes}; setp.eq.u32 p, t, 0; @p st.bulk.weak.shared::cta [a+8], n, 0;
        bar.sync 0; ld.shared.b32 o0, [b];"""
    declarations = ".reg .b32 a, b; .reg .b64 n;"
    cases = [(fill.replace("{bytes}", size), words, 1, declarations) for size in ("40", "20")]
    good, bad = run(run_emulated, tmp_path, cases)
    assert good == [0xFFFFFFFF] * 2 + [0] * 10 + [0xFFFFFFFF] * 20
    assert "no multiple of 8" in bad


def test_products_of_elements_outside_of_a_tensor(run_emulated, tmp_path):
    # recorded on an H200: the sign does not matter, and an addend counts as any NaN
    one, three, outside, other_nan = 0x3C00, 0x4200, 0x7FF7, 0x7E00
    rows = [(three, one, one), (outside, one, one), (one, outside, three), (0xFFF7, one, one)]
    rows += [(one, one, outside), (other_nan, one, one), (outside, other_nan, outside)]
    expected = [0x4400, 0, 0, 0, 0x7FFF, 0x7FFF, 0]
    words = np.array(rows)
    pairs = words | np.roll(words, 1, axis=0) << 16
    half = ".reg .b16 a, b, c;"
    narrow = "cvt.u16.u32 a, i0; cvt.u16.u32 b, i1; cvt.u16.u32 c, i2;"
    cases = [
        ("fma.rn.oob.f16x2 o0, i0, i1, i2;", pairs, 1, ""),
        ("mov.b32 o0, i0; fma.rn.oob.f16x2 o0, o0, i1, i2;", pairs, 1, ""),
        (f"{narrow} fma.rn.oob.f16 a, a, b, c; cvt.u32.u16 o0, a;", words, 1, half),
        (
            "fma.rn.oob.relu.bf16x2 o0, i0, i1, i2;",
            words & 0xFF80 | (words & 0x7FFF == outside) * 0x77,
            1,
            "",
        ),
    ]
    results = run(run_emulated, tmp_path, cases)
    both = [low | high << 16 for low, high in zip(expected, np.roll(expected, 1), strict=True)]
    assert results[0] == results[1] == both
    assert results[2] == expected
    assert results[3][1:4] == [0, 0, 0]
    assert results[3][0] != 0


def test_sums_of_a_half_and_a_float(run_emulated, tmp_path):
    """The half is exact as a float, so that the sum rounds once."""
    random = np.random.default_rng(8)
    halves, floats = random.normal(size=(32, 2)).astype("f2"), random.normal(size=32).astype("f4")
    words = np.stack([*halves.T.copy().view("u2").astype("u4"), floats.view("u4")], 1)
    declarations = ".reg .f32 c; .reg .b16 a, b;"
    body = """cvt.u16.u32 a, i0; cvt.u16.u32 b, i1; mov.b32 c, i2;
        {name} c, {sources}, c; mov.b32 o0, c;"""
    names = {
        "add.f32.f16": "a",
        "sub.rz.sat.f32.f16": "a",
        "fma.rn.f32.f16": "a, b",
        "add.rn.f32.bf16": "a",
    }
    cases = [
        (body.format(name=name, sources=sources), words, 1, declarations)
        for name, sources in names.items()
    ]
    total, difference, product, brain = (
        np.array(result, "u4").view("f4") for result in run(run_emulated, tmp_path, cases)
    )
    a, b, c = (column.astype("f8") for column in (*halves.T, floats))
    assert (total == (a + c).astype("f4")).all()
    exact = np.clip(a - c, 0, 1)
    assert ((difference <= exact) & (exact - difference <= 2.0**-24)).all()
    assert (product == (a * b + c).astype("f4")).all()
    wide = (words[:, 0] << 16).astype("u4").view("f4")
    assert (brain == wide + floats).all()


def test_reductions_of_floats_over_a_warp(run_emulated, tmp_path):
    generator = np.random.default_rng(4)
    values = generator.normal(0, 5, 32).astype(np.float32)
    values[[3, 9]] = np.nan
    words = values.view(np.uint32)[:, None].copy()
    zeros = np.array([0, 0x80000000] * 16)[:, None]
    nans = np.full((32, 1), 0xFFC00001)
    masked = "setp.lt.u32 p, t, 8; @p redux.sync.min.f32 o0, i0, 0xff; @!p mov.b32 o0, i0;"
    cases = [
        (f"redux.sync.{form}.f32 o0, i0, -1;", data, 1, "")
        for form, data in (
            ("min", words),
            ("max", words),
            ("max.abs", words),
            ("min.NaN", words),
            ("min", zeros),
            ("max", zeros),
            ("min", nans),
        )
    ]
    results = run(run_emulated, tmp_path, [*cases, (masked, words, 1, "")])
    numbers = values[~np.isnan(values)]
    expected = [numbers.min(), numbers.max(), np.abs(numbers).max()]
    bits = [*np.array(expected, np.float32).view(np.uint32), 0x7FFFFFFF, 0x80000000, 0, 0x7FFFFFFF]
    for result, each in zip(results[:-1], bits, strict=True):
        assert result == [each] * 32
    part = np.nanmin(values[:8]).astype(np.float32).view(np.uint32)
    assert results[-1] == [part] * 8 + words[8:, 0].tolist()

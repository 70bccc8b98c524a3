# SPDX-License-Identifier: Apache-2.0
"""Conversions of pairs of small numbers, against the nearest of a list of all numbers."""

import math

import numpy as np
import pytest

from .words import run

# Bits, fraction bits, bias, code of the largest number.
FORMATS = {
    "e4m3": (8, 3, 7, 0x7E),
    "e5m2": (8, 2, 15, 0x7B),
    "e2m3": (6, 3, 1, 0x1F),
    "e3m2": (6, 2, 3, 0x1F),
    "e2m1": (4, 1, 1, 7),
}
NAN, THREADS = 0x7FFF, 64


def magnitude(name, code):
    _, fraction, bias, _ = FORMATS[name]
    field, low = code >> fraction, code & (1 << fraction) - 1
    return (low + (1 << fraction if field else 0)) * 2.0 ** (max(field, 1) - bias - fraction)


def nearest(name, value, is_relu):
    """Return the code of the nearest number, ties to the even code."""
    bits, _, _, last = FORMATS[name]
    if math.isnan(value):
        return 0x7F if bits == 8 else last
    sign = 1 << bits - 1 if math.copysign(1, value) < 0 else 0
    if sign and is_relu:
        return 0
    codes = range(last + 1)
    if math.isinf(value):
        return sign | last
    return sign | min(codes, key=lambda c: (abs(magnitude(name, c) - abs(value)), c & 1))


def decoded(name, code):
    bits, _, _, last = FORMATS[name]
    low = code & (1 << bits - 1) - 1
    sign = -1 if code >> bits - 1 & 1 else 1
    if low > last:
        return sign * math.inf if name == "e5m2" and low == 0x7C else math.nan
    return sign * magnitude(name, low)


def bf16_of(value, is_limited=False):
    """Return the bits of the nearest bf16 of a number with few digits."""
    if math.isnan(value):
        return NAN
    with np.errstate(over="ignore"):
        raw = int(np.array(value, np.float32).view(np.uint32))
    raw += 0x7FFF + (raw >> 16 & 1)
    word = raw >> 16
    return word - 1 if is_limited and word & 0x7FFF == 0x7F80 else word


def sources(name):
    """Return 128 floats: special ones, numbers of a format and their neighbors."""
    generator = np.random.default_rng(len(name))
    last = FORMATS[name][3]
    some = [magnitude(name, c) for c in generator.integers(0, last + 1, 40)]
    halves = [
        (magnitude(name, c) + magnitude(name, c + 1)) / 2 for c in generator.integers(0, last, 40)
    ]
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e30, -1e30, 1e-30]
    values = np.array([*special, *some, *halves, *(-x for x in halves)], np.float32)
    with np.errstate(over="ignore"):
        return values.astype(np.float16).astype(np.float32)  # exact in each source


def packed(name, high, low):
    step = 4 if name == "e2m1" else 8
    return high << step | low


def declared(name):
    """Return the register of a pair, and instructions between it and a word."""
    if name != "e2m1":
        return "h", ".reg .b16 h, s;", "cvt.u32.u16 o0, h;", "cvt.u16.u32 h, i0;"
    return (
        "b",
        ".reg .b16 h, s; .reg .b8 b;",
        "mov.b16 h, {b, 0}; cvt.u32.u16 o0, h;",
        "cvt.u16.u32 h, i0; cvt.u8.u16 b, h;",
    )


@pytest.mark.parametrize("relu", ["", ".relu"])
def test_to_small_numbers(run_emulated, tmp_path, relu):
    cases, expected = [], []
    for name in FORMATS:
        values = sources(name)[:128].reshape(THREADS, 2)
        register, declarations, store, _ = declared(name)
        halves = values.astype(np.float16).view(np.uint16).astype(np.uint32)
        words = values.view(np.uint32)
        bfloats = words >> 16
        for kind, rows in (
            ("f32", words),
            ("f16x2", (halves[:, :1] << 16 | halves[:, 1:])),
            ("bf16x2", (bfloats[:, :1] << 16 | bfloats[:, 1:])),
        ):
            inputs = "i0, i1" if kind == "f32" else "i0"
            body = f"cvt.rn.satfinite{relu}.{name}x2.{kind} {register}, {inputs}; {store}"
            cases.append((body, rows, 1, declarations))
            floats = values
            if kind == "bf16x2":
                floats = (bfloats << 16).view(np.float32)
            expected.append(
                [
                    packed(name, *(nearest(name, float(v), bool(relu)) for v in row))
                    for row in floats
                ]
            )
    results = run(run_emulated, tmp_path, cases, version="9.2")
    for case, result, each in zip(cases, results, expected, strict=True):
        assert result == each, case[0]


FORMS = ["", ".relu", ".satfinite", ".satfinite.relu", ".scaled::n2::ue8m0"]


@pytest.mark.parametrize("form", FORMS)
def test_from_small_numbers(run_emulated, tmp_path, form):
    is_relu, is_limited, is_scaled = "relu" in form, "satfinite" in form, "scaled" in form
    generator = np.random.default_rng(11)
    cases, expected = [], []
    for name in FORMATS:
        bits = FORMATS[name][0]
        codes = np.arange(256).reshape(128, 2) & (1 << bits) - 1
        scales = generator.choice([0, 1, 100, 127, 130, 254, 255], (128, 2))
        words = [packed(name, *map(int, row)) for row in codes]
        rows = np.array([words, scales[:, 0] << 8 | scales[:, 1]]).T
        register, declarations, _, load = declared(name)
        scale = ", s" if is_scaled else ""
        body = f"{load} cvt.u16.u32 s, i1; cvt.rn{form}.bf16x2.{name}x2 o0, {register}{scale};"
        cases.append((body, rows, 1, declarations))
        of_case = []
        for row, exponents in zip(codes.tolist(), scales.tolist(), strict=True):
            word = 0
            for code, exponent in zip(row, exponents, strict=True):
                value = decoded(name, code)
                if is_scaled:
                    value = math.nan if exponent == 255 else value * 2.0 ** (exponent - 127)
                is_zero = is_relu and math.copysign(1, value) < 0 and not math.isnan(value)
                word = word << 16 | (0 if is_zero else bf16_of(value, is_limited))
            of_case.append(word)
        expected.append(of_case)
    results = run(run_emulated, tmp_path, cases, version="9.2")
    for case, result, each in zip(cases, results, expected, strict=True):
        assert result == each, case[0]


def exponent(value, is_up, is_limited):
    """Return the code of a power of two below or above a magnitude."""
    if math.isnan(value):
        return 255
    size = abs(value)
    code = next((c for c in range(255, -1, -1) if c and 2.0 ** (c - 127) <= size), 0)
    if is_up and math.isfinite(size) and size > 2.0 ** (code - 127):
        code += 1
    return min(code, 254) if is_limited else code


def test_powers_of_two(run_emulated, tmp_path):
    specials = [0.0, -1.0, 3.0, 2.0**-126, 2.0**-127, 2.0**-128, 1.5 * 2.0**-127, 3e38, math.inf]
    values = np.array([*specials, math.nan, -math.inf, 1.0, 0.75, 1e-40], np.float32)
    values = (values.view(np.uint32) & 0xFFFF0000).view(np.float32).reshape(-1, 2)
    words = values.view(np.uint32)
    bfloats = words[:, :1] & 0xFFFF0000 | words[:, 1:] >> 16
    cases, expected = [], []
    for rounding in ("rz", "rp"):
        for limit in ("", ".satfinite"):
            for kind, rows, inputs in (("f32", words, "i0, i1"), ("bf16x2", bfloats, "i0")):
                body = f"cvt.{rounding}{limit}.ue8m0x2.{kind} h, {inputs}; cvt.u32.u16 o0, h;"
                cases.append((body, rows, 1, ".reg .b16 h;"))
                options = (rounding == "rp", bool(limit))
                expected.append(
                    [exponent(a, *options) << 8 | exponent(b, *options) for a, b in values.tolist()]
                )
    results = run(run_emulated, tmp_path, cases, version="9.2")
    for case, result, each in zip(cases, results, expected, strict=True):
        assert result == each, case[0]


@pytest.mark.parametrize("relu", ["", ".relu"])
def test_fixed_point(run_emulated, tmp_path, relu):
    """s2f6 counts units of 1/64; a scale divides before, and multiplies after the conversion."""
    generator = np.random.default_rng(12)
    special = [0.0, -0.0, 1.5 / 64, 2.5 / 64, -2.5 / 64, 1.99, 2, -2, -5, math.nan, math.inf]
    values = np.array(
        [*special, -math.inf, *generator.normal(0, 1, 52)],
        np.float32,
    ).reshape(32, 2)
    values = (values.view(np.uint32) & 0xFFFF0000).view(np.float32)
    scales = generator.integers(125, 130, (32, 2))
    scales[3] = 255
    words = values.view(np.uint32)
    factors = np.where(scales == 255, np.nan, 2.0 ** (scales - 127.0))
    pairs = (scales[:, :1] << 8 | scales[:, 1:]).astype(np.uint32)
    bfloats = words[:, :1] & 0xFFFF0000 | words[:, 1:] >> 16
    declarations = ".reg .b16 h, s;"
    head = f"cvt.rn.satfinite{relu}"
    scale = ".scaled::n2::ue8m0"
    cases = [
        (f"{head}.s2f6x2.f32 h, i0, i1; cvt.u32.u16 o0, h;", words, 1, declarations),
        (f"{head}.s2f6x2.bf16x2 h, i0; cvt.u32.u16 o0, h;", bfloats, 1, declarations),
        (
            f"cvt.u16.u32 s, i2; {head}{scale}.s2f6x2.f32 h, i0, i1, s; cvt.u32.u16 o0, h;",
            np.hstack([words, pairs]),
            1,
            declarations,
        ),
    ]

    def fixed(value):
        if math.isnan(value):
            return 127
        low = 0 if relu else -128
        return int(min(max(np.rint(value * 64), low), 127)) & 255

    plain = [fixed(a) << 8 | fixed(b) for a, b in values.tolist()]
    scaled = [fixed(a) << 8 | fixed(b) for a, b in (values / factors).tolist()]
    codes = np.arange(256).reshape(128, 2)
    load = "cvt.u16.u32 h, i0; cvt.u16.u32 s, i1;"
    exponents = generator.integers(120, 134, (128, 2))
    rows = np.hstack([codes[:, :1] << 8 | codes[:, 1:], exponents[:, :1] << 8 | exponents[:, 1:]])
    cases.append((f"{load} cvt.rn{relu}{scale}.bf16x2.s2f6x2 o0, h, s;", rows, 1, declarations))
    numbers = codes.astype(np.uint8).view(np.int8).astype(float) / 64 * 2.0 ** (exponents - 127.0)
    numbers = np.maximum(numbers, 0) if relu else numbers
    wide = [bf16_of(a) << 16 | bf16_of(b) for a, b in numbers.tolist()]
    results = run(run_emulated, tmp_path, cases, version="9.2")
    assert results == [plain, plain, scaled, wide]


def test_limited_tf32(run_emulated, tmp_path):
    words = np.array([[0x7F800000], [0xFF800000], [0x7F7FFFFF], [0x3F803000]], np.uint32)
    cases = [(f"cvt.{r}.satfinite.tf32.f32 o0, i0;", words, 1, "") for r in ("rn", "rz", "rna")]
    largest = [0x7F7FE000, 0xFF7FE000, 0x7F7FE000]
    results = run(run_emulated, tmp_path, cases, version="8.6")
    assert results == [[*largest, 0x3F804000], [*largest, 0x3F802000], [*largest, 0x3F804000]]

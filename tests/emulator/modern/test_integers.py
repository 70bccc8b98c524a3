# SPDX-License-Identifier: Apache-2.0
"""dp4a, dp2a, cvt.pack and istypep, against arithmetic on Python's integers and addresses."""

import random

import pytest

THREADS = 64
EDGES = [0, 1, 0x7F7F7F7F, 0x80808080, 0xFFFFFFFF, 0x7FFF8000, 0x80007FFF, 0x80000000, 0x7FFFFFFF]


def words(seed, count):
    generator = random.Random(seed)
    pick = [lambda: generator.choice(EDGES), lambda: generator.getrandbits(32)]
    return [[generator.choice(pick)() for _ in range(count)] for _ in range(THREADS)]


def part(word, n, bits, is_signed):
    value = word >> n * bits & (1 << bits) - 1
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value


@pytest.mark.parametrize("a_type", ["s32", "u32"])
@pytest.mark.parametrize("b_type", ["s32", "u32"])
class TestDotProducts:
    def test_dp4a(self, run_words, a_type, b_type):
        rows = words(a_type + b_type, 3)
        results = run_words(f"dp4a.{a_type}.{b_type} o0, i0, i1, i2;", rows, 1)
        for (a, b, c), result in zip(rows, results[:, 0].tolist(), strict=True):
            products = (
                part(a, n, 8, a_type == "s32") * part(b, n, 8, b_type == "s32") for n in range(4)
            )
            assert result == (c + sum(products)) & 0xFFFFFFFF

    @pytest.mark.parametrize("half", ["lo", "hi"])
    def test_dp2a(self, run_words, a_type, b_type, half):
        rows = words(a_type + b_type + half, 3)
        results = run_words(f"dp2a.{half}.{a_type}.{b_type} o0, i0, i1, i2;", rows, 1)
        first = 2 if half == "hi" else 0
        for (a, b, c), result in zip(rows, results[:, 0].tolist(), strict=True):
            products = (
                part(a, n, 16, a_type == "s32") * part(b, first + n, 8, b_type == "s32")
                for n in range(2)
            )
            assert result == (c + sum(products)) & 0xFFFFFFFF


@pytest.mark.parametrize("kind", ["u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"])
def test_pack(run_words, kind):
    rows = words(kind, 3) + [[5, 0xFFFFFFFD, 0x12345678]] * 4
    bits, is_signed = int(kind[1:]), kind[0] == "s"
    text = f"cvt.pack.sat.{kind}.s32" + (" o0, i0, i1;" if bits == 16 else ".b32 o0, i0, i1, i2;")
    results = run_words(text, rows, 1)
    low = -(1 << bits - 1) if is_signed else 0
    mask = (1 << bits) - 1
    for (a, b, c), result in zip(rows, results[:, 0].tolist(), strict=True):
        high, lower = (min(max(part(x, 0, 32, True), low), low + mask) & mask for x in (a, b))
        upper = 0 if bits == 16 else c << 2 * bits
        assert result == (upper | high << bits | lower) & 0xFFFFFFFF


def test_types_of_opaque_variables(run_words):
    """The address of a reference gives its type."""
    variables = ".global .texref first; .global .texref second; .global .samplerref sampler;"
    names = ("first", "second", "sampler", "memory")
    body = "mov.b32 o0, 0;"
    for n, name in enumerate(names):
        body += f"mov.u64 a, {name};"
        for kind, bit in (("texref", 0), ("samplerref", 1), ("surfref", 2)):
            body += f"istypep.{kind} p, a; @p or.b32 o0, o0, {1 << 3 * n + bit};"
    results = run_words(body, [[0]], 1, declarations=".reg .u64 a;", variables=variables)
    assert results[0, 0] == 0b010_001_001

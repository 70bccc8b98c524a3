# SPDX-License-Identifier: Apache-2.0
"""Video instructions, compared with integers of Python."""

import itertools

import numpy as np
import pytest

SPECIAL = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
INPUTS = np.array(
    [
        *itertools.islice(itertools.product(SPECIAL, repeat=3), 0, 512, 3),
        *np.random.default_rng(7).integers(0, 1 << 32, (85, 3)).tolist(),
    ],
    dtype=np.uint32,
)
COMPARE = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
OPERATIONS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "absdiff": lambda a, b: abs(a - b),
    "min": min,
    "max": max,
    "avrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
}


def extend(value, bits, is_signed):
    value &= (1 << bits) - 1
    return value - (1 << bits) if is_signed and value >> (bits - 1) else value


def clamp(value, bits, is_signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    return min(max(value, low), high)


def part(value, selector, is_signed):
    if not selector:
        return extend(value, 32, is_signed)
    bits = 8 if selector[1] == "b" else 16
    return extend(value >> bits * int(selector[2]), bits, is_signed)


def run(run_words, instruction):
    return run_words(f"{instruction};", INPUTS, 1)[:, 0].tolist()


@pytest.mark.parametrize("types", ["u32.u32.u32", "s32.s32.s32", "s32.u32.s32", "u32.s32.u32"])
@pytest.mark.parametrize("name", ["add", "sub", "absdiff", "min", "max"])
@pytest.mark.parametrize("sat", ["", ".sat"])
@pytest.mark.parametrize("selectors", [("", ""), (".b1", ".h1"), (".h0", ".b3")])
def test_scalar_operations(run_words, name, types, sat, selectors):
    d, x, y = (t == "s32" for t in types.split("."))
    text = f"v{name}.{types}{sat} o0, i0{selectors[0]}, i1{selectors[1]}"
    expected = []
    for a, b, _ in INPUTS.tolist():
        value = OPERATIONS[name](part(a, selectors[0], x), part(b, selectors[1], y))
        expected.append((clamp(value, 32, d) if sat else value) & 0xFFFFFFFF)
    assert run(run_words, text) == expected


@pytest.mark.parametrize("second", ["add", "min", "max"])
@pytest.mark.parametrize("is_signed", [False, True])
def test_a_second_operation(run_words, second, is_signed):
    t = "s32" if is_signed else "u32"
    expected = []
    for a, b, c in INPUTS.tolist():
        value = part(a, ".h1", is_signed) + part(b, ".b0", is_signed)
        c = extend(c, 32, is_signed)
        expected.append(OPERATIONS[second](value, c) & 0xFFFFFFFF)
    text = f"vadd.{t}.{t}.{t}.{second} o0, i0.h1, i1.b0, i2"
    assert run(run_words, text) == expected


@pytest.mark.parametrize("target", ["b0", "b3", "h0", "h1"])
@pytest.mark.parametrize("sat", ["", ".sat"])
def test_a_result_is_merged(run_words, target, sat):
    bits = 8 if target[0] == "b" else 16
    mask, shift = (1 << bits) - 1, bits * int(target[1])
    expected = []
    for a, b, c in INPUTS.tolist():
        value = part(a, ".h0", True) - part(b, ".h1", True)
        value = (clamp(value, bits, True) if sat else value) & mask
        expected.append(c & ~(mask << shift) & 0xFFFFFFFF | value << shift)
    text = f"vsub.s32.s32.s32{sat} o0.{target}, i0.h0, i1.h1, i2"
    assert run(run_words, text) == expected


@pytest.mark.parametrize("mode", ["clamp", "wrap"])
@pytest.mark.parametrize("is_signed", [False, True])
def test_shifts(run_words, mode, is_signed):
    t = "s32" if is_signed else "u32"
    for name in "shl", "shr":
        expected = []
        for a, b, _ in INPUTS.tolist():
            amount = b & 31 if mode == "wrap" else min(b, 32)
            a = extend(a, 32, is_signed)
            expected.append((a << amount if name == "shl" else a >> amount) & 0xFFFFFFFF)
        assert run(run_words, f"v{name}.{t}.{t}.u32.{mode} o0, i0, i1") == expected


@pytest.mark.parametrize("form", ["i0.h0, i1.h1, i2", "-i0.h0, i1.h1, i2", "i0.h0, i1.h1, -i2"])
@pytest.mark.parametrize("scale", [0, 7, 15])
@pytest.mark.parametrize("sat", ["", ".sat"])
def test_multiplication(run_words, form, scale, sat):
    expected = []
    for a, b, c in INPUTS.tolist():
        product = part(a, ".h0", True) * part(b, ".h1", True)
        c = extend(c, 32, True)
        value = {"i0": product + c, "-i": -product + c}[form[:2]]
        if form.endswith("-i2"):
            value = product - c
        value >>= scale
        expected.append((clamp(value, 32, True) if sat else value) & 0xFFFFFFFF)
    shift = f".shr{scale}" if scale else ""
    assert run(run_words, f"vmad.s32.s32.s32{sat}{shift} o0, {form}") == expected


def test_multiplication_plus_one(run_words):
    expected = [(a * b + c + 1) & 0xFFFFFFFF for a, b, c in INPUTS.tolist()]
    assert run(run_words, "vmad.u32.u32.u32.po o0, i0, i1, i2") == expected


@pytest.mark.parametrize("name", COMPARE)
@pytest.mark.parametrize("is_signed", [False, True])
def test_scalar_comparison(run_words, name, is_signed):
    t = "s32" if is_signed else "u32"
    expected = [
        int(COMPARE[name](part(a, ".b2", is_signed), part(b, ".b1", is_signed)))
        for a, b, _ in INPUTS.tolist()
    ]
    assert run(run_words, f"vset.{t}.{t}.{name} o0, i0.b2, i1.b1") == expected


LANES = {2: "h", 4: "b"}


def lanes_of(a, b, digits, count, is_signed):
    bits = 32 // count
    values = [extend(word >> bits * i, bits, is_signed) for word in (a, b) for i in range(count)]
    return [values[int(digit)] for digit in reversed(digits)]


def vector(operation, row, count, form, mask, accumulates):
    """Return the word that a vector operation stores: form has signs, selectors and saturation."""
    a, b, c = row
    (d, x, y), (first, second), sat = form
    bits = 32 // count
    first_lanes = lanes_of(a, b, first, count, x)
    second_lanes = lanes_of(a, b, second, count, y)
    result = c
    for i in mask:
        value = operation(first_lanes[i], second_lanes[i])
        value = clamp(int(value), bits, d) if sat else int(value)
        if accumulates:
            result += value
        else:
            ones = ((1 << bits) - 1) << bits * i
            result = result & ~ones | value << bits * i & ones
    return result & 0xFFFFFFFF


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("types", ["u32.u32.u32", "s32.s32.s32", "s32.u32.s32"])
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("word", ["", ".sat", ".add"])
def test_vectors(run_words, name, count, types, word):
    signs = tuple(t == "s32" for t in types.split("."))
    every = ("10", "32") if count == 2 else ("3210", "7654")
    form = signs, every, word == ".sat"
    expected = [
        vector(OPERATIONS[name], row, count, form, range(count), word == ".add")
        for row in INPUTS.tolist()
    ]
    assert run(run_words, f"v{name}{count}.{types}{word} o0, i0, i1, i2") == expected


@pytest.mark.parametrize(
    ("count", "mask", "first", "second"),
    [
        (2, "h1", "31", "02"),
        (2, "h10", "12", "30"),
        (4, "b20", "7531", "6420"),
        (4, "b3", "0000", "4567"),
        (4, "b321", "3210", "7654"),
    ],
)
def test_masks_and_selectors(run_words, count, mask, first, second):
    letter = LANES[count]
    form = (True,) * 3, (first, second), False
    lanes = [int(digit) for digit in mask[1:]]
    for add in False, True:
        expected = [
            vector(OPERATIONS["sub"], row, count, form, lanes, add) for row in INPUTS.tolist()
        ]
        word = ".add" if add else ""
        text = (
            f"vsub{count}.s32.s32.s32{word} o0.{mask}, i0.{letter}{first}, i1.{letter}{second}, i2"
        )
        assert run(run_words, text) == expected


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("name", COMPARE)
def test_vector_comparison(run_words, count, name):
    every = ("10", "32") if count == 2 else ("3210", "7654")
    form = (False, True, True), every, False
    for add in False, True:
        expected = [
            vector(COMPARE[name], row, count, form, range(count), add) for row in INPUTS.tolist()
        ]
        word = ".add" if add else ""
        text = f"vset{count}.s32.s32.{name}{word} o0, i0, i1, i2"
        assert run(run_words, text) == expected


@pytest.mark.parametrize(
    "body",
    [
        "vadd.s32.s32.s32 o0, i0, i0, i0;",
        "vadd.s32.s32.s32 o0.b0, i0, i0;",
        "vadd.u64.u32.u32 o0, i0, i0;",
        "vadd4.s32.s32.s32 o0, i0.h10, i0, i0;",
        "vadd2.s32.s32.s32 o0, i0, i0;",
        "vset.u32.u32 o0, i0, i0;",
    ],
)
def test_a_wrong_form_is_refused(run_words, body):
    with pytest.raises(Exception, match="NOT_SUPPORTED|INVALID_PTX"):
        run_words(body, [[7]], 1)

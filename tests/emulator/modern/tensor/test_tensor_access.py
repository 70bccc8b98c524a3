# SPDX-License-Identifier: Apache-2.0
"""Loads and stores of tensor memory, copies from shared memory and shifts of rows."""

import numpy as np
import pytest

from .conftest import COLUMNS, SHARED, Case, by_leader, kernel_text

SHAPES = {  # registers of .x1, the largest repetition
    "32x32b": (1, 128),
    "16x64b": (1, 128),
    "16x128b": (2, 64),
    "16x256b": (4, 32),
    "16x32bx2": (1, 128),
}


def place(shape, lane, n):
    """Return the lane and column of register n, relative to the address."""
    g, t = lane >> 2, lane & 3
    if shape == "32x32b":
        return lane, n
    if shape == "16x64b":
        return g + 8 * (t & 1), 2 * n + (t >> 1)
    if shape == "16x128b":
        return g + 8 * (n & 1), 4 * (n >> 1) + t
    if shape == "16x256b":
        return g + 8 * (n >> 1 & 1), 8 * (n >> 2) + 2 * t + (n & 1)
    return lane % 16, n


def names(count):
    return "{" + ", ".join(f"x{n}" for n in range(count)) + "}"


def moved(shape, repeat, is_packed):
    """Return a case that writes registers with one shape, and the tensor memory it must leave."""
    count = SHAPES[shape][0] * repeat
    distance = 64 if shape == "16x32bx2" else 0
    offset = f", {distance}" if distance else ""
    pack, unpack = (".pack::16b", ".unpack::16b") if is_packed else ("", "")
    high = 0x100000 if shape != "32x32b" else 0  # the upper 16 lanes of the warp
    sets = "".join(f"mad.lo.u32 x{n}, i, 1000, {n};" for n in range(count))
    text = kernel_text(
        f"""{clear()} {sets} add.u32 r0, mine, {high};
        tcgen05.st.sync.aligned.{shape}.x{repeat}{unpack}.b32 [r0]{offset}, {names(count)};
        tcgen05.wait::st.sync.aligned;
        tcgen05.ld.sync.aligned.{shape}.x{repeat}{pack}.b32 {names(count)}, [r0]{offset};
        tcgen05.wait::ld.sync.aligned;
        tcgen05.st.sync.aligned.{shape}.x{repeat}{unpack}.b32 [r0]{offset}, {names(count)};
        tcgen05.wait::st.sync.aligned;""",
        f".reg .b32 x<{count}>;",
    )
    expected = np.zeros((128, COLUMNS), np.uint32)
    for thread in range(128):
        first = thread // 32 * 32 + high // 0x10000
        for n in range(count):
            row, column = place(shape, thread % 32, n)
            value = thread * 1000 + n
            half = distance if thread % 32 >= 16 else 0
            if is_packed:
                expected[first + row, half + 2 * column] = value & 0xFFFF
                expected[first + row, half + 2 * column + 1] = value >> 16
            else:
                expected[first + row, half + column] = value
    return Case(text), expected


def clear():
    """Return instructions that write zeros to all columns."""
    zeros = ", ".join(["r63"] * 128)
    return (
        "mov.b32 r63, 0;"
        + "".join(
            f"add.u32 t, mine, {first}; tcgen05.st.sync.aligned.32x32b.x128.b32 [t], {{{zeros}}};"
            for first in range(0, COLUMNS, 128)
        )
        + "tcgen05.wait::st.sync.aligned;"
    )


FORMS = [
    (shape, repeat, is_packed)
    for shape, (_, most) in SHAPES.items()
    for repeat, is_packed in ((1, False), (4, False), (2, True), (min(most, 64), False))
]


def test_loads_and_stores(run_tensor):
    cases = [moved(*form) for form in FORMS]
    results = run_tensor([case for case, _ in cases])
    for form, result, (_, expected) in zip(FORMS, results, cases, strict=True):
        assert (result[0] == expected).all(), form


def test_loads_with_a_reduction(run_tensor):
    """Each thread gets the minimum or maximum of its registers too."""
    generator = np.random.default_rng(8)
    values = generator.integers(0, 2**32, (128, 4), dtype=np.uint64).astype(np.uint32)
    floats = generator.normal(0, 5, (128, 4)).astype(np.float32)
    floats[3, 1] = floats[9] = np.nan
    floats[5] = [0.0, -0.0, 0.0, -0.0]
    forms = [
        ("32x32b", "min.u32"),
        ("32x32b", "max.s32"),
        ("16x32bx2", "max.u32"),
        ("32x32b", "min.f32"),
        ("32x32b", "max.f32"),
        ("32x32b", "max.abs.f32"),
        ("16x32bx2", "min.NaN.f32"),
    ]
    cases, expected = [], []
    for shape, form in forms:
        numbers = floats if form.endswith("f32") else values.view(form[-3].replace("s", "i") + "4")
        distance = ", 16" if shape == "16x32bx2" else ""
        text = kernel_text(
            f"""{clear()} mul.wide.u32 o, i, 16; add.u64 v, from, o;
            ld.global.v4.b32 {{x0, x1, x2, x3}}, [v];
            tcgen05.st.sync.aligned.{shape}.x4.b32 [mine]{distance}, {{x0, x1, x2, x3}};
            tcgen05.wait::st.sync.aligned;
            tcgen05.ld.red.sync.aligned.{shape}.x4.{form} {{x0, x1, x2, x3}}, r1, [mine]{distance};
            tcgen05.wait::ld.sync.aligned; add.u32 r0, mine, 8;
            tcgen05.st.sync.aligned.32x32b.x1.b32 [r0], {{r1}}; tcgen05.wait::st.sync.aligned;""",
            ".reg .b32 x<4>;",
            target="sm_103a",
        )
        image = np.zeros(SHARED, np.uint8)
        image[: 128 * 16] = numbers.view(np.uint8).ravel()
        cases.append(Case(text, image))
        expected.append(reduced(numbers, form))
    results = run_tensor(cases, cc="10.3")
    for form, result, each in zip(forms, results, expected, strict=True):
        assert (result[0][:, 8] == each).all(), form


def reduced(numbers, form):
    """Return the bits of the extreme of each row, in which -0 is below +0."""
    keep, is_lowest = "NaN" in form, form.startswith("min")
    result = []
    for row in np.abs(numbers) if "abs" in form else numbers:
        row_numbers = row[~np.isnan(row)] if numbers.dtype == np.float32 else row
        if len(row_numbers) == 0 or (keep and len(row_numbers) < len(row)):
            result.append(0x7FFFFFFF)
            continue
        order = sorted(row_numbers, key=lambda v: (v, not np.signbit(v)))
        result.append(int(np.array([order[0 if is_lowest else -1]]).view(np.uint32)[0]))
    return np.array(result, np.uint32)


def test_a_split_warp_loads_together(run_tensor):
    body = f"""{clear()} setp.lt.u32 q, i, 16; @q bra low;
        mov.b32 r0, 1; bra both;
        low: mov.b32 r0, 2;
        both: tcgen05.st.sync.aligned.32x32b.x1.b32 [mine], {{r0}};
        tcgen05.wait::st.sync.aligned;"""
    (result,) = run_tensor([Case(kernel_text(body))])
    assert (result[0][:, 0] == [2] * 16 + [1] * 112).all()


def image_of(rows, units, bits):
    """Return shared memory with a matrix of units of 16 bytes, and its elements as bytes."""
    generator = np.random.default_rng(7)
    values = generator.integers(0, 1 << bits, (rows, 16 * units), dtype=np.uint8)
    image = np.zeros(SHARED, np.uint8)
    for row in range(rows):
        for unit in range(units):
            elements = values[row, 16 * unit : 16 * unit + 16]
            packed = sum(int(v) << bits * n for n, v in enumerate(elements))
            at = row // 8 * 128 + row % 8 * 16 + unit * 16 * rows
            image[at : at + 16] = np.frombuffer(packed.to_bytes(16, "little"), np.uint8)
    return image, values


def descriptor(start, leading, stride, swizzle=0):
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | swizzle << 61


@pytest.mark.parametrize(
    ("shape", "rows", "units", "pieces"),
    [
        ("128x256b", 128, 2, (0, 1, 2, 3)),
        ("128x128b", 128, 1, (0, 1, 2, 3)),
        ("64x128b.warpx2::02_13", 64, 1, (0, 1, 0, 1)),
        ("64x128b.warpx2::01_23", 64, 1, (0, 0, 1, 1)),
        ("32x128b.warpx4", 32, 1, (0, 0, 0, 0)),
    ],
)
def test_copies_from_shared_memory(run_tensor, shape, rows, units, pieces):
    cases, expected = [], []
    for bits, form, shift in ((8, "", 0), (6, ".b8x16.b6x16_p32", 1), (4, ".b8x16.b4x16_p64", 2)):
        image, values = image_of(rows, units, bits)
        copy = f"tcgen05.cp.cta_group::1.{shape}{form} [taddr+8], c0"
        words = [descriptor(0, 16 * rows, 128)]
        cases.append(Case(kernel_text(clear() + "bar.sync 0;" + by_leader([copy])), image, words))
        memory = np.zeros((128, COLUMNS), np.uint32)
        for lane in range(128):
            row = 32 * pieces[lane // 32] + lane % 32
            unit_words = (values[row] << shift).astype(np.uint8).view(np.uint32)
            memory[lane, 8 : 8 + 4 * units] = unit_words
        expected.append(memory)
    for mode in ("eager", "adversarial"):
        for result, memory in zip(run_tensor(cases, mode=mode), expected, strict=True):
            assert (result[0] == memory).all()


def test_a_shift_moves_31_rows(run_tensor):
    sets = "".join(f"mad.lo.u32 x{n}, i, 100, {n};" for n in range(16))
    body = f"""{clear()} {sets} tcgen05.st.sync.aligned.32x32b.x16.b32 [mine], {names(16)};
        tcgen05.wait::st.sync.aligned; bar.sync 0;
        add.u32 r0, taddr, 0x200000; {by_leader(["tcgen05.shift.cta_group::1.down [r0+4]"])}"""
    (result,) = run_tensor([Case(kernel_text(body, ".reg .b32 x<16>;"))])
    expected = np.zeros((128, COLUMNS), np.uint32)
    expected[:, :16] = np.arange(128)[:, None] * 100 + np.arange(16)
    expected[33:64, 4:12] = expected[32:63, 4:12].copy()
    assert (result[0] == expected).all()

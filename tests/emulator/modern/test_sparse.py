# SPDX-License-Identifier: Apache-2.0
"""mma.sp against sums over the columns that the metadata keep."""

import numpy as np
import pytest

from tests.emulator.modern.matrix_reference import bf16, f16, f32, small_integers

LANES, ROWS, COLUMNS = 32, 16, 8
WIDTHS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "s8": 8, "u8": 8, "s4": 4, "u4": 4}
E4M3 = {0: 0, 1: 0x38, 2: 0x40, 3: 0x44, 4: 0x48}  # the bits of small integers


def e4m3(values):
    return np.vectorize(lambda v: E4M3[abs(int(v))] | (0x80 if v < 0 else 0))(values)


ENCODE = {
    "f16": f16,
    "bf16": bf16,
    "tf32": f32,
    "e4m3": e4m3,
    "s8": lambda v: np.asarray(v).astype(np.int64) & 255,
    "s4": lambda v: np.asarray(v).astype(np.int64) & 15,
}
ENCODE["u8"], ENCODE["u4"] = ENCODE["s8"], ENCODE["s4"]
INFINITY = {"f16": 0x7C00, "bf16": 0x7F80, "tf32": 0x7F800000}
FORMS = [
    ("f16", "f32", 16),
    ("f16", "f32", 32),
    ("f16", "f16", 32),
    ("bf16", "f32", 16),
    ("bf16", "f32", 32),
    ("tf32", "f32", 8),
    ("tf32", "f32", 16),
    ("e4m3", "f32", 64),
    ("s8", "s32", 32),
    ("u8", "s32", 64),
    ("s4", "s32", 64),
    ("u4", "s32", 128),
]
PAIRS = [4, 8, 9, 12, 13, 14]


def kept_columns(kind, depth, generator):
    """Draw the nibbles of each row; return them and the k of each stored column."""
    per_group = {4: 8, 32: 2}.get(WIDTHS[kind], 4)
    groups = depth // per_group
    choice = [4, 14] if kind == "tf32" else PAIRS
    nibbles = generator.choice(choice, (ROWS, groups))
    columns = []
    for row in nibbles:
        of_row = []
        for group, nibble in enumerate(row):
            low, high = int(nibble) & 3, int(nibble) >> 2
            if kind == "tf32":
                of_row.append(2 * group + (nibble == 14))
            elif WIDTHS[kind] == 4:
                of_row += [8 * group + 2 * i + e for i in (low, high) for e in (0, 1)]
            else:
                of_row += [4 * group + i for i in (low, high)]
        columns.append(of_row)
    return nibbles, np.array(columns)


def metadata_words(kind, nibbles, selector):
    """Place the nibbles as the PTX manual shows them."""
    words = np.zeros(LANES, np.uint64)
    groups = nibbles.shape[1]
    for row in range(ROWS):
        group_lane, high = 4 * (row % 8), row // 8
        for q in range(groups):
            if groups == 4:
                lane, place = group_lane + selector, 4 * high + q
            elif groups == 16:
                lane, place = group_lane + 2 * (q // 8) + high, q % 8
            elif WIDTHS[kind] >= 16:
                lane, place = group_lane + 2 * selector + q // 4, 4 * high + q % 4
            else:
                lane, place = group_lane + 2 * selector + high, q
            words[lane] |= np.uint64(int(nibbles[row, q]) << 4 * place)
    return words


def fragment(bits, width, is_left):
    """Return the registers of lanes of A (rows x k) or of B (columns x k)."""
    per = 32 // width
    rows, depth = bits.shape
    words = np.zeros((LANES, rows * depth * width // 1024), np.uint64)
    for row in range(rows):
        for k in range(depth):
            e, t, block = k % per, k // per % 4, k // per // 4
            n = 2 * block + row // 8 if is_left else block
            words[4 * (row % 8) + t, n] |= np.uint64(int(bits[row, k]) << e * width)
    return words


def accumulators(values, kind):
    words = np.zeros((LANES, 2 if kind == "f16" else 4), np.uint64)
    bits = ENCODE[kind](values) if kind == "f16" else values
    if kind == "f32":
        bits = f32(values)
    if kind == "s32":
        bits = np.asarray(values).astype(np.int64) & 0xFFFFFFFF
    for row in range(ROWS):
        for column in range(COLUMNS):
            lane = 4 * (row % 8) + column // 2
            if kind == "f16":
                words[lane, row // 8] |= np.uint64(int(bits[row, column]) << 16 * (column % 2))
            else:
                words[lane, 2 * (row // 8) + column % 2] = bits[row, column]
    return words


def names(letter, first, count):
    return "{" + ", ".join(f"{letter}{first + n}" for n in range(count)) + "}"


@pytest.mark.parametrize("word", ["sp", "sp::ordered_metadata"])
@pytest.mark.parametrize(("kind", "c_kind", "depth"), FORMS)
def test_products_of_kept_columns(run_words, kind, c_kind, depth, word):
    generator = np.random.default_rng(depth)
    groups = {4: depth // 8, 32: depth // 2}.get(WIDTHS[kind], depth // 4)
    for selector in range({4: 4, 8: 2, 16: 1}[groups]):
        nibbles, columns = kept_columns(kind, depth, generator)
        a = small_integers(generator, (ROWS, depth // 2), 3)
        b = small_integers(generator, (depth, COLUMNS), 3)
        if kind.startswith("u"):
            a, b = abs(a), abs(b)
        c = small_integers(generator, (ROWS, COLUMNS))
        b_bits = ENCODE[kind](b).astype(np.uint64)
        dropped = set(range(depth)) - set(columns.ravel())
        if kind in INFINITY:  # only the columns that no row keeps may be infinite
            for k in dropped:
                b_bits[k] = INFINITY[kind]
        parts = [
            fragment(ENCODE[kind](a).astype(np.uint64), WIDTHS[kind], True),
            fragment(b_bits.T, WIDTHS[kind], False),
            accumulators(c, c_kind),
            metadata_words(kind, nibbles, selector)[:, None],
        ]
        counts = [part.shape[1] for part in parts]
        firsts = [sum(counts[:n]) for n in range(4)]
        shape = f"m16n8k{depth}"
        body = (
            f"mma.{word}.sync.aligned.{shape}.row.col.{c_kind}.{kind}.{kind}.{c_kind} "
            f"{names('o', 0, counts[2])}, "
            + ", ".join(names("i", firsts[n], counts[n]) for n in range(3))
            + f", i{firsts[3]}, {selector};"
        )
        results = run_words(body, np.hstack(parts), counts[2], version="8.5")
        expected = np.array(
            [
                [a[row] @ b[columns[row], j] + c[row, j] for j in range(COLUMNS)]
                for row in range(ROWS)
            ]
        )
        assert (results == accumulators(expected, c_kind)).all()


def test_a_kept_infinity_counts(run_words):
    """All rows keep the columns 0 and 1 of each four; only column 2 is infinite, then column 0."""
    words = np.zeros((LANES, 13), np.uint64)
    words[:, 12] = 0x44444444
    words[:, 0:4] = 0x3C003C00  # A is one
    text = (
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {o0, o1, o2, o3}, "
        "{i0, i1, i2, i3}, {i4, i5, i6, i7}, {i8, i9, i10, i11}, i12, 0;"
    )
    words[1, 4] = 0x7C00  # k = 2 of column 0
    assert (run_words(text, words, 4) == 0).all()
    words[0, 4] = 0x7C00  # k = 0 of column 0
    assert (run_words(text, words, 4)[0::4, 0] == 0x7F800000).all()


@pytest.mark.parametrize("nibble", [0, 1, 5, 10, 15, 6])
def test_wrong_metadata_are_a_fault(fault_text, nibble):
    """A pair of equal or descending columns has no meaning."""
    text = fault_text(f"""
    .reg .b32 a, m; .reg .f32 c, d0, d1, d2, d3;
    mov.u32 a, 0; mov.u32 m, {nibble * 0x11111111}; mov.f32 c, 0f00000000;
    mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {{d0, d1, d2, d3}}, {{a, a, a, a}},
      {{a, a, a, a}}, {{c, c, c, c}}, m, 0;""")
    assert "invalid-operand" in text
    assert "metadata" in text

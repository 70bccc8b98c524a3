# SPDX-License-Identifier: Apache-2.0
"""mma with .kind and .block_scale on a device of compute capability 12.0."""

import json

import numpy as np
import pytest

LANES, ROWS, COLUMNS = 32, 16, 8
FORMATS = {  # bits, fraction bits, bias, bits below the value in a byte
    "e4m3": (8, 3, 7, 0),
    "e5m2": (8, 2, 15, 0),
    "e3m2": (6, 2, 3, 0),
    "e2m3": (6, 3, 1, 0),
    "e2m1": (4, 1, 1, 2),
}
RUN = """
import json, sys
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
device = Device()
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
for text, words in json.loads(sys.argv[1]):
    kernel = ObjectCode.from_ptx(text.encode()).get_kernel("run")
    words = np.array(words, np.uint32)
    source, target = pinned.allocate(words.nbytes), pinned.allocate(512)
    np.from_dlpack(source).view(np.uint32)[:] = words.ravel()
    launch(stream, LaunchConfig(grid=1, block=32), kernel, source, target)
    stream.sync()
    print(json.dumps(np.from_dlpack(target).view(np.uint32).tolist()))
"""


def value_of(kind, bits):
    size, m, bias, _ = FORMATS[kind]
    e = size - 1 - m
    field, fraction = bits >> m & (1 << e) - 1, bits & (1 << m) - 1
    magnitude = (fraction / 2**m + (field > 0)) * 2.0 ** (max(field, 1) - bias)
    return -magnitude if bits >> size - 1 else magnitude


def draw(generator, kind, shape):
    """Draw bits of small numbers, and return their values too."""
    size = FORMATS[kind][0]
    usable = [b for b in range(1 << size) if 0.25 <= abs(value_of(kind, b)) <= 4 or not b]
    usable = [b for b in usable if value_of(kind, b) * 4 == int(value_of(kind, b) * 4)]
    bits = generator.choice(usable, shape)
    return bits, np.vectorize(lambda b: value_of(kind, int(b)))(bits)


def fragment(bits, width, shift):
    """Return the registers of lanes of a matrix (rows of A or columns of B, by k)."""
    per = 32 // width
    rows, depth = bits.shape
    words = np.zeros((LANES, rows * depth * width // 1024), np.uint64)
    for row in range(rows):
        for k in range(depth):
            e, t, block = k % per, k // per % 4, k // per // 4
            n = 2 * block + row // 8 if rows == ROWS else block
            at = np.uint64(int(bits[row, k]) << e * width + shift)
            words[4 * (row % 8) + t, n] |= at
    return words


def names(letter, first, count):
    return "{" + ", ".join(f"{letter}{first + n}" for n in range(count)) + "}"


def kernel_text(mnemonic, counts, tail):
    total = sum(counts)
    loads = "".join(f"ld.global.b32 i{n}, [from+{4 * n}];" for n in range(total))
    stores = "".join(f"st.global.b32 [to+{4 * n}], o{n};" for n in range(4))
    firsts = [sum(counts[:n]) for n in range(len(counts))]
    matrices = ", ".join(names("i", firsts[n], counts[n]) for n in range(3))
    return f""".version 8.7
.target sm_120a
.address_size 64
.visible .entry run(.param .u64 source, .param .u64 target) {{
    .reg .b32 t, i<{total + 1}>, o<4>; .reg .b64 from, to, step;
    ld.param.u64 from, [source]; ld.param.u64 to, [target]; mov.u32 t, %tid.x;
    mul.wide.u32 step, t, {4 * total}; add.s64 from, from, step;
    mul.wide.u32 step, t, 16; add.s64 to, to, step;
    {loads}
    {mnemonic} {names("o", 0, 4)}, {matrices}{tail.format(*[f"i{n}" for n in firsts[3:]])};
    {stores}
    ret; }}"""


def accumulators(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    words = np.zeros((LANES, 4), np.uint64)
    for row in range(ROWS):
        for column in range(COLUMNS):
            words[4 * (row % 8) + column // 2, 2 * (row // 8) + column % 2] = bits[row, column]
    return words


def scale_value(kind, bits):
    return 2.0 ** (bits - 127) if kind == "ue8m0" else value_of("e4m3", bits)


def scale_words(scales, byte, thread, is_a):
    """Place the scales [row or column][chunk] in the registers of the lanes that give them."""
    words = np.zeros(LANES, np.uint64)
    for line, row in enumerate(scales):
        lane = 4 * (line % 8) + (2 * thread + line // 8 if is_a else thread)
        for chunk, scale in enumerate(row):
            words[lane] |= np.uint64(int(scale) << 8 * (byte + chunk))
    return words[:, None]


def scaled_case(kind, a_kind, b_kind, depth, vector, scale_kind, ids, seed):
    """Return the text and words of a product with block scales, and its exact result."""
    generator = np.random.default_rng(seed)
    packed = kind != "mxf8f6f4"
    a_bits, a = draw(generator, a_kind, (ROWS, depth))
    b_bits, b = draw(generator, b_kind, (COLUMNS, depth))
    c = generator.integers(-8, 8, (ROWS, COLUMNS)).astype(np.float64)
    choice = [126, 127, 128] if scale_kind == "ue8m0" else [0x38, 0x3C, 0x40, 0x30]
    a_scales = generator.choice(choice, (ROWS, vector))
    b_scales = generator.choice(choice, (COLUMNS, vector))
    (byte_a, thread_a), (byte_b, thread_b) = ids
    parts = [
        fragment(a_bits, 4 if packed else 8, 0 if packed else FORMATS[a_kind][3]),
        fragment(b_bits, 4 if packed else 8, 0 if packed else FORMATS[b_kind][3]),
        accumulators(c),
        scale_words(a_scales, byte_a, thread_a, True),
        scale_words(b_scales, byte_b, thread_b, False),
    ]
    factor = np.vectorize(lambda s: scale_value(scale_kind, int(s)))
    a = a * np.repeat(factor(a_scales), depth // vector, axis=1)
    b = b * np.repeat(factor(b_scales), depth // vector, axis=1)
    mnemonic = (
        f"mma.sync.aligned.m16n8k{depth}.row.col.kind::{kind}.block_scale"
        f".scale_vec::{vector}X.f32.{a_kind}.{b_kind}.f32.{scale_kind}"
    )
    tail = f", {{}}, {{{{{byte_a}, {thread_a}}}}}, {{}}, {{{{{byte_b}, {thread_b}}}}}"
    text = kernel_text(mnemonic, [p.shape[1] for p in parts], tail)
    return text, np.hstack(parts), accumulators(a @ b.T + c)


def run(run_emulated, cases):
    argument = json.dumps([[text, words.astype(int).tolist()] for text, words, _ in cases])
    lines = run_emulated(RUN, argument, cc="12.0").stdout.splitlines()
    for line, (text, _, expected) in zip(lines, cases, strict=True):
        result = np.array(json.loads(line), np.uint64).reshape(LANES, 4)
        assert (result == expected).all(), text


def test_scaled_products(run_emulated):
    first, second = ((0, 0), (0, 0)), ((2, 1), (2, 3))
    cases = [
        scaled_case("mxf8f6f4", a, b, 32, 1, "ue8m0", ids, 1)
        for a, b in (("e4m3", "e4m3"), ("e5m2", "e2m1"), ("e3m2", "e2m3"), ("e2m1", "e5m2"))
        for ids in (first, ((3, 1), (1, 2)))
    ]
    for ids in (first, second):
        cases.append(scaled_case("mxf4", "e2m1", "e2m1", 64, 2, "ue8m0", ids, 2))
        cases.append(scaled_case("mxf4nvf4", "e2m1", "e2m1", 64, 2, "ue8m0", ids, 3))
    for kind in ("ue4m3", "ue8m0"):
        ids = ((0, 1), (0, 2))
        cases.append(scaled_case("mxf4nvf4", "e2m1", "e2m1", 64, 4, kind, ids, 4))
    run(run_emulated, cases)


def plain_case(a_kind, b_kind, seed):
    generator = np.random.default_rng(seed)
    a_bits, a = draw(generator, a_kind, (ROWS, 32))
    b_bits, b = draw(generator, b_kind, (COLUMNS, 32))
    c = generator.integers(-8, 8, (ROWS, COLUMNS)).astype(np.float64)
    parts = [
        fragment(a_bits, 8, FORMATS[a_kind][3]),
        fragment(b_bits, 8, FORMATS[b_kind][3]),
        accumulators(c),
    ]
    mnemonic = f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{a_kind}.{b_kind}.f32"
    text = kernel_text(mnemonic, [p.shape[1] for p in parts], "")
    return text, np.hstack(parts), accumulators(a @ b.T + c)


def test_products_of_small_formats(run_emulated):
    kinds = list(FORMATS)
    run(run_emulated, [plain_case(a, b, 5) for a in kinds for b in kinds])


def test_a_scale_that_is_not_a_number(run_emulated):
    text, words, _ = scaled_case("mxf4", "e2m1", "e2m1", 64, 2, "ue8m0", ((0, 0), (0, 0)), 6)
    words[:, -2] = 0xFFFF
    expected = np.full((LANES, 4), 0x7FFFFFFF, np.uint64)
    run(run_emulated, [(text, words, expected)])


@pytest.mark.parametrize(
    "words",
    [
        "kind::mxf8f6f4.block_scale.scale_vec::2X.f32.e4m3.e4m3.f32.ue8m0",
        "kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue4m3",
        "kind::mxf4.block_scale.f32.e4m3.e2m1.f32.ue8m0",
    ],
)
def test_a_wrong_form_is_refused(run_emulated, words):
    text = kernel_text(
        f"mma.sync.aligned.m16n8k32.row.col.{words}",
        [4, 2, 4, 1, 1],
        ", {}, {{0, 0}}, {}, {{0, 0}}",
    )
    argument = json.dumps([[text, [[0] * 12] * LANES]])
    done = run_emulated(RUN, argument, status=1, cc="12.0")
    assert "NOT_SUPPORTED" in done.stderr

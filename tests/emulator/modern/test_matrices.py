# SPDX-License-Identifier: Apache-2.0
"""mma against elements recorded on an H100; ldmatrix, stmatrix and movmatrix against the layout."""

import gzip
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

LANES, COLUMNS = 32, 8
WIDTHS = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "e4m3": 8,
    "e5m2": 8,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "b1": 1,
}
RECORDED = gzip.decompress(Path(__file__).with_name("mma_h100.txt.gz").read_bytes()).decode()


def operations():
    """Yield each recorded operation with its elements: (k, a, b, c, d) as hexadecimal digits."""
    lines = [line.split() for line in RECORDED.splitlines() if not line.startswith("#")]
    for name, group in groupby(sorted(lines), key=lambda fields: fields[0]):
        yield name, [fields[1:] for fields in group]


OPERATIONS = dict(operations())


class Form:
    """The mnemonic of a recorded operation and the widths of its elements."""

    def __init__(self, name):
        parts = name.split(".")
        shape, result, a = parts[1:4] if len(parts) > 3 else (*parts[1:], parts[2])
        suffixes = parts[4:]
        b = suffixes.pop(0) if suffixes and suffixes[0] in WIDTHS else a
        is_bits = a == "b1"
        extra = f".{suffixes[0]}.popc" if is_bits else ""
        saturates = ".satfinite" if "satfinite" in suffixes else ""
        self.mnemonic = (
            f"mma.sync.aligned.{shape}.row.col{saturates}.{result}.{a}.{b}.{result}{extra}"
        )
        self.rows = int(shape[1 : shape.index("n")])
        self.depth = int(shape[shape.index("k") + 1 :])
        self.width, self.result_width = WIDTHS[a], 16 if result == "f16" else 32


def values(digits, count, width):
    """Split digits into numbers; for one bit each, the first number is the highest bit."""
    if width == 1:
        bits = bin(int(digits, 16))[2:].zfill(count)
        return [int(bit) for bit in bits]
    size = width // 4
    return [int(digits[size * n : size * (n + 1)], 16) for n in range(count)]


def fragments(form, elements, shift):
    """Place element n in row n + shift of A and column n of B; return the registers of lanes."""
    per = 32 // form.width
    a = np.zeros((LANES, form.rows * form.depth * form.width // 1024), np.uint64)
    b = np.zeros((LANES, COLUMNS * form.depth * form.width // 1024), np.uint64)
    for n, (k_count, a_digits, b_digits, *_) in enumerate(elements):
        row = n + shift
        for matrix, digits in ((a, a_digits), (b, b_digits)):
            for k, value in enumerate(values(digits, int(k_count), form.width)):
                e, t, block = k % per, k // per % 4, k // per // 4
                is_high = 2 * block + (row >> 3) if form.rows == 16 else block
                register = is_high if matrix is a else block
                lane = 4 * (row & 7 if matrix is a else n) + t
                matrix[lane, register] |= np.uint64(value << e * form.width)
    return a, b


def accumulators(form, elements, shift):
    c = np.zeros((LANES, form.rows * COLUMNS * form.result_width // 1024), np.uint64)
    for n, (*_, digits, _) in enumerate(elements):
        lane, register, bit = place(form, n + shift, n)
        c[lane, register] |= np.uint64(int(digits, 16) << bit)
    return c


def place(form, row, column):
    """Return the lane, register and first bit of an element of C and D."""
    lane = 4 * (row & 7) + column // 2
    if form.result_width == 16:
        return lane, row >> 3, 16 * (column & 1)
    return lane, 2 * (row >> 3) + (column & 1), 0


def names(letter, first, count):
    return "{" + ", ".join(f"{letter}{first + n}" for n in range(count)) + "}"


@pytest.mark.parametrize("name", [n for n in OPERATIONS if "f64" not in n])
def test_a_recorded_product(run_words, name):
    form = Form(name)
    elements = OPERATIONS[name]
    for start in range(0, len(elements), COLUMNS):
        batch = elements[start : start + COLUMNS]
        shift = 8 * (start // COLUMNS % (form.rows // 8))
        a, b = fragments(form, batch, shift)
        c = accumulators(form, batch, shift)
        counts = [a.shape[1], b.shape[1], c.shape[1]]
        operands = [names("i", sum(counts[:n]), count) for n, count in enumerate(counts)]
        body = f"{form.mnemonic} {names('o', 0, counts[2])}, {', '.join(operands)};"
        results = run_words(body, np.hstack([a, b, c]), counts[2])
        for n, (*_, digits) in enumerate(batch):
            lane, register, bit = place(form, n + shift, n)
            result = int(results[lane, register]) >> bit & (1 << form.result_width) - 1
            assert result == int(digits, 16), (name, batch[n])


@pytest.mark.parametrize("name", [n for n in OPERATIONS if "f64" in n])
def test_a_recorded_product_of_doubles(run_words, name):
    shape = name.split(".")[1]
    rows, depth = int(shape[1 : shape.index("n")]), int(shape[shape.index("k") + 1 :])
    count_a, count_b, count_c = rows * depth // 32, depth // 4, rows // 4
    elements = OPERATIONS[name]
    for start in range(0, len(elements), COLUMNS):
        batch = elements[start : start + COLUMNS]
        shift = 8 * (start // COLUMNS % (rows // 8))
        words = np.zeros((LANES, count_a + count_b + count_c), np.uint64)
        for n, (_, a, b, c, _) in enumerate(batch):
            row = n + shift
            for k in range(depth):
                register = k // 4 * (rows // 8) + (row >> 3)
                words[4 * (row & 7) + k % 4, register] = int(a[16 * k : 16 * k + 16], 16)
                words[4 * n + k % 4, count_a + k // 4] = int(b[16 * k : 16 * k + 16], 16)
            register = count_a + count_b + 2 * (row >> 3) + n % 2
            words[4 * (row & 7) + n // 2, register] = int(c, 16)
        total = words.shape[1]
        body = "".join(f"mov.b64 d{n}, {{i{2 * n}, i{2 * n + 1}}};" for n in range(total))
        body += f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64 {names('e', 0, count_c)}, "
        body += f"{names('d', 0, count_a)}, {names('d', count_a, count_b)}, "
        body += f"{names('d', count_a + count_b, count_c)};"
        body += "".join(f"mov.b64 {{o{2 * n}, o{2 * n + 1}}}, e{n};" for n in range(count_c))
        declarations = f".reg .f64 d<{total}>, e<{count_c}>;"
        results = run_words(body, words.view(np.uint32), 2 * count_c, declarations=declarations)
        results = results.view(np.uint64)
        for n, (*_, digits) in enumerate(batch):
            row = n + shift
            result = int(results[4 * (row & 7) + n // 2, 2 * (row >> 3) + n % 2])
            assert result == int(digits, 16), (name, batch[n])


ADDRESS = "mov.u32 a, memory; shl.b32 s, t, 4; add.u32 a, a, s;"
STORE_ROWS = ADDRESS + "st.shared.v4.b32 [a], {i0, i1, i2, i3}; bar.sync 0;"
DECLARE = ".reg .b32 a, s; .reg .b64 g;"


def random_rows():
    """32 rows of 8 elements of 16 bits, and the words of each row."""
    halves = np.random.default_rng(3).integers(0, 1 << 16, (LANES, COLUMNS), dtype=np.uint16)
    return halves, halves.view(np.uint32)


def fragment_of(matrix, is_transposed):
    """Return the word of each lane: row lane / 4, columns 2 * (lane % 4) and the next."""
    matrix = np.ascontiguousarray(matrix.T if is_transposed else matrix)
    return matrix.view(np.uint32).ravel()


@pytest.mark.parametrize("trans", ["", ".trans"])
@pytest.mark.parametrize("count", [1, 2, 4])
class TestMoves:
    def test_load(self, run_words, count, trans):
        halves, words = random_rows()
        body = STORE_ROWS + (
            f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 {names('o', 0, count)}, [a];"
        )
        results = run_words(body, words, count, declarations=DECLARE)
        for n in range(count):
            expected = fragment_of(halves[8 * n : 8 * n + 8], bool(trans))
            assert (results[:, n] == expected).all()

    def test_load_by_a_generic_address(self, run_words, count, trans):
        halves, words = random_rows()
        body = STORE_ROWS + (
            "cvt.u64.u32 g, a; cvta.shared.u64 g, g; sub.u64 g, g, 16;"
            f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.b16 {names('o', 0, count)}, [g+16];"
        )
        results = run_words(body, words, count, declarations=DECLARE)
        for n in range(count):
            expected = fragment_of(halves[8 * n : 8 * n + 8], bool(trans))
            assert (results[:, n] == expected).all()

    def test_store(self, run_words, count, trans):
        halves, words = random_rows()
        loads = f"ldmatrix.sync.aligned.m8n8.x{count}.shared.b16 {names('o', 0, count)}, [a];"
        stores = (
            f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16 [a], {names('o', 0, count)};"
        )
        read = "bar.sync 0; ld.shared.v4.b32 {o0, o1, o2, o3}, [a];"
        results = run_words(STORE_ROWS + loads + stores + read, words, 4, declarations=DECLARE)
        for n in range(count):
            rows = slice(8 * n, 8 * n + 8)
            expected = halves[rows].T if trans else halves[rows]
            assert (results.view(np.uint16)[rows] == expected).all()
        assert (results[8 * count :] == words[8 * count :]).all()


def test_a_transposed_register(run_words):
    halves, _ = random_rows()
    matrix = halves[:8]
    words = fragment_of(matrix, False).reshape(LANES, 1)
    results = run_words("movmatrix.sync.aligned.m8n8.trans.b16 o0, i0;", words, 1)
    assert (results[:, 0] == fragment_of(matrix, True)).all()


def test_lanes_that_arrive_after_a_branch(run_words):
    """The halves of the warp reach the instruction through different calls of the branch."""
    halves, words = random_rows()
    body = STORE_ROWS + (
        "setp.lt.u32 p, t, 16; @p bra low; add.u32 s, s, 1; low:"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {o0, o1, o2, o3}, [a];"
    )
    results = run_words(body, words, 4, declarations=DECLARE)
    assert (results[:, 3] == fragment_of(halves[24:], False)).all()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {o0}, [a+8];", "misaligned"),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {o0}, [a+4096];", "out-of-bounds"),
    ],
)
def test_a_wrong_address_is_a_fault(fault_text, body, reason):
    memory = ".shared .align 128 .b8 memory[4096]; .reg .b32 a, o<4>; mov.u32 a, memory;"
    assert reason in fault_text(f"{memory} {body}")


RACES = """
from cuda.core import Device, LaunchConfig, ObjectCode, launch
device = Device()
device.set_current()
stream = device.create_stream()
for barrier in BARRIERS:
    ptx = '''.version 8.4
.target sm_90a
.address_size 64
.visible .entry run() {
    .shared .align 128 .b8 memory[4096]; .reg .b32 a, t, r<4>; .reg .b64 b, o, d;
    .reg .f32 c<4>;
    mov.u32 t, %tid.x; mov.u32 a, 0x3c003c00; mul.wide.u32 o, t, 4; mov.u64 b, memory;
    add.u64 b, b, o; st.shared.b32 [b], a; BARRIER
    xor.b32 t, t, 32; mul.wide.u32 o, t, 16; mov.u64 b, memory; add.u64 b, b, o;
    USE
    ret; }'''.replace("BARRIER", barrier).replace("USE", USE)
    kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("run")
    launch(stream, LaunchConfig(grid=1, block=128), kernel)
    stream.sync()
    print("launched", flush=True)
"""
USES = {
    "ldmatrix": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [b];",
    "stmatrix": "stmatrix.sync.aligned.m8n8.x1.shared.b16 [b], {a};",
    "wmma": "mov.u64 b, memory; wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 "
    "{r0, r1, r2, r3}, [b];",
    "wgmma": "shr.u64 d, b, 50; or.b64 d, d, 0x0000001000080000; wgmma.fence.sync.aligned;"
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {c0, c1, c2, c3}, {a, a, a, a}, d, 0, 1, 1,"
    " 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
}


@pytest.mark.parametrize("name", USES)
def test_the_race_check_sees_matrices_in_shared_memory(run_emulated, name):
    """Without a barrier, warps access words that another warp stored."""

    def reports(barrier):
        code = f"USE = {USES[name]!r}\nBARRIERS = [{barrier!r}]\n{RACES}"
        lines = run_emulated(code, check="race").stderr.splitlines()
        return [line for line in lines if line.startswith("race: ")]

    assert reports("")
    assert not reports("bar.sync 0;")

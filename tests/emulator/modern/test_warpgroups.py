# SPDX-License-Identifier: Apache-2.0
"""wgmma against NumPy: types, shapes, layouts of shared memory, scales, groups."""

import numpy as np
import pytest
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch

from tests.emulator.modern.matrix_reference import bf16, f16, f32, packed_bits, small_integers

THREADS, ROWS, SHARED = 128, 64, 49152
B_AT = 16384  # in shared memory; A is at its start
SMALL = {0: 0, 1: 0x38, 2: 0x40, 3: 0x44, 4: 0x48}  # bits of e4m3
SMALL_E5M2 = {0: 0, 1: 0x3C, 2: 0x40, 3: 0x42, 4: 0x44}


def small_float(table):
    def encode(values):
        bits = np.vectorize(lambda v: table[abs(int(v))] | (0x80 if v < 0 else 0))(values)
        return bits.astype(np.uint8)

    return encode


ENCODE = {
    "f16": f16,
    "bf16": bf16,
    "tf32": f32,
    "e4m3": small_float(SMALL),
    "e5m2": small_float(SMALL_E5M2),
    "s8": lambda v: np.asarray(v).astype(np.int8),
    "u8": lambda v: np.asarray(v).astype(np.uint8),
    "b1": packed_bits,
}
DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32, "b1": 256}
SWIZZLES = {0: 0, 128: 1, 64: 2, 32: 3}


def image(matrix, kind, swizzle, is_transposed, start):
    """Lay out lines (rows of A, columns of B) by k; return the bytes and the descriptor."""
    units = np.ascontiguousarray(ENCODE[kind](matrix.T if is_transposed else matrix))
    units = units.view(np.uint8)
    data = np.zeros(SHARED, np.uint8)
    lines, width = len(matrix), DEPTHS[kind] if kind != "b1" else 256
    if swizzle:
        leading, stride = (16 * swizzle, 8 * swizzle) if is_transposed else (16, 8 * swizzle)
    elif is_transposed:
        leading, stride = 128, 256
    else:
        leading, stride = 16 * lines, 128
    for line in range(units.shape[0]):
        for unit in range(units.shape[1] // 16):
            if is_transposed:  # a unit holds 8 lines of one k
                k, mn = line, 8 * unit
                if swizzle:
                    per_row = swizzle // 2
                    offset = mn // per_row * leading + k // 8 * stride + k % 8 * swizzle
                    offset += mn % per_row * 2
                else:
                    offset = mn // 8 * stride + k // 8 * leading + k % 8 * 16
            elif swizzle:
                offset = line // 8 * stride + line % 8 * swizzle + 16 * unit
            else:
                offset = line // 8 * stride + line % 8 * 16 + unit * leading
            at = start + offset
            if swizzle:
                at ^= (at >> 7 & (swizzle // 16 - 1)) << 4
            data[at : at + 16] = units[line, 16 * unit : 16 * unit + 16]
    assert width * len(matrix) > 0
    descriptor = start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | SWIZZLES[swizzle] << 62
    return data, descriptor


def names(letter, count):
    return "{" + ", ".join(f"{letter}{n}" for n in range(count)) + "}"


def accumulator_words(values, is_half):
    """Return the registers of each thread; `values` are bits of 16 or 32 bits."""
    columns = values.shape[1]
    words = np.zeros((THREADS, columns // (4 if is_half else 2)), np.uint32)
    for thread in range(THREADS):
        warp, g, t = thread // 32, thread % 32 >> 2, thread & 3
        for i in range(columns // 2):
            row = 16 * warp + g + 8 * (i >> 1 & 1)
            bits = int(values[row, 8 * (i >> 2) + 2 * t + (i & 1)])
            if is_half:
                words[thread, i // 2] |= np.uint32(bits << 16 * (i & 1))
            else:
                words[thread, i] = bits
    return words


class Form:
    def __init__(self, kind, d, columns, b=None, suffix=""):
        self.kind, self.b, self.d, self.columns, self.suffix = kind, b or kind, d, columns, suffix
        self.depth = DEPTHS[kind]
        self.is_integer = d == "s32"

    def __str__(self):
        return f"m64n{self.columns}k{self.depth}.{self.d}.{self.kind}.{self.b}{self.suffix}"

    def bits(self, values):
        if self.d == "f16":
            return f16(values)
        if self.d == "f32":
            return f32(values)
        return (np.asarray(values).astype(np.int64) & 0xFFFFFFFF).astype(np.uint32)

    def registers(self):
        return self.columns // (4 if self.d == "f16" else 2)


def a_fragments(values, kind):
    """Return the 4 registers of each thread that hold the rows of its warp."""
    words = np.ascontiguousarray(ENCODE[kind](values)).view(np.uint32)  # [row][8]
    result = np.zeros((THREADS, 4), np.uint32)
    for thread in range(THREADS):
        warp, g, t = thread // 32, thread % 32 >> 2, thread & 3
        for n in range(4):
            result[thread, n] = words[16 * warp + g + 8 * (n & 1), t + 4 * (n >> 1)]
    return result


def text(form, body, a_registers=0):
    count = form.registers()
    loads = "".join(f"ld.global.b32 d{n}, [c+{4 * n}];" for n in range(count))
    loads += "".join(f"ld.global.b32 a{n}, [f+{4 * n}];" for n in range(a_registers))
    stores = "".join(f"st.global.b32 [c+{4 * n}], d{n};" for n in range(count))
    return f""".version 8.4
.target sm_90a
.address_size 64
.visible .entry run(.param .u64 image, .param .u64 registers, .param .u64 fragments,
                    .param .u64 first, .param .u64 second) {{
    .shared .align 1024 .b8 memory[{SHARED}];
    .reg .b64 from, c, f, o, p, v, da, db; .reg .b32 t, d<129>, a<4>, e; .reg .pred q, s;
    ld.param.u64 from, [image]; ld.param.u64 c, [registers]; ld.param.u64 f, [fragments];
    ld.param.u64 da, [first]; ld.param.u64 db, [second]; mov.u32 t, %tid.x;
    mul.wide.u32 o, t, 16; mul.wide.u32 p, t, {4 * count}; add.u64 c, c, p;
    add.u64 f, f, o;
    {loads}
    copy: mul.wide.u32 o, t, 8; mov.u64 p, memory; add.u64 p, p, o; add.u64 o, from, o;
    ld.global.b64 v, [o]; st.shared.b64 [p], v; add.u32 t, t, {THREADS};
    setp.lt.u32 q, t, {SHARED // 8}; @q bra copy;
    fence.proxy.async; bar.sync 0;
    {body}
    {stores}
    ret; }}"""


def run(form, body, images, c, a=None, descriptors=(0, 0)):
    """Run the body with A and B in shared memory and C in registers; return the registers of D."""
    device = Device()
    device.set_current()
    source = text(form, body, 0 if a is None else 4)
    kernel = ObjectCode.from_ptx(source.encode()).get_kernel("run")
    memory = sum(images) if images else np.zeros(SHARED, np.uint8)
    words = accumulator_words(form.bits(c), form.d == "f16")
    a = np.zeros((THREADS, 4), np.uint32) if a is None else a
    pinned = LegacyPinnedMemoryResource()
    with (
        pinned.allocate(SHARED) as image_of,
        pinned.allocate(words.nbytes) as registers,
        pinned.allocate(a.nbytes) as fragments,
        device.create_stream() as stream,
    ):
        np.from_dlpack(image_of).view(np.uint8)[:] = memory
        view = np.from_dlpack(registers).view(np.uint32)
        view[:] = words.ravel()
        np.from_dlpack(fragments).view(np.uint32)[:] = a.ravel()
        arguments = [np.uint64(d) for d in descriptors]
        config = LaunchConfig(grid=1, block=THREADS)
        launch(stream, config, kernel, image_of, registers, fragments, *arguments)
        stream.sync()
        return view.reshape(words.shape).copy()


def operands(form, seed=0):
    """Return A, B (by column) and C."""
    generator = np.random.default_rng(seed)
    c = small_integers(generator, (ROWS, form.columns))
    if form.kind == "b1":
        a, b = (generator.integers(0, 2, (n, 256)) for n in (ROWS, form.columns))
        return a, b, c
    a = small_integers(generator, (ROWS, form.depth))
    b = small_integers(generator, (form.columns, form.depth))
    a = abs(a) if form.kind.startswith("u") else a
    return a, abs(b) if form.b.startswith("u") else b, c


WAIT = "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"


def product(form, a, tail):
    return (
        f"wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.{form} "
        f"{names('d', form.registers())}, {a}, db, {tail};"
    )


def tail_of(form, adds="1", scales="1, 1", transposes=(0, 0)):
    if form.is_integer:
        return adds
    words = "" if form.kind not in ("f16", "bf16") else f", {transposes[0]}, {transposes[1]}"
    return f"{adds}, {scales}{words}"


EIGHT_BITS = ("e4m3", "e5m2")
FORMS = [
    *[Form("f16", d, n) for d in ("f16", "f32") for n in (8, 40, 256)],
    Form("bf16", "f32", 16),
    Form("tf32", "f32", 24),
    *[
        Form(a, d, 32, b)
        for a in ("e4m3", "e5m2")
        for b in ("e4m3", "e5m2")
        for d in ("f16", "f32")
    ],
    *[Form(a, "s32", 48, b) for a in ("s8", "u8") for b in ("s8", "u8")],
    Form("b1", "s32", 24, suffix=".and.popc"),
]


@pytest.mark.parametrize("form", FORMS, ids=str)
class TestEveryForm:
    @pytest.mark.parametrize("swizzle", SWIZZLES)
    def test_operands_in_shared_memory(self, form, swizzle):
        a, b, c = operands(form)
        first, da = image(a, form.kind, swizzle, False, 0)
        second, db = image(b, form.b, swizzle, False, B_AT)
        body = product(form, "da", tail_of(form)) + WAIT
        result = run(form, body, (first, second), c, descriptors=(da, db))
        assert (result == accumulator_words(form.bits(a @ b.T + c), form.d == "f16")).all()

    def test_a_in_registers(self, form):
        a, b, c = operands(form, 1)
        second, db = image(b, form.b, 128, False, B_AT)
        tail = tail_of(form)
        if form.kind in ("f16", "bf16"):
            tail = "1, 1, 1, 0"
        body = product(form, "{a0, a1, a2, a3}", tail) + WAIT
        result = run(form, body, [second], c, a_fragments(a, form.kind), (0, db))
        assert (result == accumulator_words(form.bits(a @ b.T + c), form.d == "f16")).all()

    def test_without_c(self, form):
        a, b, c = operands(form, 2)
        first, da = image(a, form.kind, 0, False, 0)
        second, db = image(b, form.b, 0, False, B_AT)
        body = "setp.ne.b32 s, 0, 0;" + product(form, "da", tail_of(form, "s")) + WAIT
        result = run(form, body, (first, second), c, descriptors=(da, db))
        assert (result == accumulator_words(form.bits(a @ b.T), form.d == "f16")).all()


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@pytest.mark.parametrize("swizzle", SWIZZLES)
@pytest.mark.parametrize("transposes", [(0, 1), (1, 0), (1, 1)])
def test_transposed_operands(kind, swizzle, transposes):
    form = Form(kind, "f32", 64)
    a, b, c = operands(form, 3)
    first, da = image(a, kind, swizzle, transposes[0], 0)
    second, db = image(b, kind, swizzle, transposes[1], B_AT)
    body = product(form, "da", tail_of(form, transposes=transposes)) + WAIT
    result = run(form, body, (first, second), c, descriptors=(da, db))
    assert (result == accumulator_words(f32(a @ b.T + c), False)).all()


@pytest.mark.parametrize("scales", [(1, -1), (-1, 1), (-1, -1)])
def test_negated_operands(scales):
    form = Form("f16", "f32", 16)
    a, b, c = operands(form, 4)
    first, da = image(a, "f16", 64, False, 0)
    second, db = image(b, "f16", 64, False, B_AT)
    tail = tail_of(form, scales=f"{scales[0]}, {scales[1]}")
    result = run(form, product(form, "da", tail) + WAIT, (first, second), c, descriptors=(da, db))
    expected = scales[0] * scales[1] * (a @ b.T) + c
    assert (result == accumulator_words(f32(expected), False)).all()


@pytest.mark.parametrize("swizzle", [64, 128])
def test_a_step_inside_a_pattern(swizzle):
    """The start address moves by 32 bytes for the next 16 columns of k."""
    form = Form("f16", "f32", 32)
    generator = np.random.default_rng(5)
    a, b = (small_integers(generator, (n, 32)) for n in (ROWS, 32))
    c = small_integers(generator, (ROWS, 32))
    first, da = image(a, "f16", swizzle, False, 0)
    second, db = image(b, "f16", swizzle, False, B_AT)
    tail = tail_of(form)
    body = product(form, "da", tail) + "add.u64 da, da, 2; add.u64 db, db, 2;"
    body += product(form, "da", tail) + WAIT
    result = run(form, body, (first, second), c, descriptors=(da, db))
    assert (result == accumulator_words(f32(a @ b.T + c), False)).all()


@pytest.mark.parametrize("kind", ["s8", "u8"])
@pytest.mark.parametrize("suffix", ["", ".satfinite"])
def test_sums_of_integers_beyond_a_word(kind, suffix):
    """The columns of C are near both limits; the rows of A have both extremes."""
    form = Form(kind, "s32", 8, suffix=suffix)
    lowest, highest = (-128, 127) if kind == "s8" else (0, 255)
    a, b = np.full((ROWS, 32), highest), np.full((8, 32), highest)
    a[::2] = lowest
    near = [-(2**31), 2**31 - 1, -(2**31) + 5, 2**31 - 6]
    c = np.tile(np.array(near * 2), (ROWS, 1))
    first, da = image(a, kind, 0, False, 0)
    second, db = image(b, kind, 0, False, B_AT)
    result = run(form, product(form, "da", "1") + WAIT, (first, second), c, descriptors=(da, db))
    exact = a @ b.T + c
    expected = np.clip(exact, -(2**31), 2**31 - 1) if suffix else (exact + 2**31) % 2**32 - 2**31
    assert (result == accumulator_words(expected & 0xFFFFFFFF, False)).all()


def test_bits_of_8_bit_floats():
    """Sums of 8-bit floats keep 13 fraction bits, as on an H100."""
    form = Form("e4m3", "f32", 8)
    a, b = np.zeros((ROWS, 32)), np.zeros((8, 32))
    a[:, 0], b[:, 0] = 1, 1
    c = np.full((ROWS, 8), 2.0**-13)
    first, da = image(a, "e4m3", 0, False, 0)
    second, db = image(b, "e4m3", 0, False, B_AT)
    body = product(form, "da", tail_of(form)) + WAIT
    result = run(form, body, (first, second), c, descriptors=(da, db))
    assert (result == f32(1 + 2.0**-13)).all()
    result = run(form, body, (first, second), c / 2, descriptors=(da, db))
    assert (result == f32(1.0)).all()


@pytest.mark.parametrize("a_in_registers", [False, True])
def test_a_sparse_matrix(a_in_registers):
    """Every row keeps the columns 1 and 3 of each four."""
    form = Form("f16", "f32", 16)
    generator = np.random.default_rng(6)
    a = small_integers(generator, (ROWS, 16))
    b = small_integers(generator, (16, 32))
    c = small_integers(generator, (ROWS, 16))
    first, da = image(a, "f16", 32, False, 0)
    second, db = image(b, "f16", 64, False, B_AT)
    operand = "{a0, a1, a2, a3}" if a_in_registers else "da"
    tail = "1, 1, 1, 0" if a_in_registers else "1, 1, 1, 0, 0"
    body = (
        "mov.u32 e, 0xdddddddd; wgmma.fence.sync.aligned;"
        "wgmma.mma_async.sp.sync.aligned.m64n16k32.f32.f16.f16 "
        f"{names('d', 8)}, {operand}, db, e, 0, {tail};" + WAIT
    )
    result = run(form, body, (first, second), c, a_fragments(a, "f16"), (da, db))
    stored_columns = [4 * q + i for q in range(8) for i in (1, 3)]
    expected = a @ b[:, stored_columns].T + c
    assert (result == accumulator_words(f32(expected), False)).all()


LATE = """
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
device = Device()
device.set_current()
ptx = '''.version 8.4
.target sm_90a
.address_size 64
.visible .entry run(.param .u64 words) {
    .shared .align 128 .b8 memory[256]; .reg .b32 a, t, i; .reg .b64 g, b, o; .reg .b16 h;
    .reg .f32 c<4>, d<4>;
    ld.param.u64 g, [words]; mov.u32 t, %tid.x; mov.u32 a, 0x3c003c00; mov.u16 h, 0x3c00;
    mul.wide.u32 o, t, 2; mov.u64 b, memory; add.u64 b, b, o; st.shared.b16 [b], h;
    fence.proxy.async; bar.sync 0;
    mov.u64 b, memory; shr.u64 b, b, 4; or.b64 b, b, 0x0000001000080000;
    mov.f32 c0, 0f3F800000; mov.f32 c1, c0; mov.f32 c2, c0; mov.f32 c3, c0;
    mov.f32 d0, c0; mov.f32 d1, c0; mov.f32 d2, c0; mov.f32 d3, c0;
    wgmma.fence.sync.aligned;
    PRODUCT {c0, c1, c2, c3}, {a, a, a, a}, b, 1, 1, 1, 0;
    PRODUCT {c0, c1, c2, c3}, {a, a, a, a}, b, 1, 1, 1, 0;
    wgmma.commit_group.sync.aligned;
    PRODUCT {d0, d1, d2, d3}, {a, a, a, a}, b, 1, 1, 1, 0;
    wgmma.commit_group.sync.aligned;
    st.global.f32 [g], c0; st.global.f32 [g+4], d0;
    wgmma.wait_group.sync.aligned 1;
    st.global.f32 [g+8], c0; st.global.f32 [g+12], d0;
    wgmma.wait_group.sync.aligned 0;
    st.global.f32 [g+16], c0; st.global.f32 [g+20], d0;
    ret; }'''.replace("PRODUCT", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16")
kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("run")
buffer = LegacyPinnedMemoryResource().allocate(32)
words = np.from_dlpack(buffer).view(np.float32)
stream = device.create_stream()
launch(stream, LaunchConfig(grid=1, block=128), kernel, buffer)
try:
    stream.sync()
    print(*words[:6].astype(int))
except Exception as error:
    print(error, *getattr(error, "__notes__", ()))
"""


@pytest.mark.parametrize(
    ("mode", "expected"), [("adversarial", "1 1 33 1 33 17"), ("eager", "33 17 33 17 33 17")]
)
def test_results_arrive_at_the_wait(run_emulated, mode, expected):
    assert run_emulated(LATE, mode=mode).stdout.strip() == expected


@pytest.mark.parametrize("mode", ["adversarial", "eager"])
def test_a_descriptor_outside_of_shared_memory_is_a_fault(run_emulated, mode):
    code = LATE.replace("shr.u64 b, b, 4;", "mov.u64 b, 0x3fff;")
    text = run_emulated(code, mode=mode).stdout
    assert "out-of-bounds" in text


def test_wrong_forms_are_refused():
    device = Device()
    device.set_current()
    four = "{d0, d1, d2, d3}"
    for body in (
        f"m64n12k16.f32.f16.f16 {four}, da, db, 1, 1, 1, 0, 0;",
        f"m64n8k8.f32.f16.f16 {four}, da, db, 1, 1, 1, 0, 0;",
        f"m64n40k32.s32.s8.s8 {names('d', 20)}, da, db, 1;",
        f"m64n8k8.f32.tf32.tf32 {four}, da, db, 1, 1, 1, 0, 0;",
        f"m64n8k16.f32.f16.f16 {four}, da, db, 1, 1, 2, 0, 0;",
    ):
        body = "wgmma.mma_async.sync.aligned." + body
        kernel = ObjectCode.from_ptx(text(Form("f16", "f32", 8), body).encode()).get_kernel("run")
        with pytest.raises(Exception, match="NOT_SUPPORTED"):
            launch(device.create_stream(), LaunchConfig(grid=1, block=128), kernel, *[0] * 5)

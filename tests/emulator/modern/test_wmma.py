# SPDX-License-Identifier: Apache-2.0
"""wmma: matrices from memory through fragments to memory, and the layout of the fragments."""

import numpy as np
import pytest
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch

from tests.emulator.modern.matrix_reference import (
    bf16,
    f16,
    f32,
    nibbles,
    packed_bits,
    small_integers,
)

LANES = 32
SHAPES = {"m16n16k16": (16, 16, 16), "m32n8k16": (32, 8, 16), "m8n32k16": (8, 32, 16)}
COUNTS = {  # registers of A and B
    "f16": dict.fromkeys(SHAPES, (8, 8)),
    "bf16": {"m16n16k16": (4, 4), "m32n8k16": (8, 2), "m8n32k16": (2, 8)},
    "s8": {"m16n16k16": (2, 2), "m32n8k16": (4, 1), "m8n32k16": (1, 4)},
    "tf32": {"m16n16k8": (4, 4)},
    "f64": {"m8n8k4": (1, 1)},
    "s4": {"m8n8k32": (1, 1)},
    "b1": {"m8n8k128": (1, 1)},
}
COUNTS["u8"], COUNTS["u4"] = COUNTS["s8"], COUNTS["s4"]
ENCODE = {
    "f16": f16,
    "bf16": bf16,
    "f32": f32,
    "tf32": f32,
    "f64": lambda v: np.asarray(v, np.float64),
    "s32": lambda v: np.asarray(v, np.int32),
    "s8": lambda v: np.asarray(v, np.int8),
    "u8": lambda v: np.asarray(v, np.uint8),
    "s4": nibbles,
    "u4": nibbles,
    "b1": packed_bits,
}
BITS = {"f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64, "s32": 32, "s8": 8, "u8": 8}
NUMBERS = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "s32": np.int32}
HEAD = ".version 8.4\n.target sm_90\n.address_size 64\n"


def dimensions(shape):
    m, _, rest = shape[1:].partition("n")
    n, _, k = rest.partition("k")
    return int(m), int(n), int(k)


def names(letter, count):
    return "{" + ", ".join(f"{letter}{n}" for n in range(count)) + "}"


def stored(values, kind, layout, padding=0):
    """Encode a matrix row by row or column by column; return its bytes and its stride."""
    matrix = np.asarray(values) if layout == "row" else np.asarray(values).T
    if padding:
        matrix = np.hstack([matrix, np.zeros((len(matrix), padding))])
    return np.ascontiguousarray(ENCODE[kind](matrix)).tobytes(), matrix.shape[1]


class Product:
    """A kernel that loads A, B and C, multiplies them and stores D."""

    def __init__(self, shape, a, c, d=None, b=None, op="", saturates=""):
        self.shape, self.a, self.b, self.c, self.d = shape, a, b or a, c, d or c
        self.op, self.saturates = op, saturates
        self.m, self.n, self.k = dimensions(shape)

    def registers(self, kind):
        bits = 16 if kind == "f16" else 64 if kind == "f64" else 32
        return self.m * self.n * bits // (32 * max(bits, 32))

    def text(self, layouts, strides, space):
        count_a, count_b = COUNTS[self.a][self.shape]
        wide = "f64" if self.a == "f64" else "b32"
        loads = ""
        offsets = (0, 4096, 8192)
        counts = (count_a, count_b, self.registers(self.c))
        kinds = (self.a, self.b, self.c)
        dot = f".{space}" if space else ""
        for matrix, offset, layout, stride, count, kind in zip(
            "abc", offsets, layouts, strides, counts, kinds, strict=False
        ):
            at = f"[base+{offset}]" + (f", {stride}" if stride else "")
            loads += (
                f"wmma.load.{matrix}.sync.aligned.{layout}.{self.shape}{dot}.{kind} "
                f"{names(matrix, count)}, {at};\n"
            )
        kinds = (
            f"{self.d}.{self.c}" if self.a == "f16" else ".".join((self.d, self.a, self.b, self.c))
        )
        mnemonic = f"wmma.mma{self.op}.sync.aligned.{layouts[0]}.{layouts[1]}.{self.shape}.{kinds}"
        mnemonic += self.saturates
        count_d = self.registers(self.d)
        stride = f", {strides[3]}" if strides[3] else ""
        copy = (
            ""
            if space != "shared"
            else """
            mov.u32 i, %tid.x; shl.b32 i, i, 3; cvt.u64.u32 o, i;
            copy: add.u64 p, from, o; ld.global.b64 v, [p]; mov.u64 p, memory; add.u64 p, p, o;
            st.shared.b64 [p], v; add.u64 o, o, 256; setp.lt.u64 q, o, 16384; @q bra copy;
            bar.sync 0; mov.u64 base, memory;"""
        )
        back = (
            ""
            if space != "shared"
            else """
            bar.sync 0; mov.u32 i, %tid.x; shl.b32 i, i, 3; cvt.u64.u32 o, i;
            back: mov.u64 p, memory; add.u64 p, p, o; ld.shared.b64 v, [p]; add.u64 p, from, o;
            st.global.b64 [p], v; add.u64 o, o, 256; setp.lt.u64 q, o, 16384; @q bra back;"""
        )
        memory = ".shared .align 128 .b8 memory[16384];" if space == "shared" else ""
        return (
            HEAD
            + f""".visible .entry run(.param .u64 source, .param .u32 stride) {{
            {memory} .reg .b64 from, base, o, p, v; .reg .b32 i, ld; .reg .pred q;
            .reg .{wide} a<8>, b<8>, c<8>, d<8>;
            ld.param.u64 from, [source]; ld.param.u32 ld, [stride]; mov.u64 base, from;
            {copy}
            {loads}
            {mnemonic}
              {names("d", count_d)}, {names("a", count_a)}, {names("b", count_b)},
              {names("c", counts[2])};
            wmma.store.d.sync.aligned.{layouts[3]}.{self.shape}{dot}.{self.d} [base+12288],
              {names("d", count_d)}{stride};
            {back}
            ret; }}"""
        )

    def run(self, a, b, c, layouts=("row", "col", "row", "row"), padding=0, space="", stride=None):
        """Run the kernel and return D. `stride` replaces the stride of D by the parameter."""
        parts, strides = [], []
        for values, kind, layout in zip((a, b, c), (self.a, self.b, self.c), layouts, strict=False):
            padding_of_part = padding if kind == self.a else min(padding, 16)
            data, step = stored(values, kind, layout, padding_of_part)
            parts.append(data)
            strides.append(str(step) if padding else "")
        shape = (self.m, self.n) if layouts[3] == "row" else (self.n, self.m)
        step = shape[1] + min(padding, 16)
        strides.append("ld" if stride else str(step) if padding else "")
        memory = np.zeros(16384, np.uint8)
        for n, data in enumerate(parts):
            memory[4096 * n : 4096 * n + len(data)] = np.frombuffer(data, np.uint8)
        result = run_text(self.text(layouts, strides, space), memory, step)
        d = result[12288:].view(NUMBERS[self.d])[: shape[0] * step].reshape(shape[0], step)
        d = d[:, : shape[1]]
        return (d if layouts[3] == "row" else d.T).astype(np.float64)


def run_text(text, memory, stride):
    device = Device()
    device.set_current()
    kernel = ObjectCode.from_ptx(text.encode()).get_kernel("run")
    pinned = LegacyPinnedMemoryResource()
    with pinned.allocate(memory.nbytes) as buffer, device.create_stream() as stream:
        view = np.from_dlpack(buffer).view(np.uint8)
        view[:] = memory
        launch(stream, LaunchConfig(grid=1, block=LANES), kernel, buffer, np.uint32(stride))
        stream.sync()
        return view.copy()


def operands(product, seed=0):
    """Return A, B, C and the exact A * B + C."""
    generator = np.random.default_rng(seed)
    a_shape, b_shape = (product.m, product.k), (product.k, product.n)
    c = small_integers(generator, (product.m, product.n))
    if product.a == "b1":
        a, b = generator.integers(0, 2, a_shape), generator.integers(0, 2, b_shape)
        joined = a @ b if "and" in product.op else a @ (1 - b) + (1 - a) @ b
        return a, b, c, joined + c
    a, b = small_integers(generator, a_shape), small_integers(generator, b_shape)
    if product.a.startswith("u"):
        a, b = abs(a), abs(b)
    return a, b, c, a @ b + c


FORMS = [
    *[Product(s, "f16", c, d) for s in SHAPES for c in ("f16", "f32") for d in ("f16", "f32")],
    *[Product(s, "bf16", "f32") for s in SHAPES],
    *[Product(s, kind, "s32") for s in SHAPES for kind in ("s8", "u8")],
    *[Product("m8n8k32", kind, "s32") for kind in ("s4", "u4")],
    Product("m16n16k8", "tf32", "f32"),
    Product("m8n8k4", "f64", "f64"),
    Product("m8n8k128", "b1", "s32", op=".xor.popc"),
    Product("m8n8k128", "b1", "s32", op=".and.popc"),
]
LAYOUTS = [
    (a, b, c, d)
    for a in ("row", "col")
    for b in ("row", "col")
    for c, d in (("row", "row"), ("col", "row"), ("row", "col"))
]


def identity(product):
    return f"{product.shape}.{product.d}.{product.a}.{product.c}{product.op}"


@pytest.mark.parametrize("product", FORMS, ids=identity)
class TestEveryForm:
    def test_all_layouts(self, product):
        a, b, c, expected = operands(product)
        small = product.a in ("s4", "u4", "b1")
        for layouts in [x for x in LAYOUTS if not small or x[:2] == ("row", "col")]:
            assert (product.run(a, b, c, layouts) == expected).all(), layouts

    @pytest.mark.parametrize("space", ["", "global", "shared"])
    def test_strides_in_every_space(self, product, space):
        a, b, c, expected = operands(product, 1)
        padding = 128 if product.a == "b1" else 32 if product.a.endswith("4") else 16
        padding = 4 if product.a == "f64" else padding
        for stride in (None, "register"):
            result = product.run(a, b, c, padding=padding, space=space, stride=stride)
            assert (result == expected).all()


EXTREMES = {"s8": (-128, 127), "u8": (0, 255), "s4": (-8, 7), "u4": (0, 15)}
INTEGERS = [p for p in FORMS if p.a in EXTREMES]


@pytest.mark.parametrize("product", INTEGERS, ids=identity)
@pytest.mark.parametrize("saturates", ["", ".satfinite"])
def test_sums_of_integers_beyond_a_word(product, saturates):
    """The columns of C are near both limits; the rows of A have both extremes."""
    product = Product(product.shape, product.a, "s32", saturates=saturates)
    extremes = np.array(EXTREMES[product.a])
    a = np.repeat(extremes[np.arange(product.m) % 2], product.k).reshape(product.m, product.k)
    b = np.full((product.k, product.n), extremes[1])
    near = np.array([-(2**31), 2**31 - 1, -(2**31) + 5000, 2**31 - 5001])
    c = np.tile(near[np.arange(product.n) % 4], (product.m, 1))
    exact = a @ b + c
    wrapped = (exact + 2**31) % 2**32 - 2**31
    expected = np.clip(exact, -(2**31), 2**31 - 1) if saturates else wrapped
    assert (product.run(a, b, c) == expected).all()


def test_a_result_in_the_registers_of_a_source():
    """The first half of D is in the registers of A, which the second half still needs."""
    product = Product("m16n16k16", "f16", "f32")
    a, b, c, expected = operands(product, 2)
    text = product.text(("row", "col", "row", "row"), [""] * 4, "")
    text = text.replace("{d0, d1, d2, d3, d4, d5, d6, d7}", "{a0, a1, a2, a3, b0, b1, c6, c7}")
    memory = np.zeros(16384, np.uint8)
    for n, (values, kind, layout) in enumerate(
        ((a, "f16", "row"), (b, "f16", "col"), (c, "f32", "row"))
    ):
        data, _ = stored(values, kind, layout)
        memory[4096 * n : 4096 * n + len(data)] = np.frombuffer(data, np.uint8)
    d = run_text(text, memory, 16)[12288:].view(np.float32)[:256].reshape(16, 16)
    assert (d == expected).all()


@pytest.mark.parametrize(
    ("offset", "reason"), [(4096, "out-of-bounds"), (2, "misaligned"), (4080, "out-of-bounds")]
)
def test_a_wrong_address_is_a_fault(fault_text, offset, reason):
    body = f"""
    .shared .align 128 .b8 memory[4096]; .reg .b64 a; .reg .b32 r<8>;
    mov.u64 a, memory;
    wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {{r0, r1, r2, r3, r4, r5, r6, r7}},
      [a+{offset}], 16;"""
    assert reason in fault_text(body)


class TestFragments:
    """Positions of elements, as recorded on an H100."""

    def fragment(self, run_words, text, matrix, count):
        """Return the halves of a fragment that is loaded from words of memory."""
        words = np.zeros((LANES, 8), np.uint32)
        flat = np.ascontiguousarray(matrix).view(np.uint32).ravel()
        words.ravel()[: len(flat)] = flat
        return run_words(f"{text} {names('o', count)}, [base];", words, count)

    def test_a_of_f16(self, run_words):
        matrix = np.arange(256, dtype=np.uint16).reshape(16, 16)
        words = self.fragment(run_words, "wmma.load.a.sync.aligned.row.m16n16k16.f16", matrix, 8)
        for lane in range(LANES):
            g, t = lane >> 2, lane & 3
            for n in range(8):
                row, k = g + 8 * (n & 1), 2 * t + 8 * (n >> 1 & 1)
                pair = words[lane, n] & 0xFFFF, words[lane, n] >> 16
                assert pair == (matrix[row, k], matrix[row, k + 1])

    def test_b_of_s8(self, run_words):
        matrix = np.arange(256, dtype=np.uint8).reshape(16, 16)  # [column][k]
        words = self.fragment(run_words, "wmma.load.b.sync.aligned.col.m16n16k16.s8", matrix, 2)
        for lane in range(LANES):
            g, t = lane >> 2, lane & 3
            for n in range(2):
                expected = matrix[g + 8 * n, 4 * t : 4 * t + 4]
                assert (words[lane, n : n + 1].copy().view(np.uint8) == expected).all()

    def test_c_of_m8n32(self, run_words):
        matrix = np.arange(256, dtype=np.uint32).reshape(8, 32)
        words = self.fragment(run_words, "wmma.load.c.sync.aligned.row.m8n32k16.f32", matrix, 8)
        for lane in range(LANES):
            g, t = lane >> 2, lane & 3
            for i in range(8):
                assert words[lane, i] == matrix[2 * t + (i & 1), g + 8 * (i >> 1)]

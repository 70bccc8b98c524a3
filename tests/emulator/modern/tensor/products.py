# SPDX-License-Identifier: Apache-2.0
"""Products by tcgen05.mma, and the same products in NumPy."""

import numpy as np

from tests.emulator.modern.matrix_reference import bf16, f16, f32, nibbles, small_integers

from .conftest import SHARED, Case, by_leader, kernel_text

B_AT = 16384  # in shared memory; A is at its start
D_COLUMN, A_COLUMN, SCALE_A, SCALE_B, METADATA = 0, 256, 288, 304, 320
FORMATS = {  # kind, code in the instruction descriptor, bits
    "f16": ("f16", 0, 16),
    "bf16": ("f16", 1, 16),
    "tf32": ("tf32", 2, 32),
    "e4m3": ("f8f6f4", 0, 8),
    "e5m2": ("f8f6f4", 1, 8),
    "e2m3": ("f8f6f4", 3, 6),
    "e3m2": ("f8f6f4", 4, 6),
    "e2m1": ("f8f6f4", 5, 4),
    "u8": ("i8", 0, 8),
    "s8": ("i8", 1, 8),
}
SMALL = {  # bits of 0, 1, 2, 3, 4
    "e4m3": (0, 0x38, 0x40, 0x44, 0x48),
    "e5m2": (0, 0x3C, 0x40, 0x42, 0x44),
    "e2m3": (0, 0x08, 0x10, 0x14, 0x18),
    "e3m2": (0, 0x0C, 0x10, 0x12, 0x14),
    "e2m1": (0, 2, 4, 5, 6),
}
SWIZZLES = {0: 0, 128: 2, 64: 4, 32: 6}


def encoded(values, name):
    """Return the bits of small integers."""
    if name in ("f16", "bf16", "tf32"):
        return {"f16": f16, "bf16": bf16, "tf32": f32}[name](values)
    if name in ("s8", "u8"):
        return np.asarray(values).astype(np.int8).view(np.uint8)
    sign = 1 << FORMATS[name][2] - 1
    magnitude = np.array(SMALL[name])[np.abs(values).astype(int)]
    return (magnitude | np.where(np.asarray(values) < 0, sign, 0)).astype(np.uint8)


def rows_of(values, name, is_packed):
    """Return the bytes of each row in shared memory, where narrow elements lie in units."""
    bits = encoded(values, name)
    if is_packed:
        return nibbles(bits)
    size = FORMATS[name][2]
    if size >= 8:
        return np.ascontiguousarray(bits).view(np.uint8)
    units = np.zeros(bits.shape, np.uint8)
    for row, elements in enumerate(bits):
        for first in range(0, len(elements), 16):
            packed = sum(int(v) << size * n for n, v in enumerate(elements[first : first + 16]))
            unit = np.frombuffer(packed.to_bytes(16, "little"), np.uint8)
            units[row, first : first + 16] = unit
    return units


def place_matrix(image, rows, start, swizzle, size, is_transposed=False):
    """Lay out the rows (of A, or columns of B, by k); return the descriptor.

    A transposed matrix comes as rows of k, whose elements are contiguous in the lines.
    """
    lines = len(rows)
    if is_transposed:
        per_unit, count = 16 // size, rows.shape[1] // size
        leading, stride = (
            (swizzle * lines, 8 * swizzle) if swizzle else (16 * 8, 16 * max(lines, 8))
        )
    else:
        leading, stride = (16, 8 * swizzle) if swizzle else (16 * lines, 128)
    for line, row in enumerate(rows):
        for unit in range(len(row) // 16):
            if not is_transposed and swizzle:
                at = line // 8 * stride + line % 8 * swizzle + 16 * unit
            elif not is_transposed:
                at = line // 8 * stride + line % 8 * 16 + unit * leading
            elif swizzle:
                per_row = swizzle // 16
                at = unit // per_row * leading + line // 8 * stride
                at += line % 8 * swizzle + unit % per_row * 16
            else:
                at = unit * stride + line // 8 * leading + line % 8 * 16
            at += start
            if swizzle:
                at ^= (at >> 7 & (swizzle // 16 - 1)) << 4
            image[at : at + 16] = row[16 * unit : 16 * unit + 16]
    if is_transposed:
        assert per_unit * len(rows[0]) // 16 == count
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | SWIZZLES[swizzle] << 61


class Product:
    def __init__(self, a, b=None, rows=128, columns=64, **options):
        self.a, self.b, self.rows, self.columns = a, b or a, rows, columns
        self.kind = options.get("kind", FORMATS[a][0])
        self.swizzles = options.get("swizzles", (0, 0))
        self.transposes = options.get("transposes", (False, False))
        self.negates = options.get("negates", (False, False))
        self.vector = options.get("vector", 0)
        self.scale = options.get("scale", "ue8m0")
        self.ids = options.get("ids", (0, 0))
        self.adds, self.shift = options.get("adds", False), options.get("shift", 0)
        self.a_in_tensor = options.get("a_in_tensor", False)
        self.mask = options.get("mask")
        self.blocks = options.get("blocks", 1)
        self.stationary, self.sparse = options.get("stationary"), options.get("sparse")
        self.half, self.zeros = options.get("half"), options.get("zeros")
        self.limit = options.get("limit")  # integers near the limits: "wraps" or "saturates"
        self.has_rolled_parts = options.get("has_rolled_parts", False)
        self.is_packed = self.kind in ("mxf4", "mxf4nvf4")
        bits = 4 if self.is_packed else max(FORMATS[a][2], 8)
        self.depth = (512 if self.sparse else 256) // bits
        self.bits = bits

    def descriptor(self):
        code_a, code_b = (1, 1) if self.is_packed else (FORMATS[self.a][1], FORMATS[self.b][1])
        word = code_a << 7 | code_b << 10 | self.negates[0] << 13 | self.negates[1] << 14
        word |= self.transposes[0] << 15 | self.transposes[1] << 16
        word |= self.columns // 8 << 17 | self.rows // 16 << 24
        word |= bool(self.sparse) << 2 | (self.limit == "saturates") << 3
        if not self.vector:
            return word | (0 if self.half else 2 if self.kind == "i8" else 1) << 4
        return word | self.ids[1] << 4 | (self.scale == "ue8m0") << 23 | self.ids[0] << 29

    def mnemonic(self):
        words = (".ws" if self.stationary else "") + (".sp" if self.sparse else "")
        group = f"tcgen05.mma{words}.cta_group::{self.blocks}.kind::{self.kind}"
        if not self.vector:
            return group
        word = f".scale_vec::{self.vector}X" if self.kind == "mxf4nvf4" else ""
        return f"{group}.block_scale{word}"

    def lane(self, row, column):
        """Return the lane of D, within its block, and the column."""
        if self.parts() > 1:
            part = self.columns // self.parts()
            return row + 128 // self.parts() * (column // part), column % part
        if self.rows // self.blocks == 64:
            return row % 16 + 32 * (row // 16), column
        return row, column

    def parts(self):
        """Return how many parts of the columns lie in parts of the lanes."""
        if self.stationary:
            return 128 // self.rows
        return 2 if self.blocks == 2 and self.rows == 128 and not self.sparse else 1

    def is_used(self, column):
        """Return whether the mask of zero columns leaves a column of B."""
        starts, firsts, zeros, used, _ = self.zeros
        part, at = divmod(column, self.columns // self.parts())
        runs = [True] * zeros + [False] * used if firsts[part] else [False] * used + [True] * zeros
        return not (runs * 256)[starts[part] + at]

    def zero_columns(self):
        """Return the descriptor of the zero columns."""
        starts, firsts, zeros, used, shift = self.zeros
        word = 1 << 39 | (zeros - 1) << 40 | (used - 1) << 48 | shift << 56
        for n, (start, first) in enumerate(zip(starts, firsts, strict=True)):
            word |= start << 8 * n | first << 32 + n
        return word


def scale_values(generator, product, lines):
    choice = [126, 127, 128] if product.scale == "ue8m0" else [0x38, 0x40, 0x30]
    bits = generator.choice(choice, (lines, product.vector))
    values = 2.0 ** (bits - 127.0) if product.scale == "ue8m0" else 2.0 ** ((bits >> 3) - 7.0)
    return bits, np.repeat(values, product.depth // product.vector, axis=1)


class Setup:
    """The image, and the words that each thread of a block writes to tensor memory first."""

    def __init__(self, product, seed=0):
        self.product = product
        generator = np.random.default_rng(seed)
        p = product
        limit = 3 if p.kind == "i8" else 2
        self.a = small_integers(generator, (p.rows, p.depth), limit)
        self.b = small_integers(generator, (p.columns, p.depth), limit)
        if p.sparse:
            self.draw_sparse(generator)
        else:
            self.stored = None
        self.a = abs(self.a) if p.a == "u8" else self.a
        self.b = abs(self.b) if p.b == "u8" else self.b
        if self.stored is not None and p.a == "u8":
            self.stored = abs(self.stored)
        self.old = small_integers(generator, (p.rows, p.columns), 60)
        if p.limit:
            self.old = np.where(self.old < 0, -(2.0**31) - self.old, 2.0**31 - 1 - self.old)
        self.words = np.zeros((p.blocks, 128, 512), np.uint32)
        self.used = np.zeros(512, bool)
        self.image = np.zeros((p.blocks, SHARED), np.uint8)
        self.descriptors = [0, 0]
        for block in range(p.blocks):
            self.place(block)
            if p.sparse:
                self.place_metadata(block)
        self.scales = (1.0, 1.0)
        if p.vector:
            self.place_scales(generator)

    def place(self, block):
        p = self.product
        rows = slice(p.rows // p.blocks * block, p.rows // p.blocks * (block + 1))
        lines = slice(p.columns // p.blocks * block, p.columns // p.blocks * (block + 1))
        for n, (values, name, start) in enumerate(
            ((self.stored_a()[rows], p.a, 0), (self.lines_of_b(lines), p.b, B_AT))
        ):
            size = FORMATS[name][2] // 8
            source = values.T if p.transposes[n] else values
            data = rows_of(source, name, p.is_packed)
            self.descriptors[n] = place_matrix(
                self.image[block], data, start, p.swizzles[n], size, p.transposes[n]
            )
        integers = np.asarray(self.old).astype(np.int64) & 0xFFFFFFFF
        bits = integers.astype(np.uint32) if p.kind == "i8" else f32(self.old)
        bits = f16(self.old).astype(np.uint32) | 0xABCD0000 if p.half else bits
        for row in range(p.rows // p.blocks):
            for column in range(p.columns):
                lane, at = p.lane(row, column)
                self.words[block, lane, D_COLUMN + at] = bits[rows.start + row, column]
        self.used[D_COLUMN : D_COLUMN + p.columns] = p.adds
        if p.a_in_tensor:
            self.place_a(block, self.stored_a()[rows])

    def draw_sparse(self, generator):
        """Draw the kept elements of each row, and the nibble of each group."""
        p = self.product
        group = {4: 8, 32: 2}.get(p.bits, 4)
        choice = [4, 14] if p.bits == 32 else [4, 8, 12, 9, 13, 6, 14]
        self.nibbles = generator.choice(choice, (p.rows, p.depth // group))
        self.stored = np.zeros((p.rows, p.depth // 2))
        full = np.zeros_like(self.a)
        for row, nibbles_of_row in enumerate(self.nibbles):
            columns = []
            for n, nibble in enumerate(int(v) for v in nibbles_of_row):
                if p.bits == 32:
                    columns.append(2 * n + (nibble == 14))
                    continue
                for index in (nibble & 3, nibble >> 2):
                    columns += (
                        [4 * n + index]
                        if p.bits > 4
                        else [8 * n + 2 * index, 8 * n + 2 * index + 1]
                    )
            self.stored[row] = self.a[row, columns]
            full[row, columns] = self.a[row, columns]
        self.a = full

    def stored_a(self):
        return self.a if self.stored is None else self.stored

    def lines_of_b(self, lines):
        """Return the columns of B, behind those that a shift skips."""
        p = self.product
        shift = p.zeros[4] if p.zeros else 0
        skipped = np.full((shift, p.depth), 3.0)
        padding = np.zeros((-shift % 8, p.depth))
        return np.vstack([skipped, self.b[lines], padding])

    def place_metadata(self, block):
        """Place the nibbles as CUTLASS lays them out for tensor memory."""
        p = self.product
        first = p.rows // p.blocks * block
        for row in range(p.rows // p.blocks):
            for n, nibble in enumerate(self.nibbles[first + row]):
                if p.bits >= 16:  # a row has half a word of two lanes
                    lane, _ = p.lane(row // 16 * 16, 0)
                    lane, column = lane + 8 * (n // 4) + row % 8, 0
                    bit = 16 * (row // 8 % 2) + 4 * (n % 4)
                else:
                    lane, _ = p.lane(row, 0)
                    column, bit = n // 8, 4 * (n % 8)
                self.words[block, lane, METADATA + column] |= np.uint32(int(nibble) << bit)
        self.used[METADATA : METADATA + 2] = True

    def place_a(self, block, values):
        p = self.product
        data = encoded(values, p.a)
        if FORMATS[p.a][2] < 8:
            data = nibbles(data) if p.is_packed else data << (2 if FORMATS[p.a][2] == 4 else 1)
        words = np.ascontiguousarray(data).view(np.uint8).reshape(len(values), 32).view(np.uint32)
        for part in range(p.parts()):  # each part of the lanes has a copy
            for row, each in enumerate(np.roll(words, part * p.has_rolled_parts, axis=0)):
                lane, _ = p.lane(row, part * (p.columns // p.parts()))
                self.words[block, lane, A_COLUMN : A_COLUMN + 8] = each
        self.used[A_COLUMN : A_COLUMN + 8] = True

    def place_scales(self, generator):
        p = self.product
        bits_a, values_a = scale_values(generator, p, p.rows)
        bits_b, values_b = scale_values(generator, p, p.columns)
        self.scales = (values_a, values_b)
        for block in range(p.blocks):
            rows = bits_a[p.rows // p.blocks * block : p.rows // p.blocks * (block + 1)]
            for column, lines, id in ((SCALE_A, rows, p.ids[0]), (SCALE_B, bits_b, p.ids[1])):
                self.place_lines(block, column, lines, id)

    def place_lines(self, block, column, lines, id):
        p = self.product
        halves = p.parts() if column == SCALE_B else 1
        for quarter in range(4):
            count = len(lines) // halves
            first = quarter // 2 * count if halves == 2 else 0
            for n in range(count):
                word = sum(int(v) << 8 * (id + k) for k, v in enumerate(lines[first + n]))
                self.words[block, 32 * quarter + n % 32, column + n // 32] = word
        self.used[column : column + (len(lines) // halves + 31) // 32] = True

    def expected(self):
        p = self.product
        a, b = self.a * self.scales[0], self.b * self.scales[1]
        if p.zeros:
            b = b * np.array([p.is_used(column) for column in range(p.columns)])[:, None]
        signs = (-1 if p.negates[0] else 1) * (-1 if p.negates[1] else 1)
        products = a @ b.T
        for part in range(p.parts() if p.has_rolled_parts else 0):
            columns = slice(*(p.columns // p.parts() * n for n in (part, part + 1)))
            per_block = products[:, columns].reshape(p.blocks, p.rows // p.blocks, -1)
            products[:, columns] = np.roll(per_block, part, axis=1).reshape(p.rows, -1)
        result = signs * products + (self.old / 2.0**p.shift if p.adds else 0)
        if p.limit == "saturates":
            return np.clip(result, -(2**31), 2**31 - 1)
        return (result + 2**31) % 2**32 - 2**31 if p.limit else result


def case_of(setup):
    """Return a case whose image holds the matrices, then the words for tensor memory."""
    p = setup.product
    used = np.flatnonzero(setup.used)
    stores = "".join(
        f"ld.global.b32 r0, [v+{4 * n}]; add.u32 t, mine, {column};"
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [t], {r0};"
        for n, column in enumerate(used)
    )
    tail = f", [taddr+{SCALE_A}], [taddr+{SCALE_B}]" if p.vector else ""
    masks = 4 * p.blocks
    if p.mask is not None:
        tail += ", {" + ", ".join(f"r{10 + n}" for n in range(masks)) + "}"
    tail += ", adds" + (f", {p.shift}" if p.shift else "") + (", c3" if p.zeros else "")
    a = f"[taddr+{A_COLUMN}]" if p.a_in_tensor else "c0"
    sets = "".join(f"mov.b32 r{10 + n}, {m};" for n, m in enumerate(p.mask or ()))
    metadata = f" [taddr+{METADATA}]," if p.sparse else ""
    product = f"{p.mnemonic()} [taddr], {a}, c1,{metadata} r1{tail}"
    adds = "setp.ne.u32 adds, 1, 0;" if p.adds else "setp.ne.u32 adds, 0, 0;"
    body = f"""ld.param.u64 v, [image]; add.u64 v, v, {p.blocks * SHARED};
        mad.lo.u32 t, block, 128, i; mul.wide.u32 o, t, {4 * len(used)}; add.u64 v, v, o;
        {stores} tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0;
        barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
        {sets} cvt.u32.u64 r1, c2; {by_leader([product], adds, p.blocks)}"""
    words = np.ascontiguousarray(setup.words[:, :, used]).view(np.uint8).ravel()
    image = np.concatenate([setup.image.ravel(), words])
    constants = [*setup.descriptors, p.descriptor()]
    constants += [p.zero_columns()] if p.zeros else []
    return Case(
        kernel_text(body, columns=512, group=p.blocks), image, constants, p.blocks, columns=512
    )


def check(run_tensor, products, **options):
    setups = [Setup(p, seed) for seed, p in enumerate(products)]
    results = run_tensor([case_of(s) for s in setups], **options)
    for setup, memory in zip(setups, results, strict=True):
        p = setup.product
        expected = setup.expected()
        kind = np.int32 if p.kind == "i8" else np.float16 if p.half else np.float32
        for row in range(p.rows):
            block, line = divmod(row, p.rows // p.blocks)
            places = [p.lane(line, column) for column in range(p.columns)]
            row_of_d = np.array([memory[block, lane, D_COLUMN + at] for lane, at in places])
            row_expected = expected[row].copy()
            for column, (lane, _) in enumerate(places):
                if p.mask and p.mask[4 * block + lane // 32] >> lane % 32 & 1:
                    row_expected[column] = setup.old[row, column]
            words = row_of_d.astype(np.uint32)
            words = words.astype(np.uint16) if p.half else words
            assert (words.view(kind) == row_expected).all(), (vars(p), row)

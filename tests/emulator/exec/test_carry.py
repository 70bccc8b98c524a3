# SPDX-License-Identifier: Apache-2.0
"""The carry flag: each instruction that sets it before each that reads it, and 128-bit division."""

import random

import numpy as np
import pytest
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

THREADS = 64
GIVERS = ["add.cc", "sub.cc", "mad.lo.cc", "mad.hi.cc"]
TAKERS = ["addc", "subc", "madc.lo", "madc.hi"]
SIGNED = {True: "s", False: "u"}


def signed(value, bits):
    return value - (1 << bits) if value >> (bits - 1) else value


def computed(name, bits, is_signed, a, b, c, flag):
    """The result and the carry out of one instruction, by big integers.

    The flag is the adder's carry; subtraction adds the complement, so a clear flag borrows.
    """
    ones = (1 << bits) - 1
    if name.startswith("mad"):
        left, right = (signed(x, bits) if is_signed else x for x in (a, b))
        product = left * right
        a, b = (product >> bits if ".hi" in name else product) & ones, c
    takes = name.split(".")[0].endswith("c")
    is_subtraction = name.startswith("sub")
    total = a + (b ^ ones if is_subtraction else b) + (flag if takes else is_subtraction)
    return total & ones, total >> bits


def statement(name, kind, to, *sources):
    count = 3 if name.startswith("mad") else 2
    return f"{name}.{kind} {to}, {', '.join(sources[:count])};"


def kernel_text(pairs, bits):
    """Write a kernel that stores both results of each pair and the final flag."""
    size, word = bits // 8, f"b{bits}"
    body = []
    for n, (giver, taker, is_signed) in enumerate(pairs):
        kind = f"{SIGNED[is_signed]}{bits}"
        body += [
            statement(giver, kind, "d", "a", "b", "c"),
            statement(taker + ".cc", kind, "e", "b", "c", "a"),
            f"addc.u{bits} f, 0, 0;",
        ]
        body += [f"st.global.{word} [to+{(3 * n + i) * size}], {r};" for i, r in enumerate("def")]
    return f"""
        .version 8.0
        .target sm_75
        .address_size 64
        .visible .entry run(.param .u64 values, .param .u64 out) {{
            .reg .b32 t; .reg .b64 from, to, step; .reg .{word} a, b, c, d, e, f;
            ld.param.u64 from, [values]; ld.param.u64 to, [out]; mov.u32 t, %tid.x;
            mul.wide.u32 step, t, {3 * size}; add.s64 from, from, step;
            mul.wide.u32 step, t, {3 * size * len(pairs)}; add.s64 to, to, step;
            ld.global.{word} a, [from]; ld.global.{word} b, [from+{size}];
            ld.global.{word} c, [from+{2 * size}];
            {" ".join(body)}
            ret;
        }}"""


def run(kernel, values, shape):
    """Run the kernel over an array; return one row of results for each thread."""
    memory = LegacyPinnedMemoryResource()
    size = int(np.prod(shape)) * values.itemsize
    with (
        memory.allocate(values.nbytes) as values_buffer,
        memory.allocate(size) as out,
        Device().create_stream() as stream,
    ):
        np.from_dlpack(values_buffer).view(values.dtype)[:] = values.ravel()
        launch(stream, LaunchConfig(grid=1, block=THREADS), kernel, values_buffer, out)
        stream.sync()
        return np.from_dlpack(out).view(values.dtype).reshape(shape).copy()


def random_values(bits, count, generator):
    """Numbers at and near the ends of the range, and any others."""
    ones = (1 << bits) - 1
    special = [0, 1, 2, ones, ones - 1, 1 << (bits - 1), (1 << (bits - 1)) - 1, 1 << bits // 2]
    return [
        generator.choice(special) if generator.random() < 0.5 else generator.getrandbits(bits)
        for _ in range(count)
    ]


@pytest.fixture
def device():
    device = Device()
    device.set_current()
    return device


@pytest.mark.parametrize("bits", [32, 64])
def test_the_flag_reaches_each_reader_from_each_writer(device, bits):
    pairs = [(g, t, s) for g in GIVERS for t in TAKERS for s in (True, False)]
    values = random_values(bits, 3 * THREADS, random.Random(bits))
    array = np.array(values, dtype=f"u{bits // 8}")
    kernel = ObjectCode.from_ptx(kernel_text(pairs, bits).encode()).get_kernel("run")
    results = run(kernel, array, (THREADS, len(pairs), 3))
    for thread in range(THREADS):
        a, b, c = values[3 * thread : 3 * thread + 3]
        for n, (giver, taker, is_signed) in enumerate(pairs):
            first, flag = computed(giver, bits, is_signed, a, b, c, 0)
            second, flag = computed(taker, bits, is_signed, b, c, a, flag)
            result = results[thread, n].tolist()
            assert result == [first, second, flag], (giver, taker, is_signed, a, b, c)


DIVISION = """
extern "C" __global__ void run(const unsigned __int128* in, unsigned __int128* out) {
    unsigned __int128 a = in[3 * threadIdx.x], b = in[3 * threadIdx.x + 1];
    __int128 sa = a, sb = b;
    out += 4 * threadIdx.x;
    out[0] = a / b; out[1] = a % b; out[2] = sa / sb; out[3] = sa % sb;
}"""


def test_division_of_128_bits(device):
    generator = random.Random(128)
    wide = random_values(128, 3 * THREADS, generator)
    for i in range(1, len(wide), 3):  # divisors of every length, none of them zero
        wide[i] = wide[i] >> generator.randrange(128) or 1
    words = [x >> shift & (1 << 64) - 1 for x in wide for shift in (0, 64)]
    options = ProgramOptions(arch=f"sm_{device.arch}", device_int128=True)
    kernel = Program(DIVISION, "c++", options).compile("ptx").get_kernel("run")
    results = run(kernel, np.array(words, dtype="u8"), (THREADS, 4, 2))
    for thread in range(THREADS):
        a, b = wide[3 * thread], wide[3 * thread + 1]
        sa, sb = signed(a, 128), signed(b, 128)
        quotient = abs(sa) // abs(sb) * (1 if (sa < 0) == (sb < 0) else -1)
        expected = [a // b, a % b, quotient, sa - quotient * sb]
        result = [int(low) | int(high) << 64 for low, high in results[thread].tolist()]
        assert result == [x & (1 << 128) - 1 for x in expected], (a, b)

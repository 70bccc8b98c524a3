# SPDX-License-Identifier: Apache-2.0
"""Runs that no check follows use faster code, with the results and faults of other runs."""

import re

import pytest

HEAD = """
import zlib
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode
from cuda.core import emulation, launch

device = Device()
device.set_current()
stream = device.create_stream()
resource = LegacyPinnedMemoryResource()

def run(body, grid, block, words=1 << 14, shared=4096, **registers):
    names = dict(r="b32", f="f32", d="b64", p="pred") | registers
    declared = " ".join(f".reg .{kind} %{name}<40>;" for name, kind in names.items())
    text = f'''.version 8.0
.target sm_75
.address_size 64
.const .align 4 .b8 c[256];
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {{
    .shared .align 16 .b8 s[{shared}]; {declared}
    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
    mad.lo.u32 %r5, %r3, %r4, %r2; mul.wide.u32 %d3, %r5, 4; add.u64 %d4, %d1, %d3;
    add.u64 %d5, %d2, %d3; shl.b32 %r6, %r2, 2; mov.u32 %r7, s; add.u32 %r8, %r7, %r6;
    {body}
    ret; }}'''
    kernel = ObjectCode.from_ptx(text.encode()).get_kernel("k")
    a, b = resource.allocate(4 * words), resource.allocate(4 * words)
    first, second = np.from_dlpack(a).view("u4"), np.from_dlpack(b).view("u4")
    first[:] = np.random.default_rng(3).integers(0, 1 << 32, words, dtype="u4")
    second[:] = 0
    launch(stream, LaunchConfig(grid=grid, block=block), kernel, a, b, words)
    stream.sync()
    print(zlib.crc32(second.tobytes()), int(second.astype("u8").sum()))
    print(emulation.stats()["instructions"])
"""
# The guards of warps without work behind a barrier: some warps, all, none, a part of a warp.
GUARDS = ["gt.u32 %p{}, %r2, 127", "lt.u32 %p{}, %r2, 64", "ge.u32 %p{}, %r2, 0"]
GUARDS += ["ge.u32 %p{}, %r2, 0", "gt.u32 %p{}, %r2, 223", "eq.u32 %p{}, %r2, 999"]
GUARDS += ["gt.u32 %p{}, %r2, 40", "lt.u32 %p{}, %r2, 160"]
# The first lane of each warp with work appends its thread, so the order of the warps is visible.
PHASE = """bar.sync 0; setp.{guard}; @%p{n} bra l{n}; and.b32 %r9, %r2, 31;
setp.ne.u32 %p20, %r9, 0; @%p20 bra l{n}; atom.global.add.u32 %r10, [%d9], 1;
mul.wide.u32 %d10, %r10, 4; add.u64 %d10, %d10, %d9; add.u32 %r11, %r5, {n}0000;
st.global.u32 [%d10+4], %r11; l{n}:"""
PHASES = [PHASE.format(n=n, guard=guard.format(n)) for n, guard in enumerate(GUARDS, 1)]

# Bodies that write to b, with the block size.
BODIES = {
    "barriers without work": ("add.u64 %d9, %d2, 32768;" + "\n".join(PHASES), 256),
    "barriers of a part": ("add.u64 %d9, %d2, 32768;" + "\n".join(PHASES), 200),
    # every fixed value, in several blocks, and the first use of one behind a divergent branch
    "values of other blocks": (
        "setp.gt.u32 %p1, %r2, 7; @%p1 bra odd; xor.b32 %r9, %r2, 5; add.u32 %r10, %r9, %r5;"
        "st.global.u32 [%d5], %r10; bra done; odd: mul.lo.u32 %r11, %r2, %r4;"
        "sub.u32 %r12, %r11, %r3; st.global.u32 [%d5], %r12; done:",
        96,
    ),
    # a register that is written twice is not fixed
    "loop": (
        "mov.u32 %r9, 0; mov.u32 %r10, 0; again: add.u32 %r10, %r10, %r2; add.u32 %r9, %r9, 1;"
        "setp.lt.u32 %p1, %r9, %r3; @%p1 bra again; st.global.u32 [%d5], %r10;",
        64,
    ),
    # several loads of one address, a store between, and a guard
    "one address": (
        "setp.lt.u32 %p1, %r2, 20; ld.global.u32 %r9, [%d4]; ld.global.u32 %r10, [%d4+128];"
        "st.global.u32 [%d5], %r9; @%p1 st.global.u32 [%d5], %r10; ld.global.u32 %r11, [%d5];"
        "add.u32 %r11, %r11, %r10; st.global.u32 [%d5], %r11;",
        256,
    ),
    # a load into the register of its address
    "own address": (
        "st.shared.u32 [%r8], %r8; bar.sync 0; ld.shared.u32 %r8, [%r8]; ld.shared.u32 %r9, [%r8];"
        "ld.shared.u32 %r8, [%r8]; add.u32 %r9, %r9, %r8; st.global.u32 [%d5], %r9;",
        64,
    ),
    # parts of a warp, and a warp that is not full
    "parts": (
        "st.shared.u32 [%r8], %r5; st.shared.u32 [%r8+1024], %r2; bar.sync 0;"
        "and.b32 %r9, %r2, 3; setp.eq.u32 %p1, %r9, 1; @%p1 bra done;"
        "ld.shared.u32 %r10, [%r8+4]; ld.shared.u32 %r11, [%r8+1024]; add.u32 %r12, %r10, %r11;"
        "st.global.u32 [%d5], %r12; done:",
        50,
    ),
    # equal, reversed, strided and wide addresses
    "shapes": (
        "st.shared.u32 [%r8], %r5; st.shared.u32 [%r8+1024], %r2; bar.sync 0;"
        "and.b32 %r9, %r6, 64; add.u32 %r9, %r9, %r7; ld.shared.u32 %r10, [%r9+1024];"
        "ld.shared.u32 %r11, [%r9+4]; xor.b32 %r12, %r6, 252; add.u32 %r12, %r12, %r7;"
        "ld.shared.u32 %r13, [%r12]; ld.shared.u32 %r14, [%r12+768]; shl.b32 %r15, %r2, 3;"
        "add.u32 %r15, %r15, %r7; ld.shared.b64 %d9, [%r15]; ld.shared.b64 %d10, [%r15+1024];"
        "add.u64 %d9, %d9, %d10; mov.b64 {%r16, %r17}, %d9; ld.shared.u32 %r18, [%r15+4];"
        "add.u32 %r10, %r10, %r11; xor.b32 %r10, %r10, %r13; add.u32 %r10, %r10, %r14;"
        "xor.b32 %r10, %r10, %r16; add.u32 %r10, %r10, %r17; xor.b32 %r10, %r10, %r18;"
        "st.global.u32 [%d5], %r10;",
        64,
    ),
    # products of loads with equal and consecutive addresses, with every kind of number
    "products": (
        "ld.global.u32 %r9, [%d4]; and.b32 %r10, %r2, 15; setp.eq.u32 %p1, %r10, 3;"
        "@%p1 mov.u32 %r9, 0x7f800001; st.shared.u32 [%r8], %r9; bar.sync 0;"
        "and.b32 %r11, %r6, 64; add.u32 %r11, %r11, %r7; ld.global.f32 %f1, [%d4];"
        "ld.shared.f32 %f2, [%r8]; ld.shared.f32 %f3, [%r11]; fma.rn.f32 %f1, %f2, %f3, %f1;"
        "ld.shared.f32 %f4, [%r8+4]; ld.shared.f32 %f5, [%r11+4]; fma.rn.f32 %f1, %f5, %f4, %f1;"
        "ld.shared.f32 %f6, [%r11+12]; ld.shared.f32 %f7, [%r8+12];"
        "fma.rn.f32 %f1, %f7, %f6, %f1; ld.shared.f32 %f8, [%r11+16]; ld.shared.f32 %f9, [%r8+16];"
        "fma.rn.f32 %f10, %f8, %f9, %f1; ld.shared.f32 %f11, [%r8+20];"
        "ld.shared.f32 %f12, [%r8+24]; fma.rn.f32 %f10, %f11, %f12, %f10;"
        "ld.shared.f32 %f13, [%r8+28]; ld.shared.f32 %f14, [%r11+8];"
        "fma.rn.f32 %f10, %f13, %f14, %f10; add.f32 %f10, %f10, %f13; st.global.f32 [%d5], %f10;",
        128,
    ),
    # vectors of two and four words, also for a part of a warp, and into the register of the address
    "vectors": (
        "shl.b64 %d6, %d3, 1; add.u64 %d7, %d1, %d6; add.u64 %d8, %d2, %d6; add.u64 %d9, %d8, %d6;"
        "add.u64 %d10, %d7, %d6; ld.global.v2.u32 {%r9, %r10}, [%d7];"
        "ld.global.v2.u32 {%r11, %r12}, [%d7+256];"
        "ld.global.v4.u32 {%r13, %r14, %r15, %r16}, [%d10];"
        "ld.global.v4.u32 {%r17, %r18, %r19, %r20}, [%d10+16]; add.u32 %r13, %r13, %r17;"
        "sub.u32 %r14, %r14, %r18; xor.b32 %r15, %r15, %r19; add.u32 %r16, %r20, %r9;"
        "st.global.v4.u32 [%d9], {%r13, %r14, %r15, %r16}; add.u64 %d11, %d8, 32768;"
        "st.global.v2.u32 [%d11], {%r10, %r11}; setp.lt.u32 %p1, %r2, 20;"
        "@%p1 st.global.v2.u32 [%d11+8], {%r12, %r9}; @%p1 bra done;"
        "st.global.v4.u32 [%d9+16], {%r12, %r9, %r11, %r10}; done:",
        64,
    ),
    # addresses that a loop keeps, with barriers, parts of a warp and a second address
    "kept addresses": (
        "mov.u32 %r9, 0; mov.u32 %r10, %r8; again: bar.sync 0; st.shared.u32 [%r8], %r5;"
        "setp.eq.u32 %p1, %r2, %r9; @%p1 bra next; st.shared.u32 [%r8+512], %r9; next: bar.sync 0;"
        "ld.shared.u32 %r11, [%r8]; ld.shared.u32 %r12, [%r10]; xor.b32 %r10, %r10, 4;"
        "ld.shared.u32 %r13, [%r8+512]; ld.global.u32 %r14, [%d5]; add.u32 %r14, %r14, %r11;"
        "add.u32 %r14, %r14, %r12; add.u32 %r14, %r14, %r13; st.global.u32 [%d5], %r14;"
        "add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 40; @%p2 bra again;",
        96,
    ),
    # an access before the only write of its address, which has the value of another block
    "early access": (
        "mov.u32 %r9, 0; bra start; again: ld.shared.u32 %r10, [%r11];"
        "st.global.u32 [%d5], %r10; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 9; @%p1 bra again;"
        "bra done; start: st.shared.u32 [%r8], %r5; ld.shared.u32 %r12, [%r11];"
        "mad.lo.u32 %r11, %r3, 4, %r8; bra again; done:",
        32,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("is_checked", [True, False])
def test_results_are_those_of_a_followed_run(run_emulated, tmp_path, name, is_checked):
    # A check shares the addresses of faster code. A profile does not.
    body, block = BODIES[name]
    program = HEAD + f"run({body!r}, 12, {block})"
    seed = 0 if is_checked else 7
    follow = {"check": "memory,sync,race"} if is_checked else {"profile": tmp_path / "counts"}
    fast = run_emulated(program, seed=seed).stdout
    followed = run_emulated(program, seed=seed, **follow)
    assert fast == followed.stdout
    assert int(fast.split()[1])


def test_the_numbers_of_predicates_are_no_places_of_addresses(run_emulated):
    program = (
        HEAD.replace("sm_75", "sm_90")
        + """
each = range(4096)
first = "".join(f"setp.eq.u32 %q{n}, %r2, {n % 32};" for n in each)
last = "".join(f"@%q{n} add.u32 %r10, %r10, 1;" for n in each)
run(f'''.reg .pred %q<4096>; st.shared.u32 [%r8], %r5; add.u32 %r9, %r8, 1024;
    st.shared.u32 [%r9], %r2; {first} ld.shared::cluster.u32 %r11, [%r8];
    ld.shared::cluster.u32 %r10, [%r9]; {last} add.u32 %r10, %r10, %r11;
    st.global.u32 [%d5], %r10;''', 2, 32)
"""
    )
    total = int(run_emulated(program).stdout.split()[1])
    assert total == sum(range(64)) + 2 * sum(range(32)) + 64 * 128


# Each body has several accesses with one address register. One access is wrong.
FAULTS = [
    "ld.global.u32 %r9, [%d4];\nld.global.u32 %r10, [%d4+65532];",
    "ld.shared.u32 %r9, [%r8];\nld.shared.u32 %r10, [%r8+4092];",
    "ld.shared.u32 %r9, [%r8];\nst.shared.u32 [%r8-4], %r9;",
    "ld.shared.u32 %r9, [%r8];\nld.shared.u32 %r10, [%r8+4294967292];",
    "ld.shared.u32 %r9, [%r8+6];\nld.shared.u32 %r10, [%r8];",
    "add.u32 %r8, %r8, 2;\nld.shared.u32 %r9, [%r8];\nld.shared.u32 %r10, [%r8+4];",
    "cvta.const.u64 %d9, c; add.u64 %d9, %d9, 0;\nld.u32 %r9, [%d9];\nst.u32 [%d9], %r9;",
    "cvta.shared.u64 %d9, s;\nld.u32 %r9, [%d9];\nld.global.u32 %r9, [%d9];",
    "ld.global.v2.u32 {%r9, %r10}, [%d4];\nld.global.v2.u32 {%r9, %r10}, [%d4+8];",
    "and.b64 %d9, %d4, -16;\nld.global.v4.u32 {%r9, %r10, %r11, %r12}, [%d9+65536];",
    "mov.u32 %r9, 0; l:\nld.shared.u32 %r10, [%r8];\nld.shared.u32 %r10, [%r8+4092];\n"
    "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 9; @%p1 bra l;",
    "mov.u32 %r9, 0; cvta.const.u64 %d9, c; l:\nld.global.u32 %r10, [%d9];\n"
    "setp.lt.u32 %p1, %r9, 3; @%p1 bra m;\nst.global.u32 [%d9], %r10; m:\n"
    "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 9; @%p1 bra l;",
    "mov.u32 %r9, 0; cvta.shared.u64 %d9, s; l:\nld.u32 %r10, [%d9];\n"
    "setp.lt.u32 %p1, %r3, 1; @%p1 bra m;\nld.global.u32 %r10, [%d9]; m:\n"
    "add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 9; @%p1 bra l;",
]  # fmt: skip


def report_of(text):
    """Lines of a report, without its addresses."""
    return [re.sub("0x[0-9a-f]+", "", line) for line in text.splitlines() if "PTX line" in line]


@pytest.mark.parametrize("body", FAULTS)
def test_a_wrong_address_is_reported_at_its_own_instruction(run_emulated, body):
    program = HEAD + f"run({body!r}, 2, 32)"
    fast = run_emulated(program, status=1).stderr
    followed = run_emulated(program, status=1, check="memory,sync,barrier").stderr
    assert report_of(fast), fast  # another failure has the same status
    assert report_of(fast) == report_of(followed), followed

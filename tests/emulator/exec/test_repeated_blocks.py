# SPDX-License-Identifier: Apache-2.0
"""Blocks that repeat the calls of a recorded block compute what a followed run computes."""

import pytest

from .test_tuned_code import BODIES, HEAD, report_of

# Random statements with registers of three pools: values of the thread, the block and memory.
GENERATOR = r"""
import random

STEADY, BLOCK, DATA = range(3)
OPERATIONS = "add.u32 sub.u32 mul.lo.u32 xor.b32 and.b32 or.b32 min.u32 max.u32".split()
ADDRESSES = [
    "add.u32 %r36, %r8, {};",
    "and.b32 %r36, %r2, 255; shl.b32 %r36, %r36, 2; add.u32 %r36, %r36, %r7;",
    "and.b32 %r36, %r6, 15; shl.b32 %r36, %r36, 2; add.u32 %r36, %r36, %r7;",
    "shr.u32 %r36, %r2, 4; shl.b32 %r36, %r36, 2; add.u32 %r36, %r36, %r7;",
    "and.b32 %r36, {any}, 511; shl.b32 %r36, %r36, 2; add.u32 %r36, %r36, %r7;",
]

class writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pools = [["%r2", "%r6"], ["%r5", "%r3"], ["%r10"]]
        self.labels, self.text = 0, []

    def one(self, last=DATA):
        return self.random.choice(sum(self.pools[: last + 1], []))

    def target(self, pool):
        register = f"%r{(20, 26, 11)[pool] + self.random.randrange(6)}"
        self.pools[pool].append(register)
        return register

    def label(self):
        self.labels += 1
        return f"l{self.labels}"

    def address(self):
        text = self.random.choice(ADDRESSES)
        self.text.append(text.format(4 * self.random.randrange(64), any=self.one()))
        return f"[%r36+{4 * self.random.randrange(8)}]"

    def statements(self, depth, is_whole):
        for _ in range(self.random.randrange(1, 7)):
            self.statement(depth, is_whole)

    def branch(self, depth):
        label, value = self.label(), self.random.choice(["%r3", self.one(STEADY), self.one(BLOCK)])
        test = f"setp.{self.random.choice(['lt', 'gt', 'ne'])}.u32 %p{depth}, {value}"
        self.text.append(f"{test}, {self.random.randrange(50)}; @%p{depth} bra {label};")
        self.statements(depth + 1, False)
        self.text.append(f"{label}:")

    def loop(self, depth, is_whole):
        label, count = self.label(), f"%r{37 + depth}"
        self.text.append(f"mov.u32 {count}, 0; {label}:")
        self.statements(depth + 1, is_whole)
        self.text.append(f"add.u32 {count}, {count}, 1;")
        self.text.append(f"setp.lt.u32 %p{5 + depth}, {count}, {self.random.randrange(1, 6)};")
        self.text.append(f"@%p{5 + depth} bra {label};")

    def statement(self, depth, is_whole):
        kind = self.random.randrange(16)
        if kind < 5:
            pool = kind % 3
            operands = f"{self.one(pool)}, {self.one(pool)}"
            self.text.append(f"{self.random.choice(OPERATIONS)} {self.target(pool)}, {operands};")
        elif kind < 7:
            address = self.address()
            self.text.append(f"ld.shared.u32 {self.target(DATA)}, {address};")
        elif kind < 9:
            self.text.append(f"st.shared.u32 {self.address()}, {self.one()};")
        elif kind == 9:
            at = 4 * self.random.randrange(32)
            self.text.append(f"ld.global.u32 {self.target(DATA)}, [%d4+{at}];")
        elif kind == 10:
            self.text.append(f"atom.global.add.u32 {self.target(DATA)}, [%d2+65528], 1;")
        elif kind == 11:
            self.text.append(f"setp.lt.u32 %p9, {self.one(BLOCK)}, 40;")
            self.text.append(f"@%p9 add.u32 {self.target(DATA)}, %r10, 7;")
        elif kind == 12 and is_whole:
            self.text.append("bar.sync 0;")
        elif kind == 13 and is_whole:
            self.text.append(f"shfl.sync.bfly.b32 {self.target(DATA)}, {self.one()}, 2, 31, -1;")
        elif depth < 3 and kind == 14:
            self.branch(depth)
        elif depth < 3:
            self.loop(depth, is_whole)

    def kernel(self):
        first = "".join(f"mov.u32 %r{r}, {r};" for r in (*range(11, 17), *range(20, 32), 36))
        self.text.append(first + "ld.global.u32 %r10, [%d4]; st.shared.u32 [%r8], %r5;")
        for _ in range(self.random.randrange(2, 8)):
            self.statements(1, True)
        last = "".join(f"xor.b32 %r10, %r10, %r{r};" for r in (*range(11, 17), *range(20, 32)))
        self.text.append(last + "st.global.u32 [%d5], %r10;")
        return "\n".join(self.text)

for seed in range(40):
    w = writer(seed)
    run(w.kernel(), w.random.choice([20, 40, 60]), w.random.choice([32, 64, 96, 128, 50]), r="b32")
"""


@pytest.fixture
def is_like_followed(run_emulated, tmp_path):
    def check(program):
        fast = run_emulated(program).stdout
        assert fast == run_emulated(program, profile=tmp_path / "counts").stdout
        return fast

    return check


def test_the_bodies_of_tuned_code(is_like_followed):
    runs = [f"run({body!r}, 40, {block})" for body, block in BODIES.values()]
    assert len(is_like_followed(HEAD + "\n".join(runs)).splitlines()) == 2 * len(BODIES)


def test_random_kernels(is_like_followed):
    assert len(is_like_followed(HEAD.replace("<40>", "<48>") + GENERATOR).splitlines()) == 80


# The address depends on the block, so that the other blocks take the same way.
@pytest.mark.parametrize("access", ["ld.global.u32 %r9, [%d9];", "st.global.u32 [%d9], %r2;"])
def test_a_fault_of_a_later_block_is_reported_as_usual(run_emulated, access):
    body = f"mul.wide.u32 %d9, %r3, 2048; add.u64 %d9, %d9, %d1;\n{access}"
    program = HEAD + f"run({body!r}, 40, 32)"
    fast = run_emulated(program, status=1).stderr
    followed = run_emulated(program, status=1, check="memory,sync,barrier").stderr
    assert "block (32,0,0)" in fast, fast
    assert report_of(fast) == report_of(followed), followed

# SPDX-License-Identifier: Apache-2.0
"""A seed gives one run: unordered work does not depend on time."""

import pytest

from ..programs.raw_calls import RAW_CALLS

# A kernel that adds to a word in a loop, to take some time.
PROGRAM = (
    RAW_CALLS
    + '''
start()
TEXT = b""".version 8.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 p, .param .u32 n) {
    .reg .b64 a; .reg .b32 v, i; .reg .pred q; ld.param.u64 a, [p]; ld.param.u32 i, [n];
again: ld.global.u32 v, [a]; add.u32 v, v, 1; st.global.u32 [a], v;
    sub.u32 i, i, 1; setp.ne.u32 q, i, 0; @q bra again; ret; }"""
module = output("cuModuleLoadData", ctypes.c_char_p(TEXT))
add = output("cuModuleGetFunction", module, ctypes.c_char_p(b"add"))
first, second = output("cuStreamCreate", 1), output("cuStreamCreate", 1)
memory = output("cuMemAllocAsync", 4096, first)
assert driver("cuStreamSynchronize", first) == 0

def use(stream, times):
    values = (ctypes.c_uint64 * 1)(memory), (ctypes.c_uint32 * 1)(times)
    pointers = (ctypes.c_void_p * 2)(*map(ctypes.addressof, values))
    return driver("cuLaunchKernel", add, 1, 1, 1, 1, 1, 1, 0, stream, pointers, None)
'''
)
FREE_FIRST = """
driver("cuMemFreeAsync", memory, first)
use(second, 3)
print(driver("cuStreamSynchronize", second))
"""
SEVERAL = """
functions, order = [], []
kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
streams = [output("cuStreamCreate", 1) for _ in range(6)]
for n, each in enumerate(streams):
    functions.append(kind(lambda _, n=n: order.append(n)))
    use(each, 50 * (n % 3) + 1)
    driver("cuLaunchHostFunc", each, functions[-1], None)
print(driver("cuCtxSynchronize"), order)
"""
# Frees wait behind other work, so the seed chooses whether they run early.
RELEASES = """
functions, order = [], []
kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
streams = [output("cuStreamCreate", 1) for _ in range(4)]
for turn in range(40):
    for n, each in enumerate(streams):
        own = output("cuMemAllocAsync", 64, each)
        use(each, 300)
        functions.append(kind(lambda _, n=n: order.append(n)))
        driver("cuLaunchHostFunc", each, functions[-1], None)
        driver("cuMemFreeAsync", own, each)
    driver("cuStreamSynchronize", streams[turn % 4])
print(driver("cuCtxSynchronize"), order)
"""
RUNS = 6


@pytest.mark.parametrize("mode", ["eager", "async", "adversarial"])
@pytest.mark.parametrize("seed", [0, 5])
def test_a_free_unordered_with_a_use_is_always_reported(run_emulated, mode, seed):
    for _ in range(RUNS):
        done = run_emulated(PROGRAM + FREE_FIRST, mode=mode, seed=seed)
        assert done.stdout.split() == ["700"]
        assert "use-after-free" in done.stderr


@pytest.mark.parametrize("mode", ["eager", "async", "adversarial"])
def test_work_of_several_streams_has_one_order(run_emulated, mode):
    runs = {run_emulated(PROGRAM + SEVERAL, mode=mode, seed=3).stdout for _ in range(RUNS)}
    assert len(runs) == 1


def test_the_seed_alone_determines_when_memory_is_freed(run_emulated):
    runs = {run_emulated(PROGRAM + RELEASES, mode="adversarial", seed=3).stdout for _ in range(3)}
    assert len(runs) == 1

# SPDX-License-Identifier: Apache-2.0
"""The step limit stops every kind of endless loop."""

import textwrap

import pytest

TIMEOUT = 702
LOOPS = {
    "alone": "again: add.u32 a, a, 1; bra again;",
    "with a barrier": "again: bar.sync 0; bra again;",
    "with a barrier of a warp": "again: bar.warp.sync -1; bra again;",
    "with a shuffle": "again: shfl.sync.idx.b32 a, a, 0, 31, -1; bra again;",
    "that waits for memory": """
        again: ld.volatile.global.u32 a, [word]; setp.eq.u32 p, a, 0; @p bra again;""",
    "that sleeps": "again: nanosleep.u32 100; bra again;",
    "of atomics": "again: atom.global.cas.b32 a, [word], 1, 2; bra again;",
    "of calls": "again: call nothing, (); bra again;",
    "of printing": """
        .param .b64 format; .param .b64 values; .param .b32 count;
        mov.u64 wide, 0; st.param.b64 [format], wide; st.param.b64 [values], wide;
        again: call.uni (count), vprintf, (format, values); bra again;""",
    "of some threads": """
        mov.u32 a, %tid.x; setp.gt.u32 p, a, 3; @p bra end; again: bra again; end: bar.sync 0;""",
}
TEXT = """
    .extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
    .func nothing() {{ ret; }}
    .visible .entry k(.param .u64 x) {{
        .reg .b32 a; .reg .b64 word, wide; .reg .pred p; ld.param.u64 word, [x]; mov.u32 a, 0;
        {}
        ret;
    }}"""
CODE = """
    import ctypes
    from cuda.bindings import driver as d
    def check(answer):
        code, *rest = answer
        assert code == 0, code
        return rest[0] if rest else None
    check(d.cuInit(0))
    check(d.cuCtxSetCurrent(check(d.cuDevicePrimaryCtxRetain(0))))
    text = b".version 8.0\\n.target sm_75\\n.address_size 64\\n" + TEXT.encode()
    kernel = check(d.cuModuleGetFunction(check(d.cuModuleLoadData(text)), b"k"))
    word = check(d.cuMemAlloc(4))
    check(d.cuMemsetD32(word, 0, 1))
    check(d.cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, 0, ((word,), (None,)), 0))
    print(int(d.cuCtxSynchronize()[0]))
"""


@pytest.mark.parametrize("loop", LOOPS)
def test_an_endless_loop_reaches_the_limit(run_emulated, loop):
    text = TEXT.format(LOOPS[loop])
    done = run_emulated(f"TEXT = {text!r}\n" + textwrap.dedent(CODE), step_limit=10**6)
    assert done.stdout.split()[-1] == str(TIMEOUT)
    assert "step-limit" in done.stderr

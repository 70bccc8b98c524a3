# SPDX-License-Identifier: Apache-2.0
"""alloca, stacksave and stackrestore: memory of a thread that grows while it runs."""

import numpy as np
import pytest

DECLARE = ".reg .b64 a, b, v, w; .reg .b32 n, k, m; .reg .pred more;"


def test_each_thread_has_the_size_that_it_asks_for(run_words):
    body = """
    mul.lo.u32 n, i0, 4; cvt.u64.u32 v, n; alloca.u64 a, v, 16;
    mov.u32 k, 0; mov.u64 b, a;
    fill: setp.ge.u32 more, k, i0; @more bra filled;
    mul.lo.u32 m, k, i0; st.local.u32 [b], m; add.u64 b, b, 4; add.u32 k, k, 1; bra fill;
    filled: mov.u32 k, 0; mov.u32 o0, 0; mov.u64 b, a;
    sum: setp.ge.u32 more, k, i0; @more bra summed;
    ld.local.u32 m, [b]; add.u32 o0, o0, m; add.u64 b, b, 4; add.u32 k, k, 1; bra sum;
    summed: and.b64 w, a, 15; cvt.u32.u64 o1, w;
    """
    sizes = np.arange(1, 65).reshape(-1, 1)
    results = run_words(body, sizes, 2, declarations=DECLARE)
    n = sizes.ravel()
    assert results[:, 0].tolist() == (n * n * (n - 1) // 2).tolist()
    assert not results[:, 1].any()


def test_restored_memory_is_used_again(run_words):
    body = """
    stacksave.u64 v; alloca.u64 a, 64; stackrestore.u64 v; alloca.u64 b, 64;
    sub.u64 w, a, b; cvt.u32.u64 o0, w;
    alloca.u32 n, 4; alloca.u32 k, 4; setp.eq.u32 p, n, k; selp.u32 o1, 1, 0, p;
    st.local.u32 [n], i0; st.local.u32 [k], 7; ld.local.u32 o2, [n];
    """
    assert run_words(body, [[5]], 3, declarations=DECLARE).tolist() == [[0, 0, 5]]


def test_generic_addresses_reach_the_stack(run_words):
    body = """
    alloca.u64 a, 8; cvta.local.u64 b, a; st.u32 [b+4], i0; ld.local.u32 o0, [a+4];
    """
    assert run_words(body, [[11], [12]], 1, declarations=DECLARE).tolist() == [[11], [12]]


def test_repeated_memory_does_not_add_up(run_words):
    body = "mov.u32 o0, 0;" + "".join(
        "stacksave.u64 v; alloca.u64 a, 512; st.local.u32 [a+508], i0; ld.local.u32 n, [a+508];"
        "add.u32 o0, o0, n; stackrestore.u64 v;"
        for _ in range(8)
    )
    assert run_words(body, [[3]], 1, declarations=DECLARE).tolist() == [[24]]


IN_REGISTERS = """
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
device = Device()
device.set_current()
ptx = '''.version 8.4
.target sm_90
.address_size 64
.func (.reg .b32 sum, .reg .b64 product) both(.reg .b32 x, .reg .b64 y, .param .b32 z) {
    .reg .b32 a; .reg .b64 w; cvt.u32.u64 a, y; add.u32 sum, x, a; ld.param.b32 a, [z];
    add.u32 sum, sum, a; cvt.u64.u32 w, x; mul.lo.u64 product, w, y; ret; }
.func (.reg .b32 r) recurse(.reg .b32 n) {
    .reg .pred p; .reg .b32 m; mov.b32 r, 0; setp.eq.u32 p, n, 0; @p ret;
    sub.u32 m, n, 1; call (r), recurse, (m); add.u32 r, r, n; ret; }
.visible .entry run(.param .u64 to) {
    .reg .b32 t, s; .reg .b64 g, q, step; .param .b32 z;
    mov.u32 t, %tid.x; ld.param.u64 g, [to]; mul.wide.u32 step, t, 16; add.u64 g, g, step;
    cvt.u64.u32 q, t; st.param.b32 [z], 5; call (s, q), both, (t, q, z);
    st.global.b32 [g], s; st.global.b64 [g+8], q; call (s), recurse, (t);
    st.global.b32 [g+4], s; ret; }'''
kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("run")
buffer = LegacyPinnedMemoryResource().allocate(16 * 40)
stream = device.create_stream()
launch(stream, LaunchConfig(grid=1, block=40), kernel, buffer)
stream.sync()
words = np.from_dlpack(buffer).view(np.uint32).reshape(40, 4)
print(words[:, [0, 1, 2]].tolist() == [[2 * t + 5, t * (t + 1) // 2, t * t] for t in range(40)])
"""


def test_parameters_in_registers(run_emulated):
    assert run_emulated(IN_REGISTERS).stdout.strip() == "True"


FAULT = """
from cuda.core import Device, LaunchConfig, ObjectCode, launch
device = Device()
device.set_current()
ptx = '''.version 8.4
.target sm_90
.address_size 64
.visible .entry run() {{ .reg .b64 a, v; {body} ret; }}'''
kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("run")
stream = device.create_stream()
launch(stream, LaunchConfig(grid=1, block=1), kernel)
stream.sync()
"""


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("alloca.u64 a, 1048576;", "stack-overflow"),
        ("alloca.u64 a, 1099511627776;", "stack-overflow"),
        ("alloca.u64 a, 16; st.local.u32 [a+16], 1;", "out-of-bounds"),
        ("stacksave.u64 v; add.u64 v, v, 8; stackrestore.u64 v;", "stack-overflow"),
    ],
)
def test_a_misuse_is_a_fault(run_emulated, body, words):
    assert words in run_emulated(FAULT.format(body=body), status=1).stderr


def test_the_limit_is_the_size_of_the_stack(run_emulated):
    program = FAULT.replace(
        "device.set_current()",
        """device.set_current()
from cuda.bindings import driver
driver.cuCtxSetLimit(driver.CUlimit.CU_LIMIT_STACK_SIZE, 1 << 16)
""",
    )
    run_emulated(program.format(body="alloca.u64 a, 65000;"))

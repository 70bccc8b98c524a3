# SPDX-License-Identifier: Apache-2.0
"""cp.async: sizes, zero fill, groups; and reads before the wait in adversarial mode."""

import numpy as np
import pytest

THREADS = 32
DECLARE = ".reg .b32 a, s, z; .reg .b64 g;"
# a: 16 bytes of shared memory for each thread, filled with 7; g: the words of the thread
SETUP = """
    mov.u32 a, memory; shl.b32 s, t, 4; add.u32 a, a, s; mov.u32 z, 7;
    st.shared.v4.b32 [a], {z, z, z, z}; mov.b64 g, from;
"""
READ = "ld.shared.v4.b32 {o0, o1, o2, o3}, [a];"
WORDS = np.arange(100, 100 + 8 * THREADS, dtype=np.uint32).reshape(THREADS, 8)


def run_copies(run_words, body):
    return run_words(SETUP + body + READ, WORDS, 4, declarations=DECLARE)


@pytest.mark.parametrize("size", [4, 8, 16])
@pytest.mark.parametrize(
    "wait", ["cp.async.wait_all;", "cp.async.commit_group; cp.async.wait_group 0;"]
)
def test_a_copy_has_its_size(run_words, size, wait):
    hints = ".L2::128B" if size == 16 else ""
    copy = f"cp.async.ca.shared.global{hints} [a], [g+16], {size};"
    results = run_copies(run_words, copy + wait)
    expected = np.full((THREADS, 4), 7)
    expected[:, : size // 4] = WORDS[:, 4 : 4 + size // 4]
    assert (results == expected).all()


def test_a_copy_with_a_policy(run_words):
    body = """
        createpolicy.fractional.L2::evict_last.b64 step, 1.0;
        cp.async.cg.shared::cta.global.L2::cache_hint [a], [g], 16, step; cp.async.wait_all;
    """
    assert (run_copies(run_words, body) == WORDS[:, :4]).all()


@pytest.mark.parametrize("size", [4, 8, 16])
def test_bytes_beyond_the_source_size_are_zero(run_words, size):
    body = f"""
        rem.u32 z, t, {size + 1};
        cp.async.ca.shared.global [a], [g], {size}, z; cp.async.wait_all;
    """
    results = run_copies(run_words, body).view(np.uint8)
    for thread, row in enumerate(results):
        count = thread % (size + 1)
        source = WORDS[thread].view(np.uint8)[:count].tolist()
        unchanged = [7, 0, 0, 0] * 4
        assert row.tolist() == source + [0] * (size - count) + unchanged[size:]


def test_a_source_size_of_zero_reads_nothing(run_words):
    body = (
        "mov.b64 g, 0; mov.u32 z, 0; cp.async.ca.shared.global [a], [g], 8, z; cp.async.wait_all;"
    )
    assert (run_copies(run_words, body) == [0, 0, 7, 7]).all()


def test_an_ignored_source_is_zero(run_words):
    body = """
        setp.lt.u32 p, t, 16; cp.async.cg.shared.global [a], [g], 16, p; cp.async.wait_all;
    """
    results = run_copies(run_words, body)
    assert not results[:16].any()
    assert (results[16:] == WORDS[16:, :4]).all()


def test_a_copy_arrives_at_a_barrier(run_words):
    body = """
        setp.eq.u32 p, t, 0; @p mbarrier.init.shared.b64 [memory+2048], 32; bar.sync 0;
        cp.async.cg.shared.global [a], [g], 16;
        cp.async.mbarrier.arrive.noinc.shared.b64 [memory+2048];
        again: mbarrier.try_wait.parity.shared.b64 q, [memory+2048], 0; @!q bra again;
    """
    assert (run_copies(run_words, body) == WORDS[:, :4]).all()


LATE = """
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
device = Device()
device.set_current()
ptx = '''.version 8.4
.target sm_90
.address_size 64
.visible .entry run(.param .u64 words) {
    .shared .align 16 .b8 memory[64]; .reg .b32 a, b, c; .reg .b64 g;
    ld.param.u64 g, [words]; mov.u32 a, 7;
    st.shared.b32 [memory], a; st.shared.b32 [memory+4], a;
    cp.async.ca.shared.global [memory], [g], 4; cp.async.commit_group;
    cp.async.ca.shared.global [memory+4], [g+4], 4; cp.async.commit_group;
    ld.shared.b32 a, [memory]; st.global.b32 [g+8], a;
    cp.async.wait_group 1;
    ld.shared.v2.b32 {b, c}, [memory]; st.global.b32 [g+12], b; st.global.b32 [g+16], c;
    cp.async.wait_all;
    ld.shared.b32 c, [memory+4]; st.global.b32 [g+20], c; ret; }'''
kernel = ObjectCode.from_ptx(ptx.encode()).get_kernel("run")
buffer = LegacyPinnedMemoryResource().allocate(32)
words = np.from_dlpack(buffer).view(np.uint32)
words[:2] = 1, 2
stream = device.create_stream()
launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
stream.sync()
print(*words[2:6])
"""


@pytest.mark.parametrize(("mode", "expected"), [("adversarial", "7 1 7 2"), ("eager", "1 1 2 2")])
def test_a_read_before_the_wait(run_emulated, mode, expected):
    assert run_emulated(LATE, mode=mode).stdout.strip() == expected

# SPDX-License-Identifier: Apache-2.0
"""The record of executed instructions: counts by hand, source lines, launches, threads."""

import os
import subprocess
import sys

import pytest
from cuda.core import ObjectCode, emulation
from cuda.core.emulation import execution_record, library

from .launching import compiled, launch_with_arrays

pytestmark = pytest.mark.usefixtures("emulated")

LOOP = """extern "C" __global__ void kernel(const float* a, float* b, int* c)
{
    for (int k = 0; k < int(threadIdx.x % 32); ++k)
        b[threadIdx.x] += a[k];
    if (threadIdx.x >= 64)
        c[threadIdx.x] = 1;
}
"""

INLINED = """__device__ __forceinline__ float twice(float x)
{
    return x + x * x;
}
extern "C" __global__ void kernel(const float* a, float* b, int* c)
{
    b[threadIdx.x] = twice(a[threadIdx.x]);
}
extern "C" __global__ void other(float* b)
{
    b[0] = 1;
}
"""


def recorded(source, launches=1, **options):
    kernel = compiled(source)
    with execution_record.Session("lines") as session:
        launch_with_arrays(kernel, launches=launches, **options)
        return {each.name: each for each in session.read()}


def instructions_of(kernel):
    return [each for function in kernel.functions for each in function.instructions]


def test_stores_of_a_loop_count_each_lane_of_each_round():
    kernel = recorded(LOOP, grid=1, block=128)["kernel"]
    stores = [each for each in instructions_of(kernel) if each.text.startswith("st.global.f32")]
    # Rounds k < lane: 0 + 1 + ... + 31 by each of four warps, however the loop is unrolled.
    assert sum(each.lanes for each in stores) == 4 * sum(range(32))


def test_a_branch_that_whole_warps_choose_is_not_divergent():
    kernel = recorded(LOOP, grid=1, block=128)["kernel"]
    store = next(each for each in instructions_of(kernel) if each.text.startswith("st.global.u32"))
    assert (store.executions, store.lanes, store.location.line) == (2, 64, 6)
    branches = [each for each in instructions_of(kernel) if each.branch and each.location.line == 5]
    outcomes = {(each.branch.taken, each.branch.not_taken) for each in branches}
    assert outcomes == {(2, 2)}
    assert all(each.branch.divergent == 0 for each in branches)


def test_an_inlined_function_has_its_own_line_and_the_call():
    kernel = recorded(INLINED)["kernel"]
    (square,) = (each for each in instructions_of(kernel) if each.text.startswith("fma"))
    assert square.location.line == 3
    assert "twice" in square.location.function
    assert square.location.inlined_at[1] == 7


def test_a_kernel_that_was_not_launched_has_no_executions():
    other = recorded(INLINED)["other"]
    assert other.launches == 0
    assert {each.executions for each in instructions_of(other)} == {0}


def test_launches_of_modules_with_equal_code_add_up():
    with execution_record.Session("lines") as session:
        for _ in range(2):
            launch_with_arrays(compiled(INLINED), launches=3)
        (kernel,) = (each for each in session.read() if each.launches)
    assert kernel.launches == 6
    assert instructions_of(kernel)[0].executions == 6 * 8


def test_two_sessions_count_independently():
    kernel = compiled(INLINED)
    with execution_record.Session("lines") as outer:
        launch_with_arrays(kernel)
        with execution_record.Session("accesses") as inner:
            launch_with_arrays(kernel)
            assert inner.read()[0].launches == 1
        assert outer.read()[0].launches == 2


def test_a_closed_session_explains_that_it_cannot_be_read():
    session = execution_record.Session()
    session.close()
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.read()


FAULT = """extern "C" __global__ void kernel(const float* a, float* b, int* c)
{
    c[0] = 1;
    *(int*)threadIdx.x = 1;
    c[1] = 2;
}
"""


@pytest.mark.filterwarnings("ignore:cuStreamDestroy failed")
def test_a_faulting_launch_is_counted_up_to_the_fault():
    kernel = compiled(FAULT)
    with execution_record.Session("lines") as session:
        with pytest.raises(Exception, match="ILLEGAL_ADDRESS|illegal address"):
            launch_with_arrays(kernel, grid=1, block=32)
        (record,) = session.read()
    emulation.repair()
    lines = {each.location.line: each.executions for each in instructions_of(record)}
    assert (lines[3], lines[4], lines[5]) == (1, 1, 0)


MARKED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 a, .param .u64 b, .param .u64 c)
{
    .reg .b32 %lane;
    .reg .pred %few;
    mov.u32 %lane, %laneid;
    setp.lt.u32 %few, %lane, 5;
    { .reg .b32 halfwarp_mark900; mov.b32 halfwarp_mark900, 0; }
    { .reg .pred halfwarp_mark901; setp.ne.b32 halfwarp_mark901, %lane, 0; }
    @!%few bra END;
    { .reg .b32 halfwarp_mark903; mov.b32 halfwarp_mark903, 0; }
    { .reg .pred halfwarp_mark904; setp.ne.b32 halfwarp_mark904, %lane, 0; }
END:
    ret;
}
"""


def test_marks_count_lanes_and_outcomes_without_a_record_of_instructions():
    kernel = ObjectCode.from_ptx(MARKED.encode()).get_kernel("kernel")
    before = [*library.mark_counts(), *[0] * 1000]
    with execution_record.Session("lines") as session:
        launch_with_arrays(kernel, grid=3, block=64)
        assert session.read() == []
    emulation.settle()
    counts = [after - b for after, b in zip(library.mark_counts(), before, strict=False)]
    assert counts[900:906] == [192, 186, 6, 30, 24, 6]


def test_a_profile_counts_a_kernel_with_marks():
    kernel = ObjectCode.from_ptx(MARKED.encode()).get_kernel("kernel")
    with execution_record.Session("accesses") as session:
        launch_with_arrays(kernel, grid=3, block=64)
        assert session.read()[0].launches == 1


def test_names_of_inlined_functions_may_have_comments():
    """LLVM writes a comment after each byte."""
    text = """.section\t.debug_str
    {
$L__info_string0:
.b8 99                                  // string offset=0 ; clip
.b8 108
.b8 0
$L__info_string1:
.b8 107,0
    }"""
    assert dict(execution_record._debug_strings(text)) == {
        "$L__info_string0": "cl",
        "$L__info_string1": "k",
    }


THREADS = """
from tests.emulator.profile.corpus import CASES
from tests.emulator.profile.launching import compiled, run
for case in CASES:
    if "shared" in case.name or "divergent_branches" in case.expected:
        kernel = run(compiled(case.source), grid=24)["kernel"]
        print(case.name, sorted(kernel.as_dict().items()))
"""


def counters_with(**variables):
    environment = {**os.environ, "HALFWARP_BACKEND": "emulator", **variables}
    command = [sys.executable, "-c", THREADS]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


def test_host_threads_and_checks_do_not_change_the_counts():
    alone = counters_with()
    assert alone.count("shared_store_requests") > 5
    assert counters_with(HALFWARP_EMULATOR_THREADS="3") == alone
    assert counters_with(HALFWARP_EMULATOR_CHECK="all") == alone

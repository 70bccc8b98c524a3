# SPDX-License-Identifier: Apache-2.0
"""Each kind of fault, through the driver: its code, that it is sticky, and its report."""

import ctypes

import pytest

pytestmark = pytest.mark.usefixtures("emulated")

SUCCESS, ILLEGAL_ADDRESS, LAUNCH_FAILED, LAUNCH_TIMEOUT, ASSERT = 0, 700, 719, 702, 710
MISALIGNED = 716

# Kernel of each kind: PTX, its code, the number of threads; `p`: 64 live bytes, `q`: freed bytes.
BODY = """
    .visible .entry k(.param .u64 p, .param .u64 q) {{
        .shared .align 4 .b8 shared_bytes[64];
        .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
        ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; mov.u32 %r1, %tid.x;
        {}
        ret;
    }}"""
FAULTS = {
    "out-of-bounds": ("st.global.u32 [%rd1+64], %r1;", ILLEGAL_ADDRESS, 1),
    "use-after-free": ("ld.global.u32 %r2, [%rd2]; st.global.u32 [%rd1], %r2;", ILLEGAL_ADDRESS, 1),
    "unmapped": ("mov.u64 %rd3, 4096; st.global.u32 [%rd3], %r1;", ILLEGAL_ADDRESS, 1),
    "misaligned": ("st.global.u32 [%rd1+2], %r1;", MISALIGNED, 1),
    "trap": ("trap;", LAUNCH_FAILED, 1),
    "divergent-barrier": (
        "setp.lt.u32 %p1, %r1, 7; @%p1 bra low; bar.sync 0; bra end; low: bar.sync 0; end:",
        LAUNCH_FAILED, 32),
}  # fmt: skip
# Corrected kernels give no report.
CORRECT = {
    "out-of-bounds": ("st.global.u32 [%rd1+60], %r1;", 1),
    "use-after-free": ("ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1], %r2;", 1),
    "unmapped": ("mov.u64 %rd3, %rd1; st.global.u32 [%rd3], %r1;", 1),
    "misaligned": ("st.global.u16 [%rd1+2], %r1;", 1),
    "trap": ("setp.gt.u32 %p1, %r1, 7; @%p1 trap;", 1),
    "divergent-barrier": ("bar.sync 0; st.global.u32 [%rd1], %r1;", 32),
}


@pytest.mark.parametrize("name", ["f", "rd", "Pf", "saxpy"])
def test_a_kernel_of_c_linkage_keeps_its_name(driver, emulated, name):
    """A lone `f` is how C++ mangles the type float."""
    with emulated.expect_fault("trap") as caught:
        driver.launch(driver.kernel(f".visible .entry {name}() {{ trap; }}", entry=name))
        assert driver.cuCtxSynchronize() == LAUNCH_FAILED
    assert f"by kernel '{name}' block" in caught.fault.first_line


@pytest.fixture
def memory(driver):
    """Return the address of 64 live bytes and of 64 freed bytes."""
    live, freed = driver.output("cuMemAlloc", 64), driver.output("cuMemAlloc", 64)
    driver.cuMemFree(freed)
    yield live, freed
    driver.cuMemFree(live)


def run(driver, body, threads, memory):
    arguments = [ctypes.c_uint64(address) for address in memory]
    code = driver.launch(
        driver.kernel(BODY.format(body), entry="k"), *arguments, block=(threads, 1, 1)
    )
    assert code == SUCCESS
    return driver.cuCtxSynchronize()


@pytest.mark.parametrize("kind", FAULTS)
class TestEachKind:
    def test_a_fault_has_its_code_and_is_sticky_until_it_is_cleared(
        self, driver, memory, emulated, kind
    ):
        body, code, threads = FAULTS[kind]
        with emulated.expect_fault(kind):
            assert run(driver, body, threads, memory) == code
            assert driver.cuCtxSynchronize() == code
            assert driver.cuMemAlloc(ctypes.byref(ctypes.c_uint64()), 16) == code
            assert driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int())) == SUCCESS
        assert driver.cuCtxSynchronize() == SUCCESS
        assert emulated.last_fault() is None

    def test_a_fault_names_the_kernel_the_thread_and_the_line(self, driver, memory, emulated, kind):
        body, code, threads = FAULTS[kind]
        with emulated.expect_fault(kind) as caught:
            run(driver, body, threads, memory)
        fault = caught.fault
        assert (fault.kind, fault.code, fault.kernel) == (kind, code, "k")
        assert fault.grid == (1, 1, 1)
        assert fault.block == (threads, 1, 1)
        assert fault.block_index == (0, 0, 0)
        assert fault.ptx_line > 4
        assert "k" in fault.first_line
        assert str(fault).startswith(fault.first_line)

    def test_a_correct_kernel_is_not_reported(self, driver, memory, emulated, kind):
        body, threads = CORRECT[kind]
        before = emulated.stats()["faults"]
        assert run(driver, body, threads, memory) == SUCCESS
        assert emulated.stats()["faults"] == before


OUTSIDE = """
    {declaration}
    .visible .entry k() {{
        {variable}
        .reg .b32 %r<2>;
        st.shared.u32 [m+{offset}], %r1;
        ret;
    }}"""
DECLARED = "beyond the shared memory that the kernel declares"
REQUESTED = "beyond the dynamic shared memory size {} given at launch"


@pytest.mark.parametrize(
    ("declared", "requested", "hint"),
    [(64, 0, DECLARED), (0, 32, REQUESTED.format(32)), (0, 0, REQUESTED.format(0))],
)
def test_the_hint_names_the_kind_of_shared_memory(driver, emulated, declared, requested, hint):
    static, dynamic = f".shared .align 4 .b8 m[{declared}];", ".extern .shared .align 4 .b8 m[];"
    declaration, variable = ("", static) if declared else (dynamic, "")
    text = OUTSIDE.format(declaration=declaration, variable=variable, offset=declared + requested)
    with emulated.expect_fault("out-of-bounds") as caught:
        driver.launch(driver.kernel(text, entry="k"), shared=requested)
        driver.cuCtxSynchronize()
    assert hint in caught.fault.hint
    assert f"{declared + requested} bytes of shared memory" in str(caught.fault)


def test_an_earlier_fault_is_not_an_expected_one(driver, memory, emulated):
    assert run(driver, "trap;", 1, memory) == LAUNCH_FAILED
    with (
        pytest.raises(AssertionError, match="kind 'trap', there was none"),
        emulated.expect_fault("trap"),
    ):
        assert run(driver, *CORRECT["trap"], memory) == SUCCESS


class TestAddresses:
    def test_the_nearest_allocation_and_the_distance_are_named(self, driver, memory, emulated):
        with emulated.expect_fault("out-of-bounds") as caught:
            run(driver, "st.global.u32 [%rd1+72], %r1;", 1, memory)
        fault = caught.fault
        assert fault.address == memory[0] + 72
        assert (fault.access, fault.bytes) == ("store", 4)
        assert (fault.nearest.base, fault.nearest.size, fault.nearest.is_live) == (
            memory[0],
            64,
            True,
        )
        assert "8 bytes past the end" in str(fault)

    def test_pageable_host_memory_is_recognized(self, driver, emulated):
        word = ctypes.c_uint32()
        with emulated.expect_fault("host-memory") as caught:
            addresses = (ctypes.addressof(word), 0)
            assert run(driver, "st.global.u32 [%rd1], %r1;", 1, addresses) == ILLEGAL_ADDRESS
        assert "pinned" in caught.fault.hint

    def test_the_lowest_thread_is_named_and_the_others_are_counted(self, driver, memory, emulated):
        body = "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd1, %rd3; st.global.u32 [%rd3], %r1;"
        with emulated.expect_fault("out-of-bounds") as caught:
            run(driver, body, 32, memory)
        assert caught.fault.thread == (16, 0, 0)
        assert caught.fault.other_threads == 15

    def test_memory_freed_before_the_copy_ran_is_a_fault(self, driver, stream, flag, emulated):
        if emulated.options()["mode"] != "async":
            pytest.skip("the copy must be held back")
        address = driver.output("cuMemAllocAsync", 64, stream)
        driver.cuStreamSynchronize(stream)
        other = driver.output("cuStreamCreate", 1)
        with emulated.expect_fault("use-after-free"):
            driver.launch(
                driver.kernel("latch"), ctypes.c_uint64(ctypes.addressof(flag)), stream=other
            )
            assert driver.cuMemsetD8Async(address, 0, 64, other) == SUCCESS
            assert driver.cuMemFreeAsync(address, stream) == SUCCESS
            assert driver.cuStreamSynchronize(stream) == SUCCESS
            flag.value = 1
            assert driver.cuStreamSynchronize(other) == ILLEGAL_ADDRESS
            assert driver.cuStreamSynchronize(stream) == ILLEGAL_ADDRESS  # the context is unusable
        driver.cuStreamDestroy(other)


class TestAfterAFault:
    def test_queued_work_is_dropped(self, driver, memory, emulated):
        empty = driver.kernel("empty")
        with emulated.expect_fault("trap"):
            run(driver, "trap;", 1, memory)
            launches = emulated.stats()["launches"]
            assert driver.launch(empty) == LAUNCH_FAILED
        assert emulated.stats()["launches"] == launches

    def test_releasing_works_and_reports_the_fault(self, driver, memory, emulated):
        stream = driver.output("cuStreamCreate", 0)
        with emulated.expect_fault("trap"):
            run(driver, "trap;", 1, memory)
            assert driver.cuStreamDestroy(stream) == LAUNCH_FAILED
        assert not [leak for leak in emulated.leaks() if leak.kind == "stream"]

    def test_a_reset_of_the_primary_context_clears_the_fault(self, driver, emulated):
        memory = (driver.output("cuMemAlloc", 64), 0)  # destroyed by the reset
        run(driver, "trap;", 1, memory)
        assert driver.cuCtxSynchronize() == LAUNCH_FAILED
        emulated.reset()
        assert driver.cuCtxSynchronize() == SUCCESS
        driver.modules.clear()


class TestPrint:
    def test_text_is_printed_at_the_next_synchronization(self, driver, capfd):
        kernel = driver.kernel(
            """
            .extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
            .global .align 1 .b8 text[4] = {104, 105, 10};
            .visible .entry k() {
                .reg .b64 %rd<3>; .reg .b32 %r<2>;
                mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;
                { .param .b64 p0; st.param.b64 [p0], %rd2;
                  .param .b64 p1; st.param.b64 [p1], 0; .param .b32 q;
                  call.uni (q), vprintf, (p0, p1); ld.param.b32 %r1, [q]; }
                ret;
            }""",
            entry="k",
        )
        assert driver.launch(kernel, block=(3, 1, 1)) == SUCCESS
        assert driver.cuCtxSynchronize() == SUCCESS
        assert capfd.readouterr().out == "hi\n" * 3

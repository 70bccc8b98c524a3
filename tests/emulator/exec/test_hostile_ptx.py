# SPDX-License-Identifier: Apache-2.0
"""A launch rejects PTX that parses but that no device runs, and reports its line."""

import ctypes

import pytest

NOT_SUPPORTED = 801
DECLARED = ".reg .b32 a, b, c; .reg .b64 wide, base; .reg .pred p;"
# (statement, part of the message); x is the only parameter and has four bytes
REFUSED = {
    "past the parameters": ("ld.param.u32 a, [x+4];", "outside the parameters"),
    "far past the parameters": ("ld.param.u64 wide, [x+1048576];", "outside the parameters"),
    "before the parameters": ("ld.param.u32 a, [x-4];", "outside the parameters"),
    "partly past the parameters": ("ld.param.u64 wide, [x];", "outside the parameters"),
    "vector past the parameters": ("ld.param.v2.u32 {a, b}, [x];", "outside the parameters"),
    "largest offset": ("ld.param.u32 a, [x+9223372036854775807];", "outside the parameters"),
    "offset whose end wraps": (
        "ld.param.u32 a, [x+18446744073709551612];",
        "outside the parameters",
    ),
    "smallest offset": ("ld.param.u32 a, [x-9223372036854775808];", "outside the parameters"),
    "vector at the largest offset": (
        "ld.param.v2.u64 {wide, base}, [x+9223372036854775792];",
        "outside the parameters",
    ),
    "argument at the largest offset": (
        ".param .b32 slot; st.param.b32 [slot+9223372036854775804], a;",
        "outside the parameters",
    ),
    "component of a scalar": ("mov.u32 a, b.y;", "component of a register"),
    "local memory without end": (".local .b8 big[2000000000]; mov.u64 base, big;", "local memory"),
}


def text_of(statement):
    return f".visible .entry k(.param .u32 x) {{ {DECLARED}\n{statement}\nret; }}"


class TestRefusal:
    @pytest.mark.parametrize("name", REFUSED)
    def test_invalid_ptx_is_refused_at_the_launch(self, driver, emulated, name):
        statement, reason = REFUSED[name]
        kernel = driver.kernel(text_of(statement), entry="k")
        with emulated.expect_fault("not-supported") as caught:
            assert driver.launch(kernel, ctypes.c_uint32(1)) == NOT_SUPPORTED
        assert reason in caught.fault.text
        assert driver.cuCtxSynchronize() == 0

    def test_an_invalid_kernel_does_not_affect_another_kernel(self, driver, emulated):
        other = ".visible .entry other() { .reg .b64 a; .reg .pred p; isspacep.param p, a; ret; }"
        kernel = driver.kernel(other + ".visible .entry k() { ret; }", entry="k")
        assert driver.launch(kernel) == 0

    def test_a_parameter_of_a_call_has_a_limit(self, driver, emulated):
        text = """
            .func f(.param .align 1 .b8 x[2147483648]) { ret; }
            .visible .entry k() {
                .param .align 1 .b8 argument[2147483648]; call f, (argument); ret; }"""
        with emulated.expect_fault("not-supported") as caught:
            assert driver.launch(driver.kernel(text, entry="k")) == NOT_SUPPORTED
        assert "bytes" in caught.fault.text

    def test_a_computed_address_of_a_parameter_reads_the_parameter(self, driver, emulated):
        text = """
            .visible .entry k(.param .u64 out, .param .u32 x) {
                .reg .b64 a, b; .reg .b32 v;
                ld.param.u64 a, [out]; mov.u64 b, x; ld.param.u32 v, [b]; st.global.u32 [a], v;
                ret; }"""
        out = driver.output("cuMemAlloc", 4)
        kernel = driver.kernel(text, entry="k")
        assert driver.launch(kernel, ctypes.c_uint64(out), ctypes.c_uint32(77)) == 0
        assert driver.read(out) == [77]
        driver.cuMemFree(out)

# SPDX-License-Identifier: Apache-2.0
"""Declarations, calls, registers and state spaces that an assembler refuses do not load."""

import subprocess

import pytest

from .test_verifier import BODY_LINE, assembler, load, text_of

HEAD_LINE = 4  # of the text
# Each is at the start of a module.
HEADS = """
.common .const .u32 a;
.common .func f() { ret; }
.extern .func f() { ret; }
.visible .local .u32 a;
.local .b8 a[4];
.const .attribute(.managed) .u32 a;
.global .attribute(.foo) .u32 a;
.global .v4 .f64 a;
.global .u32 a[];
.global .b8 a[0];
.global .u32 a[2] = 1;
.global .f32 a = 1;
.global .u32 b; .global .u8 a = b;
.const .b8 a[70000];
.global .u32 b; .visible .func a(); .alias a, b;
.alias a, b;
.func f(.param .u32 a); .func f(.param .u64 a) { ret; }
.func f(.param .u32 a); .func f(.param .u32 a, .param .u32 b) { ret; }
.func (.param .u32 r) f(); .func f() { ret; }
.func other(); .entry other() { ret; }
.func f() .maxntid 128 { ret; }
.func (.param .u32 r) f() .noreturn { ret; }
.func f(.param .pred a) { ret; }
.entry other() .maxntid 128 .reqntid 64 { ret; }
.entry other() .maxntid 0 { ret; }
.entry other() .maxthreads 128 { ret; }
.entry other() .noreturn { ret; }
.entry other() .explicitcluster .reqnctapercluster 2 .maxclusterrank 2 { ret; }
.entry other(.reg .u32 a) { ret; }
.entry other(.param .pred a) { ret; }
.entry other(.param .b8 a[]) { ret; }
.entry other(.param .b8 a[0]) { ret; }
.func f(.reg .u32 a) { ret; } .entry other() { .reg .b64 a; call.uni f, (a); ret; }
.func f(.param .u64 a) { ret; } .entry other() { .reg .f32 a; call.uni f, (a); ret; }
.func f(.param .b8 a[16]) { ret; } .entry other() { .param .b8 a[8]; call.uni f, (a); ret; }
.entry f() { ret; } .entry other() { call.uni f, (); ret; }
.func f() { ret; } .entry other() { .reg .b64 a; l: .calltargets f; call a, (a), l; ret; }
.global .u32 g; .entry other() { .reg .b32 a; ld.shared.u32 a, [g]; ret; }
""".strip().splitlines()
# Each is in a kernel.
BODIES = """
.visible .shared .u32 a;
.shared .u32 a[];
.shared .pred a;
.shared .texref a;
.shared .attribute(.managed) .u32 a;
.reg .v4 .f64 a; mov.u32 %r1, a.x;
p: .callprototype _ (); call %rd1, (%r1), p;
call %rd1, ();
l: bra l; brx.idx %r1, l;
ts: .branchtargets l; brx.idx %rd1, ts; l: ret;
st.param.u64 [p], %rd1;
ld.global.v2.u32 {%r1, %rd1}, [%rd2];
setp.eq.u32 !%p1, %r1, %r2;
cp.async.wait_group %r1;
shl.b32 %r1, %r2, 0f00000000;
prmt.b32 %r1, %r2, %r3, 1.0;
mov.u32 %r1, 0d3FF0000000000000;
mov.f32 %f1, 1;
st.shared.f32 [s], 7;
ld.shared.u32 %r1, [16];
ld.global.u32 %r1, [s];
atom.const.add.u32 %r1, [%rd1], 1;
atom.local.add.u32 %r1, [%rd1], 1;
red.param.add.u32 [p], 1;
ldu.shared.u32 %r1, [%rd1];
prefetch.shared.L1 [%rd1];
mbarrier.init.global.b64 [%rd1], 1;
cvta.shared.u32 %r1, %rd1;
isspacep.reg %p1, %rd1;
cvta.to.reg.u64 %rd1, %rd1;
ld.local.nc.u32 %r1, [%rd1];
ld.param.volatile.u64 %rd1, [p];
ld.acquire.gpu.const.u32 %r1, [%rd1];
mov.u64 %rd1, %tid.x;
mov.u32 %r1, %clock64;
mov.u16 %h1, %laneid;
mov.f64 %fd1, %globaltimer;
mov.u32 %r1, %envreg32;
mov.u32 %r1, %pm8;
mov.u32 %r1, %tid;
mov.u32 %r1, %laneid.x;
add.u32 %r1, %tid.x, 1;
mov.u32 %f1, %r1;
cvt.rzi.s32.f64 %r1, %f1;
set.lt.u32.u32 %r1, %f1, %f2;
selp.b64 %r1, %r2, 5, %p1;
wmma.load.a.sync.aligned.row.m16n16k8.global.f16 {%r1, %r2, %r3, %r4}, [%rd1];
wmma.load.a.sync.row.m16n16k8.global.tf32 {%r1, %r2, %r3, %r4}, [%rd1];
""".strip().splitlines()
OTHERS = [  # text, line
    (text_of().replace(".target", ".version 8.3 .target"), 2),
    (text_of().replace("size 64", "size 64 .address_size 64"), 3),
    (text_of(target="hopper"), 2),
    (text_of(version="7.0"), 2),
    (text_of(head=".entry a() .explicitcluster { ret; }", target="sm_80"), HEAD_LINE),
    (text_of(head=".entry a(.param .b8 p[8000]) { ret; }", version="8.0"), HEAD_LINE),
    (text_of("ld.volatile.local.u32 %r1, [%rd1];", version="9.0"), BODY_LINE),
    (text_of("setmaxnreg.inc.sync.aligned.u32 20;", target="sm_90a"), BODY_LINE),
]
# Neighbors of refused texts.
ACCEPTED_HEADS = """
.extern .shared .align 16 .b8 a[];
.global .b32 a = 1.5;
.const .b8 a[65536];
.func f(.param .u32 a); .func f(.param .u32 b) { ret; }
.visible .func b() { ret; } .visible .func a(); .alias a, b;
.func f(.param .u64 a) { ret; } .entry other() { .reg .b64 a; call.uni f, (a); ret; }
.func f(.param .u64 a) { ret; } .entry other() { .param .b64 a; call.uni f, (a); ret; }
.func f(.param .u64 a) { ret; } .entry other() { call.uni f, (5); ret; }
.func f() { call.uni f, (); ret; }
.entry other() .maxclusterrank 4 { ret; }
.global .u32 g; .entry other() { .reg .b32 a; ld.u32 a, [g]; ret; }
""".strip().splitlines()
ACCEPTED_BODIES = """
ld.local.u32 %r1, [16];
mov.u16 %h1, %tid.x;
mov.u16 %h1, %gridid;
mov.u64 %rd1, %gridid;
mov.pred %p1, %is_explicit_cluster;
cvt.u64.u32 %rd1, %tid.x;
ld.global.v2.b32 {%r1, %f1}, [%rd1];
ld.global.f32 %rd1, [%rd1];
st.global.u8 [%rd1], %rd1;
cvta.param.u64 %rd1, p;
prefetch.const.tensormap [%rd1];
st.shared.f32 [s], 0f40E00000;
""".strip().splitlines()


def refused():
    yield from ((text_of(head=head), HEAD_LINE) for head in HEADS)
    yield from ((text_of(body), BODY_LINE) for body in BODIES)
    yield from OTHERS


def accepted():
    yield from (text_of(head=head) for head in ACCEPTED_HEADS)
    yield from (text_of(body) for body in ACCEPTED_BODIES)


@pytest.mark.parametrize(("text", "line"), [*refused()])
def test_a_refused_text_names_its_line(text, line):
    code, log = load(text)
    assert code == "CUDA_ERROR_INVALID_PTX"
    assert f"line {line}" in log


@pytest.mark.parametrize("text", [*accepted()])
def test_an_accepted_text_loads(text):
    assert load(text) == ("CUDA_SUCCESS", "")


def test_local_memory_is_volatile_from_version_9_1_on():
    assert load(text_of("ld.volatile.local.u32 %r1, [%rd1];", version="9.1"))[0] == "CUDA_SUCCESS"


def test_the_assembler_agrees(tmp_path):
    try:
        ptxas = assembler()
    except ImportError:
        ptxas = None
    if not ptxas:
        pytest.skip("there is no ptxas")
    source = tmp_path / "text.ptx"

    def accepts(text):
        source.write_text(text)
        command = [ptxas, "-arch", "sm_90a" if "sm_90a" in text else "sm_90", source]
        done = subprocess.run([*command, "-o", tmp_path / "cubin"], capture_output=True)
        return done.returncode == 0

    assert [text for text, _ in refused() if accepts(text)] == []
    assert [text for text in accepted() if not accepts(text)] == []

# SPDX-License-Identifier: Apache-2.0
"""Texts that an assembler refuses do not load, and those that it accepts do."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest
from cuda.bindings import driver
from cuda.core import Device

TEXT = """.version {version}
.target {target}
.address_size 64
{head}
.visible .entry run(.param .u64 p) {{
    .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .u32 %u<4>; .reg .b64 %rd<8>;
    .reg .f32 %f<16>; .reg .f64 %fd<8>; .shared .align 16 .b8 s[256];
    ld.param.u64 %rd1, [p];
{body}
    ret;
}}
"""
BODY_LINE = 9  # of the text

REFUSED = """
cp.async.shared.global [s], [%rd1], 16;
set.lt.bf16.lo.bf16 %h1, %h2, %h3;
stmatrix.sync.aligned.m8n8.shared.b16 [s], {%r1};
ldmatrix.sync.aligned.m8n8.shared.b16 {%r1}, [s];
mbarrier.expect_tx.cta.shared.b64 [s], 16;
membar.cta.gl;
ld.global.L1::evict_first.volatile.u32 %r1, [%rd1];
mad.f32 %f1, %f2, %f3, %f4;
barrier.red.popc.u32 %r1, %p1;
ld.gpu.global.u32 %r1, [%rd1];
cp.async.ca.shared.global [s], [%rd1], %p1;
cp.async.ca.L2::cache_hint.shared.global [s], [%rd1], 16, %p1;
cp.async.ca.shared.global.v2 [s], [%rd1], 8;
cp.async.ca.global.L2::128B [s], [%rd1], 16;
cp.global.async.ca.shared::cta.global [s], [%rd1], 16;
cp.cg.shared.global [s], [%rd1], 16;
cp.wait_all;
cp.async.bulk.wait_group.read 0, %r5;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 16, %r5;
cp.async.bulk.global.bulk_group [%rd1], [s], 16;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 16;
cp.async.bulk.prefetch.L2 [%rd1], 16;
mbarrier.arrive.noComplete.shared.b64 %rd1, [s];
mbarrier.try_wait.shared.b64 %p1, [s], %r1;
mad.cc.rn.f32 %f1, %f2, %f3, %f4;
cvt.rn.e4m3x2.f32 %h1, %f1, %f2;
cvt.rn.f32.u64.rn %f1, %rd1;
cvt.rn.rz.f32.u64 %f1, %rd1;
cvt.pack.sat.u16.s32 %r1, %r2, %r3, %r5;
cvt.pack.sat.u8.s32 %r1, %r2, %r3;
cvt.pack.sat.u8.s32.b32 %r2, %r3, %r1;
dp2a.u32.u32 %r1, %r2, %r3, %r1;
bar.warp.sync %r1, %r5;
bar.red.popc.u32 %r1, 0, %p1, %r5;
barrier.cta.sync.pred 0;
lop3.b32 %r1, %r2, %r3, %r4, 0x96, %r5;
setp.lt.f16 %p1, %h1, %h2, %r5;
setp.ltu.f32 %p1, %f1, 0f00000000, %r5;
setp.eq.and.b32 %p1|%p2, %r2, !%p3;
fence.proxy.release.gpu;
red.async.relaxed.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%rd1], %r1, [%rd2];
atom.global.cas.global.b64 %rd1, [%rd1], %rd2, %rd3;
isspacep.v2.shared::cta %p1, %rd1;
rcp.approx.f64 %fd1, %fd2;
foo.u32 %r1, %r2;
add.u32 %r1, %r2;
add.u32 %r1, %r2, %r3, %r4;
add.u32.foo %r1, %r2, %r3;
add.rn.u32 %r1, %r2, %r3;
add.sat.u32 %r1, %r2, %r3;
add.ftz.f64 %fd1, %fd2, %fd3;
add.b32 %r1, %r2, %r3;
add.s32.wide.s32 %r1, %r2, %r3;
add.s32.s32 %r1, %r2, %r3;
add.global.s32 %r1, %r2, %r3;
add.u32 %f1, %f2, %f3;
add.f32 %f1, %f2, 1;
add.u32 %r1, %r2, 1.5;
add.u32 %r1, -%r2, %r3;
mul.u32 %r1, %r2, %r3;
mul.lo.f32 %f1, %f2, %f3;
mul.wide.u32 %r1, %r2, %r3;
mul.wide.u64 %rd1, %rd2, %rd3;
mad.lo.u32 %r1, %r2, %r3;
fma.f32 %f1, %f2, %f3, %f4;
fma.rn.u32 %r1, %r2, %r3, %r4;
and.u32 %r1, %r2, %r3;
not.b32 %r1, %r2, %r3;
shl.u32 %r1, %r2, %r3;
shl.b32 %r1, %r2, %rd1;
mov.u32 %r1, %nope;
mov.u32 %tid.x, %r1;
mov.u32 5, %r1;
mov.u64 %r1, %rd1;
mov.pred %p1, %r1;
mov.b64 %rd1, {%r2, %rd3};
mov.b64 %rd1, {%r2, %r3, %r4};
ld.global.u32 %r1, %rd1;
ld.global.u32 [%rd1], %r1;
ld.global.u32 %r1;
ld.global.u32 %r1, [%f1];
ld.foo.u32 %r1, [%rd1];
ld.global %r1, [%rd1];
ld.global.v2.u32 %r1, [%rd1];
ld.global.v3.u32 {%r1, %r2, %r3}, [%rd1];
ld.global.v4.u64 {%rd1, %rd2, %rd3, %rd4}, [%rd1];
st.const.u32 [%rd1], %r1;
st.global.u32 %r1, [%rd1];
st.global.nc.u32 [%rd1], %r1;
setp.u32 %p1, %r1, %r2;
setp.lt.b32 %p1, %r1, %r2;
setp.equ.u32 %p1, %r1, %r2;
setp.lo.s32 %p1, %r1, %r2;
selp.b32 %r1, %r2, %r3;
ret.foo;
exit 3;
bar.sync;
bar.sync 0, 33;
bar.sync 17;
barrier.cluster.sync;
redux.sync.add.s32.u32 %r1, %r2, %r3;
match.any.sync.u32.b32 %r1, %r2, %r3;
vote.sync.ballot.pred.b32 %r1, %p2, %r3;
add.clamp.s32 %r1, %r2, %r3;
match.any.sync.b32.relu %r1, %r2, -1;
isspacep.shared::cta %p1;
dp2a.lo.u32.u32 %r1, %r2, %r3, %r1, %r5;
ld.global.u32 %r1, [%rd1], %rd2;
ld.relaxed.global.u32 %r1, [%rd1];
ld.global.cc.u32 %r1, [%rd1];
elect.sync.s32 %r1|%p1, -1;
elect %r1|%p1, -1;
sub.rz.shared.f64 %fd1, %fd2, %fd3;
fence.sc.gpu %r5;
fence.acq_rel;
barrier.cluster;
bar 0;
bar.red.u32 %r1, 0, %p1;
match.sync.b32 %r1, %r2, %r3;
redux.sync.s32 %r1, %r2, %r3;
redux.sync.add.s32 %r1, %r2;
movmatrix.sync.aligned.m8n8.b16 %r1, %r2;
mbarrier.init.shared.b64 [s];
mbarrier.init.shared.b64.volatile [s], 1;
atom.global.b16 %h1, [%rd1], %h2, %h3;
atom.global.add.f64 %fd1, [%rd1], %fd2, %r5;
atom.global.add.noftz.bf16 %h1, [%rd1];
red.global.add.L2::cache_hint.u32 [%rd1], %r1;
cvt.rn.f16.f32 %h1, %f1, %f2;
cvt.rn.f16x2.f32 %r1, %f1;
cvt.bf16.s32 %h1, %r1;
cvt.s32.bf16 %r1, %h1;
set.u32.f32 %r1, %f1, %f2;
max.NaN.xorsign.bf16 %h1, %h2, %h3;
max.relu.s32 %r1, %r2, %r3, %r5;
nanosleep.cc.u32 %r1;
prefetchu [%rd1];
isspacep %p1, %rd1;
shf.r.b32 %r1, %r2, %r3, %r1;
membar;
membar.foo;
cvt.u32.f32 %r1, %f1;
cvt.rn.u32.f32 %r1, %f1;
cvt.rni.u32.u64 %r1, %rd1;
cvt.f32.f64 %f1, %fd1;
cvt.u32 %r1, %r2;
div.f32 %f1, %f2, %f3;
sqrt.f32 %f1, %f2;
sin.f32 %f1, %f2;
ex2.approx.f64 %fd1, %fd2;
atom.global.add.u32 %r1, %r2, %r3;
atom.global.add.u8 %h1, [%rd1], %h2;
atom.global.cas.b32 %r1, [%rd1], %r3;
red.global.cas.b32 [%rd1], %r3, %r4;
shfl.sync.up.b32 %r1, %r2, 1, 0;
vote.sync.any.pred %r1, %p1, -1;
vote.ballot.b32 %r1, %p1;
popc.b32 %rd1, %r1;
popc.u32 %r1, %r2;
prmt.b32 %r1, %r2, %r3;
lop3.b32 %r1, %r2, %r3, %r4;
bfe.b32 %r1, %r2, %r3, %r4;
neg.u32 %r1, %r2;
rem.f32 %f1, %f2, %f3;
nanosleep.u64 %rd1;
activemask.u32 %r1;
cp.async.ca.shared.global [s], [%rd1], 3;
cp.async.cg.shared.global [s], [%rd1], 4;
mbarrier.init.shared.b32 [s], 1;
mapa.u16 %h1, %h2, %r1;
prefetch.global.L3 [%rd1];
trap 1;
pmevent 16;
pmevent.mask 65536;
elect.sync %r1, -1;
griddepcontrol.foo;
vadd.u64.u32.u32 %rd1, %r1, %r2;
testp.foo.f32 %p1, %f1;
setmaxnreg.inc.sync.aligned.u32 40;
mul.rn.f32x2 %rd1, %rd2, %rd3;
.foo 3;
.align 4;
call.uni foo, ();
bra nowhere;
@%r1 bra nowhere;
""".strip().splitlines()

ACCEPTED = """
add.sat.s32 %r1, %r2, %r3;
add.cc.u32 %r1, %r2, %r3;
add.f32 %f1, %f2, 0f3F800000;
add.f32 %f1, %f2, 1.5;
add.u32 %u1, %r2, -1;
add.ftz.sat.f32 %f1, %f2, %f3;
sub.rz.f64 %fd1, %fd2, %fd3;
mul.lo.s64 %rd1, %rd2, %rd3;
mul.wide.u32 %rd1, %r2, %r3;
mul.wide.s16 %r1, %h2, %h3;
mul.rn.f32 %f1, %f2, %f3;
mad.lo.s32 %r1, %r2, %r3, %r4;
mad.wide.u32 %rd1, %r2, %r3, %rd4;
mad.rn.f32 %f1, %f2, %f3, %f4;
fma.rn.ftz.f32 %f1, %f2, %f3, %f4;
fma.rn.f16x2 %r1, %r2, %r3, %r4;
and.pred %p1, %p2, %p3;
shl.b64 %rd1, %rd2, %r3;
shr.s16 %h1, %h2, %r3;
mov.b64 %rd1, {%r2, %r3};
mov.b64 {%h1, %h2, %h3, %h4}, %rd1;
mov.u32 %r1, s;
mov.f32 %f1, %r1;
mov.u32 %r1, %ctaid.x;
mov.u64 %rd1, %clock64;
mov.pred %p1, %p2;
ld.global.u8 %r1, [%rd1];
ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];
ld.volatile.shared.u32 %r1, [s+4];
ld.acquire.gpu.global.u32 %r1, [%rd1];
st.global.v2.b32 [%rd1], {%r1, 5};
st.shared.u32 [s], 7;
setp.ltu.f32 %p1, %f1, 0f00000000;
setp.eq.and.b32 %p1|%p2, %r1, %r2, !%p3;
set.lt.u32.f32 %r1, %f1, %f2;
selp.b32 %r1, %r2, 5, %p1;
slct.f32.s32 %f1, %f2, %f3, %r1;
bar.sync 0;
bar.sync %r1, 64;
bar.red.popc.u32 %r1, 0, %p1;
barrier.cluster.arrive.release.aligned;
membar.gl;
fence.acq_rel.gpu;
cvt.rzi.s32.f32 %r1, %f1;
cvt.rn.f32.u64 %f1, %rd1;
cvt.rn.f16.f32 %h1, %f1;
cvt.f64.f32 %fd1, %f1;
cvt.rni.f32.f32 %f1, %f2;
cvt.sat.u8.s32 %r1, %r2;
cvt.u16.u64 %h1, %rd1;
cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;
div.full.f32 %f1, %f2, %f3;
div.s32 %r1, %r2, 3;
sqrt.approx.ftz.f32 %f1, %f2;
rcp.approx.ftz.f64 %fd1, %fd2;
ex2.approx.ftz.f32 %f1, %f2;
tanh.approx.f32 %f1, %f2;
atom.global.add.f64 %fd1, [%rd1], %fd2;
atom.global.cas.b64 %rd1, [%rd1], %rd2, %rd3;
red.relaxed.gpu.global.add.u32 [%rd1], 1;
shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;
vote.sync.ballot.b32 %r1, !%p1, -1;
match.any.sync.b32 %r1, %r2, -1;
popc.b64 %r1, %rd1;
bfind.shiftamt.u64 %r1, %rd1;
prmt.b32.f4e %r1, %r2, %r3, %r4;
lop3.b32 %r1, %r2, %r3, %r4, 0x96;
lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x96, %p2;
shf.l.wrap.b32 %r1, %r2, %r3, %r4;
bfi.b64 %rd1, %rd2, %rd3, %r1, %r2;
neg.f16 %h1, %h2;
min.NaN.f32 %f1, %f2, %f3;
nanosleep.u32 100;
activemask.b32 %r1;
cp.async.ca.shared.global [s], [%rd1], 8;
mbarrier.init.shared.b64 [s], 1;
mapa.shared::cluster.u32 %r1, %r2, %r3;
prefetch.global.L2 [%rd1];
elect.sync %r1|%p1, -1;
redux.sync.add.s32 %r1, %r2, -1;
vadd.s32.s32.s32.sat %r1, %r2.b0, %r3.h1;
vadd4.u32.u32.u32 %r1.b20, %r2.b7531, %r3, %r4;
testp.normal.f32 %p1, %f1;
copysign.f32 %f1, %f2, %f3;
{ .reg .b32 t; mov.b32 t, %r1; }
@!%p1 add.u32 %r1, %r2, %r3;
.pragma "nounroll";
""".strip().splitlines()

HEADS = {
    ".extern .func missing (); .func caller() { call.uni missing, (); ret; }": 4,
    ".foo;": 4,
    ".global .pred a;": 4,
    ".local .u32 a = 5;": 4,
}
LATER = [
    ("mov.u32 %r1, %cluster_ctarank;", "8.0", "sm_80"),
    ("mov.u32 %r1, %cluster_ctarank;", "7.0", "sm_90"),
    ("mov.u64 %rd1, %current_graph_exec;", "7.0", "sm_90"),
    ("cvt.rn.bf16.f32 %h1, %f1;", "8.0", "sm_75"),
    ("atom.global.add.f64 %fd1, [%rd1], %fd1;", "8.0", "sm_52"),
    ("fma.rn.bf16 %h1, %h2, %h3, %h1;", "8.0", "sm_75"),
    ("fence.proxy.async;", "7.0", "sm_90"),
    ("mapa.u64 %rd1, %rd1, %r1;", "8.0", "sm_80"),
]


def text_of(body="", head="", version="8.3", target="sm_90"):
    return TEXT.format(body=body, head=head, version=version, target=target)


def load(text):
    """Load a text; return the code and the error log."""
    Device().set_current()
    log = ctypes.create_string_buffer(2000)
    names = (
        driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER,
        (driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES),
    )
    code, module = driver.cuModuleLoadDataEx(
        text.encode(), 2, list(names), [ctypes.addressof(log), len(log)]
    )
    if code == driver.CUresult.CUDA_SUCCESS:
        driver.cuModuleUnload(module)
    return code.name, log.value.decode()


def refused_texts():
    yield from ((text_of(body), BODY_LINE) for body in REFUSED)
    yield from ((text_of(head=head), line) for head, line in HEADS.items())
    for body, version, target in LATER:
        yield text_of(body, version=version, target=target), BODY_LINE


@pytest.mark.parametrize(("text", "line"), [*refused_texts()])
def test_a_refused_text_names_its_line(text, line):
    code, log = load(text)
    assert code == "CUDA_ERROR_INVALID_PTX"
    assert f"line {line}" in log


@pytest.mark.parametrize(
    ("version", "target", "needed"),
    [("7.0", "sm_90", ".version 7.8"), ("8.0", "sm_80", ".target sm_90")],
)
def test_a_later_register_names_what_it_needs(version, target, needed):
    text = text_of("mov.u32 %r1, %cluster_ctarank;", version=version, target=target)
    assert f"reads '%cluster_ctarank', which needs {needed} or later" in load(text)[1]


@pytest.mark.parametrize("body", ACCEPTED)
def test_an_accepted_text_loads(body):
    assert load(text_of(body)) == ("CUDA_SUCCESS", "")


@pytest.mark.parametrize(
    ("target", "loads"), [("sm_90", True), ("sm_80", True), ("sm_90a", True), ("sm_80a", False)]
)
def test_specific_targets_run_on_their_device(target, loads):
    if Device().arch != "90":
        pytest.skip("the targets are for compute capability 9.0")
    code, _ = load(text_of(target=target))
    assert code == ("CUDA_SUCCESS" if loads else "CUDA_ERROR_NO_BINARY_FOR_GPU")


def assembler():
    import nvidia  # the wheel nvidia-cuda-nvcc, if it is installed

    for folder in nvidia.__path__:
        for path in Path(folder).glob("*/bin/ptxas"):
            return str(path)
    return shutil.which("ptxas")


@pytest.fixture(scope="module")
def ptxas():
    try:
        program = assembler()
    except ImportError:
        program = shutil.which("ptxas")
    if not program:
        pytest.skip("there is no ptxas")
    return program


def accepts(ptxas, folder, text):
    source = folder / "text.ptx"
    source.write_text(text)
    command = [ptxas, "-arch", "sm_90", source, "-o", folder / "text.cubin"]
    return subprocess.run(command, capture_output=True).returncode == 0


def test_the_assembler_agrees(ptxas, tmp_path):
    assert accepts(ptxas, tmp_path, text_of())
    wrong = [text for text, _ in refused_texts() if accepts(ptxas, tmp_path, text)]
    wrong += [body for body in ACCEPTED if not accepts(ptxas, tmp_path, text_of(body))]
    assert not wrong

# SPDX-License-Identifier: Apache-2.0
"""Operands, constants and declarations of the wrong kind do not load, as an assembler answers."""

import pytest

from .test_verifier import BODY_LINE, accepts, load, ptxas, text_of

__all__ = ["ptxas"]  # a fixture

HEAD_LINE = 4  # of the text
BODIES = """
ld.global.u32 %r1, [%p2];
ld.global.u32 %r1, [%r2];
ld.global.mmio.u32 %r1, [%rd1];
ld.mmio.relaxed.gpu.global.u32 %r1, [%rd1];
ld.shared.L2::cache_hint.u32 %r1, [%rd1], %rd2;
ld.global.L2::cache_hint.u32 %r1, [%rd1], %r2;
ld.relaxed.gpu.cg.global.u32 %r1, [%rd1];
st.weak.relaxed.sys.global.u32 [%rd1], %r1;
st.global.b32 [%rd1], 1.5;
st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 %rd3, %r1, [%rd2];
red.async.relaxed.cluster.global.mbarrier::complete_tx::bytes.add.u32 [%rd1], %r1, [%rd2];
atom.global.add.f64 %fd1, [%rd1], 5;
atom.global.add.exch.u32 %r1, [%rd1], %r2;
prefetch.global.L2 [s];
prefetch.L2::evict_last.L2 [%rd1];
applypriority.global.L2::evict_normal [s], 128;
cp.async.ca.global.global [s], [%rd1], 16;
cp.async.ca.shared.global [s], [s], 16;
cp.async.bulk.tile.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 16, [s];
cp.async.shared::cta.mbarrier.arrive.b64 [s];
barrier.cluster.wait.release;
barrier.cluster.relaxed.arrive;
barrier.acquire.sync 0;
bar.warp.sync.popc %r1;
fence.acq_rel.gpu.sc;
fence.proxy.async.acq_rel;
mbarrier.shared.init.b64 [s], 1;
mbarrier.test_wait.parity.shared.b64 %p1, [s], 2;
createpolicy.fractional.L2::evict_first.b64 %rd1, 1.5;
cvt.rn.f16.f32 %h1, 5;
cvt.f64.f32 5, %f1;
cvt.rn.satfinite.e4m3x2.f32 %r3, %f1, %f2;
cvt.rn.f32.u32 %f1, %tid.x;
cvt.sat.pack.u16.s32 %r1, %r2, %r3;
cvta.param.u64 %rd1, s;
add.f16 %h1, 1.5, %h3;
add.cc.sat.s32 %r1, %r2, %r3;
mul.lo.wide.u32 %rd1, %r2, %r3;
xor.b32 %r1, 1.5, %r2;
bfe.u32 %r1, %r2, 256, 2;
lop3.or.b32 %r1, %r2, %r3, %r4, 0x96, %p2;
lop3.b32 %r1, %r2, %r3, %r4, %r5;
mov.u32 %r1, [s];
mov.b64 {%r1, %r2}, {%r2, %r3};
selp.b32 %r1, %r2, 1.5, %p1;
testp.normal.f32 !%p2, %f1;
vadd4.u32.u32.u32 %r1, %r2, 5, %r4;
mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, {%r3,%r4}, {%r5}, {%f1,%f2};
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd1,%fd2}, {%r3}, {%fd4}, {%fd1,%fd2};
wmma.load.b.sync.aligned.row.m8n8k128.global.b1 {%r1}, [%rd1];
wmma.load.a.sync.aligned.m8n8k4.row.m16n16k8.global.tf32 {%r1,%r2,%r3,%r4}, [%rd1];
vote.sync.all.any.pred %p1, %p3, -1;
alloca.u64 %rd1, 16, 24;
mov.f64 %rd1, s;
set.eq.u64.u32 %rd1, %r1, %r2;
set.lt.f16.bf16 %h1, %h2, %h3;
setp.eq.ftz.f64 %p1, %fd1, %fd2;
slct.ftz.f32.s32 %f1, %f2, %f3, %r1;
mad.wide.cc.u32 %rd1, %r2, %r3, %rd4;
mad.hi.sat.u32 %r1, %r2, %r3, %r4;
mad24.lo.sat.s32 %r1, %r2, %r3, %r4;
fma.rn.relu.sat.f16 %h1, %h2, %h3, %h1;
max.abs.f32 %f1, %f2, %f3;
cvt.rn.relu.ftz.f16.f32 %h1, %f1;
cvt.rn.sat.bf16.s32 %h1, %r1;
cvt.rn.bf16.f32 %r1, %f1;
cvt.pack.sat.u8.s32.u32 %r1, %r2, %r3, %r4;
add.u32 _, %r1, %r2;
mov.u32 _, %r1;
ld.global.u32 _, [%rd1];
ld.global.v2.v2.u32 {%r1, %r2}, [%rd1];
atom.global.add.v2.f32 %f1, [%rd1], {%f2, %f3};
bar.sync %h1;
bar.sync s;
bar.sync 0, %p1;
bar.sync.cta 0;
bar.arrive 0;
bar.arrive 0, 33;
bar.red.popc.u32 %rd1, 0, %p2;
bar.red.popc.u32 _, 0, %p2;
bar.warp.sync %rd1;
barrier.sync 16;
nanosleep.u32 %f1;
nanosleep.u32 s;
activemask.b32 %rd1;
activemask.b32 _;
elect.sync %rd1|%p1, %r2;
vote.sync.all.pred %p1, %r2, -1;
vote.sync.ballot.b32 %r1, 1.0, -1;
match.any.sync.b32 %r1|%p1, %r2, -1;
match.any.sync.b64 %r1, %r2, -1;
redux.sync.add.s32 %r1, %f2, -1;
shfl.sync.idx.b32 %r1, %r2, %p1, 31, -1;
shfl.sync.idx.b32 %r1, %r2, 0, 31, %rd1;
fns.b32 %r1, %r2, 1, %p4;
isspacep.global %r1, %rd1;
isspacep.global %p1, s;
testp.finite.f32 %r1, %f1;
mbarrier.init.shared.b64 [s], %rd1;
mbarrier.inval.shared.b64 s;
mbarrier.arrive.shared.b64 %r1, [s];
mbarrier.arrive.relaxed.shared.b64 %rd1, [s];
mbarrier.test_wait.shared.b64 %r1, [s], %rd1;
mbarrier.try_wait.shared.b64 %p1, [s], %rd1, %rd2;
mbarrier.pending_count.b64 %r1, %r1;
alloca.u64 %rd1, %r2;
stackrestore.u64 5;
createpolicy.fractional.L2::evict_first.b64 %rd1, 1;
createpolicy.range.global.L2::evict_last.b64 %rd1, [%rd2], %r1;
discard.global.L2 [%rd1], 64;
applypriority.global.L2::evict_normal [%rd1], 64;
prefetch.global.L2 %rd1;
pmevent %r1;
mapa.shared.u32 %r1, %r2, %r3;
getctarank.shared::cta.u32 %r1, %r2;
ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [s];
ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r1, [s];
movmatrix.sync.aligned.m8n8.trans.b16 %r1, 5;
wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4}, [%rd1];
mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor {%r1, %r2}, {%r3}, {%r4}, {%r1, %r2};
cp.async.ca.shared.global [s], [%rd1], 16, %rd2;
cp.async.mbarrier.arrive.b64 s;
cp.async.mbarrier.arrive.u32 [s];
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], %p1;
cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s], 15;
cp.async.bulk.commit_group.global;
cp.async.bulk.prefetch.global [%rd1], 16;
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s64 [%rd1], [s], 16;
cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%rd1], [s], 16;
cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%rd1, {%r1}];
cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%rd1, {%r1, %r2, %r3}], {%r1};
red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.u64 [%rd1], %rd1, [%rd2];
st.async.shared::cluster.mbarrier::complete_tx::bytes.b16 [%rd1], %h1, [%rd2];
fence.proxy.alias.cta;
fence.proxy.async.local;
fence.mbarrier_init.cluster;
fence.proxy.tensormap::generic.acquire.cta [%rd1], 64;
multimem.ld_reduce.relaxed.global.add.u32 %r1, [%rd1];
multimem.ld_reduce.global.inc.u32 %r1, [%rd1];
multimem.red.global.min.f32 [%rd1], %f1;
multimem.st.global.f16 [%rd1], %h1;
vadd.u32.u32.u32 %f1, %r1, %r2;
vadd.u32.u32.u32 %r1, 5.0, %r2;
vset4.u32.u32 %r1, %r2, %r3, %r4;
vshl.u32.u32.u32 %r1, %r2, %r3;
madc.cc.u32 %r1, %r2, %r3, %r4;
.reg .tf32 t;
.reg .e4m3x2 t;
""".strip().splitlines()
HEADS = """
.shared .u32 b; .global .u64 a = b;
.global .bf16 a;
.global .u16x2 a;
.func f(.param .f16x2 a) { ret; }
.func (.param .u32 r, .param .u32 s) f() { ret; }
.entry e(.param .e5m2 a) { ret; }
.entry e() .minnctapersm 0 { ret; }
.entry e() .maxnreg 0 { ret; }
.entry e() .maxntid 32, 0 { ret; }
.entry e() .maxnctapersm 2 { ret; }
.entry e() .blocksareclusters { ret; }
""".strip().splitlines()
# Neighbors of refused texts. Each is in a kernel.
ACCEPTED = """
ld.global.u32 %r1, [%rd1].unified;
ld.shared.u32 %r1, [%r2];
ld.relaxed.gpu.L1::evict_last.L2::cache_hint.global.u32 %r1, [%rd1], %rd2;
selp.b32 %r1, 0f3F800000, %r3, 5;
lop3.b32 _, %r2, %r3, %r4, 0x96;
lop3.or.b32 _|%p1, %r2, %r3, %r4, 0x96, 1;
prmt.b32 %r1, 0f3F800000, %r2, %r3;
cvt.pack.sat.u8.s32.b32 %rd1, %rd2, 5, %fd1;
cvt.u32.u64 %r1, %clock64;
cp.async.bulk.wait_group -1;
cp.async.shared.global.L2::128B.ca [s], [%rd1], 16;
atom.global.cas.b64 %rd1, [%rd1], 1.5, %rd2;
cvta.shared.u64 %rd1, s;
setp.eq.u32 _|%p1, %r1, %r2;
shfl.sync.idx.b32 %r1|_, %r2, 0, 31, -1;
atom.global.add.u32 _, [%rd1], 1;
bar.sync.sync 0;
bar.red.and.pred %p1, 0, 1;
activemask.b32 %f1;
elect.sync _|%p1, %r2;
fns.b32 %f1, %f2, 0, 1;
isspacep.global %p1, %r1;
createpolicy.fractional.L2::evict_first.b64 %rd1, %r1;
createpolicy.fractional.L2::evict_first.L2::evict_first.b64 %rd1, 1.0;
cp.async.ca.shared.global [s], [%rd1], 16, !%p1;
cp.async.ca.shared.global.L2::cache_hint [s], [%rd1], 16, %r5, %rd2;
cvt.rn.f16.f32 %r1, %f1;
rcp.rn.ftz.f64 %fd1, %fd2;
mad.hi.sat.s32 %r1, %r2, %r3, %r4;
mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn {%fd1, %fd2}, {%fd3}, {%fd4}, {%fd1, %fd2};
cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%rd1, {%r1, %r2, %r3}], {%h1};
multimem.ld_reduce.relaxed.gpu.global.add.v4.f16x2 {%r1, %r2, %r3, %r4}, [%rd1];
multimem.st.global.v2.f16 [%rd1], {%h1, %h2};
multimem.red.global.add.f64 [%rd1], %fd1;
vadd.u32.u32.u32 %r1, 5, %r2;
""".strip().splitlines()
ACCEPTED_HEADS = """
.global .b16 a = 1.5;
.global .u32 b; .global .u64 a = b+-4;
.func f(.reg .f16x2 a) { ret; }
.entry e() .reqnctapercluster 0 { ret; }
""".strip().splitlines()


def refused():
    yield from ((text_of(body), BODY_LINE) for body in BODIES)
    yield from ((text_of(head=head), HEAD_LINE) for head in HEADS)


def accepted():
    yield from (text_of(body) for body in ACCEPTED)
    yield from (text_of(head=head) for head in ACCEPTED_HEADS)


@pytest.mark.parametrize(("text", "line"), [*refused()])
def test_a_refused_text_names_its_line(text, line):
    code, log = load(text)
    assert code == "CUDA_ERROR_INVALID_PTX"
    assert f"line {line}" in log


@pytest.mark.parametrize("text", [*accepted()])
def test_an_accepted_text_loads(text):
    assert load(text) == ("CUDA_SUCCESS", "")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("bar.sync 16;", "needs 0 to 15 as operand 1, not 16"),
        ("bar.sync 0, 33;", "needs a multiple of 32 from 32 to 4096 as operand 2, not 33"),
        ("alloca.u64 %rd1, 16, 24;", "needs a power of two from 1 on as operand 3, not 24"),
        ("pmevent 16;", "needs 0 to 15 as operand 1, not 16"),
        ("cp.async.ca.shared.global [s], [%rd1], 12;", "cannot copy 12 bytes"),
        ("ld.global.v4.b32 {%r1, %r2}, [%rd1];", "has a vector of 2 elements, not 4"),
        ("selp.b32 %r1, %r2, %r3, %r4;", "needs a predicate as operand 4"),
        ("redux.sync.min.f32 %f1, %f2, -1;", "has no type '.f32' on sm_90"),
        ("vote.sync.all.pred %p1, %r2, -1;", "needs a predicate as operand 2"),
    ],
)
def test_a_message_names_numbers(body, message):
    assert message in load(text_of(body))[1]


def test_conversions_of_bytes_came_to_sm_89_with_version_8_1():
    body = "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;"
    answers = [load(text_of(body, version=v, target="sm_89"))[0] for v in ("8.0", "8.1")]
    assert answers == ["CUDA_ERROR_INVALID_PTX", "CUDA_SUCCESS"]
    assert load(text_of(body, version="7.8"))[0] == "CUDA_SUCCESS"


def test_the_assembler_agrees(ptxas, tmp_path):
    assert [text for text, _ in refused() if accepts(ptxas, tmp_path, text)] == []
    assert [text for text in accepted() if not accepts(ptxas, tmp_path, text)] == []

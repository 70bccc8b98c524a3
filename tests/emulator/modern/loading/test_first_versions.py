# SPDX-License-Identifier: Apache-2.0
"""An instruction loads since the PTX version and the target that the manual states.

An assembler of CUDA 13 was asked for each row from version 6.3 and sm_75 on; it knows no earlier
targets.
"""

import pytest
from cuda.core import Device

from .test_verifier import load, text_of

# the last minor version of each major one, from 1.x on
LAST_MINORS = [5, 3, 2, 3, 0, 5, 8, 6]
VERSIONS = [f"{n}.{m}" for n, last in enumerate(LAST_MINORS, 1) for m in range(last + 1)]
TARGETS = [f"sm_{n}" for n in (20, 30, 32, 50, 52, 53, 60, 61, 70, 72, 75, 80, 86, 90)]
ROWS = """
2.0 sm_20 copysign.f32 %f1, %f2, %f3;
3.1 sm_30 mov.u64 %rd1, %globaltimer;
3.1 sm_32 shf.l.wrap.b32 %r1, %r2, %r3, %r1;
4.0 sm_30 istypep.texref %p1, %rd1;
4.1 sm_20 mov.u32 %r1, %total_smem_size;
4.2 sm_53 add.f16 %h1, %h2, %h3;
4.2 sm_53 setp.lt.f16 %p1, %h1, %h2;
4.3 sm_50 lop3.b32 %r1, %r2, %r3, %r1, 0x80;
5.0 sm_60 atom.global.add.f64 %fd1, [%rd1], %fd2;
5.0 sm_61 dp2a.lo.u32.u32 %r1, %r2, %r3, %r1;
5.0 sm_61 dp4a.u32.u32 %r1, %r2, %r3, %r1;
6.0 sm_30 bar.warp.sync %r1;
6.0 sm_30 barrier.sync 0;
6.0 sm_30 fns.b32 %r1, %r2, %r3, %r1;
6.0 sm_30 shfl.sync.idx.b32 %r1, %r2, 0, 31, %r3;
6.0 sm_30 vote.sync.ballot.b32 %r1, %p1, %r2;
6.0 sm_53 neg.f16 %h1, %h2;
6.0 sm_70 fence.sc.gpu;
6.0 sm_70 match.any.sync.b32 %r1, %r2, %r3;
6.2 sm_30 activemask.b32 %r1;
6.2 sm_60 atom.global.add.noftz.f16x2 %r1, [%rd1], %r2;
6.3 sm_70 atom.global.cas.b16 %h1, [%rd1], %h2, %h3;
6.3 sm_70 nanosleep.u32 20;
6.5 sm_53 abs.f16x2 %r1, %r2;
6.5 sm_72 cvt.pack.sat.u16.s32 %r1, %r2, %r3;
6.5 sm_75 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [s];
7.0 sm_75 ex2.approx.f16 %h1, %h2;
7.0 sm_75 tanh.approx.f32 %f1, %f2;
7.0 sm_80 abs.bf16x2 %r1, %r2;
7.0 sm_80 cp.async.ca.shared.global [s], [%rd1], 16;
7.0 sm_80 cp.async.ca.shared::cta.global [s], [%rd1], 16;
7.0 sm_80 cp.async.commit_group;
7.0 sm_80 cp.async.mbarrier.arrive.b64 [s];
7.0 sm_80 cp.async.wait_all;
7.0 sm_80 cvt.rn.bf16.f32 %h1, %f1;
7.0 sm_80 cvt.rn.f16x2.f32 %r1, %f1, %f2;
7.0 sm_80 cvt.rn.relu.f16.f32 %h1, %f1;
7.0 sm_80 fma.rn.bf16 %h1, %h2, %h3, %h1;
7.0 sm_80 fma.rn.relu.f16 %h1, %h2, %h3, %h1;
7.0 sm_80 max.NaN.bf16x2 %r1, %r2, %r3;
7.0 sm_80 mbarrier.arrive.shared.b64 %rd1, [s];
7.0 sm_80 mbarrier.init.shared.b64 [s], 32;
7.0 sm_80 mbarrier.inval.shared.b64 [s];
7.0 sm_80 mbarrier.test_wait.shared.b64 %p1, [s], %rd1;
7.0 sm_80 min.NaN.f32 %f1, %f2, %f3;
7.0 sm_80 min.f16 %h1, %h2, %h3;
7.0 sm_80 redux.sync.add.s32 %r1, %r2, %r3;
7.1 sm_80 cvt.f32.bf16 %f1, %h1;
7.1 sm_80 mbarrier.test_wait.parity.shared.b64 %p1, [s], %r1;
7.2 sm_86 max.NaN.xorsign.abs.bf16 %h1, %h2, %h3;
7.2 sm_86 max.xorsign.abs.f32 %f1, %f2, %f3;
7.3 sm_52 alloca.u64 %rd1, 16, 16;
7.3 sm_52 stacksave.u64 %rd1;
7.4 sm_70 ld.global.L1::evict_last.u32 %r1, [%rd1];
7.4 sm_75 ld.global.L2::128B.u32 %r1, [%rd1];
7.4 sm_80 applypriority.global.L2::evict_normal [%rd1], 128;
7.4 sm_80 atom.global.add.L2::cache_hint.u32 %r1, [%rd1], %r2, %rd2;
7.4 sm_80 cp.async.ca.shared.global.L2::128B [s], [%rd1], 16;
7.4 sm_80 createpolicy.fractional.L2::evict_first.b64 %rd1, 1.0;
7.4 sm_80 discard.global.L2 [%rd1], 128;
7.4 sm_80 ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;
7.4 sm_80 prefetch.global.L2::evict_last [%rd1];
7.4 sm_80 st.global.L2::cache_hint.u32 [%rd1], %r1, %rd2;
7.6 sm_70 bmsk.clamp.b32 %r1, %r2, %r3;
7.6 sm_70 szext.clamp.s32 %r1, %r2, %r3;
7.7 sm_70 cvta.param.u64 %rd1, %rd2;
7.7 sm_70 isspacep.param %p1, %rd1;
7.8 sm_30 bar.cta.sync 0;
7.8 sm_30 barrier.cta.sync 0;
7.8 sm_30 ld.shared::cta.u32 %r1, [%rd1];
7.8 sm_75 movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;
7.8 sm_80 mbarrier.arrive.shared::cta.b64 %rd1, [s];
7.8 sm_90 atom.global.add.noftz.bf16x2 %r1, [%rd1], %r2;
7.8 sm_90 atom.shared::cluster.add.u32 %r1, [%rd1], %r2;
7.8 sm_90 barrier.cluster.arrive;
7.8 sm_90 barrier.cluster.wait;
7.8 sm_90 cvt.rn.bf16.s32 %h1, %r1;
7.8 sm_90 cvt.rni.s32.bf16 %r1, %h1;
7.8 sm_90 ex2.approx.ftz.bf16 %h1, %h2;
7.8 sm_90 fence.acq_rel.cluster;
7.8 sm_90 fence.sc.cluster;
7.8 sm_90 getctarank.u64 %r1, %rd1;
7.8 sm_90 griddepcontrol.wait;
7.8 sm_90 isspacep.shared::cluster %p1, %rd1;
7.8 sm_90 ld.acquire.cluster.global.u32 %r1, [%rd1];
7.8 sm_90 ld.shared::cluster.u32 %r1, [%rd1];
7.8 sm_90 mapa.u64 %rd1, %rd1, %r1;
7.8 sm_90 mbarrier.try_wait.shared.b64 %p1, [s], %rd1;
7.8 sm_90 mov.u32 %r1, %cluster_ctarank;
7.8 sm_90 mov.u32 %r1, %clusterid.x;
7.8 sm_90 mul.bf16 %h1, %h2, %h3;
7.8 sm_90 red.global.add.noftz.bf16x2 [%rd1], %r2;
7.8 sm_90 red.release.cluster.global.add.u32 [%rd1], %r1;
7.8 sm_90 set.lt.bf16.bf16 %h1, %h2, %h3;
7.8 sm_90 setp.lt.bf16 %p1, %h1, %h2;
7.8 sm_90 st.release.cluster.global.u32 [%rd1], %r1;
7.8 sm_90 stmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {%r1};
7.8 sm_90 sub.bf16 %h1, %h2, %h3;
7.8 sm_90 tanh.approx.bf16x2 %r1, %r2;
8.0 sm_50 mov.u64 %rd1, %current_graph_exec;
8.0 sm_80 mbarrier.arrive.release.cta.shared.b64 %rd1, [s];
8.0 sm_90 add.u16x2 %r1, %r2, %r3;
8.0 sm_90 barrier.cluster.arrive.relaxed;
8.0 sm_90 barrier.cluster.wait.acquire;
8.0 sm_90 cp.async.bulk.commit_group;
8.0 sm_90 cp.async.bulk.wait_group 0;
8.0 sm_90 elect.sync %r1|%p1, %r2;
8.0 sm_90 fence.proxy.async;
8.0 sm_90 max.relu.s32 %r1, %r2, %r3;
8.0 sm_90 mbarrier.expect_tx.relaxed.cta.shared.b64 [s], 16;
8.0 sm_90 mbarrier.try_wait.acquire.cluster.shared.b64 %p1, [s], %rd1;
8.0 sm_90 min.s16x2 %r1, %r2, %r3;
8.0 sm_90a setmaxnreg.inc.sync.aligned.u32 40;
8.0 sm_90a wgmma.commit_group.sync.aligned;
8.0 sm_90a wgmma.fence.sync.aligned;
8.1 sm_80 cvt.rna.satfinite.tf32.f32 %r1, %f1;
8.1 sm_90 fma.rn.oob.f16 %h1, %h2, %h3, %h1;
8.1 sm_90 mov.u32 %r1, %aggr_smem_size;
8.1 sm_90 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%rd1], %r1, [%rd2];
8.2 sm_70 ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];
8.2 sm_70 lop3.or.b32 %r1|%p1, %r2, %r3, %r1, 0x80, %p2;
8.2 sm_70 st.mmio.relaxed.sys.global.u32 [%rd1], %r1;
8.3 sm_90a tensormap.replace.tile.rank.shared::cta.b1024.b32 [s], 2;
"""
INSTRUCTIONS = [row.split(" ", 2) for row in ROWS.strip().splitlines()]


def before(list_of, each):
    position = list_of.index(each)
    return list_of[position - 1] if position else None


@pytest.fixture(autouse=True)
def hopper():
    if Device().arch != "90":
        pytest.skip("the targets are for compute capability 9.0")


@pytest.mark.parametrize(("version", "target", "body"), INSTRUCTIONS)
def test_an_instruction_has_a_first_version_and_target(version, target, body):
    assert load(text_of(body, version=version, target=target)) == ("CUDA_SUCCESS", "")
    earlier = before(VERSIONS, version)
    assert load(text_of(body, version=earlier, target=target))[0] == "CUDA_ERROR_INVALID_PTX"
    older = "sm_90" if target == "sm_90a" else before(TARGETS, target)
    if older:
        code, log = load(text_of(body, version="8.6", target=older))
        assert (code, "line 9" in log) == ("CUDA_ERROR_INVALID_PTX", True)


# By the manual, versions before 3.2 take an absent rounding of mad.f32 for .rn.
@pytest.mark.parametrize(("version", "target"), [("1.4", "sm_10"), ("3.1", "sm_30")])
def test_early_versions_round_products_without_a_word(version, target):
    body = "mad.f32 %f1, %f2, %f3, %f1;"
    assert load(text_of(body, version=version, target=target)) == ("CUDA_SUCCESS", "")
    code, log = load(text_of(body, version="3.2", target="sm_30"))
    assert (code, "needs one of .rm, .rn" in log) == ("CUDA_ERROR_INVALID_PTX", True)

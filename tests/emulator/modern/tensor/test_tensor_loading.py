# SPDX-License-Identifier: Apache-2.0
"""Instructions of sm_100 load since the version and on the targets that an assembler accepts.

An assembler of CUDA 13.0 was asked for each row.
"""

import json

import pytest

TARGETS = {  # by the compute capability that loads them
    "9.0": ["sm_90a"],
    "10.0": ["sm_100", "sm_100a", "sm_100f"],
    "10.3": ["sm_103a", "sm_103f"],
    "12.0": ["sm_120", "sm_120a"],
}
GROUPS = {
    "family": "sm_100a sm_100f sm_103a sm_103f sm_110a",
    "devices": "sm_100a sm_103a sm_110a",
    "scaled": "sm_100a sm_100f sm_103a sm_103f",
    "matrix": "sm_100a sm_100f sm_103a sm_103f sm_110a sm_120a sm_121a",
    "all": "sm_100 sm_100a sm_100f sm_103a sm_103f sm_110a sm_120 sm_120a sm_121a",
    "sm_103a": "sm_100a sm_103a",
    "reductions": "sm_103a sm_103f sm_110a",
    "sm_110a": "sm_100a sm_110a",
}
VERSIONS = ["8.5", "8.6", "8.7", "8.8", "9.0"]
WORDS = {
    "SCALED": "[%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
    "SPARSE": "[%r1], %rd1, %rd2, [%r5], %r2",
    "SCALES": "[%r3], [%r4], %p1;",
    "FOUR": "%r0, %r1, %r2, %r3",
    "PRODUCT": "[%r1], %rd1, %rd2, %r2, %p1",
    "ONE": "mbarrier::arrive::one",
}
ACCEPTED = """
8.6 scaled redux.sync.min.f32 %f1, %f2, %r1;
8.6 scaled redux.sync.max.abs.NaN.f32 %f1, %f2, -1;
8.6 family tcgen05.mma.cta_group::1.kind::f16.ashift [%r1], [%r3], %rd2, %r2, %p1;
8.6 matrix stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [s], {%r1};
8.6 family tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32;
8.6 family tcgen05.alloc.cta_group::2.sync.aligned.b32 [%rd1], %r1;
8.6 family tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;
8.6 family tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
8.6 family tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];
8.6 family tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r2], 16;
8.6 family tcgen05.ld.sync.aligned.16x64b.x4.pack::16b.b32 {%r0, %r1, %r2, %r3}, [%r5];
8.6 family tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1};
8.6 family tcgen05.st.sync.aligned.32x32b.x4.unpack::16b.b32 [%r5], {%r0, %r1, %r2, %r3};
8.6 family tcgen05.wait::ld.sync.aligned;
8.6 family tcgen05.wait::st.sync.aligned;
8.6 family tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;
8.6 family tcgen05.cp.cta_group::1.4x256b [%r1], %rd1;
8.6 family tcgen05.cp.cta_group::1.128x128b.b8x16.b6x16_p32 [%r1], %rd1;
8.6 family tcgen05.cp.cta_group::1.64x128b.warpx2::02_13 [%r1], %rd1;
8.6 family tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16.b4x16_p64 [%r1], %rd1;
8.6 devices tcgen05.shift.cta_group::1.down [%r1];
8.6 family tcgen05.commit.cta_group::1.ONE.b64 [%rd1];
8.6 family tcgen05.commit.cta_group::1.ONE.shared::cluster.b64 [%r1];
8.6 family tcgen05.commit.cta_group::2.ONE.shared::cluster.multicast::cluster.b64 [%r1], %h1;
8.6 family tcgen05.fence::before_thread_sync;
8.6 family tcgen05.mma.cta_group::1.kind::f16 PRODUCT;
8.6 family tcgen05.mma.cta_group::1.kind::f16.collector::a::fill PRODUCT;
8.6 scaled tcgen05.mma.cta_group::1.kind::f16 PRODUCT, 3;
8.6 scaled tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r0, %r1, %r2, %r3}, %p1, 3;
8.6 family tcgen05.mma.cta_group::1.kind::tf32 [%r1], [%r3], %rd2, %r2, {%r0, %r1, %r2, %r3}, %p1;
8.6 family tcgen05.mma.cta_group::1.kind::f8f6f4 PRODUCT;
8.6 sm_110a tcgen05.mma.cta_group::1.kind::i8 PRODUCT;
8.6 family tcgen05.mma.cta_group::2.kind::f16 PRODUCT;
8.8 family tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale SCALED
8.6 devices tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X SCALED
8.6 devices tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::2X SCALED
8.7 devices tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::2X SCALED
8.7 devices tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X SCALED
8.8 family tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 SCALED
8.6 family tcgen05.mma.ws.cta_group::1.kind::f16 PRODUCT;
8.6 family tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, [%r3], %r2, %p1;
8.6 family tcgen05.mma.ws.cta_group::1.kind::f16 PRODUCT, %rd3;
8.6 family tcgen05.mma.ws.cta_group::1.kind::tf32.collector::b2::fill PRODUCT;
8.6 family tcgen05.mma.ws.cta_group::1.kind::f8f6f4 [%r1], [%r3], %rd2, %r2, %p1, 0;
8.6 sm_110a tcgen05.mma.ws.cta_group::1.kind::i8 PRODUCT;
8.6 family tcgen05.mma.ws.sp.cta_group::1.kind::f16.collector::b1::use SPARSE, %p1, %rd3;
8.6 family tcgen05.mma.sp.cta_group::1.kind::tf32.collector::a::fill SPARSE, {FOUR}, %p1;
8.6 family tcgen05.mma.sp.cta_group::2.kind::f16 SPARSE, {FOUR, FOUR}, %p1;
8.6 scaled tcgen05.mma.sp.cta_group::1.kind::f16 SPARSE, %p1, 3;
8.6 devices tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X SPARSE, SCALES
8.8 devices tcgen05.mma.sp.cta_group::1.kind::mxf4.block_scale SPARSE, SCALES
8.8 devices tcgen05.mma.sp.cta_group::1.kind::mxf4nvf4.block_scale.block16 SPARSE, SCALES
8.6 all st.bulk [%rd1], %rd2, 0;
8.6 matrix ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r1}, [s];
8.6 matrix ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {%r0, %r1, %r2, %r3}, [s];
8.6 matrix ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [s];
8.6 matrix ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32 {%r1, %r2}, [s];
8.6 matrix ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {FOUR}, [s];
8.6 matrix ldmatrix.sync.aligned.m16n16.x2.trans.b8x16.b4x16_p64 {FOUR}, [%rd1];
8.6 matrix stmatrix.sync.aligned.m16n8.x4.trans.shared.b8 [s], {FOUR};
8.7 sm_103a cvt.rs.f16x2.f32 %r1, %f1, %f2, %r2;
8.7 sm_103a cvt.rs.relu.bf16x2.f32 %r1, %f1, %f2, %r2;
8.7 sm_103a cvt.rs.satfinite.bf16x2.f32 %r1, %f1, %f2, %r2;
8.7 sm_103a cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;
8.7 sm_103a cvt.rs.relu.satfinite.e5m2x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;
8.7 sm_103a cvt.rs.satfinite.e2m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;
8.7 sm_103a cvt.rs.satfinite.e3m2x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;
8.7 sm_103a cvt.rs.satfinite.e2m1x4.f32 %h1, {%f1, %f2, %f3, %f4}, %r2;
"""
REDUCTIONS = """
tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%r1, %r2}, %r3, [%r4];
tcgen05.ld.red.sync.aligned.32x32b.x2.min.abs.NaN.f32 {%f1, %f2}, %f3, [%r4];
tcgen05.ld.red.sync.aligned.32x32b.x4.u32.max {FOUR}, %r5, [%r6];
tcgen05.ld.red.sync.aligned.16x32bx2.x2.min.s32 {%r1, %r2}, %r3, [%r4], 16;
"""
WRONG_REDUCTIONS = """
tcgen05.ld.red.sync.aligned.32x32b.x2.max.abs.s32 {%r1, %r2}, %r3, [%r4];
tcgen05.ld.red.sync.aligned.32x32b.x1.max.s32 {%r1}, %r3, [%r4];
tcgen05.ld.red.sync.aligned.16x64b.x2.min.s32 {%r1, %r2}, %r3, [%r4];
tcgen05.ld.red.sync.aligned.32x32b.x2.min.b32 {%r1, %r2}, %r3, [%r4];
tcgen05.ld.red.sync.aligned.32x32b.x2.pack::16b.min.u32 {%r1, %r2}, %r3, [%r4];
tcgen05.ld.red.sync.aligned.32x32b.x2.add.f32 {%r1, %r2}, %r3, [%r4];
tcgen05.ld.red.sync.aligned.32x32b.x2.f32 {%r1, %r2}, %r3, [%r4];
tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%r1, %r2}, [%r4];
"""
REFUSED = """
tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%r1, %r2}, %r3, [%r4];
ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 {FOUR}, [s];
ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r1, %r2}, [s];
ldmatrix.sync.aligned.m16n16.x1.trans.shared.b16 {%r1, %r2}, [s];
ldmatrix.sync.aligned.m16n16.x1.shared.b8x16.b6x16_p32 {%r1, %r2}, [s];
ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b4x16_p64 {%r1}, [s];
ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r1}, [s];
ldmatrix.sync.aligned.m8n8.x1.trans.shared.b8 {%r1}, [s];
stmatrix.sync.aligned.m16n8.x1.shared.b8 [s], {%r1};
stmatrix.sync.aligned.m16n8.x1.trans.shared.b16 [s], {%r1};
stmatrix.sync.aligned.m8n8.x1.trans.shared.b8 [s], {%r1};
tcgen05.mma.ws.cta_group::1.kind::f16 PRODUCT, %r3;
tcgen05.mma.ws.cta_group::1.kind::f16 PRODUCT, %rd3, 3;
tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {FOUR}, %p1;
tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2;
tcgen05.mma.ws.cta_group::2.kind::f16 PRODUCT;
tcgen05.mma.ws.cta_group::1 PRODUCT;
tcgen05.mma.ws.kind::f16 PRODUCT;
tcgen05.mma.ws.cta_group::1.kind::f16.collector::a::fill PRODUCT;
tcgen05.mma.ws.cta_group::1.kind::f16.collector::b2::fill.collector::b3::fill PRODUCT;
tcgen05.mma.ws.cta_group::1.kind::f16.ashift PRODUCT;
tcgen05.mma.ws.cta_group::1.kind::mxf8f6f4.block_scale SCALED
tcgen05.mma.cta_group::1.kind::f16.collector::b0::fill PRODUCT;
tcgen05.mma.cta_group::1.kind::f16.kind::tf32 PRODUCT;
tcgen05.mma.ws.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r3, %r2, %p1;
tcgen05.mma.sp.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r3, %r2, %p1;
tcgen05.mma.sp.cta_group::1.kind::f16 PRODUCT;
tcgen05.mma.sp.cta_group::1.kind::f8f6f4 SPARSE, %p1, 3;
redux.sync.add.f32 %f1, %f2, %r1;
redux.sync.max.abs.s32 %r1, %r2, %r3;
fma.rn.oob.f32 %f1, %f2, %f3, %f1;
fma.rn.oob.ftz.f16 %h1, %h2, %h3, %h1;
tcgen05.ld.sync.aligned.32x32b.x1.b32 %r1, [%r2];
tcgen05.ld.sync.aligned.16x128b.x128.b32 {%r0, %r1, %r2, %r3}, [%r5];
tcgen05.wait::st;
tcgen05.cp.cta_group::1.64x128b [%r1], %rd1;
tcgen05.mma.cta_group::1.kind::f8f6f4 PRODUCT, 3;
tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale SCALED
tcgen05.mma.cta_group::1.kind::mxf4.scale_vec::2X SCALED
tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2;
st.bulk.weak.shared::cta [s], 64, 1;
cvt.rs.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;
"""
TEXT = """.version {version}
.target {target}
.address_size 64
.visible .entry run(.param .u64 p) {{
    .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<16>;
    .shared .align 16 .b8 s[256];
    {body}
    ret;
}}
"""
LOAD = """
import ctypes, json, sys
from cuda.bindings import driver
from cuda.core import Device
Device().set_current()
for text in json.load(open(sys.argv[1])):
    code, module = driver.cuModuleLoadData(text.encode())
    print(code.name)
"""


def codes(run_emulated, tmp_path, texts, cc="10.0"):
    path = tmp_path / "texts.json"
    path.write_text(json.dumps(texts))
    return run_emulated(LOAD, str(path), cc=cc).stdout.split()


def text_of(body, version, target):
    for short, words in WORDS.items():
        body = body.replace(short, words)
    return TEXT.format(body=body, version=version, target=target)


def check(run_emulated, tmp_path, rows, cc="10.0"):
    """Check that those (body, version, target, loads) load that an assembler accepts."""
    results = codes(run_emulated, tmp_path, [text_of(*row[:3]) for row in rows], cc)
    wrong = [
        (code, *row)
        for code, row in zip(results, rows, strict=True)
        if code != ("CUDA_SUCCESS" if row[-1] else "CUDA_ERROR_INVALID_PTX")
    ]
    assert wrong == []


INSTRUCTIONS = [row.split(" ", 2) for row in ACCEPTED.strip().splitlines()]


def test_first_versions(run_emulated, tmp_path):
    rows = [
        (body, version, "sm_100a", VERSIONS.index(version) >= VERSIONS.index(first))
        for first, _, body in INSTRUCTIONS
        for version in VERSIONS
    ]
    check(run_emulated, tmp_path, rows)


@pytest.mark.parametrize("cc", TARGETS)
def test_targets(run_emulated, tmp_path, cc):
    rows = [
        (body, "9.0", target, target in GROUPS[group].split())
        for _, group, body in INSTRUCTIONS
        for target in TARGETS[cc]
    ]
    check(run_emulated, tmp_path, rows, cc)


def test_wrong_forms(run_emulated, tmp_path):
    bodies = REFUSED.strip().splitlines()
    results = codes(run_emulated, tmp_path, [text_of(b, "9.0", "sm_100a") for b in bodies])
    assert [b for b, c in zip(bodies, results, strict=True) if c != "CUDA_ERROR_INVALID_PTX"] == []


def test_loads_with_a_reduction(run_emulated, tmp_path):
    """An sm_100 lacks them; PTX has them since 8.8."""
    rows = [
        (body, version, "sm_103a", loads)
        for bodies, version, loads in (
            (REDUCTIONS, "8.8", True),
            (REDUCTIONS, "8.7", False),
            (WRONG_REDUCTIONS, "8.8", False),
        )
        for body in bodies.strip().splitlines()
    ]
    check(run_emulated, tmp_path, rows, "10.3")


def test_blocks_and_pairs_do_not_mix(run_emulated, tmp_path):
    alloc = "tcgen05.alloc.cta_group::{}.sync.aligned.shared::cta.b32 [s], 32;"
    body = alloc.format(1) + alloc.format(2)
    assert codes(run_emulated, tmp_path, [text_of(body, "9.0", "sm_100a")]) == [
        "CUDA_ERROR_INVALID_PTX"
    ]

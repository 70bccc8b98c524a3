# SPDX-License-Identifier: Apache-2.0
"""Versions and targets of instructions, forms without an effect, and refused forms."""

import numpy as np
import pytest

# instruction, version and target that lack it, version and target that have it
LATER = [
    ("dp4a.s32.s32 o0, i0, i0, i0;", "4.3", "sm_61", "5.0", "sm_61"),
    ("griddepcontrol.wait;", "8.0", "sm_80", "7.8", "sm_90"),
    ("cp.async.wait_all;", "7.0", "sm_75", "7.0", "sm_80"),
    ("mbarrier.arrive.shared.b64 _, [memory];", "6.4", "sm_80", "7.0", "sm_80"),
    ("mbarrier.try_wait.parity.shared.b64 p, [memory], 0;", "7.8", "sm_80", "7.8", "sm_90"),
    ("mbarrier.expect_tx.shared.b64 [memory], i0;", "7.8", "sm_90", "8.0", "sm_90"),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {o0}, [memory];", "6.4", "sm_75", "6.5", "sm_75"),
    ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [memory], {i0};", "8.0", "sm_80", "7.8", "sm_90"),
    ("movmatrix.sync.aligned.m8n8.trans.b16 o0, i0;", "7.7", "sm_80", "7.8", "sm_75"),
    ("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {o0, o0}, {i0, i0}, {i0}, {i0, i0};",
     "6.4", "sm_75", "6.5", "sm_75"),
    ("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 "
     "{o0, o0, o0, o0}, {i0, i0}, {i0}, {i0, i0, i0, i0};", "7.0", "sm_75", "7.0", "sm_80"),
    ("mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
     "{o0, o0}, {i0, i0}, {i0, i0}, {i0, i0}, i0, 0;", "7.0", "sm_80", "7.1", "sm_80"),
    ("mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
     "{o0, o0}, {i0, i0}, {i0, i0}, {i0, i0}, i0, 0;", "8.4", "sm_80", "8.5", "sm_80"),
    ("wmma.load.a.sync.aligned.row.m16n16k16.s8 {o0, o0}, [from];",
     "6.2", "sm_75", "6.3", "sm_75"),
    ("wmma.load.a.sync.aligned.row.m16n16k8.tf32 {o0, o0, o0, o0}, [from];",
     "7.0", "sm_75", "7.0", "sm_80"),
    ("wgmma.fence.sync.aligned;", "8.0", "sm_89", "8.0", "sm_90a"),
    ("mov.b32 f, i0; cvt.rna.tf32.f32 o0, f;", "7.0", "sm_75", "7.0", "sm_80"),
    ("mov.b32 f, i0; cvt.rn.tf32.f32 o0, f;", "8.0", "sm_80", "7.8", "sm_90"),
    ("mov.b32 f, i0; cvt.rn.satfinite.e4m3x2.f32 h, f, f;", "8.1", "sm_80", "8.1", "sm_89"),
    ("createpolicy.fractional.L2::evict_last.b64 g;", "7.4", "sm_75", "7.4", "sm_80"),
    ("fence.proxy.async;", "8.0", "sm_80", "8.0", "sm_90"),
    ("mov.b32 f, i0; red.global.add.v2.f32 [from], {f, f};", "8.0", "sm_90", "8.1", "sm_90"),
    ("cvt.pack.sat.u16.s32 o0, i0, i0;", "6.4", "sm_75", "6.5", "sm_75"),
]  # fmt: skip
DECLARE = ".reg .f32 f; .reg .b16 h; .reg .b64 g;"


@pytest.mark.parametrize("case", LATER, ids=lambda case: case[0])
def test_an_instruction_needs_a_version_and_a_target(load_words, case):
    body, old_version, old_target, version, target = case
    with pytest.raises(Exception, match="INVALID_PTX|needs .version|needs .target"):
        load_words(body, version=old_version, target=old_target, declarations=DECLARE)
    load_words(body, version=version, target=target, declarations=DECLARE)


@pytest.mark.parametrize(
    "body",
    [
        "griddepcontrol.wait; griddepcontrol.launch_dependents;",
        "fence.proxy.async; fence.proxy.async.global; fence.proxy.alias;",
        "fence.proxy.async.shared::cta; fence.mbarrier_init.release.cluster;",
        "fence.proxy.tensormap::generic.release.gpu;",
        "prefetch.tensormap [from]; prefetch.global.L2::evict_last [from];",
        "createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 g, [from], i0, i0;",
        "createpolicy.cvt.L2.b64 g, g;",
        "createpolicy.fractional.L2::evict_first.b64 g, 0.5; "
        "ld.global.L2::cache_hint.b32 o0, [from], g;",
    ],
)
def test_a_form_without_a_result(run_words, body):
    results = run_words(body + "mov.b32 o0, i0;", [[7]], 1, declarations=DECLARE)
    assert results.tolist() == [[7]]


@pytest.mark.parametrize("kind", ["red", "atom"])
@pytest.mark.parametrize("width", [2, 4])
def test_vectors_of_floats(run_words, kind, width):
    """All threads add to the words of thread 0."""
    names = [f"f{n}" for n in range(width)]
    results = "{" + ", ".join(f"e{n}" for n in range(width)) + "}, " if kind == "atom" else ""
    body = "bar.sync 0;"  # thread 0 reads its words before
    body += "".join(f"mov.b32 {name}, 0f3F800000;" for name in names)
    body += f"{kind}.global.add.v{width}.f32 {results}[base], {{{', '.join(names)}}}; bar.sync 0;"
    body += "".join(f"ld.global.b32 o{n}, [base+{4 * n}];" for n in range(4))
    rows = np.zeros((64, 4), np.float32)
    sums = run_words(body, rows.view(np.uint32), 4, declarations=".reg .f32 f<4>, e<4>;")
    assert sums.view(np.float32)[0].tolist() == [64.0] * width + [0.0] * (4 - width)


@pytest.mark.parametrize("operation", ["min", "max"])
@pytest.mark.parametrize("kind", ["red", "atom"])
@pytest.mark.parametrize("space", [".global", ""])
def test_extremes_of_vectors_of_halves(run_words, operation, kind, space):
    """The address may be generic. The words of thread 0 take part."""
    halves = np.random.default_rng(9).normal(size=(32, 16)).astype(np.float16)
    before = "{a0, a1}, " if kind == "atom" else ""
    brain = "{c0, c1, c2, c3}, " if kind == "atom" else ""
    body = f"""mov.b32 {{h0, h1}}, i0;
        {kind}{space}.{operation}.noftz.v2.f16 {before}[base], {{h0, h1}};
        {kind}{space}.{operation}.noftz.v4.bf16x2 {brain}[base+16], {{i4, i5, i6, i7}}; bar.sync 0;
        ld.global.b32 o0, [base]; ld.global.v4.b32 {{o1, o2, o3, o4}}, [base+16];"""
    declarations = ".reg .b16 h<2>, a<2>; .reg .b32 c<4>;"
    results = run_words(body, halves.view(np.uint32), 5, declarations=declarations, version="8.1")
    extreme = np.minimum if operation == "min" else np.maximum
    assert (results[0, :1].view(np.float16) == extreme.reduce(halves[:, :2])).all()
    wide = (halves[:, 8:].view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    expected = extreme.reduce(wide).view(np.uint32) >> 16
    assert (results[0, 1:].copy().view(np.uint16) == expected).all()


def test_registers_of_a_launch_without_a_graph(run_words):
    body = """mov.u32 o0, %aggr_smem_size; mov.u32 o1, %total_smem_size;
        mov.u64 g, %current_graph_exec; cvt.u32.u64 o2, g; mov.u32 o3, %pm0;
        mov.u64 g, %pm7_64; cvt.u32.u64 o4, g;"""
    aggregate, total, *zeros = run_words(body, [[7]], 5, declarations=DECLARE)[0].tolist()
    assert aggregate == total + 1024  # of the system
    assert zeros == [0, 0, 0]


@pytest.mark.parametrize(
    "body",
    [
        "cp.async.cg.shared.global [memory], [from], 8;",
        "cp.async.ca.shared.global [memory], [from], 12;",
        "cp.async.ca.global.shared [from], [memory], 4;",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16 "
        "{o0, o0, o0, o0}, {i0, i0}, {i0}, {i0, i0};",
        "mma.sync.aligned.m16n8k8.row.row.f16.f16.f16.f16 {o0, o0}, {i0, i0}, {i0}, {i0, i0};",
        "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {o0, o0}, {i0}, {i0}, {i0, i0};",
        "mov.b32 f, i0; cvt.rna.f16.f32 h, f;",
        "mov.b32 f, i0; cvt.rn.e4m3x2.f32 h, f, f;",
        "mbarrier.test_wait.shared::cluster.b64 p, [memory], g;",
        "dp2a.s32.s32 o0, i0, i0, i0;",
    ],
)
def test_a_refused_form_names_its_line(run_words, body):
    with pytest.raises(Exception, match="NOT_SUPPORTED|INVALID_PTX") as raised:
        run_words(body + "mov.b32 o0, i0;", [[7]], 1, declarations=DECLARE)
    text = " ".join([str(raised.value), *getattr(raised.value, "__notes__", ())])
    assert body.split(";")[-2].split()[0] in text


@pytest.mark.parametrize(("number", "is_normal"), [("1.5", 1), ("0f3FC00000", 1), ("0.0", 0)])
def test_the_property_of_a_constant(run_words, number, is_normal):
    body = f"testp.normal.f32 q, {number}; selp.b32 o0, 1, 0, q;"
    assert run_words(body, [[0]], 1).tolist() == [[is_normal]]

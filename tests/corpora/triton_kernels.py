# SPDX-License-Identifier: Apache-2.0
"""Compiles kernels of Triton for sm_80 and sm_90, without a GPU.

Run: ``python triton_kernels.py FOLDER``, with Triton.
"""

import sys

import triton
import triton.language as tl
from store import Store, buffer, parameter_count
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

POINTERS = {
    "f4": "*fp32",
    "f2": "*fp16",
    "bf16": "*bf16",
    "i4": "*i32",
    "i1": "*i8",
    "e4m3": "*fp8e4nv",
}
SCRATCH = "u1 65536 0..1"  # for descriptors that a kernel builds


@triton.jit
def add(x, y, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    tl.store(o + i, tl.load(x + i, m) + tl.load(y + i, m), m)


@triton.jit
def softmax(x, o, cols, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + r * cols + i, i < cols, other=-float("inf"))
    v = tl.exp(v - tl.max(v, 0))
    tl.store(o + r * cols + i, v / tl.sum(v, 0), i < cols)


@triton.jit
def matmul(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + m[:, None] * K + k[None, :]
    pb = b + k[:, None] * N + n[None, :]
    acc = tl.zeros((BM, BN), ACC)
    for _ in range(0, K, BK):
        acc += tl.dot(tl.load(pa), tl.load(pb), out_dtype=ACC)
        pa += BK
        pb += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def matmul_nt(
    a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    pa = a + m[:, None] * K + k[None, :]
    pb = b + n[None, :] * K + k[:, None]
    acc = tl.zeros((BM, BN), ACC)
    for _ in range(0, K, BK):
        acc += tl.dot(tl.load(pa), tl.load(pb), out_dtype=ACC)
        pa += BK
        pb += BK
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def layernorm(x, w, b, o, mu, rs, cols, eps, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    m = i < cols
    v = tl.load(x + r * cols + i, m, other=0.0)
    mean = tl.sum(v, 0) / cols
    d = tl.where(m, v - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d, 0) / cols + eps)
    tl.store(mu + r, mean)
    tl.store(rs + r, rstd)
    tl.store(o + r * cols + i, d * rstd * tl.load(w + i, m) + tl.load(b + i, m), m)


@triton.jit
def layernorm_back(g, x, w, dx, dw, cols, eps, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    m = i < cols
    v = tl.load(x + r * cols + i, m, other=0.0)
    gg = tl.load(g + r * cols + i, m, other=0.0)
    ww = tl.load(w + i, m, other=0.0)
    mean = tl.sum(v, 0) / cols
    d = tl.where(m, v - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d, 0) / cols + eps)
    h = d * rstd
    wg = ww * gg
    c1 = tl.sum(h * wg, 0) / cols
    c2 = tl.sum(wg, 0) / cols
    tl.store(dx + r * cols + i, (wg - (h * c1 + c2)) * rstd, m)
    tl.atomic_add(dw + i, gg * h, m)


@triton.jit
def dropout(x, o, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    k = tl.rand(seed, i) > p
    tl.store(o + i, tl.where(k, tl.load(x + i, m) / (1 - p), 0.0), m)


@triton.jit
def gelu(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    m = i < n
    v = tl.load(x + i, m)
    tl.store(o + i, 0.5 * v * (1 + tl.erf(v * 0.70710678)), m)


@triton.jit
def cumsum(x, o, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def sort(x, o, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(o + i, tl.sort(tl.load(x + i)))


@triton.jit
def histogram(x, o, N: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    h = tl.histogram(tl.load(x + i), BINS)
    tl.atomic_add(o + tl.arange(0, BINS), h)


@triton.jit
def argmax(x, o, v, cols, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    a = tl.load(x + r * cols + i, i < cols, other=-float("inf"))
    m, k = tl.max(a, 0, return_indices=True)
    tl.store(o + r, k)
    tl.store(v + r, m)


@triton.jit
def embedding(ids, w, o, D: tl.constexpr):
    r = tl.program_id(0)
    k = tl.load(ids + r)
    i = tl.arange(0, D)
    tl.store(o + r * D + i, tl.load(w + k * D + i))


@triton.jit
def transpose(x, o, M, N, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    tl.store(o + j[:, None] * M + i[None, :], tl.trans(tl.load(x + i[:, None] * N + j[None, :])))


@triton.jit
def cross_entropy(x, t, o, cols, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + r * cols + i, i < cols, other=-float("inf"))
    m = tl.max(v, 0)
    tl.store(o + r, tl.log(tl.sum(tl.exp(v - m), 0)) + m - tl.load(x + r * cols + tl.load(t + r)))


@triton.jit
def quantize(x, o, s, cols, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + r * cols + i, i < cols, other=0.0)
    a = tl.max(tl.abs(v), 0) / 127
    tl.store(s + r, a)
    tl.store(o + r * cols + i, tl.extra.cuda.libdevice.rint(v / a).to(tl.int8), i < cols)


@triton.jit
def rotary(x, c, s, o, H: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, H)
    a = tl.load(x + r * 2 * H + i)
    b = tl.load(x + r * 2 * H + H + i)
    cc = tl.load(c + r * H + i)
    ss = tl.load(s + r * H + i)
    tl.store(o + r * 2 * H + i, a * cc - b * ss)
    tl.store(o + r * 2 * H + H + i, a * ss + b * cc)


@triton.jit
def rmsnorm(x, w, o, cols, eps, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    m = i < cols
    v = tl.load(x + r * cols + i, m, other=0.0).to(tl.float32)
    tl.store(
        o + r * cols + i,
        (v * tl.rsqrt(tl.sum(v * v, 0) / cols + eps) * tl.load(w + i, m, other=0.0)).to(
            o.dtype.element_ty
        ),
        m,
    )


@triton.jit
def attention(
    q,
    k,
    v,
    o,
    lse,
    N,
    scale,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    CAUSAL: tl.constexpr,
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    h = tl.program_id(1) * N * D
    d = tl.arange(0, D)
    n = tl.arange(0, BN)
    qq = tl.load(q + h + m[:, None] * D + d[None, :])
    mi = tl.full((BM,), -float("inf"), tl.float32)
    li = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else N
    for s in range(0, end, BN):
        kk = tl.load(k + h + (s + n)[None, :] * D + d[:, None])
        t = tl.dot(qq, kk) * (scale * 1.44269504)
        if CAUSAL:
            t = tl.where(m[:, None] >= (s + n)[None, :], t, -1e30)
        mn = tl.maximum(mi, tl.max(t, 1))
        p = tl.exp2(t - mn[:, None])
        a = tl.exp2(mi - mn)
        li = li * a + tl.sum(p, 1)
        vv = tl.load(v + h + (s + n)[:, None] * D + d[None, :])
        acc = acc * a[:, None] + tl.dot(p.to(vv.dtype), vv)
        mi = mn
    tl.store(o + h + m[:, None] * D + d[None, :], (acc / li[:, None]).to(o.dtype.element_ty))
    tl.store(lse + tl.program_id(1) * N + m, (mi + tl.log2(li)) * 0.69314718)


@triton.jit
def attention_dkdv(
    q, k, v, g, lse, delta, dk, dv, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    h = tl.program_id(1) * N * D
    d = tl.arange(0, D)
    m = tl.arange(0, BM)
    kk = tl.load(k + h + n[:, None] * D + d[None, :])
    vv = tl.load(v + h + n[:, None] * D + d[None, :])
    ak = tl.zeros((BN, D), tl.float32)
    av = tl.zeros((BN, D), tl.float32)
    for s in range(0, N, BM):
        qt = tl.load(q + h + (s + m)[None, :] * D + d[:, None])
        lse_rows = tl.load(lse + tl.program_id(1) * N + s + m)
        pt = tl.exp(tl.dot(kk, qt) * scale - lse_rows[None, :])
        gg = tl.load(g + h + (s + m)[:, None] * D + d[None, :])
        av += tl.dot(pt.to(gg.dtype), gg)
        dl = tl.load(delta + tl.program_id(1) * N + s + m)
        ds = pt * (tl.dot(vv, tl.trans(gg)) - dl[None, :])
        ak += tl.dot(ds.to(gg.dtype), tl.trans(qt))
    tl.store(dv + h + n[:, None] * D + d[None, :], av)
    tl.store(dk + h + n[:, None] * D + d[None, :], ak * scale)


@triton.jit
def attention_dq(
    q, k, v, g, lse, delta, dq, N, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    h = tl.program_id(1) * N * D
    d = tl.arange(0, D)
    n = tl.arange(0, BN)
    qq = tl.load(q + h + m[:, None] * D + d[None, :])
    gg = tl.load(g + h + m[:, None] * D + d[None, :])
    lse_rows = tl.load(lse + tl.program_id(1) * N + m)
    dl = tl.load(delta + tl.program_id(1) * N + m)
    acc = tl.zeros((BM, D), tl.float32)
    for s in range(0, N, BN):
        kt = tl.load(k + h + (s + n)[None, :] * D + d[:, None])
        vt = tl.load(v + h + (s + n)[None, :] * D + d[:, None])
        p = tl.exp(tl.dot(qq, kt) * scale - lse_rows[:, None])
        ds = p * (tl.dot(gg, vt) - dl[:, None])
        acc += tl.dot(ds.to(kt.dtype), tl.trans(kt))
    tl.store(dq + h + m[:, None] * D + d[None, :], acc * scale)


@triton.jit
def matmul_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, [M, K], [K, 1], [BM, BK])
    db = tl.make_tensor_descriptor(b, [N, K], [K, 1], [BN, BK])
    dc = tl.make_tensor_descriptor(c, [M, N], [N, 1], [BM, BN])
    acc = tl.zeros((BM, BN), tl.float32)
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    for i in range(0, K, BK):
        acc = tl.dot(da.load([m, i]), db.load([n, i]).T, acc)
    dc.store([m, n], acc.to(tl.float16))


@triton.jit
def conv1d(x, w, o, n, T: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    for t in tl.static_range(T):
        acc += tl.load(w + t) * tl.load(x + i + t, i + t < n, other=0.0)
    tl.store(o + i, acc, i < n)


@triton.jit
def variance(x, o, cols, B: tl.constexpr):
    r = tl.program_id(0)
    i = tl.arange(0, B)
    v = tl.load(x + r * cols + i, i < cols, other=0.0)
    mean = tl.sum(v, 0) / cols
    d = tl.where(i < cols, v - mean, 0.0)
    tl.store(o + r, tl.sum(d * d, 0) / cols)


ROWS = "f4 5x300"
TILES = {"BM": 64, "BN": 64, "BK": 32, "ACC": tl.float32}
SIZES = {"M": 128, "N": 128, "K": 128}
HEADS = ["f2 2x128x64"] * 3
GRADIENT = ["f2 2x128x64"] * 4 + ["f4 2x128 4~5", "f4 2x128"]
SCALED = {"N": 128, "scale": 0.125}
BOTH, HOPPER = (80, 90), (90,)
# kernel, name, grid, buffers, scalars, constants, reference, tolerance, targets
CASES = [
    (
        add,
        "add_f32",
        [4],
        ["f4 1000"] * 2 + ["out f4 1000"],
        {"n": 1000},
        {"B": 256},
        "add",
        1e-6,
        BOTH,
    ),
    (
        add,
        "add_f16",
        [4],
        ["f2 1000"] * 2 + ["out f2 1000"],
        {"n": 1000},
        {"B": 256},
        "add",
        2e-3,
        BOTH,
    ),
    (
        softmax,
        "softmax",
        [5],
        [ROWS, "out f4 5x300"],
        {"cols": 300},
        {"B": 512},
        "softmax",
        1e-5,
        BOTH,
    ),
    (
        matmul,
        "matmul_f16",
        [2, 2],
        ["f2 128x128"] * 2 + ["out f4 128x128"],
        SIZES,
        TILES,
        "product",
        1e-4,
        BOTH,
    ),
    (
        matmul,
        "matmul_bf16",
        [2, 2],
        ["bf16 128x128"] * 2 + ["out f4 128x128"],
        SIZES,
        TILES,
        "product",
        1e-4,
        BOTH,
    ),
    (
        matmul,
        "matmul_f16_to_f16",
        [1],
        ["f2 128x64", "f2 64x128", "out f2 128x128"],
        SIZES | {"K": 64},
        TILES | {"BM": 128, "BN": 128, "BK": 64},
        "product",
        5e-3,
        BOTH,
    ),
    (
        matmul,
        "matmul_tf32",
        [2, 2],
        ["f4 128x64", "f4 64x128", "out f4 128x128"],
        SIZES | {"K": 64},
        TILES,
        "product",
        1e-2,
        BOTH,
    ),
    (
        matmul_nt,
        "matmul_i8",
        [2, 2],
        ["i1 128x128 -128..128"] * 2 + ["out i4 128x128"],
        SIZES,
        TILES | {"BK": 64, "ACC": tl.int32},
        "product_nt",
        0,
        BOTH,
    ),
    (
        matmul_nt,
        "matmul_e4m3",
        [2, 2],
        ["e4m3 128x128"] * 2 + ["out f4 128x128"],
        SIZES,
        TILES | {"BK": 64},
        "product_nt",
        1e-2,
        HOPPER,
    ),
    (
        matmul_tma,
        "matmul_descriptors",
        [2, 2],
        ["f2 128x128"] * 2 + ["out f2 128x128"],
        SIZES,
        {"BM": 64, "BN": 64, "BK": 64},
        "product_nt",
        5e-3,
        HOPPER,
    ),
    (
        layernorm,
        "layernorm",
        [5],
        [ROWS, "f4 300", "f4 300", "out f4 5x300", "out f4 5", "out f4 5"],
        {"cols": 300, "eps": 1e-5},
        {"B": 512},
        "layernorm",
        2e-5,
        BOTH,
    ),
    (
        layernorm_back,
        "layernorm_back",
        [5],
        [ROWS, ROWS, "f4 300", "out f4 5x300", "out f4 300"],
        {"cols": 300, "eps": 1e-5},
        {"B": 512},
        "layernorm_back",
        1e-4,
        BOTH,
    ),
    (
        dropout,
        "dropout",
        [4],
        ["f4 1000", "out f4 1000"],
        {"n": 1000, "p": 0.3, "seed": 123},
        {"B": 256},
        "dropout",
        1e-5,
        BOTH,
    ),
    (
        gelu,
        "gelu",
        [4],
        ["f4 1000 -3~3", "out f4 1000"],
        {"n": 1000},
        {"B": 256},
        "gelu",
        1e-5,
        BOTH,
    ),
    (cumsum, "cumsum", [2], ["f4 2x512", "out f4 2x512"], {}, {"N": 512}, "cumsum", 1e-4, BOTH),
    (sort, "sort", [2], ["f4 2x256", "out f4 2x256"], {}, {"N": 256}, "sort", 0, BOTH),
    (
        histogram,
        "histogram",
        [4],
        ["i4 1024 0..64", "out i4 64"],
        {},
        {"N": 256, "BINS": 64},
        "histogram",
        0,
        BOTH,
    ),
    (
        argmax,
        "argmax",
        [5],
        [ROWS, "out i4 5", "out f4 5"],
        {"cols": 300},
        {"B": 512},
        "argmax",
        0,
        BOTH,
    ),
    (
        embedding,
        "embedding",
        [20],
        ["i4 20 0..50", "f2 50x128", "out f2 20x128"],
        {},
        {"D": 128},
        "embedding",
        0,
        BOTH,
    ),
    (
        transpose,
        "transpose",
        [2, 4],
        ["f4 64x128", "out f4 128x64"],
        {"M": 64, "N": 128},
        {"B": 32},
        "transpose",
        0,
        BOTH,
    ),
    (
        cross_entropy,
        "cross_entropy",
        [5],
        [ROWS, "i4 5 0..300", "out f4 5"],
        {"cols": 300},
        {"B": 512},
        "cross_entropy",
        1e-5,
        BOTH,
    ),
    (
        quantize,
        "quantize",
        [5],
        [ROWS, "out i1 5x300", "out f4 5"],
        {"cols": 300},
        {"B": 512},
        "quantize",
        1e-5,
        BOTH,
    ),
    (
        rotary,
        "rotary",
        [8],
        ["f4 8x128", "f4 8x64", "f4 8x64", "out f4 8x128"],
        {},
        {"H": 64},
        "rotary",
        1e-6,
        BOTH,
    ),
    (
        rmsnorm,
        "rmsnorm",
        [5],
        ["bf16 5x300", "bf16 300", "out bf16 5x300"],
        {"cols": 300, "eps": 1e-5},
        {"B": 512},
        "rmsnorm",
        1e-2,
        BOTH,
    ),
    (
        attention,
        "attention",
        [2, 2],
        [*HEADS, "out f2 2x128x64", "out f4 2x128"],
        SCALED,
        {"D": 64, "BM": 64, "BN": 64, "CAUSAL": False},
        "attention",
        3e-3,
        BOTH,
    ),
    (
        attention,
        "attention_causal",
        [2, 2],
        [*HEADS, "out f2 2x128x64", "out f4 2x128"],
        SCALED,
        {"D": 64, "BM": 64, "BN": 64, "CAUSAL": True},
        "attention_causal",
        3e-3,
        BOTH,
    ),
    (
        attention_dkdv,
        "attention_dkdv",
        [2, 2],
        [*GRADIENT, "out f4 2x128x64", "out f4 2x128x64"],
        SCALED,
        {"D": 64, "BM": 32, "BN": 64},
        "attention_dkdv",
        3e-3,
        BOTH,
    ),
    (
        attention_dq,
        "attention_dq",
        [2, 2],
        [*GRADIENT, "out f4 2x128x64"],
        SCALED,
        {"D": 64, "BM": 64, "BN": 32},
        "attention_dq",
        3e-3,
        BOTH,
    ),
    (
        conv1d,
        "convolution",
        [4],
        ["f4 1000", "f4 7", "out f4 1000"],
        {"n": 1000},
        {"T": 7, "B": 256},
        "convolution",
        1e-5,
        BOTH,
    ),
    (
        variance,
        "variance",
        [5],
        [ROWS, "out f4 5"],
        {"cols": 300},
        {"B": 512},
        "variance",
        1e-5,
        BOTH,
    ),
]


def compiled(kernel, kinds, constants, values, target):
    """Compile a kernel; pointers and multiples of 16 are declared as aligned."""
    names = kernel.arg_names
    aligned = [
        n
        for n, name in enumerate(names)
        if name not in constants and values.get(name, 0) % 16 == 0 and kinds[name] != "fp32"
    ]
    attributes = {(n,): [["tt.divisibility", 16]] for n in aligned}
    source = ASTSource(kernel, kinds, constexprs=constants, attrs=attributes)
    options = {"num_warps": 4, "num_stages": 3, "ptx_version": 87}
    return triton.compile(source, target=GPUTarget("cuda", target, 32), options=options)


def add_case(store, case, target):
    kernel, name, grid, texts, values, constants, reference, tolerance, _ = case
    buffers, kinds, arguments = [buffer(text) for text in texts], {}, []
    for each in kernel.arg_names:
        if each in constants:
            kinds[each] = "constexpr"
        elif each in values:
            is_integer = isinstance(values[each], int)
            kinds[each] = "i32" if is_integer else "fp32"
            arguments.append(("i32" if is_integer else "f32", values[each]))
        else:
            number = sum(kind == "buffer" for kind, _ in arguments)
            kinds[each] = POINTERS[buffers[number]["dtype"]]
            arguments.append(("buffer", number))
    result = compiled(kernel, kinds, constants, values, target)
    ptx = result.asm["ptx"]
    for _ in range(parameter_count(ptx) - len(arguments)):
        arguments.append(("buffer", len(buffers)))
    buffers.append(buffer(SCRATCH))
    store.add(
        f"{name}_sm{target}",
        ptx,
        kernel=result.metadata.name,
        grid=(*grid, 1, 1)[:3],
        block=(32 * result.metadata.num_warps, 1, 1),
        shared=result.metadata.shared,
        arguments=arguments,
        buffers=buffers,
        reference=reference,
        tolerance=tolerance,
    )


def main(folder):
    store = Store(folder, "triton")
    for case in CASES:
        for target in case[-1]:
            add_case(store, case, target)
    store.save()


if __name__ == "__main__":
    main(*sys.argv[1:])

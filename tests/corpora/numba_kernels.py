# SPDX-License-Identifier: Apache-2.0
"""Compiles the same kernels with numba-cuda and with numba-cuda-mlir, for sm_80 and sm_90.

Run: ``python numba_kernels.py FOLDER numba|numba-cuda-mlir``. The second needs a driver for its
intrinsics: ``halfwarp emulate exec`` has one.
"""

import importlib
import math
import sys

import numpy as np
from store import Store, buffer, parameter_count

MODULES = {  # family -> its compiler and its types
    "numba": ("numba.cuda", "numba"),
    "numba-cuda-mlir": ("numba_cuda_mlir.cuda", "numba_cuda_mlir.numba_cuda"),
}
family = sys.argv[2]
cuda = importlib.import_module(MODULES[family][0])
types = importlib.import_module(MODULES[family][1]).types
f4, f8, i4, i8 = types.float32, types.float64, types.int32, types.int64
TYPES = {"f4": f4, "f8": f8, "i4": i4, "i8": i8}


def axpy(x, y, o, a):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = a * x[i] + y[i]


def matmul(a, b, c):
    i, j = cuda.grid(2)
    if i < c.shape[0] and j < c.shape[1]:
        t = 0.0
        for k in range(a.shape[1]):
            t += a[i, k] * b[k, j]
        c[i, j] = t


def tiled(a, b, c):
    sa = cuda.shared.array((16, 16), f4)
    sb = cuda.shared.array((16, 16), f4)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    t = f4(0)
    for k in range(a.shape[1] // 16):
        sa[tx, ty] = a[x, ty + k * 16]
        sb[tx, ty] = b[tx + k * 16, y]
        cuda.syncthreads()
        for j in range(16):
            t += sa[tx, j] * sb[j, ty]
        cuda.syncthreads()
    c[x, y] = t


def reduce_shared(x, o):
    s = cuda.shared.array(128, f8)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    k = 64
    while k > 0:
        if t < k:
            s[t] += s[t + k]
        cuda.syncthreads()
        k //= 2
    if t == 0:
        o[cuda.blockIdx.x] = s[0]


def histogram(x, o):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(o, x[i], 1)


def atomics(x, mx, mn, s):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.max(mx, 0, x[i])
        cuda.atomic.min(mn, 0, x[i])
        cuda.atomic.add(s, i % 4, 1)


def functions(x, o):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        o[i, 0] = math.sin(v)
        o[i, 1] = math.exp(v)
        o[i, 2] = math.log(abs(v) + 1)
        o[i, 3] = math.sqrt(abs(v))
        o[i, 4] = math.tanh(v)
        o[i, 5] = math.erf(v)
        o[i, 6] = math.atan2(v, 0.5)
        o[i, 7] = math.gamma(v + 3)


def mandelbrot(o, n):
    i, j = cuda.grid(2)
    if i < o.shape[0] and j < o.shape[1]:
        cr = -2.0 + 3.0 * j / o.shape[1]
        ci = -1.0 + 2.0 * i / o.shape[0]
        zr = 0.0
        zi = 0.0
        k = 0
        while k < n and zr * zr + zi * zi <= 4.0:
            zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
            k += 1
        o[i, j] = k


def shuffle(x, o):
    i = cuda.grid(1)
    v = x[i]
    for k in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, k)
    if cuda.laneid == 0:
        o[i // 32] = v


def votes(x, o):
    i = cuda.grid(1)
    p = x[i] > 0
    o[i, 0] = cuda.ballot_sync(0xFFFFFFFF, p) & 0x7FFFFFFF
    o[i, 1] = cuda.any_sync(0xFFFFFFFF, p)
    o[i, 2] = cuda.all_sync(0xFFFFFFFF, p)
    o[i, 3] = cuda.popc(cuda.activemask())


def bits(x, o):
    i = cuda.grid(1)
    o[i, 0] = cuda.popc(x[i])
    o[i, 1] = cuda.brev(x[i])
    o[i, 2] = cuda.clz(x[i])
    o[i, 3] = cuda.ffs(x[i])


def stencil(x, o):
    i, j = cuda.grid(2)
    if 0 < i < x.shape[0] - 1 and 0 < j < x.shape[1] - 1:
        o[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])


def local_array(x, o):
    i = cuda.grid(1)
    a = cuda.local.array(8, f8)
    for k in range(8):
        a[k] = x[i] * (k + 1)
    s = 0.0
    for k in range(8):
        s += a[(k * 3 + i) % 8] * k
    o[i] = s


def transpose(x, o):
    s = cuda.shared.array((32, 33), f4)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    i = cuda.blockIdx.x * 32
    j = cuda.blockIdx.y * 32
    for k in range(0, 32, 8):
        s[ty + k, tx] = x[j + ty + k, i + tx]
    cuda.syncthreads()
    for k in range(0, 32, 8):
        o[i + ty + k, j + tx] = s[tx, ty + k]


def bitonic_sort(x, o):
    s = cuda.shared.array(128, i4)
    t = cuda.threadIdx.x
    s[t] = x[cuda.blockIdx.x, t]
    cuda.syncthreads()
    k = 2
    while k <= 128:
        j = k // 2
        while j > 0:
            p = t ^ j
            if p > t:
                up = (t & k) == 0
                if (s[t] > s[p]) == up:
                    v = s[t]
                    s[t] = s[p]
                    s[p] = v
            cuda.syncthreads()
            j //= 2
        k *= 2
    o[cuda.blockIdx.x, t] = s[t]


def scan(x, o):
    s = cuda.shared.array(128, i8)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    k = 1
    while k < 128:
        v = s[t - k] if t >= k else 0
        cuda.syncthreads()
        s[t] += v
        cuda.syncthreads()
        k *= 2
    o[cuda.grid(1)] = s[t]


def divisions(x, y, o):
    i = cuda.grid(1)
    if i < x.size and y[i] != 0:
        o[i, 0] = x[i] // y[i]
        o[i, 1] = x[i] % y[i]
        o[i, 2] = x[i] >> (i % 8)
        o[i, 3] = (x[i] ^ y[i]) & 255


def nbody(p, v, o, n, dt):
    i = cuda.grid(1)
    if i < n:
        ax = 0.0
        ay = 0.0
        az = 0.0
        for j in range(n):
            dx = p[j, 0] - p[i, 0]
            dy = p[j, 1] - p[i, 1]
            dz = p[j, 2] - p[i, 2]
            r = dx * dx + dy * dy + dz * dz + 0.01
            w = 1 / (r * math.sqrt(r))
            ax += dx * w
            ay += dy * w
            az += dz * w
        o[i, 0] = v[i, 0] + ax * dt
        o[i, 1] = v[i, 1] + ay * dt
        o[i, 2] = v[i, 2] + az * dt


def compare_and_swap(x, lock, o):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.compare_and_swap(lock, 0, x[i] + 1)
        cuda.threadfence()
        cuda.atomic.exch(o, i % 8, 7)


# kernel, name, grid, block, buffers, scalars, reference, tolerance
CASES = [
    (
        axpy,
        "axpy_f32",
        [4],
        [128],
        ["f4 500", "f4 500", "out f4 500"],
        [("f32", 2.5)],
        "axpy",
        1e-6,
    ),
    (
        axpy,
        "axpy_f64",
        [4],
        [128],
        ["f8 500", "f8 500", "out f8 500"],
        [("f64", 2.5)],
        "axpy",
        1e-14,
    ),
    (
        matmul,
        "matmul_f64",
        [3, 3],
        [16, 16],
        ["f8 40x30", "f8 30x45", "out f8 40x45"],
        [],
        "product",
        1e-13,
    ),
    (
        tiled,
        "matmul_shared",
        [2, 3],
        [16, 16],
        ["f4 32x64", "f4 64x48", "out f4 32x48"],
        [],
        "product",
        1e-5,
    ),
    (reduce_shared, "reduce_shared", [4], [128], ["f8 500", "out f8 4"], [], "reduce", 1e-13),
    (histogram, "histogram", [8], [128], ["i4 1000 0..32", "out i4 32"], [], "histogram", 0),
    (
        atomics,
        "atomic_max_min",
        [4],
        [128],
        ["f8 500", "out f8 1", "out f8 1", "out i8 4"],
        [],
        "atomics",
        0,
    ),
    (
        functions,
        "functions_f64",
        [2],
        [128],
        ["f8 200 -2~2", "out f8 200x8"],
        [],
        "functions",
        1e-13,
    ),
    (
        functions,
        "functions_f32",
        [2],
        [128],
        ["f4 200 -2~2", "out f4 200x8"],
        [],
        "functions",
        1e-5,
    ),
    (mandelbrot, "mandelbrot", [2, 3], [16, 16], ["out i4 32x48"], [("i32", 50)], "mandelbrot", 0),
    (shuffle, "warp_shuffle", [2], [128], ["f4 256", "out f4 8"], [], "warp_sums", 1e-6),
    (votes, "warp_votes", [1], [64], ["i4 64 -2..3", "out i8 64x4"], [], "votes", 0),
    (bits, "bits", [1], [64], ["i4 64 1..1073741824", "out i4 64x4"], [], "bits", 0),
    (stencil, "stencil", [3, 3], [16, 16], ["f4 40x40", "out f4 40x40"], [], "stencil", 1e-6),
    (local_array, "local_array", [2], [32], ["f8 64", "out f8 64"], [], "local_array", 1e-13),
    (transpose, "transpose", [2, 3], [32, 8], ["f4 96x64", "out f4 64x96"], [], "transpose", 0),
    (
        bitonic_sort,
        "bitonic_sort",
        [2],
        [128],
        ["i4 2x128 -1000..1000", "out i4 2x128"],
        [],
        "sort",
        0,
    ),
    (scan, "scan", [2], [128], ["i8 256 -1000..1000", "out i8 256"], [], "cumsum", 0),
    (
        divisions,
        "divisions",
        [1],
        [128],
        ["i8 128 -10000..10000", "i8 128 -50..50", "out i8 128x4"],
        [],
        "divisions",
        0,
    ),
    (
        nbody,
        "nbody",
        [2],
        [64],
        ["f8 100x3", "f8 100x3", "out f8 100x3"],
        [("i32", 100), ("f64", 0.01)],
        "nbody",
        1e-11,
    ),
    (
        compare_and_swap,
        "compare_and_swap",
        [1],
        [32],
        ["i4 1 3..4", "out i4 1", "out i4 8"],
        [],
        "compare_and_swap",
        0,
    ),
]
SCALARS = {"f32": f4, "f64": f8, "i32": i4}


def arguments_of(buffers, is_mlir):
    """Return the parameters of arrays: a header, the address, extents, and strides."""
    arguments = []
    for n, each in enumerate(buffers):
        shape, size = each["shape"], np.dtype(each["dtype"]).itemsize
        if is_mlir:  # two addresses, and strides in elements
            arguments += [("buffer", n), ("buffer", n), ("i64", 0)]
        else:
            counts = [("i64", int(np.prod(shape))), ("i64", size)]
            arguments += [("u64", 0), ("u64", 0), *counts, ("buffer", n)]
        unit = 1 if is_mlir else size
        strides = [unit * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
        arguments += [("i64", int(extent)) for extent in (*shape, *strides)]
    return arguments


def add_case(store, case, capability):
    kernel, name, grid, block, texts, values, reference, tolerance = case
    buffers = [buffer(text) for text in texts]
    arrays = [types.Array(TYPES[b["dtype"]], len(b["shape"]), "C") for b in buffers]
    signature = (*arrays, *(SCALARS[kind] for kind, _ in values))
    ptx = cuda.compile_ptx(kernel, signature, cc=capability)
    ptx = ptx[0] if isinstance(ptx, tuple) else ptx
    arguments = arguments_of(buffers, family != "numba") + values
    assert parameter_count(ptx) == len(arguments), name
    store.add(
        f"{name}_sm{capability[0]}{capability[1]}",
        ptx,
        grid=(*grid, 1, 1)[:3],
        block=(*block, 1, 1)[:3],
        shared=0,
        arguments=arguments,
        buffers=buffers,
        reference=reference,
        tolerance=tolerance,
    )


def main(folder):
    store = Store(folder, family)
    for case in CASES:
        if case[1] == "compare_and_swap" and family != "numba":
            continue  # its compiler fails
        for capability in ((9, 0), (8, 0)):
            add_case(store, case, capability)
    store.save()


if __name__ == "__main__":
    main(sys.argv[1])

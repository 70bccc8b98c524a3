# SPDX-License-Identifier: Apache-2.0
"""Filters over gradients, edges of cubes and long footprints, and calls that drivers refuse.

``HALFWARP_BACKEND=driver python -m tests.emulator.texture.filter_probe > filters_h200.txt``
prints one line for each case, in the format of ``hardware_probe.py``; gzip the file beside this
one.
"""

import ctypes
import sys

import numpy as np
from cuda.bindings import driver

from tests.emulator.texture.bench import (
    BORDER,
    CLAMP,
    CUBE,
    LAYERED,
    SURFACE,
    Array,
    Bench,
    Levels,
    Surface,
    Texture,
    ok,
)

KERNELS = r"""
#define EACH int i = threadIdx.x; if (i >= n) return; const float* at = p + 9 * i
#define VECTOR(k) make_float4(at[k], at[k + 1], at[k + 2], 0)
extern "C" __global__ void grad_line(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = tex1DGrad<float4>(t, at[0], at[3], at[6]);
}
extern "C" __global__ void grad_plane(unsigned long long t, const float* p, float4* to, int n) {
    EACH;
    to[i] = tex2DGrad<float4>(t, at[0], at[1], make_float2(at[3], at[4]),
                              make_float2(at[6], at[7]));
}
extern "C" __global__ void grad_layers(unsigned long long t, const float* p, float4* to, int n) {
    EACH;
    to[i] = tex2DLayeredGrad<float4>(t, at[0], at[1], (int)at[2], make_float2(at[3], at[4]),
                                     make_float2(at[6], at[7]));
}
extern "C" __global__ void grad_volume(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = tex3DGrad<float4>(t, at[0], at[1], at[2], VECTOR(3), VECTOR(6));
}
extern "C" __global__ void grad_cube(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = texCubemapGrad<float4>(t, at[0], at[1], at[2], VECTOR(3), VECTOR(6));
}
extern "C" __global__ void read_cube(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = texCubemap<float4>(t, at[0], at[1], at[2]);
}
extern "C" __global__ void read_level(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = texCubemapLod<float4>(t, at[0], at[1], at[2], at[3]);
}
extern "C" __global__ void store(unsigned long long s, const float* p, float4* to, int n) {
    EACH; surf1Dwrite(at[0], s, 4 * i);
    float back = 0;
    surf1Dread(&back, s, 4 * i);
    to[i] = make_float4(back, 0, 0, 0);
}
"""
NORMALIZED, SEAMLESS = driver.CU_TRSF_NORMALIZED_COORDINATES, driver.CU_TRSF_SEAMLESS_CUBEMAP
STEPS = (0.0, 0.01, 0.0625, 0.08, 0.125, 0.2, 0.3, 0.5, 1.0)
FORMATS = driver.CUarray_format


def noise(*shape):
    """Floats between -2 and 2 that look random, equal on every machine."""
    count = int(np.prod(shape))
    bits = (np.arange(count, dtype=np.uint64) * 2654435761 + 12345) % 2**32
    return ((bits / 2.0**30) - 2).astype(np.float32).reshape(shape)


def pyramid(count, depth, size):
    """Levels of noise, each 1 brighter than the previous one, with the same layers and faces."""
    shapes = [(depth, max(1, size >> n), max(1, size >> n)) for n in range(count)]
    return [noise(*shape) + n for n, shape in enumerate(shapes)]


def line(name, text):
    print(f"{name}: {text}")


def values(name, result):
    words = np.ascontiguousarray(result).view(np.uint32)
    line(name, " ".join(",".join(f"{word:08x}" for word in row) for row in words))


def code(result):
    return result[0].name


def directions():
    """Return directions around the edges and corners of all faces, and across them."""
    steps = (-1.0, -0.98, -0.9, -0.75, -0.6, 0.0, 0.25, 0.8, 0.95, 1.0)
    created = []
    for axis in range(3):
        for sign in (1.0, -1.0):
            for first in steps:
                for second in (-0.99, -0.5, 0.125, 0.97):
                    point = [first, second]
                    point.insert(axis, sign)
                    created.append(point)
    return created


def seamless(bench):
    for size in (1, 2, 4):
        with Array(noise(6, size, size), (size, size, 6), CUBE) as array:
            for flags, name in ((0, "edges"), (SEAMLESS, "seamless")):
                for is_linear in (False, True):
                    with Texture(array.resource(), CLAMP, is_linear, NORMALIZED | flags) as texture:
                        result = bench.run("read_cube", texture, directions(), width=9)
                    values(f"cube {size} {name} linear={is_linear}", result)
    linear = driver.CUfilter_mode(1)
    with Levels(pyramid(3, 6, 4), (4, 4, 6), CUBE) as array:
        extra = {"mipmapFilterMode": linear, "maxMipmapLevelClamp": 9.0}
        with Texture(array.resource(), CLAMP, True, NORMALIZED | SEAMLESS, **extra) as texture:
            points = [[*point, 0.3 * (i % 7)] for i, point in enumerate(directions())]
            values("cube levels seamless", bench.run("read_level", texture, points, width=9))


def gradients(bench):
    shapes = {
        "line": ([noise(16 >> n) + n for n in range(4)], (16, 0, 0), 0),
        "plane": (pyramid(4, 1, 16), (16, 16, 0), 0),
        "layers": (pyramid(4, 3, 16), (16, 16, 3), LAYERED),
        "volume": ([noise(16 >> n, 16 >> n, 16 >> n) + n for n in range(4)], (16, 16, 16), 0),
        "cube": (pyramid(4, 6, 16), (16, 16, 6), CUBE),
    }
    third = {"layers": 1.0, "cube": -1.0}
    for name, (data, extents, flags) in shapes.items():
        place = (0.3, 0.6, third.get(name, 0.45))
        points = []
        for step in STEPS:
            points += [
                [*place, step, 0, 0, 0, 0, 0],
                [*place, 0, 0, 0, step, 0, 0],
                [*place, step, step / 2, 0, -step / 3, step, 0],
                [*place, 0, step, step, step, 0, -step / 2],
            ]
        if name == "line":
            data = [each.reshape(-1) for each in data]
        for mipmap in (0, 1):
            extra = {"mipmapFilterMode": driver.CUfilter_mode(mipmap), "maxMipmapLevelClamp": 9.0}
            with (
                Levels(data, extents, flags) as array,
                Texture(array.resource(), CLAMP, True, NORMALIZED, **extra) as texture,
            ):
                result = bench.run(f"grad_{name}", texture, points, width=9)
            values(f"gradient {name} mipmap={mipmap}", result)


def anisotropy(bench):
    """Each third gradient rotates; the others grow in one direction."""
    points = []
    for x, y in ((0.3, 0.6), (0.52, 0.21)):
        for long in STEPS[2:]:
            for short in (0.0, 0.03, 0.0625, 0.1):
                points += [
                    [x, y, 0, long, 0, 0, 0, short, 0],
                    [x, y, 0, 0, short, 0, long, 0, 0],
                    [x, y, 0, long * 0.8, long * 0.6, 0, -short * 0.6, short * 0.8, 0],
                ]
    with Levels(pyramid(5, 1, 16), (16, 16, 0)) as array:
        for most in (0, 1, 2, 3, 4, 8, 16, 64):
            for mipmap in (0, 1):
                extra = {
                    "maxAnisotropy": most,
                    "mipmapFilterMode": driver.CUfilter_mode(mipmap),
                    "maxMipmapLevelClamp": 9.0,
                }
                with Texture(array.resource(), CLAMP, True, NORMALIZED, **extra) as texture:
                    result = bench.run("grad_plane", texture, points, width=9)
                values(f"anisotropy {most} mipmap={mipmap}", result)


def rows(bench):
    """Copy rows of an array that begin or end outside the array."""
    host = (ctypes.c_float * 64)()
    with Array(np.zeros(4, np.float32), (4, 0, 0)) as array:
        for offset, count in ((0, 16), (8, 8), (4, 16), (0, 20), (0, 64), (0, 68), (2, 4), (0, 3),
                              (16, 4), (32, 4), (1 << 62, 4)):  # fmt: skip
            to = driver.cuMemcpyHtoA(array.handle, offset, ctypes.addressof(host), count)
            back = driver.cuMemcpyAtoH(ctypes.addressof(host), array.handle, offset, count)
            line(f"row of an array from {offset} {count} bytes", f"{code(to)} {code(back)}")


def borders(bench):
    """Report the descriptions that return the border color."""
    for data in (np.zeros(4, np.float32), np.zeros(4, np.uint8)):
        with Array(data, (4, 0, 0)) as array:
            for mode in (CLAMP, BORDER):
                for flags in (0, driver.CU_TRSF_READ_AS_INTEGER):
                    texture = Texture(array.resource(), mode, False, flags)
                    output = ok(driver.cuTexObjectGetTextureDesc(texture.handle))
                    name = f"border of {data.dtype} mode={mode} flags={flags}"
                    line(name, f"{list(output.borderColor)} {output.flags}")
                    ok(driver.cuTexObjectDestroy(texture.handle))


def objects(bench):
    """Create objects of unsuitable arrays, and read back from a surface."""
    with Array(np.zeros(4, np.float32), (4, 0, 0)) as array:
        result = driver.cuTexObjectCreate(array.resource(), seamless_description(), None)
        line("seamless texture of a line", code(result))
        if code(result) == "CUDA_SUCCESS":
            ok(driver.cuTexObjectDestroy(result[1]))
    for flags in (SURFACE, 0):
        with Array(np.zeros(4, np.float32), (4, 0, 0), flags) as array:
            with Surface(array.resource()) as surface:
                readback = bench.run("store", surface, [[1.5], [-2.0], [3.0], [0.25]], width=9)
            values(f"surface of an array with flags {flags}", readback)


def seamless_description():
    descriptor = driver.CUDA_TEXTURE_DESC()
    descriptor.flags = NORMALIZED | SEAMLESS
    return descriptor


def main():
    bench = Bench(KERNELS, "read_cube")
    chosen = sys.argv[1:]
    for each in (seamless, gradients, anisotropy, rows, borders, objects):
        if not chosen or each.__name__ in chosen:
            each(bench)
    bench.stream.close()


if __name__ == "__main__":
    main()

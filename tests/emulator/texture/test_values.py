# SPDX-License-Identifier: Apache-2.0
"""Results of texture and surface instructions compared with the formulas in NumPy."""

import ctypes

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core._core import CUDAError

from tests.emulator.texture.bench import (
    BORDER,
    BORDER_COLOR,
    CLAMP,
    CUBE,
    GATHER,
    LAYERED,
    MIRROR,
    SURFACE,
    WRAP,
    Array,
    Bench,
    Levels,
    Surface,
    Texture,
    ok,
)

KERNELS = r"""
#define EACH int i = threadIdx.x; if (i >= n) return; const float* at = p + 4 * i
extern "C" __global__ void read_1d(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = tex1D<float4>(t, at[0]);
}
extern "C" __global__ void read_2d(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = tex2D<float4>(t, at[0], at[1]);
}
extern "C" __global__ void read_3d(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = tex3D<float4>(t, at[0], at[1], at[2]);
}
extern "C" __global__ void read_layers(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = tex2DLayered<float4>(t, at[0], at[1], (int)at[2]);
}
extern "C" __global__ void read_rows(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = tex1DLayered<float4>(t, at[0], (int)at[2]);
}
extern "C" __global__ void read_cube(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = texCubemap<float4>(t, at[0], at[1], at[2]);
}
extern "C" __global__ void gather(unsigned long long t, const float* p, float4* to, int n) {
    EACH; to[i] = tex2Dgather<float4>(t, at[0], at[1], 0);
}
extern "C" __global__ void write(unsigned long long s, const float* p, float4* to, int n) {
    EACH; surf3Dwrite((unsigned char)(10 + i), s, (int)at[0], (int)at[1], (int)at[2]);
}
extern "C" __global__ void write_zero(unsigned long long s, const float* p, float4* to, int n) {
    EACH;
    surf3Dwrite((unsigned char)(10 + i), s, (int)at[0], (int)at[1], (int)at[2],
                cudaBoundaryModeZero);
}
extern "C" __global__ void count(unsigned long long s, const float* p, float4* to, int n) {
    EACH;
    int x = 4 * (i % 2);
    asm volatile("sured.b.add.1d.u32.clamp [%0, {%1}], %2;" :: "l"(s), "r"(x), "r"(i + 1));
}
"""
# Separate modules: a driver of CUDA 13.0 loads no cubin that queries a texture by its handle.
ASK = r"""
#define EACH int i = threadIdx.x; if (i >= n) return; const float* at = p + 4 * i
extern "C" __global__ void ask(unsigned long long t, const float* p, float4* to, int n) {
    EACH;
    unsigned width, height, kind, order, normalized;
    asm("txq.width.b32 %0, [%1];" : "=r"(width) : "l"(t));
    asm("txq.height.b32 %0, [%1];" : "=r"(height) : "l"(t));
    asm("txq.channel_data_type.b32 %0, [%1];" : "=r"(kind) : "l"(t));
    asm("txq.normalized_coords.b32 %0, [%1];" : "=r"(normalized) : "l"(t));
    asm("txq.channel_order.b32 %0, [%1];" : "=r"(order) : "l"(t));
    to[i] = make_float4(width, height, normalized, at[0]);
}
"""
ASK_LEVEL = r"""
extern "C" __global__ void ask(unsigned long long t, const float* p, float4* to, int n) {
    unsigned width, height, levels;
    asm("txq.level.width.b32 %0, [%1], %2;" : "=r"(width) : "l"(t), "r"((int)p[0]));
    asm("txq.level.height.b32 %0, [%1], %2;" : "=r"(height) : "l"(t), "r"((int)p[0]));
    asm("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(levels) : "l"(t));
    to[0] = make_float4(width, height, levels, p[0]);
}
"""


@pytest.fixture(scope="module")
def bench():
    result = Bench(KERNELS, "read_1d")
    yield result
    result.stream.close()


def place(index, count, mode):
    """Return the element that an index of one axis selects; None for the border."""
    if mode == WRAP:
        return index % count
    if mode == MIRROR:
        index %= 2 * count
        return min(index, 2 * count - 1 - index)
    if mode == BORDER and not 0 <= index < count:
        return None
    return min(max(index, 0), count - 1)


def expected(data, point, mode, is_linear):
    """Compute the formulas of the programming guide, in elements; weights have eight bits."""
    if is_linear and len(point) == 1:  # a line is filtered at the edge of its one row
        data, point = data[None], (point[0], 0.0)
    total = 0.0
    taps = []
    for at in point:
        if is_linear:
            fixed = int(np.floor((float(at) - 0.5) * 256 + 0.5))
            weight = fixed % 256 / 256
            taps.append([(fixed // 256, 1 - weight), (fixed // 256 + 1, weight)])
        else:
            taps.append([(int(np.floor(at)), 1.0)])
    for corner in np.ndindex(*map(len, taps)):
        chosen = [taps[axis][tap] for axis, tap in enumerate(corner)]
        weight = float(np.prod([each[1] for each in chosen]))
        places = [
            place(index, count, mode)
            for (index, _), count in zip(chosen, data.shape[::-1], strict=True)
        ]
        value = BORDER_COLOR[0] if None in places else float(data[tuple(places[::-1])])
        total += weight * value
    return total


@pytest.mark.parametrize("is_linear", [False, True])
@pytest.mark.parametrize("mode", [WRAP, CLAMP, MIRROR, BORDER])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_elements_are_addressed_and_filtered_by_the_formulas(bench, axes, mode, is_linear):
    random = np.random.default_rng(axes * 100 + mode * 10 + is_linear)
    shape = (3, 5, 8)[3 - axes :]
    data = random.standard_normal(shape).astype(np.float32)
    extents = (*shape[::-1], 0, 0)[:3]
    # A quarter of an element apart, so that scaling by the extents rounds nothing.
    points = random.integers(-60, 60, (200, axes)) / 4 + 1 / 16
    scaled = points / np.array(shape[::-1])
    wants = [expected(data, point, mode, is_linear) for point in points]
    with (
        Array(data, extents) as array,
        Texture(
            array.resource(), mode, is_linear, driver.CU_TRSF_NORMALIZED_COORDINATES
        ) as texture,
    ):
        result = bench.run(f"read_{axes}d", texture, scaled)[:, 0]
    # 5 and 3 are no powers of two: a coordinate may round to the next weight.
    assert np.abs(result - wants).max() <= (2**-6 if is_linear else 0)


@pytest.mark.parametrize("mode", [WRAP, MIRROR])
def test_only_normalized_coordinates_are_periodic(bench, mode):
    data = np.arange(4, dtype=np.float32)
    with Array(data, (4, 0, 0)) as array, Texture(array.resource(), mode) as texture:
        result = bench.run("read_1d", texture, [[-3.5], [1.5], [9.5]])[:, 0]
    assert result.tolist() == [0, 1, 3]


def test_layers_are_selected_and_not_filtered(bench):
    data = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    with Array(data, (4, 3, 2), LAYERED) as array, Texture(array.resource(), is_linear=True) as t:
        result = bench.run("read_layers", t, [[0.5, 0.5, 0], [1.0, 0.5, 1], [0.5, 1.5, 9]])[:, 0]
    assert result.tolist() == [0, 12.5, 16]
    rows = np.arange(8, dtype=np.float32).reshape(2, 1, 4)
    with Array(rows, (4, 0, 2), LAYERED) as array, Texture(array.resource()) as texture:
        result = bench.run("read_rows", texture, [[0.5, 0, 0], [1.5, 0, 1], [2.5, 0, 7]])[:, 0]
    assert result.tolist() == [0, 5, 6]


def test_faces_of_a_cube_are_found_by_the_longest_axis(bench):
    data = np.arange(6 * 2 * 2, dtype=np.float32).reshape(6, 2, 2)
    points = [
        [1, 0.5, -0.5], [-1, 0.5, -0.5], [0.5, 1, 0.5], [0.5, -1, 0.5], [0.5, 0.5, 1],
        [0.5, 0.5, -1],
    ]  # fmt: skip
    # (s, t) of each face, by the table of the guide: (-z, -y), (z, -y), (x, z), (x, -z) ...
    wants = [0 * 4 + 1, 1 * 4 + 0, 2 * 4 + 3, 3 * 4 + 1, 4 * 4 + 1, 5 * 4 + 0]
    with Array(data, (2, 2, 6), CUBE) as array, Texture(array.resource(), flags=2) as texture:
        assert bench.run("read_cube", texture, points)[:, 0].tolist() == wants


def test_gathering_returns_four_neighbors(bench):
    data = np.arange(12, dtype=np.float32).reshape(3, 4)
    with Array(data, (4, 3, 0), GATHER) as array, Texture(array.resource()) as texture:
        result = bench.run("gather", texture, [[2.0, 2.0]])
    assert result[0].tolist() == [9, 10, 6, 5]


def test_a_texture_returns_its_description(bench, emulated):
    code = bench.load(ASK, "ask")
    data = np.zeros((3, 4), np.float32)
    with Array(data, (4, 3, 0)) as array, Texture(array.resource(), flags=2) as texture:
        assert bench.run("ask", texture, [[7.0]], code)[0].tolist() == [4, 3, 1, 7]


@pytest.mark.parametrize(("level", "width", "height"), [(0, 4, 2), (1, 2, 1), (2, 0, 0)])
def test_a_level_has_its_own_size(bench, emulated, level, width, height):
    code = bench.load(ASK_LEVEL, "ask")
    data = [np.zeros((2, 4)), np.zeros((1, 2))]
    with Levels(data, (4, 2, 0)) as array, Texture(array.resource()) as texture:
        expected = [width, height, 2, level]
        assert bench.run("ask", texture, [[level]], code)[0].tolist() == expected


def test_a_surface_is_written_by_bytes_rows_and_slices(bench):
    data = np.zeros((2, 3, 4), np.uint8)
    with Array(data, (4, 3, 2), SURFACE) as array, Surface(array.resource()) as surface:
        bench.run("write", surface, [[0, 0, 0], [3, 2, 1], [1, 1, 0]])
        result = array.copy(False)
    assert (result[0, 0, 0], result[1, 2, 3], result[0, 1, 1]) == (10, 11, 12)
    assert np.count_nonzero(result) == 3


def test_a_surface_supports_reductions(bench):
    with Array(np.zeros(4, np.uint32), (4, 0, 0), SURFACE) as array:
        with Surface(array.resource()) as surface:
            bench.run("count", surface, np.zeros((32, 1)))
        assert array.copy(False)[:2].tolist() == [sum(range(1, 33, 2)), sum(range(2, 33, 2))]


def test_writes_outside_a_surface_are_dropped_or_fault(bench):
    data = np.zeros((1, 1, 4), np.uint8)
    with Array(data, (4, 1, 1), SURFACE) as array, Surface(array.resource()) as surface:
        bench.run("write_zero", surface, [[-1, 0, 0], [4, 0, 0], [0, 1, 0], [0, 0, 1]])
        assert not array.copy(False).any()


class TestFaults:
    @pytest.fixture
    def emulation(self, bench):
        from cuda.core import emulation

        if not emulation.is_active():
            pytest.skip("a fault ends the context of a GPU")
        return emulation

    def test_an_access_outside_a_surface_is_a_fault(self, bench, emulation):
        with (
            Array(np.zeros((1, 1, 4), np.uint8), (4, 1, 1), SURFACE) as array,
            Surface(array.resource()) as surface,
            emulation.expect_fault("out-of-bounds"),
            pytest.raises(CUDAError, match="outside of the surface"),
        ):
            bench.run("write", surface, [[4, 0, 0]])

    def test_an_unknown_handle_is_a_fault(self, bench, emulation):
        with (
            emulation.expect_fault("unmapped"),
            pytest.raises(CUDAError, match="handle of no texture object"),
        ):
            bench.run("read_1d", 12345, [[0.5]])

    def test_a_surface_used_as_a_texture_is_a_fault(self, bench, emulation):
        with (
            Array(np.zeros((1, 1, 4), np.uint8), (4, 1, 1), SURFACE) as array,
            Surface(array.resource()) as surface,
            emulation.expect_fault("unmapped"),
            pytest.raises(CUDAError, match="handle of no texture object"),
        ):
            bench.run("read_1d", surface, [[0.5]])

    def test_a_destroyed_array_is_a_fault(self, bench, emulation):
        with Array(np.zeros(4, np.float32), (4, 0, 0)) as array:
            texture = Texture(array.resource())
        with (
            texture as handle,
            emulation.expect_fault("use-after-free"),
            pytest.raises(CUDAError, match="was freed"),
        ):
            bench.run("read_1d", handle, [[0.5]])


def test_rows_are_copied_between_arrays_and_memory(bench):
    data, back = np.arange(8, dtype=np.float32), np.zeros(4, np.float32)
    with Array(data, (8, 0, 0)) as one, Array(np.zeros(8, np.float32), (8, 0, 0)) as other:
        ok(driver.cuMemcpyAtoA(other.handle, 0, one.handle, 16, 16))
        ok(driver.cuMemcpyHtoA(other.handle, 16, data.ctypes.data, 8))
        ok(driver.cuMemcpyAtoH(back.ctypes.data, other.handle, 8, 16))
    assert back.tolist() == [6, 7, 0, 1]


def code(result):
    return result[0].name.removeprefix("CUDA_ERROR_")


def test_wrong_arrays_are_refused(bench):
    def create(**fields):
        descriptor = driver.CUDA_ARRAY3D_DESCRIPTOR()
        descriptor.Width, descriptor.NumChannels = 4, 1
        descriptor.Format = driver.CUarray_format.CU_AD_FORMAT_FLOAT
        for name, value in fields.items():
            setattr(descriptor, name, value)
        result = driver.cuArray3DCreate(descriptor)
        if result[0] == 0:
            ok(driver.cuArrayDestroy(result[1]))
        return code(result)

    assert create() == "CUDA_SUCCESS"
    for fields in (
        {"Width": 0},
        {"NumChannels": 3},
        {"Width": 1 << 20},
        {"Depth": 3},
        {"Height": 2, "Depth": 5, "Flags": CUBE},
        {"Height": 4, "Depth": 5, "Flags": CUBE},
        {"Flags": LAYERED},
    ):
        assert create(**fields) == "INVALID_VALUE", fields


def test_a_copy_outside_the_array_is_refused(bench):
    host = (ctypes.c_float * 8)()
    with Array(np.zeros(4, np.float32), (4, 0, 0)) as array:
        for offset, count in ((4, 16), (0, 20), (16, 4), (1 << 62, 4)):
            result = driver.cuMemcpyHtoA(array.handle, offset, ctypes.addressof(host), count)
            assert code(result) == "INVALID_VALUE"
            result = driver.cuMemcpyAtoH(ctypes.addressof(host), array.handle, offset, count)
            assert code(result) == "INVALID_VALUE"


def test_a_host_pitch_need_not_be_whole_elements(bench):
    """An H200 accepts it as well."""
    sent = np.arange(1, 17, dtype=np.uint8)
    received = np.zeros(16, np.uint8)
    with Array(np.zeros(4, np.float32), (4, 0, 0)) as array:
        for offset, count in ((2, 4), (13, 3)):
            ok(driver.cuMemcpyHtoA(array.handle, offset, sent.ctypes.data, count))
        ok(driver.cuMemcpyAtoH(received.ctypes.data, array.handle, 1, 15))
    assert received.tolist() == [0, 1, 2, 3, 4, *[0] * 7, 1, 2, 3, 0]

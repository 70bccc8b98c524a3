# SPDX-License-Identifier: Apache-2.0
"""Values that textures and surfaces return, for comparison of a GPU and the emulator.

``HALFWARP_BACKEND=driver python tests/emulator/texture/hardware_probe.py > hardware_h200.txt``
prints one line for each case: its name, then the bits of every value that the kernel read, in
hex. It does not depend on the machine: a rule gives the elements, and the points are
listed.
"""

import sys

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core.texture import (
    MipmappedArrayOptions,
    OpaqueArrayOptions,
    ResourceDescriptor,
    TextureObjectOptions,
)

KERNELS = r"""
#define POINTS int i = threadIdx.x; if (i >= n) return
extern "C" __global__ void line_float(cudaTextureObject_t t, const float* p, float4* to, int n) {
    POINTS; to[i] = tex1D<float4>(t, p[i]);
}
extern "C" __global__ void plane_float(cudaTextureObject_t t, const float* p, float4* to, int n) {
    POINTS; to[i] = tex2D<float4>(t, p[2 * i], p[2 * i + 1]);
}
extern "C" __global__ void volume_float(cudaTextureObject_t t, const float* p, float4* to, int n) {
    POINTS; to[i] = tex3D<float4>(t, p[3 * i], p[3 * i + 1], p[3 * i + 2]);
}
extern "C" __global__ void plane_uint(cudaTextureObject_t t, const float* p, uint4* to, int n) {
    POINTS; to[i] = tex2D<uint4>(t, p[2 * i], p[2 * i + 1]);
}
extern "C" __global__ void plane_int(cudaTextureObject_t t, const float* p, int4* to, int n) {
    POINTS; to[i] = tex2D<int4>(t, p[2 * i], p[2 * i + 1]);
}
extern "C" __global__ void fetch_float(cudaTextureObject_t t, const float* p, float4* to, int n) {
    POINTS; to[i] = tex1Dfetch<float4>(t, (int)p[i]);
}
extern "C" __global__ void level_float(cudaTextureObject_t t, const float* p, float4* to, int n) {
    POINTS; to[i] = tex2DLod<float4>(t, p[3 * i], p[3 * i + 1], p[3 * i + 2]);
}
extern "C" __global__ void grad_float(cudaTextureObject_t t, const float* p, float4* to, int n) {
    POINTS;
    float2 dx = make_float2(p[3 * i + 2], 0), dy = make_float2(0, p[3 * i + 2]);
    to[i] = tex2DGrad<float4>(t, p[3 * i], p[3 * i + 1], dx, dy);
}
extern "C" __global__ void gather_float(cudaTextureObject_t t, const float* p, float4* to, int n) {
    POINTS; to[i] = tex2Dgather<float4>(t, p[2 * i], p[2 * i + 1], 0);
}
extern "C" __global__ void surface_read(cudaSurfaceObject_t s, const float* p, float4* to, int n) {
    POINTS;
    float v = 0;
    surf2Dread(&v, s, (int)p[2 * i] * 4, (int)p[2 * i + 1], cudaBoundaryModeZero);
    to[i] = make_float4(v, 0, 0, 0);
}
extern "C" __global__ void surface_clamp(cudaSurfaceObject_t s, const float* p, float4* to, int n) {
    POINTS;
    float v = 0;
    surf2Dread(&v, s, (int)p[2 * i] * 4, (int)p[2 * i + 1], cudaBoundaryModeClamp);
    to[i] = make_float4(v, 0, 0, 0);
}
"""
AXES = {"line": 1, "plane": 2, "volume": 3, "fetch": 1, "level": 3, "grad": 3}
FORMATS = ("uint8", "uint16", "int8", "int16", "float16", "float32")
INTEGERS = ("uint8", "uint16", "uint32", "int8", "int16", "int32")
MODES = ("wrap", "clamp", "mirror", "border")
NAN, INF = float("nan"), float("inf")
# In elements of an extent of 5: inside, at the edges, between, outside, and invalid.
STEPS = (
    0.0, 0.25, 0.49, 0.5, 0.501, 0.502, 0.505, 0.75, 1.0, 1.3, 1.5, 1.999, 2.0, 2.5, 2.7, 3.1415927,
    4.0, 4.25, 4.5, 4.75, 4.999, 5.0, 5.5, 6.2, 7.5, 9.9, 10.0, 12.5, -0.001, -0.25, -0.5, -0.75,
    -1.0, -1.5, -2.5, -5.0, -7.3, 100.5, -100.5, 1e6, 1e9, -1e9, 1e20, NAN, INF, -INF,
)  # fmt: skip
FRACTIONS = tuple(0.5 + i / 1024 for i in range(0, 1024, 37))  # of a filter's weights


class Bench:
    """A device and its kernels; prints the result of each case."""

    def __init__(self):
        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        options = ProgramOptions(arch=f"sm_{self.device.arch}")
        self.code = Program(KERNELS, "c++", options).compile("cubin")
        self.memory = LegacyPinnedMemoryResource()
        self.errors = 0

    def run(self, kernel, handle, points, axes):
        count = len(points) // axes
        assert count <= 1024
        coordinates = np.array(points, np.float32)
        with (
            self.memory.allocate(coordinates.nbytes) as source,
            self.memory.allocate(16 * count) as to,
        ):
            np.from_dlpack(source).view(np.float32)[:] = coordinates
            np.from_dlpack(to).view(np.uint8)[:] = 0xAB
            config = LaunchConfig(grid=1, block=(count + 31) // 32 * 32)
            entry = self.code.get_kernel(kernel)
            launch(self.stream, config, entry, np.uint64(handle), source, to, np.int32(count))
            self.stream.sync()
            return np.from_dlpack(to).view(np.uint32).copy().reshape(count, 4)

    def array(self, shape, format, channels, **extra):
        result = self.device.create_opaque_array(
            OpaqueArrayOptions(shape, format, channels, **extra)
        )
        result.copy_from(elements(shape, format, channels), stream=self.stream)
        self.stream.sync()
        return result

    def texture(self, resource, **options):
        chosen = TextureObjectOptions(**options)
        return self.device.create_texture_object(resource=resource, options=chosen)

    def case(self, name, kernel, resource, points, axes, **options):
        try:
            with self.texture(resource, **options) as texture:
                values = self.run(kernel, texture.handle, points, axes)
        except CUDAError as error:
            return line(name, str(error).partition(":")[0])
        return line(name, text_of(values))


def elements(shape, format, channels):
    """Numbers that look random, equal on every machine; floats between -2 and 2."""
    count = int(np.prod(shape)) * channels
    noise = (np.arange(count, dtype=np.uint64) * 2654435761 + 12345) % 2**32
    if format.startswith("float"):
        return ((noise / 2.0**30).astype(np.float32) - 2).astype(format)
    return (noise >> 7).astype(np.uint32).astype(format)


def text_of(values):
    return " ".join(",".join(f"{word:08x}" for word in row) for row in values)


def line(name, text):
    print(f"{name}: {text}")


def grid(steps, axes, scale=1.0):
    """Points on a diagonal, and each step on each axis alone."""
    points = [[step * scale] * axes for step in steps]
    points += [
        [(step if axis == moved else 1.7) * scale for axis in range(axes)]
        for moved in range(axes)
        for step in steps[::3]
    ]
    return [each for point in points for each in point]


def addressing(bench):
    for shape, kernel in (((5,), "line"), ((5, 5), "plane"), ((5, 5, 5), "volume")):
        axes = len(shape)
        with bench.array(shape, "float32", 1) as array:
            resource = ResourceDescriptor.from_opaque_array(array)
            for mode in MODES:
                for filter_mode in ("point", "linear"):
                    for normalized in (False, True):
                        options = {
                            "address_mode": mode,
                            "filter_mode": filter_mode,
                            "normalized_coords": normalized,
                            "border_color": (0.25, 0.5, -1.0, 7.0),
                        }
                        name = f"{kernel} {mode} {filter_mode} normalized={normalized}"
                        points = grid(STEPS, axes, 0.2 if normalized else 1.0)
                        bench.case(name, f"{kernel}_float", resource, points, axes, **options)


def formats(bench):
    points = grid((0.5, 1.2, 2.5, 3.75, 4.5, 6.0), 2)
    for channels in (1, 2, 4):
        for format in FORMATS:
            with bench.array((5, 5), format, channels) as array:
                resource = ResourceDescriptor.from_opaque_array(array)
                for filter_mode in ("point", "linear"):
                    name = f"float of {format} x {channels} {filter_mode}"
                    options = {"filter_mode": filter_mode, "read_mode": "normalized_float"}
                    bench.case(name, "plane_float", resource, points, 2, **options)
        for format in INTEGERS:
            kernel = "plane_uint" if format.startswith("u") else "plane_int"
            with bench.array((5, 5), format, channels) as array:
                resource = ResourceDescriptor.from_opaque_array(array)
                for options in ({}, {"address_mode": "border", "border_color": (1.0, 2, 3, 4)}):
                    mode = options.get("address_mode", "clamp")
                    bench.case(f"{format} x {channels} {mode}", kernel, resource, points, 2,
                               **options)  # fmt: skip


def weights(bench):
    with bench.array((5,), "float32", 1) as array:
        resource = ResourceDescriptor.from_opaque_array(array)
        bench.case("weights", "line_float", resource, FRACTIONS, 1, filter_mode="linear")
    with bench.array((5,), "uint8", 1) as array:
        resource = ResourceDescriptor.from_opaque_array(array)
        bench.case("weights of uint8", "line_float", resource, FRACTIONS, 1, filter_mode="linear",
                   read_mode="normalized_float")  # fmt: skip
    with bench.array((8, 8), "uint8", 4) as array:
        resource = ResourceDescriptor.from_opaque_array(array)
        bench.case("srgb", "plane_float", resource, grid(STEPS[:20], 2), 2, srgb=True,
                   read_mode="normalized_float", filter_mode="linear")  # fmt: skip


def levels(bench):
    options = MipmappedArrayOptions((16, 16), "float32", 1, 4)
    with bench.device.create_mipmapped_array(options) as array:
        for number in range(4):
            with array.get_level(number) as level:
                level.copy_from(elements(level.shape, "float32", 1) + number, stream=bench.stream)
        bench.stream.sync()
        resource = ResourceDescriptor.from_mipmapped_array(array)
        at = (-1.0, 0.0, 0.2, 0.49, 0.5, 0.51, 1.0, 1.25, 1.7, 2.5, 2.9, 3.0, 5.0, NAN)
        points = [v for level in at for v in (0.3, 0.6, level)]
        steps = [v for step in (0.0, 0.01, 0.0625, 0.08, 0.125, 0.3, 1.0) for v in (0.3, 0.6, step)]
        for mipmap in ("point", "linear"):
            for most, bias in ((0.0, 0.0), (3.0, 0.0), (2.0, 0.5), (9.0, -0.25)):
                options = {
                    "normalized_coords": True,
                    "filter_mode": "linear",
                    "mipmap_filter_mode": mipmap,
                    "max_mipmap_level_clamp": most,
                    "mipmap_level_bias": bias,
                }
                name = f"{mipmap} to {most} bias {bias}"
                bench.case(f"level {name}", "level_float", resource, points, 3, **options)
                bench.case(f"gradient {name}", "grad_float", resource, steps, 3, **options)
        bench.case("levels without normalized coordinates", "level_float", resource, points, 3)


def memory(bench):
    data = elements((64, 8), "float32", 1)
    with bench.device.allocate(data.nbytes, stream=bench.stream) as buffer:
        buffer.copy_from(data, stream=bench.stream)
        bench.stream.sync()
        resource = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1)
        places = (0, 1, 5, 255, 511, 512, 513, 100000, -1, -5)
        bench.case("linear memory", "fetch_float", resource, places, 1)
        resource = ResourceDescriptor.from_pitch2d(
            buffer, format="float32", num_channels=1, width=50, height=8, pitch_bytes=256
        )
        points = grid((0.5, 1.2, 2.5, 3.75, 4.5, 49.5, 50.5, 60.0), 2)
        for filter_mode in ("point", "linear"):
            bench.case(f"pitched memory {filter_mode}", "plane_float", resource, points, 2,
                       filter_mode=filter_mode)  # fmt: skip
        for pitch in (200, 224, 240, 256):
            resource = ResourceDescriptor.from_pitch2d(
                buffer, format="float32", num_channels=1, width=50, height=4, pitch_bytes=pitch
            )
            bench.case(f"pitch {pitch}", "plane_float", resource, points[:2], 2)
        for offset in (16, 32, 256, 512):
            with buffer.resize_view(offset, 1024) as part:
                resource = ResourceDescriptor.from_linear(part, format="float32", num_channels=1)
                bench.case(f"linear from byte {offset}", "fetch_float", resource, (0,), 1)


def surfaces(bench):
    points = grid((0, 1, 3, 4, 5, 7, -1, -3), 2)
    with (
        bench.array((5, 5), "float32", 1, is_surface_load_store=True) as array,
        bench.device.create_surface_object(
            resource=ResourceDescriptor.from_opaque_array(array)
        ) as surface,
    ):
        line("surface zero", text_of(bench.run("surface_read", surface.handle, points, 2)))
        line("surface clamp", text_of(bench.run("surface_clamp", surface.handle, points, 2)))


def refusals(bench):
    """Report the results of invalid descriptors."""
    for format in ("uint8", "int32"):
        with bench.array((5, 5), format, 1) as array:
            resource = ResourceDescriptor.from_opaque_array(array)
            for read_mode in ("element_type", "normalized_float"):
                bench.case(f"linear filter of {format} {read_mode}", "plane_float", resource,
                           (2.0, 2.0), 2, filter_mode="linear", read_mode=read_mode)  # fmt: skip
    for count in (1, 3, 4, 5, 9):
        try:
            options = MipmappedArrayOptions((8, 4), "uint8", 1, count)
            with bench.device.create_mipmapped_array(options) as result:
                line(f"{count} levels of 8 x 4", result.num_levels)
        except CUDAError as error:
            line(f"{count} levels of 8 x 4", str(error).partition(":")[0])
    for shape in ((131072,), (131073,), (131072, 1), (1, 65537), (16385, 1, 1)):
        try:
            with bench.device.create_opaque_array(OpaqueArrayOptions(shape, "uint8", 1)):
                line(f"array of {shape}", "made")
        except CUDAError as error:
            line(f"array of {shape}", str(error).partition(":")[0])
    with bench.array((5, 5), "float32", 1) as array:
        resource = ResourceDescriptor.from_opaque_array(array)
        bench.case("gather", "gather_float", resource, grid(STEPS[:20], 2), 2)
        for value in (0, 1, 16, 17, 1000):
            bench.case(f"anisotropy {value}", "plane_float", resource, (2.5, 2.5), 2,
                       max_anisotropy=value)  # fmt: skip


def main():
    bench = Bench()
    chosen = sys.argv[1:]
    for each in (addressing, formats, weights, levels, memory, surfaces, refusals):
        if not chosen or each.__name__ in chosen:
            each(bench)
    bench.stream.close()


if __name__ == "__main__":
    main()

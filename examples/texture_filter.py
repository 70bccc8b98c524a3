# SPDX-License-Identifier: Apache-2.0
"""Rotate and enlarge a picture with a texture, whose hardware interpolates between pixels.

Prints the difference from the same interpolation in NumPy, and the path of the picture: a PPM file,
at the path in the argument or in the folder for temporary files.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions

SIDE, LARGE, ANGLE, ZOOM = 32, 128, 0.5, 0.25
SOURCE = """
extern "C" __global__ void turn(cudaTextureObject_t picture, uchar4* to, int side, float cosine,
                                float sine) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= side) return;
    float dx = x + 0.5f - side / 2, dy = y + 0.5f - side / 2;
    float u = cosine * dx - sine * dy + 16, v = sine * dx + cosine * dy + 16;
    float4 color = tex2D<float4>(picture, u, v);
    to[y * side + x] = make_uchar4(255 * color.x + 0.5f, 255 * color.y + 0.5f,
                                   255 * color.z + 0.5f, 255);
}"""


def picture():
    """Return a checkerboard with more red to the right and more green to the bottom."""
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    blue = np.where((x // 4 + y // 4) % 2, 255, 40)
    return np.stack([8 * x, 8 * y, blue, np.full_like(x, 255)], axis=-1).astype(np.uint8)


def mixed(source, u, v):
    """Interpolate one color between four neighbors, black outside, like the texture."""
    padded = np.pad(source.astype(np.float64), 1)
    x, y = np.clip(u + 0.5, 0, SIDE + 0.999), np.clip(v + 0.5, 0, SIDE + 0.999)
    i, j = x.astype(int), y.astype(int)
    a, b = x - i, y - j
    top = (1 - a) * padded[j, i] + a * padded[j, i + 1]
    return (1 - b) * top + b * ((1 - a) * padded[j + 1, i] + a * padded[j + 1, i + 1])


def main():
    device = Device()
    device.set_current()
    stream = device.create_stream()
    program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin").get_kernel("turn")
    cosine, sine = ZOOM * np.cos(ANGLE), ZOOM * np.sin(ANGLE)
    source = picture()
    options = TextureObjectOptions(
        filter_mode="linear", read_mode="normalized_float", address_mode="border"
    )
    with (
        device.create_opaque_array(OpaqueArrayOptions((SIDE, SIDE), "uint8", 4)) as array,
        LegacyPinnedMemoryResource().allocate(4 * LARGE * LARGE) as turned,
    ):
        array.copy_from(source, stream=stream)
        resource = ResourceDescriptor.from_opaque_array(array)
        with device.create_texture_object(resource=resource, options=options) as texture:
            config = LaunchConfig(grid=(LARGE // 32, LARGE), block=32)
            launch(stream, config, kernel, texture, turned, LARGE, float(cosine), float(sine))
            stream.sync()
        result = np.from_dlpack(turned).view(np.uint8).reshape(LARGE, LARGE, 4)[..., :3].copy()

    dy, dx = np.mgrid[0:LARGE, 0:LARGE] + 0.5 - LARGE / 2
    coordinates = (cosine * dx - sine * dy + SIDE / 2, sine * dx + cosine * dy + SIDE / 2)
    expected = np.stack([mixed(source[..., each], *coordinates) for each in range(3)], axis=-1)
    distance = np.abs(result - expected).max()
    assert distance <= 3, distance  # the weights of a filter have eight bits
    path = Path(sys.argv[1] if sys.argv[1:] else Path(tempfile.gettempdir()) / "turned.ppm")
    path.write_bytes(f"P6 {LARGE} {LARGE} 255\n".encode() + result.tobytes())
    print(f"{LARGE} x {LARGE} pixels, at most {distance:.2f} of 255 from NumPy, in {path}")
    stream.close()


if __name__ == "__main__":
    main()

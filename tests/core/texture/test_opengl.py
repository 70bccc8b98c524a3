# SPDX-License-Identifier: Apache-2.0
"""GraphicsResource with OpenGL itself, on a GPU with a context without a screen."""

import numpy as np
import pytest
from cuda.core import (
    GraphicsResource,
    LaunchConfig,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core._core import CUDAError
from cuda.core.texture import ResourceDescriptor, TextureObjectOptions

from tests.core.texture.headless_gl import TEXTURE_2D, Context, NoOpenGL

# test_graphics.py tests simulated objects of the emulator.
pytestmark = pytest.mark.gpu("the emulator has no OpenGL")
COUNT = 1000
KERNELS = r"""
extern "C" __global__ void twice(float* data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2;
}
extern "C" __global__ void turn(cudaSurfaceObject_t s, cudaTextureObject_t t, int w, int h) {
    int x = threadIdx.x, y = threadIdx.y;
    if (x < w && y < h) surf2Dwrite(tex2D<float4>(t, w - 0.5f - x, h - 0.5f - y), s, x * 16, y);
}
"""


@pytest.fixture(scope="module")
def gl():
    try:
        context = Context()
    except NoOpenGL as error:
        pytest.skip(f"no OpenGL without a screen: {error}")
    yield context
    context.close()


@pytest.fixture(scope="module")
def code():
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    return Program(KERNELS, "c++", options).compile("cubin")


@pytest.fixture
def numbers(gl):
    """An OpenGL buffer, and its content."""
    data = np.arange(COUNT, dtype=np.float32)
    name = gl.buffer(data)
    yield name, data
    gl.delete("glDeleteBuffers", name)


@pytest.fixture
def picture(gl):
    data = np.arange(5 * 7 * 4, dtype=np.float32).reshape(5, 7, 4)
    name = gl.texture(data)
    yield name, data
    gl.delete("glDeleteTextures", name)


def test_a_kernel_changes_a_buffer_of_opengl(gl, numbers, device, stream, code):
    name, data = numbers
    with GraphicsResource.from_gl_buffer(name) as resource:
        with resource.map(stream=stream) as buffer:
            assert buffer.size == data.nbytes
            config = LaunchConfig(grid=4, block=256)
            launch(stream, config, code.get_kernel("twice"), buffer, np.int32(COUNT))
        stream.sync()
        assert (gl.read_buffer(np.zeros_like(data)) == data * 2).all()
        gl.write_buffer(data + 5)
        with resource.map(stream=stream) as buffer:
            back = np.zeros_like(data)
            buffer.copy_to(back, stream=stream)
            stream.sync()
        assert (back == data + 5).all()


def test_with_a_stream_it_is_mapped_and_unregistered_at_the_end(gl, numbers, device, stream):
    name, data = numbers
    with GraphicsResource.from_gl_buffer(name, flags="write_discard", stream=stream) as buffer:
        buffer.fill(0, stream=stream)
    assert buffer.is_closed
    stream.sync()
    assert not gl.read_buffer(np.ones_like(data)).any()


def test_an_image_is_an_array_that_copies_can_write(gl, picture, device, stream):
    name, data = picture
    back = np.zeros_like(data)
    with GraphicsResource.from_gl_image(name, TEXTURE_2D) as resource:
        array = resource.map_array(stream=stream)
        assert (array.shape, array.num_channels) == ((7, 5), 4)
        array.copy_to(back, stream=stream)
        array.copy_from(np.ascontiguousarray(data * 3), stream=stream)
        stream.sync()
        resource.unmap()
        stream.sync()
        assert (back == data).all()
    assert (gl.read_texture(np.zeros_like(data)) == data * 3).all()


def test_a_kernel_samples_and_writes_an_image(gl, picture, device, stream, code):
    name, data = picture
    other = gl.texture(np.zeros_like(data))
    flags = "surface_load_store"
    with (
        GraphicsResource.from_gl_image(name, TEXTURE_2D, flags="read_only") as source,
        GraphicsResource.from_gl_image(other, TEXTURE_2D, flags=flags) as target,
    ):
        read = ResourceDescriptor.from_opaque_array(source.map_array(stream=stream))
        written = ResourceDescriptor.from_opaque_array(target.map_array(stream=stream))
        with (
            device.create_texture_object(resource=read, options=TextureObjectOptions()) as texture,
            device.create_surface_object(resource=written) as surface,
        ):
            config = LaunchConfig(grid=1, block=(8, 8))
            launch(stream, config, code.get_kernel("turn"), surface, texture, np.int32(7),
                   np.int32(5))  # fmt: skip
            stream.sync()
    values = gl.read_texture(np.zeros_like(data))
    gl.delete("glDeleteTextures", other)
    assert (values == data[::-1, ::-1]).all()


def test_an_image_has_no_address_and_stays_usable(gl, picture, device, stream):
    name, _ = picture
    with GraphicsResource.from_gl_image(name, TEXTURE_2D) as resource:
        with pytest.raises(CUDAError):
            resource.map(stream=stream)
        assert not resource.is_mapped
        resource.map_array(stream=stream)
        resource.unmap()


def test_unknown_opengl_names_are_refused(gl, device):
    with pytest.raises(CUDAError, match="cuGraphicsGLRegisterBuffer"):
        GraphicsResource.from_gl_buffer(4_000_000)
    with pytest.raises(CUDAError, match="cuGraphicsGLRegisterImage"):
        GraphicsResource.from_gl_image(4_000_000, TEXTURE_2D)


def test_without_a_current_opengl_context_it_is_refused(gl, numbers, device):
    gl.make_current(False)
    try:
        with pytest.raises(CUDAError, match="cuGraphicsGLRegisterBuffer"):
            GraphicsResource.from_gl_buffer(numbers[0])
    finally:
        gl.make_current(True)
    GraphicsResource.from_gl_buffer(numbers[0]).close()

# SPDX-License-Identifier: Apache-2.0
"""Descriptors, textures and surfaces: sources, kernel arguments and lifetimes."""

import gc
import warnings

import numpy as np
import pytest
from cuda.core import GraphicsResource, LaunchConfig, launch
from cuda.core._core import CUDAError
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor, TextureObjectOptions

DATA = np.arange(12, dtype=np.float32).reshape(3, 4)
CENTERS = [(x + 0.5, y + 0.5) for y in range(3) for x in range(4)]


@pytest.fixture
def resource(array, stream):
    array.copy_from(DATA, stream=stream)
    return ResourceDescriptor.from_opaque_array(array)


@pytest.fixture
def buffer(device, stream):
    with device.allocate(4096, stream=stream) as buffer:
        yield buffer


class TestResourceDescriptor:
    @pytest.mark.parametrize("name", ["from_opaque_array", "from_mipmapped_array"])
    def test_an_array_is_an_array(self, name):
        with pytest.raises(TypeError, match=r"array must be a \w+, got int"):
            getattr(ResourceDescriptor, name)(3)

    def test_a_closed_source_is_refused(self, array, buffer):
        array.close()
        buffer.close()
        with pytest.raises(RuntimeError, match="OpaqueArray has been closed"):
            ResourceDescriptor.from_opaque_array(array)
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1)

    @pytest.mark.parametrize(
        ("size", "message"),
        [
            (9999, r"size_bytes \(9999\) exceeds buffer.size \(4096\)"),
            (8, r"size_bytes \(8\) must be at least one element \(16 bytes\)"),
            (-16, r"size_bytes \(-16\) must be at least one element"),
            (
                24,
                r"size_bytes \(24\) must be a multiple of element size \(16 bytes for FLOAT32 x 4",
            ),
        ],
    )
    def test_linear_memory_has_whole_elements(self, buffer, size, message):
        with pytest.raises(ValueError, match=message):
            ResourceDescriptor.from_linear(
                buffer, format="float32", num_channels=4, size_bytes=size
            )

    @pytest.mark.parametrize(
        ("extents", "message"),
        [
            ((0, 1, 32), "width must be >= 1, got 0"),
            ((1, 0, 32), "height must be >= 1, got 0"),
            ((100, 1, 1), r"pitch_bytes \(1\) must be >= width \* element_bytes \(100\)"),
            ((100, 100, 128), r"pitch_bytes \* height \(12800\) exceeds buffer.size \(4096\)"),
        ],
    )
    def test_rows_fit_the_pitch_and_the_buffer(self, buffer, extents, message):
        width, height, pitch = extents
        with pytest.raises(ValueError, match=message):
            ResourceDescriptor.from_pitch2d(
                buffer,
                format="uint8",
                num_channels=1,
                width=width,
                height=height,
                pitch_bytes=pitch,
            )

    def test_other_objects_are_refused_as_memory(self):
        with pytest.raises(TypeError, match="buffer must be a Buffer, got bytes"):
            ResourceDescriptor.from_linear(b"x", format="uint8", num_channels=1)

    def test_the_size_is_fixed_at_creation(self, buffer):
        descriptor = ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1)
        buffer.close()
        assert descriptor.size_bytes == 4096
        assert repr(descriptor) == (
            "ResourceDescriptor(kind='linear', format=UINT8, num_channels=1, size_bytes=4096)"
        )

    def test_it_describes_its_source(self, buffer, resource, array):
        descriptor = ResourceDescriptor.from_pitch2d(
            buffer, format="int16", num_channels=2, width=10, height=4, pitch_bytes=64
        )
        described = (
            descriptor.kind,
            descriptor.format,
            descriptor.num_channels,
            descriptor.width,
            descriptor.height,
        )
        assert described == ("pitch2d", "int16", 2, 10, 4)
        assert (descriptor.pitch_bytes, descriptor.size_bytes, descriptor.source) == (
            64,
            None,
            buffer,
        )
        assert (resource.kind, resource.source, resource.format) == ("array", array, None)
        assert (resource.num_channels, resource.width, resource.pitch_bytes) == (None, None, None)


class TestTextureObject:
    def test_a_kernel_reads_the_copied_values(self, device, resource, read):
        with device.create_texture_object(resource=resource, options=None) as texture:
            assert texture.device is device and texture.resource is resource
            assert texture.options == TextureObjectOptions()
            assert (read(texture, CENTERS) == DATA.ravel()).all()

    def test_its_handle_can_be_passed_as_a_number(self, device, resource, read):
        with device.create_texture_object(resource=resource, options={}) as texture:
            assert (read(np.uint64(texture.handle), CENTERS) == DATA.ravel()).all()

    def test_a_linear_filter_mixes_neighbors(self, device, resource, read):
        options = TextureObjectOptions(filter_mode="linear")
        with device.create_texture_object(resource=resource, options=options) as texture:
            assert read(texture, [(1.0, 0.5), (1.0, 1.0), (0.75, 0.5)]).tolist() == [0.5, 2.5, 0.25]

    @pytest.mark.parametrize(
        ("mode", "expected"),
        [("wrap", 3), ("clamp", 0), ("mirror", 0), ("border", 7.5), (("wrap", "clamp"), 3)],
    )
    def test_values_outside_depend_on_the_address_mode(
        self, device, resource, read, mode, expected
    ):
        options = TextureObjectOptions(
            address_mode=mode, normalized_coords=True, border_color=(7.5, 0, 0, 0)
        )
        with device.create_texture_object(resource=resource, options=options) as texture:
            assert read(texture, [(-0.125, 0.125)]).tolist() == [expected]

    @pytest.mark.parametrize("mode", ["wrap", ("clamp", "mirror")])
    def test_a_mode_that_needs_normalized_coordinates_gives_a_warning(
        self, device, buffer, resource, read, mode
    ):
        options = TextureObjectOptions(address_mode=mode)
        with pytest.warns(UserWarning, match="needs normalized_coords=True") as warned:
            texture = device.create_texture_object(resource=resource, options=options)
        assert warned[0].filename == __file__
        assert read(texture, [(-0.5, 0.5), (4.5, 3.5)]).tolist() == [0, 11]
        texture.close()
        linear = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1)
        normalized = TextureObjectOptions(address_mode=mode, normalized_coords=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            device.create_texture_object(resource=linear, options=options).close()
            device.create_texture_object(resource=resource, options=normalized).close()

    def test_it_retains_the_array(self, device, resource, array, read):
        texture = device.create_texture_object(resource=resource, options=None)
        array.close()
        gc.collect()
        assert (read(texture, CENTERS) == DATA.ravel()).all()
        texture.close()

    def test_the_array_is_destroyed_last(self, device, resource, array, emulation):
        texture = device.create_texture_object(resource=resource, options=None)
        calls = emulation.stats()["calls"]
        array.close()
        assert emulation.stats()["calls"].get("cuArrayDestroy") == calls.get("cuArrayDestroy")
        texture.close()
        assert emulation.stats()["calls"].get("cuArrayDestroy") != calls.get("cuArrayDestroy")

    def test_it_retains_the_memory_of_a_buffer(self, device, stream, read):
        buffer = device.allocate(48, stream=stream)
        buffer.copy_from(DATA, stream=stream)
        resource = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1)
        with device.create_texture_object(resource=resource, options=None) as texture:
            buffer.close()
            gc.collect()
            values = read(texture, [(i, 0) for i in (0, 5, 11)], "read_line")
            assert values.tolist() == [0, 5, 11]

    def test_pitched_memory_is_read_in_rows(self, device, stream, buffer, read):
        rows = np.zeros((3, 16), np.float32)
        rows[:, :4] = DATA
        part = buffer.resize_view(0, rows.nbytes)
        part.copy_from(rows, stream=stream)
        resource = ResourceDescriptor.from_pitch2d(
            buffer, format="float32", num_channels=1, width=4, height=3, pitch_bytes=64
        )
        with device.create_texture_object(resource=resource, options=None) as texture:
            assert (read(texture, CENTERS) == DATA.ravel()).all()
        part.close()

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"address_mode": "foo"}, ValueError, "address_mode must be a AddressModeType or one"),
            ({"address_mode": 5}, TypeError, "must be an AddressModeType or a tuple of"),
            ({"address_mode": ()}, ValueError, "tuple must have 1-3 entries, got 0"),
            ({"address_mode": ("wrap",) * 4}, ValueError, "tuple must have 1-3 entries, got 4"),
            ({"address_mode": (1,)}, ValueError, r"address_mode\[0\] must be a AddressModeType"),
            ({"max_anisotropy": -1}, ValueError, "max_anisotropy must be >= 0"),
            ({"border_color": (1,)}, ValueError, "border_color must have 4 elements, got 1"),
            ({"modes": 1}, TypeError, "modes"),
            (3, TypeError, "TextureObject options"),
        ],
    )
    def test_options_are_checked(self, device, resource, options, error, message):
        with pytest.raises(error, match=message):
            device.create_texture_object(resource=resource, options=options)

    def test_a_closed_source_is_refused(self, device, resource, array):
        array.close()
        with pytest.raises(RuntimeError, match="OpaqueArray has been closed"):
            device.create_texture_object(resource=resource, options=None)

    def test_a_descriptor_is_required_as_resource(self, device, array):
        with pytest.raises(TypeError, match="must be a ResourceDescriptor, got OpaqueArray"):
            device.create_texture_object(resource=array, options=None)

    def test_a_closed_texture_is_refused_as_argument(self, device, resource, read):
        texture = device.create_texture_object(resource=resource, options=None)
        texture.close()
        texture.close()
        assert (texture.handle, texture.is_closed, texture.resource) == (0, True, None)
        assert repr(texture) == "TextureObject(handle=0x0)"
        with pytest.raises(RuntimeError, match="TextureObject has been closed"):
            read(texture, CENTERS)

    def test_misaligned_memory_is_a_cuda_error(self, device, buffer):
        resource = ResourceDescriptor.from_pitch2d(
            buffer, format="uint8", num_channels=1, width=10, height=4, pitch_bytes=11
        )
        with pytest.raises(CUDAError, match="cuTexObjectCreate"):
            device.create_texture_object(resource=resource, options=None)

    @pytest.mark.parametrize("function", ["cuTexObjectCreate", "cuSurfObjectCreate"])
    def test_a_failure_leaks_nothing(self, device, resource, emulation, function):
        before = len(emulation.leaks())
        with (
            emulation.inject(function, error="CUDA_ERROR_INVALID_VALUE"),
            pytest.raises(CUDAError, match=function),
        ):
            if function.startswith("cuTex"):
                device.create_texture_object(resource=resource, options=None)
            else:
                device.create_surface_object(resource=resource)
        assert len(emulation.leaks()) == before


class TestSurfaceObject:
    def test_a_kernel_reads_and_writes(self, device, stream, resource, array, texture_code):
        with device.create_surface_object(resource=resource) as surface:
            config = LaunchConfig(grid=3, block=32)
            launch(stream, config, texture_code.get_kernel("twice"), surface, 4)
            stream.sync()
            assert surface.resource is resource and repr(surface).startswith("SurfaceObject(handl")
        back = np.zeros_like(DATA)
        array.copy_to(back, stream=stream)
        stream.sync()
        assert (back == 2 * DATA).all()

    def test_it_requires_an_array_with_surface_access(self, device, buffer):
        linear = ResourceDescriptor.from_linear(buffer, format="uint8", num_channels=1)
        with pytest.raises(ValueError, match="requires an array-backed .* got kind='linear'"):
            device.create_surface_object(resource=linear)
        with device.create_opaque_array(OpaqueArrayOptions((4,), "uint8", 1)) as plain:
            resource = ResourceDescriptor.from_opaque_array(plain)
            with pytest.raises(ValueError, match="must be created with is_surface_load_store=True"):
                device.create_surface_object(resource=resource)
        with pytest.raises(TypeError, match="must be a ResourceDescriptor, got int"):
            device.create_surface_object(resource=3)


def test_a_captured_copy_retains_the_array(device, stream):
    array = device.create_opaque_array(OpaqueArrayOptions((4, 3), "float32", 1))
    with device.allocate(48, stream=stream) as source, device.allocate(48, stream=stream) as to:
        source.copy_from(DATA, stream=stream)
        stream.sync()
        builder = stream.create_graph_builder()
        builder.begin_building()
        array.copy_from(source, stream=builder)
        array.copy_to(to, stream=builder)
        graph = builder.end_building().complete()
        array.close()
        gc.collect()
        graph.launch(stream)
        back = np.zeros_like(DATA)
        to.copy_to(back, stream=stream)
        stream.sync()
        graph.close()
        builder.close()
    assert (back == DATA).all()


def test_without_opengl_registration_is_refused(device):
    for register in (
        lambda: GraphicsResource.from_gl_buffer(1),
        lambda: GraphicsResource.from_gl_image(1, 0x0DE1),
    ):
        with pytest.raises(CUDAError):
            register()

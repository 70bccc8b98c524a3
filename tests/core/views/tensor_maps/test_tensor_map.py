# SPDX-License-Identifier: Apache-2.0
"""Tensor maps: refusals, retained objects, kernel arguments.

tests/differential compares their bytes.
"""

import gc
import math
import pickle
import weakref

import cuda.core
import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    CUDAError,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    TensorMapDataType,
    TensorMapDescriptor,
    TensorMapDescriptorOptions,
    TensorMapSwizzle,
    launch,
)
from cuda.core.utils import StridedMemoryView


@pytest.fixture
def buffer(device, stream):
    with device.allocate(65536, stream=stream) as buffer:
        yield buffer


@pytest.fixture
def view(buffer):
    return StridedMemoryView.from_buffer(buffer, (64, 64), dtype="f4")


class TestOptions:
    def test_names_of_members_are_accepted(self, view):
        options = TensorMapDescriptorOptions([16, 16], swizzle="SWIZZLE_64B", data_type="TFLOAT32")
        assert options.box_dim == (16, 16)
        assert options.swizzle is TensorMapSwizzle.SWIZZLE_64B
        assert options.data_type is TensorMapDataType.TFLOAT32
        tensor_map = view.as_tensor_map((16, 16), swizzle="SWIZZLE_64B", data_type="TFLOAT32")
        assert (
            repr(tensor_map)
            == "TensorMapDescriptor(tiled, rank=2, dtype=TFLOAT32, swizzle=SWIZZLE_64B)"
        )

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({"box_dim": 3}, "box_dim must be a tuple of ints"),
            ({"box_dim": (1.5,)}, "box_dim[0] must be an int"),
            ({"box_dim": (1,), "swizzle": "ROUND"}, "swizzle must be a TensorMapSwizzle"),
            ({"box_dim": (1,), "swizzle": 1}, "swizzle must be a TensorMapSwizzle"),
            ({"box_dim": (1,), "data_type": 3}, "data_type must be"),
            ({"box_dim": (1,), "data_type": "zz"}, "data_type must be"),
            ({"box_dim": (1,), "element_strides": ("a",)}, "element_strides[0] must be an int"),
        ],
    )
    def test_invalid_values_are_refused(self, arguments, text):
        import re

        with pytest.raises(TypeError, match=re.escape(text)):
            TensorMapDescriptorOptions(**arguments)

    def test_options_and_arguments_together_are_refused(self, view):
        options = TensorMapDescriptorOptions((16, 16))
        with pytest.raises(TypeError, match="Specify either options or the individual"):
            view.as_tensor_map((16, 16), options=options)
        with pytest.raises(TypeError, match="Specify either options"):
            view.as_tensor_map(options=options, swizzle="SWIZZLE_32B")
        with pytest.raises(TypeError, match="box_dim is required"):
            view.as_tensor_map()
        assert (
            view.as_tensor_map(options=options, swizzle=TensorMapSwizzle.NONE).device.device_id == 0
        )


class TestTensors:
    @pytest.mark.parametrize(
        ("shape", "strides", "dtype", "box", "text"),
        [
            ((64, 64), None, "f4", (16,), "box_dim must have 2 elements"),
            ((64, 64), None, "f4", (16, 257), r"box_dim\[1\] must be in \[1, 256\]"),
            ((2,) * 6, None, "f4", (1,) * 6, "rank must be between 1 and 5"),
            ((), None, "f4", (), "rank must be between 1 and 5"),
            ((64,), None, "i1", (16,), "Unsupported dtype"),
            ((0, 32), None, "f4", (8, 8), r"needs elements, got shape \(0, 32\)"),
            ((16, 16), (1, 16), "f4", (4, 4), "innermost axis of a tensor map must be contiguous"),
            ((16, 16), (64, 2), "f4", (4, 4), "innermost axis of a tensor map must be contiguous"),
        ],
    )
    def test_an_unsupported_tensor_is_refused(self, buffer, shape, strides, dtype, box, text):
        view = StridedMemoryView.from_buffer(buffer, shape, strides, dtype=dtype)
        with pytest.raises(ValueError, match=text):
            view.as_tensor_map(box)

    def test_memory_without_device_access_is_refused(self):
        view = StridedMemoryView.from_dlpack(np.zeros((64, 64), np.float32), -1)
        with pytest.raises(ValueError, match="device-accessible"):
            view.as_tensor_map((16, 16))

    def test_addresses_are_multiples_of_sixteen(self, view):
        with pytest.raises(ValueError, match="16-byte aligned"):
            view[:, 1:].as_tensor_map((16, 16))

    def test_backward_strides_are_refused(self, view):
        with pytest.raises(ValueError, match="does not support negative strides"):
            view[::-1].as_tensor_map((16, 16))

    @pytest.mark.parametrize("number", [-1, 2**32])
    def test_strides_fit_the_type_of_the_driver(self, view, number):
        text = f"^element_strides must be from 0 to 4294967295, got {number}$"
        for strides in ((number, 1), (1, number)):
            with pytest.raises(OverflowError, match=text):
                view.as_tensor_map((16, 16), element_strides=strides)

    def test_a_type_of_another_size_is_refused(self, view):
        """The reference encodes strides of elements that do not exist."""
        with pytest.raises(ValueError, match="FLOAT16 has 2 bytes"):
            view.as_tensor_map((16, 16), data_type="f2")

    @pytest.mark.parametrize(("name", "size"), [("FLOAT32", 4), ("FLOAT64", 8), ("BFLOAT16", 2)])
    def test_bytes_have_the_type_that_is_stated(self, buffer, argument_in_kernel, name, size):
        untyped = StridedMemoryView.from_any_interface(buffer, -1).as_tensor_map(
            (64,), data_type=name
        )
        typed = StridedMemoryView.from_buffer(buffer, (65536 // size,), dtype=f"u{size}")
        expected = argument_in_kernel(typed.as_tensor_map((64,), data_type=name), 128)
        assert argument_in_kernel(untyped, 128) == expected
        rows = StridedMemoryView.from_buffer(buffer, (8, 64), dtype="u1")
        untyped = rows.as_tensor_map((4, 16 // size), data_type=name)
        typed = StridedMemoryView.from_buffer(buffer, (8, 64 // size), dtype=f"u{size}")
        expected = argument_in_kernel(typed.as_tensor_map((4, 16 // size), data_type=name), 128)
        assert argument_in_kernel(untyped, 128) == expected

    def test_bytes_that_are_no_whole_elements_are_refused(self, buffer):
        rows = StridedMemoryView.from_buffer(buffer, (8, 50), (64, 1), dtype="u1")
        with pytest.raises(ValueError, match="innermost axis of the tensor has 50 bytes"):
            rows.as_tensor_map((4, 4), data_type="FLOAT32")
        with pytest.raises(ValueError, match="Unsupported dtype int8"):
            StridedMemoryView.from_any_interface(buffer, -1).as_tensor_map((64,))

    @pytest.mark.parametrize(
        ("shape", "dtype", "box", "options", "text"),
        [
            ((32, 27), "f4", (8, 8), {}, r"row pitch of axis 0 is 108 bytes.*multiple of 16"),
            (
                (4, 4, 9),
                "f2",
                (1, 1, 8),
                {},
                r"stride of axis 0 is 72 bytes(.|\n)*row pitch of axis 1",
            ),
            ((32, 32), "f4", (8, 5), {}, r"\(box_dim\[1\]\) is 20 bytes.*multiple of 4 elements"),
            (
                (32, 64),
                "f4",
                (8, 40),
                {"swizzle": "SWIZZLE_64B"},
                "is 160 bytes, but SWIZZLE_64B supports up to 64 bytes: use at most 16 elements",
            ),
            (
                (32, 32),
                "f4",
                (8, 8),
                {"interleave": "INTERLEAVE_16B"},
                "interleave needs 3 axes or more, the tensor has 2",
            ),
            ((32, 32), "f4", (8, 8), {"element_strides": (1, 9)}, r"element_strides\[1\] is 9"),
            (
                (32, 32),
                "i4",
                (8, 8),
                {"oob_fill": "NAN_REQUEST_ZERO_FMA"},
                "oob_fill with NaN needs a floating-point data_type, got INT32",
            ),
        ],
    )
    def test_the_error_names_the_rules(self, buffer, shape, dtype, box, options, text):
        view = StridedMemoryView.from_buffer(buffer, shape, dtype=dtype)
        with pytest.raises(CUDAError, match=text) as caught:
            view.as_tensor_map(box, **options)
        assert str(caught.value).endswith("[cuTensorMapEncodeTiled]")

    def test_pinned_memory_is_accepted(self, device):
        with LegacyPinnedMemoryResource().allocate(65536) as pinned:
            view = StridedMemoryView.from_buffer(pinned, (64, 64), dtype="f4")
            assert "tiled" in repr(view.as_tensor_map((16, 16)))

    def test_without_a_context_it_is_refused(self, view, in_new_thread):
        def make():
            with pytest.raises(RuntimeError, match="requires an active CUDA context"):
                view.as_tensor_map((16, 16))

        in_new_thread(make)

    @pytest.mark.parametrize("name", TensorMapDataType.__members__)
    def test_a_row_of_a_box_is_a_multiple_of_16_bytes(self, buffer, name):
        wide = [kind for kind in ("16", "32", "64") if kind in name]
        size = int(wide[0]) // 8 if wide else 1
        view = StridedMemoryView.from_buffer(buffer, (64, 64), dtype=f"u{size}")
        assert f"dtype={name}" in repr(view.as_tensor_map((4, 16 // size), data_type=name))
        with pytest.raises(CUDAError, match="cuTensorMapEncodeTiled"):
            view.as_tensor_map((4, 24 // size), data_type=name)

    def test_a_refusal_of_the_driver_names_its_function(self, view):
        with pytest.raises(CUDAError, match="cuTensorMapEncodeTiled") as caught:
            view.as_tensor_map((16, 3))
        assert caught.value.where == "cuTensorMapEncodeTiled"

    @pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
    def test_the_bytes_are_those_of_the_drivers_encoder(self, buffer, argument_in_kernel, rank):
        shape = (2, 4, 2, 8, 16)[-rank:]
        view = StridedMemoryView.from_buffer(buffer, shape, dtype="f4")
        tensor_map = view.as_tensor_map((2,) * (rank - 1) + (8,), swizzle="SWIZZLE_32B")
        numbers = [driver.cuuint64_t(n) for n in reversed(shape)]
        steps = [4 * math.prod(shape[axis:]) for axis in range(rank - 1, 0, -1)]
        error, encoded = driver.cuTensorMapEncodeTiled(
            driver.CUtensorMapDataType.CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            rank,
            int(buffer.handle),
            numbers,
            [driver.cuuint64_t(n) for n in steps],
            [driver.cuuint32_t(n) for n in (8, *(2,) * (rank - 1))],
            [driver.cuuint32_t(1)] * rank,
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_32B,
            driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_NONE,
            driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
        assert error == driver.CUresult.CUDA_SUCCESS
        expected = b"".join(int(word).to_bytes(8, "little") for word in encoded.opaque)
        assert argument_in_kernel(tensor_map, 128, ".align 64 .b8 value[128]") == expected


class TestObjects:
    def test_it_retains_the_tensor(self, device, stream):
        buffer = device.allocate(65536, stream=stream)
        alive = weakref.ref(buffer)
        tensor_map = StridedMemoryView.from_buffer(buffer, (64, 64), dtype="f4").as_tensor_map(
            (16, 16)
        )
        del buffer
        gc.collect()
        assert alive() is not None
        assert weakref.ref(tensor_map)() is tensor_map
        del tensor_map
        assert alive() is None

    def test_it_cannot_be_constructed_or_pickled(self, view):
        for arguments in ((), (1,)):
            with pytest.raises(RuntimeError, match="^TensorMapDescriptor cannot be instantiated"):
                TensorMapDescriptor(*arguments)
        with pytest.raises(TypeError, match="cannot pickle"):
            pickle.dumps(view.as_tensor_map((16, 16)))

    def test_it_is_available_under_its_private_name(self):
        from cuda.core import _tensor_map

        assert _tensor_map.TensorMapDescriptor is cuda.core.TensorMapDescriptor
        assert _tensor_map.TensorMapSwizzle is TensorMapSwizzle


class TestReplacedAddresses:
    def test_the_old_tensor_is_released_only_after_success(self, device, stream, view):
        buffer = device.allocate(65536, stream=stream)
        alive = weakref.ref(buffer)
        tensor_map = StridedMemoryView.from_buffer(buffer, (64, 64), dtype="f4").as_tensor_map(
            (16, 16)
        )
        del buffer
        for wrong, error in (
            (view[:, 1:], ValueError),
            (np.zeros(64, np.float32), ValueError),
            (3, BufferError),
        ):
            with pytest.raises(error):
                tensor_map.replace_address(wrong)
        assert alive() is not None
        tensor_map.replace_address(view)
        gc.collect()
        assert alive() is None

    def test_a_tensor_of_fewer_bytes_gives_a_warning(self, view):
        tensor_map = view.as_tensor_map((16, 16))
        with pytest.warns(UserWarning, match="reads 16384 bytes, but the tensor has 15360"):
            tensor_map.replace_address(view[4:])

    def test_a_refusal_of_the_driver_keeps_the_old_address(self, view, buffer, emulation):
        tensor_map = view.as_tensor_map((16, 16))
        with emulation.inject("cuTensorMapReplaceAddress", error="CUDA_ERROR_INVALID_VALUE"):
            with pytest.raises(CUDAError, match="cuTensorMapReplaceAddress"):
                tensor_map.replace_address(buffer)
        tensor_map.replace_address(buffer)


class TestLaunches:
    def test_its_bytes_are_passed_by_value(self, view, argument_in_kernel):
        tensor_map = view.as_tensor_map((16, 16))
        declaration = ".align 64 .b8 value[128]"
        first = argument_in_kernel(tensor_map, 128, declaration)
        assert int.from_bytes(first[:8], "little") == view.ptr
        with pytest.warns(UserWarning, match="reads"):
            tensor_map.replace_address(view[4:])
        assert int.from_bytes(argument_in_kernel(tensor_map, 128, declaration)[:8], "little") == (
            view.ptr + 1024
        )

    def test_a_parameter_of_another_size_is_refused(self, view, stream, store):
        with pytest.raises(TypeError, match="128"):
            launch(stream, LaunchConfig(grid=1, block=1), store, 0, view.as_tensor_map((16, 16)))

    def test_a_closed_buffer_is_refused(self, device, stream, store):
        buffer = device.allocate(65536, stream=stream)
        tensor_map = StridedMemoryView.from_buffer(buffer, (64, 64), dtype="f4").as_tensor_map(
            (16, 16)
        )
        buffer.close()
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            launch(stream, LaunchConfig(grid=1, block=1), store, 0, tensor_map)


# Thread 0 makes the copy unit load a box of 16 x 16 numbers; all threads write it out.
READER = r"""
struct alignas(64) Map { unsigned long long words[16]; };
extern "C" __global__ void read(const __grid_constant__ Map map, float* out, int x, int y) {
    __shared__ alignas(128) float box[16 * 16];
    __shared__ alignas(8) unsigned long long arrived;
    unsigned to = (unsigned)__cvta_generic_to_shared(box);
    unsigned bar = (unsigned)__cvta_generic_to_shared(&arrived);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(bar));
        asm volatile("fence.proxy.async.shared::cta;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" :: "r"(bar) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
            ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
            :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(bar) : "memory");
    }
    __syncthreads();
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0;"
            " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
    for (int i = threadIdx.x; i < 256; i += blockDim.x) out[i] = box[i];
}
"""


def test_a_kernel_reads_through_the_map(device, stream):
    if device.compute_capability < (9, 0):
        pytest.skip("copies of tensors need compute capability 9.0")
    options = ProgramOptions(arch=f"sm_{device.arch}", std="c++17")
    kernel = Program(READER, "c++", options).compile("cubin").get_kernel("read")
    pinned = LegacyPinnedMemoryResource()
    with device.allocate(64 * 64 * 4, stream=stream) as tensor, pinned.allocate(1024) as out:
        numbers = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
        tensor.copy_from(numbers, stream=stream)
        tensor_map = StridedMemoryView.from_buffer(tensor, (64, 64), dtype="f4").as_tensor_map(
            (16, 16)
        )
        launch(stream, LaunchConfig(grid=1, block=32), kernel, tensor_map, out, 8, 24)
        stream.sync()
        values = np.from_dlpack(out).view(np.float32).reshape(16, 16)
        assert (values == numbers[24:40, 8:24]).all()


class TestOtherMaps:
    def test_columns_of_images(self, buffer):
        images = StridedMemoryView.from_buffer(buffer, (2, 4, 8, 16), dtype="f4")
        tensor_map = TensorMapDescriptor._from_im2col(images, (0, 0), (0, 0), 4, 4)
        assert repr(tensor_map).startswith("TensorMapDescriptor(im2col, rank=4")
        with pytest.raises(ValueError, match="Im2col tensor rank must be between 3 and 5"):
            TensorMapDescriptor._from_im2col(images[0, 0], (), (), 4, 4)
        with pytest.raises(ValueError, match="pixel_box_lower_corner must have 2 elements"):
            TensorMapDescriptor._from_im2col(images, (0,), (0, 0), 4, 4)
        with pytest.raises(TypeError, match=r"pixel_box_upper_corner\[0\] must be an int"):
            TensorMapDescriptor._from_im2col(images, (0, 0), (1.5, 0), 4, 4)
        with pytest.raises(CUDAError, match=r"channels_per_pixel is 260.* \[1, 256\]"):
            TensorMapDescriptor._from_im2col(images, (0, 0), (0, 0), 260, 4)
        with pytest.raises(CUDAError, match=r"pixels_per_column is 0.* \[1, 1024\]"):
            TensorMapDescriptor._from_im2col(images, (0, 0), (0, 0), 4, 0)

    @pytest.mark.parametrize("number", [-(2**40), 2**40])
    def test_numbers_fit_the_types_of_the_driver(self, buffer, number):
        images = StridedMemoryView.from_buffer(buffer, (2, 4, 8, 16), dtype="f4")
        corner, pixels = ((0, 0), (0, 0)), (4, 4)
        columns = TensorMapDescriptor._from_im2col
        wide = TensorMapDescriptor._from_im2col_wide
        for name, call in {
            "pixel_box_lower_corner": lambda: columns(images, (0, number), (0, 0), *pixels),
            "pixel_box_upper_corner": lambda: columns(images, (0, 0), (number, 0), *pixels),
            "channels_per_pixel": lambda: columns(images, *corner, number, 4),
            "pixels_per_column": lambda: columns(images, *corner, 4, number),
            "pixel_box_lower_corner_width": lambda: wide(images, number, 0, *pixels),
            "pixel_box_upper_corner_width": lambda: wide(images, 0, number, *pixels),
        }.items():
            with pytest.raises(OverflowError, match=f"^{name} must be from .* got {number}$"):
                call()

    def test_wide_columns_require_a_newer_device(self, buffer, emulation):
        images = StridedMemoryView.from_buffer(buffer, (4, 8, 16), dtype="f4")
        with pytest.raises(CUDAError, match="cuTensorMapEncodeIm2colWide"):
            TensorMapDescriptor._from_im2col_wide(images, 0, 0, 4, 4)


TWO_DEVICES = """
from cuda.core import Device, LegacyPinnedMemoryResource
from cuda.core.utils import StridedMemoryView
views = []
for number in (1, 0):
    device = Device(number)
    device.set_current()
    buffer = device.allocate(65536, stream=device.default_stream)
    views.append(StridedMemoryView.from_buffer(buffer, (64, 64), dtype="f4"))
there, here = views
pinned = LegacyPinnedMemoryResource().allocate(65536)
host = StridedMemoryView.from_buffer(pinned, (64, 64), dtype="f4")
def message(function, *arguments):
    try:
        return function(*arguments)
    except (ValueError, RuntimeError) as error:
        return error
tensor_map = here.as_tensor_map((16, 16))
print(tensor_map.device.device_id, host.as_tensor_map((16, 16)).device.device_id)
print(message(there.as_tensor_map, (16, 16)))
print(message(tensor_map.replace_address, there))
Device(1).set_current()
print(message(tensor_map.replace_address, there))
print(there.as_tensor_map((16, 16)).device.device_id)
"""


def test_the_tensor_and_the_map_belong_to_the_current_context(run_python, two_devices):
    lines = run_python(TWO_DEVICES, **two_devices).splitlines()
    expected = "expects tensor on device 0, got 1"
    assert lines[0] == "0 0"  # pinned memory is on the device of its context
    assert lines[1].endswith(expected)
    assert lines[2] == f"replace_address {expected}"
    assert lines[3].startswith("replace_address: the tensor map was created in another context")
    assert lines[4] == "1"

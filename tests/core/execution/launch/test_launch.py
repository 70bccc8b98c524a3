# SPDX-License-Identifier: Apache-2.0
"""launch: its checks in order, widths and kinds of parameters, streams, devices, threads."""

import contextlib
import ctypes
import inspect
import math
import struct
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    CUDAError,
    Device,
    Kernel,
    LaunchConfig,
    Stream,
    launch,
    recent_launches,
)

from ....threads import run_together

ONE = LaunchConfig(grid=1, block=1)


def bytes_of(format, *values):
    return struct.pack("<" + format, *values)


@contextlib.contextmanager
def runs_on(stream):
    """Check that launches in the block run on the stream: none completes before a gate opens."""
    gate = threading.Event()
    stream.launch_host(lambda: gate.wait(60))
    before = recent_launches()[:1]
    yield
    (launched,) = recent_launches()[:1]
    assert [launched] != before and launched.stream == int(stream.handle)
    launch_event = stream.record()
    assert not launch_event.is_done
    gate.set()
    launch_event.sync()


@pytest.fixture
def empty(device, stream, load_kernel):
    kernel = load_kernel(name="empty")
    # A driver that loads code lazily waits for all work at a kernel's first launch, and would wait
    # for the gate of a test.
    with device.create_stream() as other:
        launch(other, ONE, kernel)
        other.sync()
    return kernel


class TestOrderOfArguments:
    @pytest.mark.parametrize(
        "order",
        [
            lambda s, c, k: (None, k, c),
            lambda s, c, k: (s, None, c),
            lambda s, c, k: (s, k, None),
            lambda s, c, k: (s, k, c),
            lambda s, c, k: (k, c),
            lambda s, c, k: (k, c, 1, 2),
            lambda s, c, k: (c, s, k),
            lambda s, c, k: (s, c, None),
            lambda s, c, k: (s, c, 5),
            lambda s, c, k: (s, c),
            lambda s, c, k: (),
        ],
    )
    def test_a_wrong_order_is_a_type_error_with_the_right_order(self, order, stream, empty):
        with pytest.raises(TypeError, match=r"launch\(stream, config, kernel, \*kernel_args\)"):
            launch(*order(stream, ONE, empty))

    def test_arguments_can_be_passed_by_name(self, stream, empty):
        launch(stream, ONE, kernel=empty)
        launch(kernel=empty, config=ONE, stream=stream)

    def test_unknown_and_repeated_names_are_refused(self, stream, empty):
        with pytest.raises(TypeError, match="unexpected keyword argument 'block'"):
            launch(stream, ONE, empty, block=3)
        with pytest.raises(TypeError, match="multiple values for argument 'stream'"):
            launch(stream, ONE, empty, stream=stream)

    def test_the_signature_can_be_inspected(self):
        assert str(inspect.signature(launch)) == "(stream, config, kernel, *kernel_args)"
        assert "Stream-ordered." in launch.__doc__

    def test_it_returns_none(self, stream, empty):
        assert launch(stream, ONE, empty) is None

    def test_a_dict_is_accepted_as_configuration(self, stream, empty):
        launch(stream, {"grid": 2, "block": 3}, empty)
        with pytest.raises(TypeError):
            launch(stream, {"grid": 2, "blocks": 3}, empty)

    def test_uninitialized_objects_are_refused(self, stream, empty):
        with pytest.raises(RuntimeError, match="LaunchConfig was not initialized"):
            launch(stream, LaunchConfig.__new__(LaunchConfig), empty)
        with pytest.raises(RuntimeError, match="Kernel was not initialized"):
            launch(stream, ONE, Kernel.__new__(Kernel))
        with pytest.raises(RuntimeError, match="Stream has been closed"):
            launch(Stream.__new__(Stream), ONE, empty)


class TestStreams:
    def test_none_is_refused(self, empty):
        with pytest.raises(TypeError, match="stream is required and must not be None"):
            launch(None, ONE, empty)

    def test_other_types_are_refused(self, empty):
        with pytest.raises(TypeError, match="Stream or GraphBuilder expected, got"):
            launch(3, ONE, empty)

    def test_the_configuration_is_checked_before_the_stream(self):
        with pytest.raises(TypeError, match="'config'"):
            launch(None, None, None)

    def test_the_stream_is_checked_before_the_arguments(self, empty):
        with pytest.raises(TypeError, match="Stream or GraphBuilder expected"):
            launch(3, ONE, empty, "text")

    def test_a_closed_stream_is_never_the_default_stream(self, device, empty):
        closed = device.create_stream()
        closed.close()
        with pytest.raises(RuntimeError, match="Stream has been closed"):
            launch(closed, ONE, empty)

    @pytest.mark.parametrize(
        "default", [LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, Stream.from_handle(0)]
    )
    def test_default_streams_are_accepted(self, device, empty, default):
        with runs_on(default):
            launch(default, ONE, empty)

    def test_a_foreign_stream_is_accepted_with_a_warning(self, stream, empty):
        foreign = SimpleNamespace(__cuda_stream__=lambda: (0, int(stream.handle)))
        with runs_on(stream), pytest.warns(DeprecationWarning, match="Passing foreign stream"):
            launch(foreign, ONE, empty)

    def test_a_subclass_is_accepted_without_a_warning(self, device, empty):
        class Mine(Stream):
            pass

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mine = Mine._init(device_id=0)
            with runs_on(mine):
                launch(mine, ONE, empty)

    def test_stream_launch_is_equivalent(self, stream, load_kernel):
        kernel = load_kernel(".param .u32 n")
        stream.launch(ONE, kernel, 3)
        with pytest.raises(TypeError, match="expected 1 argument, got 2"):
            stream.launch(ONE, kernel, 3, 4)


class TestCount:
    @pytest.mark.parametrize("count", [0, 1, 2, 3, 16, 200])
    def test_a_wrong_number_of_arguments_is_refused(self, stream, load_kernel, count):
        kernel = load_kernel(", ".join(f".param .u32 p{i}" for i in range(count)), name="many")
        launch(stream, ONE, kernel, *range(count))
        for number in {0, 1, count - 1, count + 1} - {count, -1}:
            plural = "" if count == 1 else "s"
            names = ", ".join(f"p{i}" for i in range(count if count <= 16 else 0))
            listed = f"; parameters: {names}" if names else ""
            with pytest.raises(TypeError) as caught:
                launch(stream, ONE, kernel, *range(number))
            start = f"many() expected {count} argument{plural}, got {number}"
            assert str(caught.value) == start + listed

    def test_a_tuple_of_the_arguments_is_to_be_unpacked(self, stream, load_kernel):
        kernel = load_kernel(".param .u32 a, .param .u32 b")
        for call in (
            lambda: launch(stream, ONE, kernel, (1, 2)),
            lambda: kernel.prepare(ONE, (1, 2)),
        ):
            with pytest.raises(
                TypeError, match=r"got 1, a tuple: unpack it with \*; parameters: a, b$"
            ):
                call()

    def test_the_count_is_checked_before_the_types(self, stream, load_kernel):
        with pytest.raises(TypeError, match="expected 1 argument, got 2"):
            launch(stream, ONE, load_kernel(".param .u32 p"), "text", "text")


class TestIntegers:
    @pytest.mark.parametrize(("size", "code"), [(1, "b"), (2, "h"), (4, "i"), (8, "q")])
    def test_an_int_is_converted_to_the_width_of_the_parameter(
        self, argument_in_kernel, size, code
    ):
        bits = 8 * size
        for value in (0, 1, -1, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1):
            assert argument_in_kernel(value, size, f".u{bits} value") == bytes_of(code, value)
        largest = 2**bits - 1
        assert argument_in_kernel(largest, size, f".u{bits} value") == b"\xff" * size

    @pytest.mark.parametrize("size", [1, 2, 4, 8])
    def test_an_int_that_does_not_fit_overflows(self, argument_in_kernel, size):
        bits = 8 * size
        for value in (2**bits, -(2 ** (bits - 1)) - 1, 2**70):
            with pytest.raises(OverflowError, match=rf"argument 2 of 2.*does not fit {size} byte"):
                argument_in_kernel(value, size, f".u{bits} value")

    @pytest.mark.parametrize("size", [1, 2, 4, 8])
    def test_a_bool_is_converted_to_the_width_of_the_parameter(self, argument_in_kernel, size):
        for value in (False, True):
            expected = int(value).to_bytes(size, "little")
            assert argument_in_kernel(value, size, f".u{8 * size} value") == expected

    @pytest.mark.parametrize("size", [3, 12, 16])
    def test_an_int_requires_a_parameter_of_integer_size(self, argument_in_kernel, size):
        with pytest.raises(TypeError, match=r"the parameter is a structure: .*, got int"):
            argument_in_kernel(1, size)

    @pytest.mark.parametrize("source", [np.uint64, np.int64, ctypes.c_int64, ctypes.c_uint64])
    @pytest.mark.parametrize("size", [1, 2, 4])
    def test_a_wider_integer_is_narrowed_if_it_fits(self, argument_in_kernel, source, size):
        declaration = f".u{8 * size} value"
        for value in (0, 100, 2 ** (8 * size) - 1):
            expected = value.to_bytes(size, "little")
            assert argument_in_kernel(source(value), size, declaration) == expected
        with pytest.raises(OverflowError, match="does not fit"):
            argument_in_kernel(source(2 ** (8 * size)), size, declaration)

    def test_a_negative_wider_integer_is_narrowed_if_it_fits(self, argument_in_kernel):
        assert argument_in_kernel(np.int64(-5), 4, ".u32 value") == bytes_of("i", -5)
        assert argument_in_kernel(np.int16(-128), 1, ".u8 value") == bytes_of("b", -128)
        with pytest.raises(OverflowError):
            argument_in_kernel(np.int64(-(2**31) - 1), 4, ".u32 value")

    @pytest.mark.parametrize("value", [np.int32(1), np.uint16(1), ctypes.c_int32(1)], ids=repr)
    def test_a_narrower_scalar_is_refused(self, argument_in_kernel, value):
        with pytest.raises(TypeError, match=r"argument 2 of 2.*expected 8 bytes, got .*bytes\)"):
            argument_in_kernel(value, 8, ".u64 value")


class TestFloats:
    def test_a_float_is_converted_to_the_width_of_the_parameter(self, argument_in_kernel):
        for value in (0.0, -2.5, 0.1, float("inf")):
            assert argument_in_kernel(value, 4, ".f32 value") == bytes_of("f", value)
            assert argument_in_kernel(value, 8, ".f64 value") == bytes_of("d", value)
            assert argument_in_kernel(value, 4, ".b32 value") == bytes_of("f", value)

    def test_nan_stays_nan(self, argument_in_kernel):
        (number,) = struct.unpack("<f", argument_in_kernel(float("nan"), 4, ".f32 value"))
        assert math.isnan(number)

    def test_a_float_is_converted_to_a_half(self, argument_in_kernel):
        expected = np.float16(0.1).tobytes()
        assert argument_in_kernel(0.1, 2, ".f16 value") == expected

    def test_a_float_beyond_the_range_overflows(self, argument_in_kernel):
        for declaration, size in ((".f32 value", 4), (".f16 value", 2)):
            with pytest.raises(OverflowError, match="beyond the range"):
                argument_in_kernel(1e300, size, declaration)

    @pytest.mark.parametrize("declaration", [".u32 value", ".s64 value", ".u64 value"])
    def test_a_float_is_refused_for_an_integer(self, argument_in_kernel, declaration):
        with pytest.raises(TypeError, match="is an integer or a pointer, got float"):
            argument_in_kernel(1.0, 4, declaration)

    def test_a_float_is_refused_for_a_pointer(self, argument_in_kernel):
        with pytest.raises(TypeError, match="is an integer or a pointer, got float"):
            argument_in_kernel(1.0, 8, ".u64 .ptr .align 4 value")

    @pytest.mark.parametrize(
        ("declaration", "code"), [(".f32 value", "f"), (".f64 value", "d"), (".f16 value", "e")]
    )
    def test_an_exact_int_is_converted_to_a_float(self, argument_in_kernel, declaration, code):
        size = struct.calcsize(code)
        for value in (0, -3, 1024, True):
            assert argument_in_kernel(value, size, declaration) == bytes_of(code, value)

    @pytest.mark.parametrize(
        ("declaration", "size", "value"),
        [(".f32 value", 4, 2**24 + 1), (".f64 value", 8, 2**53 + 1), (".f16 value", 2, 2049)],
    )
    def test_an_inexact_int_is_refused(self, argument_in_kernel, declaration, size, value):
        with pytest.raises(TypeError, match="no exact value"):
            argument_in_kernel(value, size, declaration)

    def test_a_scalar_of_another_width_is_refused(self, argument_in_kernel):
        with pytest.raises(TypeError, match=r"expected 4 bytes, got numpy\.float64 \(8 bytes\)"):
            argument_in_kernel(np.float64(1), 4, ".f32 value")
        with pytest.raises(TypeError, match=r"expected 8 bytes, got numpy\.float32 \(4 bytes\)"):
            argument_in_kernel(np.float32(1), 8, ".f64 value")

    def test_a_complex_is_converted_to_the_width_of_the_parameter(self, argument_in_kernel):
        assert argument_in_kernel(1 - 2j, 16) == bytes_of("dd", 1, -2)
        assert argument_in_kernel(1 - 2j, 8) == bytes_of("ff", 1, -2)
        with pytest.raises(TypeError, match="expected 4 bytes, got complex"):
            argument_in_kernel(1 - 2j, 4)


class TestAddresses:
    def test_an_address_requires_eight_bytes(self, argument_in_kernel):
        with pytest.raises(TypeError, match=r"expected 4 bytes, got .*\(8 bytes\)"):
            argument_in_kernel(Buffer.from_handle(0x5000, 8), 4, ".u32 value")
        with pytest.raises(TypeError, match="is a number, got None, .* the null pointer"):
            argument_in_kernel(None, 4, ".u32 value")

    def test_an_address_is_refused_for_a_float(self, argument_in_kernel):
        with pytest.raises(TypeError, match="is a floating-point number, got cuda.core"):
            argument_in_kernel(Buffer.from_handle(0x5000, 8), 8, ".f64 value")

    def test_a_closed_buffer_is_refused(self, argument_in_kernel):
        buffer = Buffer.from_handle(0x5000, 8)
        buffer.close()
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            argument_in_kernel(buffer, 8, ".u64 value")


class TestMessages:
    def test_a_mangled_name_provides_types(self, stream, load_kernel):
        kernel = load_kernel(
            ".param .u64 x, .param .f32 a, .param .u64 n", name="_ZN2ns5scaleIfEEvPKT_S1_m"
        )
        with pytest.raises(
            TypeError, match=r"ns::scale<float>\(\) argument 1 of 3 \(float const\*"
        ):
            launch(stream, ONE, kernel, 1.5, 1.5, 2)
        with pytest.raises(TypeError, match=r"argument 3 of 3 \(unsigned long n\)"):
            launch(stream, ONE, kernel, None, 1.5, 2.5)

    def test_names_in_the_text_are_shown(self, stream, load_kernel):
        with pytest.raises(TypeError, match=r"argument 2 of 2 \(count\)"):
            launch(stream, ONE, load_kernel(".param .u64 out, .param .u32 count"), None, "a")

    def test_names_of_compilers_are_not_shown(self, stream, load_kernel):
        with pytest.raises(TypeError, match="argument 1 of 1: unsupported"):
            launch(stream, ONE, load_kernel(".param .u64 kernel_param_0"), "a")


class TestDeviceLimits:
    @pytest.fixture
    def shared(self, load_kernel):
        return load_kernel(name="shared", module=".extern .shared .align 16 .b8 memory[];")

    def test_dynamic_shared_memory_above_48_kib_is_enabled(self, device, stream, shared):
        most = device.properties.max_shared_memory_per_block_optin
        assert most > 49152
        for size in (0, 1024, 49152, 49153, most, 1024):
            launch(stream, LaunchConfig(grid=1, block=32, shmem_size=size), shared)
        stream.sync()
        assert shared.attributes.max_dynamic_shared_size_bytes == most

    def test_more_than_the_device_limit_is_refused(self, device, stream, shared):
        most = device.properties.max_shared_memory_per_block_optin
        config = LaunchConfig(grid=1, block=32, shmem_size=most + 1)
        with pytest.raises(ValueError, match=rf"{most + 1} bytes exceeds the {most} bytes.*shared"):
            launch(stream, config, shared)

    def test_the_limit_follows_the_attribute(self, stream, shared):
        config = LaunchConfig(grid=1, block=32, shmem_size=60000)
        launch(stream, config, shared)
        shared.attributes.max_dynamic_shared_size_bytes = 1024
        launch(stream, config, shared)
        assert shared.attributes.max_dynamic_shared_size_bytes >= 60000

    def test_a_cooperative_grid_must_fit(self, device, stream, empty):
        blocks = empty.occupancy.max_active_blocks_per_multiprocessor(32, 0)
        limit = blocks * device.properties.multiprocessor_count
        launch(stream, LaunchConfig(grid=limit, block=32, is_cooperative=True), empty)
        config = LaunchConfig(grid=limit + 1, block=32, is_cooperative=True)
        with pytest.raises(
            ValueError, match=rf"\({limit + 1}, 1, 1\) exceeds the limit of {limit}"
        ):
            launch(stream, config, empty)

    def test_shared_memory_limits_a_cooperative_grid(self, device, stream, empty):
        shared = 40 * 1024
        blocks = empty.occupancy.max_active_blocks_per_multiprocessor(32, shared)
        assert blocks < empty.occupancy.max_active_blocks_per_multiprocessor(32, 0)
        limit = blocks * device.properties.multiprocessor_count
        options = {"block": 32, "shmem_size": shared, "is_cooperative": True}
        launch(stream, LaunchConfig(grid=limit, **options), empty)
        with pytest.raises(ValueError, match=f"exceeds the limit of {limit} blocks"):
            launch(stream, LaunchConfig(grid=limit + 1, **options), empty)

    def test_arguments_are_checked_before_the_cooperative_grid(self, stream, load_kernel):
        config = LaunchConfig(grid=2**30, block=32, is_cooperative=True)
        with pytest.raises(TypeError, match="unsupported type"):
            launch(stream, config, load_kernel(".param .u32 n"), "text")

    def test_a_repr_that_raises_preserves_the_error_of_the_driver(self, stream, load_kernel):
        class Secret:
            def __cuda_kernel_arg__(self):
                return 7

            def __repr__(self):
                raise ValueError("not to be shown")

        kernel = load_kernel(".param .u32 n", name="wide")
        with pytest.raises(CUDAError, match=r"\[cuLaunchKernelEx\]") as caught:
            launch(stream, LaunchConfig(grid=1, block=4096), kernel, Secret())
        note = caught.value.__notes__[-1]  # the driver's log precedes it
        assert note.startswith("launching wide(<Secret whose repr raises ValueError>) at ")

    def test_driver_errors_of_a_launch_are_cuda_errors(self, stream, load_kernel):
        kernel = load_kernel(".param .u32 n", name="wide")
        with pytest.raises(CUDAError, match=r"\[cuLaunchKernelEx\]") as caught:
            launch(stream, LaunchConfig(grid=1, block=4096), kernel, 7)
        assert caught.value.where == "cuLaunchKernelEx"
        note = caught.value.__notes__[-1]
        assert note.startswith("launching wide(7) at ") and "test_launch.py:" in note


class TestGrid:
    COUNT = """
        .reg .u64 %rd<2>;
        .reg .u32 %r<2>;
        ld.param.u64 %rd1, [out];
        atom.global.add.u32 %r1, [%rd1], 1;
    """

    @pytest.mark.parametrize(
        ("config", "threads"),
        [
            (LaunchConfig(grid=1, block=1), 1),
            (LaunchConfig(grid=(2, 3, 4), block=(5, 2, 2)), 480),
            (LaunchConfig(grid=3, block=32, programmatic_stream_serialization=True), 96),
        ],
        ids=["one", "three axes", "programmatic"],
    )
    def test_every_thread_runs(self, stream, load_kernel, pinned_block, config, threads):
        pinned_block.fill(0, stream=stream)
        launch(stream, config, load_kernel(".param .u64 out", self.COUNT), pinned_block)
        stream.sync()
        assert ctypes.c_uint32.from_address(pinned_block.handle).value == threads


class TestThreads:
    def test_many_threads_launch_concurrently(self, device, load_kernel, pinned_block):
        kernel = load_kernel(".param .u64 out", TestGrid.COUNT)
        ctypes.memset(pinned_block.handle, 0, 4)

        def work():
            Device(0).set_current()
            with Device(0).create_stream() as stream:
                for _ in range(50):
                    launch(stream, ONE, kernel, pinned_block)
                stream.sync()

        run_together(*[work] * 8)
        assert ctypes.c_uint32.from_address(pinned_block.handle).value == 400

    def test_a_thread_without_context_is_reported(self, stream, in_new_thread, load_kernel):
        kernel = load_kernel(name="lonely")
        with pytest.raises(CUDAError):
            in_new_thread(lambda: launch(LEGACY_DEFAULT_STREAM, ONE, kernel))


class TestEnvironment:
    CODE = """
from cuda.core import Device, LaunchConfig, ObjectCode, launch
device = Device(); device.set_current(); stream = device.create_stream()
ptx = ".version 8.0\\n.target sm_75\\n.address_size 64\\n.visible .entry f(.param .u32 n) {ret;}\\n"
kernel = ObjectCode.from_ptx(ptx).get_kernel("f")
try:
    launch(stream, LaunchConfig(grid=1, block=1), kernel, 2**40)
    print("launched")
except Exception as error:
    print(type(error).__name__, error)
"""

    def test_checks_can_be_switched_off(self, run_python):
        assert run_python(self.CODE, HALFWARP_LAUNCH_CHECKS="1").startswith("OverflowError f()")
        assert run_python(self.CODE, HALFWARP_LAUNCH_CHECKS="0") == "launched\n"

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("HALFWARP_LAUNCH_CHECKS", "no"),
            ("HALFWARP_SYNC_LAUNCH", "2"),
            ("HALFWARP_FLIGHT_RECORDER", "-1"),
            ("HALFWARP_FLIGHT_RECORDER", "many"),
        ],
    )
    def test_an_invalid_value_is_an_error(self, run_python, name, value):
        output = run_python(self.CODE, **{name: value})
        assert output.startswith(f"ValueError {name}={value} is not understood: it may be")


class TestSeveralDevices:
    START = """
from cuda.core import LEGACY_DEFAULT_STREAM, Device, LaunchConfig, ObjectCode, launch
from cuda.core import recent_launches
HEAD = ".version 8.0\\n.target sm_75\\n.address_size 64\\n"
text = HEAD + ".extern .shared .b8 m[];\\n.visible .entry f() {ret;}\\n"
kernel = ObjectCode.from_ptx(text).get_kernel("f")
config = LaunchConfig(grid=1, block=1, shmem_size=60000)
"""

    def test_default_streams_run_on_the_current_device(self, run_python, two_devices):
        code = self.START + (
            "for n in (0, 1):\n"
            "    Device(n).set_current()\n"
            "    launch(LEGACY_DEFAULT_STREAM, config, kernel); Device(n).sync()\n"
            "    granted = kernel.attributes[n].max_dynamic_shared_size_bytes\n"
            "    print(recent_launches()[0].device, granted >= 60000)\n"
        )
        output = run_python(code, **two_devices)
        assert output == "0 True\n1 True\n"

    def test_shared_memory_is_enabled_on_the_device_of_the_stream(self, run_python, two_devices):
        code = self.START + (
            "streams = []\n"
            "for n in (0, 1):\n"
            "    Device(n).set_current(); streams.append(Device(n).create_stream())\n"
            "for n in (0, 1):\n"
            "    Device(n).set_current(); launch(streams[n], config, kernel); streams[n].sync()\n"
            "    print(n, [kernel.attributes[m].max_dynamic_shared_size_bytes >= 60000"
            " for m in (0, 1)])\n"
        )
        output = run_python(code, **two_devices)
        assert output == "0 [True, False]\n1 [True, True]\n"


class TestWithoutCurrentContext:
    """A thread without a current context: the stream's context is used."""

    def test_the_first_launch_of_a_kernel(self, stream, load_store, pinned_block, in_new_thread):
        kernel = load_store()
        ctypes.memset(pinned_block.handle, 0, 4)

        def work():
            launch(stream, ONE, kernel, pinned_block, 7)
            return int(driver.cuCtxGetCurrent()[1])

        assert in_new_thread(work) == 0
        stream.sync()
        assert ctypes.c_uint32.from_address(pinned_block.handle).value == 7

    def test_a_cooperative_launch(self, stream, empty, in_new_thread):
        config = LaunchConfig(grid=2, block=32, is_cooperative=True)
        in_new_thread(lambda: launch(stream, config, empty))
        stream.sync()

    def test_a_default_stream_requires_a_context(self, load_store, in_new_thread):
        kernel = load_store()
        with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_CONTEXT"):
            in_new_thread(lambda: launch(LEGACY_DEFAULT_STREAM, ONE, kernel, 0, 7))

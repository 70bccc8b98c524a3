# SPDX-License-Identifier: Apache-2.0
"""Spellings of published introductions, unchanged."""

import ctypes
import subprocess
import sys
import warnings

import numpy as np
import pytest
from cuda.bindings import driver, nvrtc
from cuda.core import (
    Device,
    EventOptions,
    LaunchConfig,
    ObjectCode,
    Program,
    ProgramOptions,
    Stream,
    launch,
)

SOURCE = """
extern "C" __global__ void saxpy(float a, const float* x, float* y, size_t n) {
    size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
template <typename T> __global__ void twice(T* x) { *x *= 2; }
"""


@pytest.fixture
def dev():
    dev = Device(0)
    dev.set_current()
    return dev


@pytest.fixture
def stream(dev):
    with dev.create_stream() as stream:
        yield stream


@pytest.fixture(scope="module")
def ptx():
    pytest.importorskip("nvidia.cu13", reason="NVRTC is not installed")
    options = ProgramOptions(arch="compute_75")
    compiled = Program(SOURCE, code_type="c++", options=options).compile(
        "ptx", name_expressions=["twice<int>"]
    )
    return compiled.code.decode()


@pytest.fixture
def saxpy(dev, ptx):
    return ObjectCode.from_ptx(ptx).get_kernel("saxpy")


@pytest.fixture
def warned():
    """Return the deprecations of a block as (old, new) names, with the file that they refer to."""

    class Warned(warnings.catch_warnings):
        def __enter__(self):
            self.caught = super().__enter__()
            warnings.simplefilter("always")
            return self

        def texts(self):
            assert all(each.category is DeprecationWarning for each in self.caught)
            assert all(each.filename == __file__ for each in self.caught)
            return [str(each.message) for each in self.caught]

    return Warned(record=True)


class TestLowLayer:
    def test_a_context_of_12(self, warned):
        assert driver.cuInit(0)[0] == driver.CUresult.CUDA_SUCCESS
        err, device = driver.cuDeviceGet(0)
        with warned:
            err, context = driver.cuCtxCreate(0, device)
            err, named = driver.cuCtxCreate(flags=0, dev=device)
            err, of_13 = driver.cuCtxCreate(None, 0, device)
        assert err == driver.CUresult.CUDA_SUCCESS
        # the current one first: each destruction makes the one below it current
        assert [driver.cuCtxDestroy(each) for each in (of_13, named, context)] == [(err,)] * 3
        text = "cuCtxCreate(flags, dev) is deprecated: use cuCtxCreate(None, flags, dev)"
        assert warned.texts() == [text] * 2

    @pytest.mark.parametrize(
        "call",
        [
            lambda: driver.cuCtxCreate(None, 0),
            lambda: driver.cuCtxCreate(ctxCreateParams=None, flags=0),
            lambda: driver.cuCtxCreate(None, flags=0),
        ],
    )
    def test_a_context_without_its_device_is_no_older_call(self, warned, call):
        message = r"^cuCtxCreate\(\) missing required argument 'dev' \(position 3\)"
        with warned, pytest.raises(TypeError, match=message):
            call()
        assert warned.texts() == []

    @pytest.mark.parametrize(
        "spelling, call",
        [
            ("cuCtxCreate(flags, dev)", lambda: driver.cuCtxCreate(0, 0)),
            ("nvrtcGetPTX(prog, size)", lambda: nvrtc.nvrtcGetPTX(0, 8)),
            ("nvrtcGetProgramLog(prog, size)", lambda: nvrtc.nvrtcGetProgramLog(0, log=8)),
        ],
    )
    def test_a_warning_raised_as_an_error_stops_the_call(self, spelling, call):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(DeprecationWarning) as caught:
                call()
        assert str(caught.value).startswith(f"{spelling} is deprecated: ")

    def test_results_of_the_compiler_by_size(self, ptx, warned):
        err, prog = nvrtc.nvrtcCreateProgram(SOURCE.encode(), b"saxpy.cu", 0, [], [])
        assert not err
        options = [b"--gpu-architecture=sm_75", b"-dlto", b"-rdc=true"]
        assert nvrtc.nvrtcCompileProgram(prog, len(options), options) == (err,)
        err, size = nvrtc.nvrtcGetLTOIRSize(prog)
        err, log_size = nvrtc.nvrtcGetProgramLogSize(prog)
        in_place = bytearray(b" " * log_size)
        with warned:
            err, code = nvrtc.nvrtcGetLTOIR(prog, size)
            err, log = nvrtc.nvrtcGetProgramLog(prog, log_size)
            assert nvrtc.nvrtcGetProgramLog(prog, in_place) == (err,)
        assert (len(code), len(log)) == (size, log_size) and size > 100
        assert warned.texts() == [
            f"{name}(prog, size) is deprecated: use {name}(prog, buffer) with a buffer of that size"
            for name in ("nvrtcGetLTOIR", "nvrtcGetProgramLog")
        ]
        assert in_place == log
        nvrtc.nvrtcDestroyProgram(prog)

    @pytest.mark.parametrize("form", ["values and types", "array of addresses", "objects"])
    def test_kernel_arguments(self, dev, saxpy, stream, form, handle_of):
        with dev.memory_resource.allocate(64, stream=stream) as block:
            block.copy_from(np.full(16, 2, np.float32), stream=stream)
            address = int(block.handle)
            params = self.arguments(form, address)
            result = driver.cuLaunchKernel(
                int(driver.cuKernelGetFunction(handle_of(saxpy))[1]),
                *(1, 1, 1),
                *(16, 1, 1),
                0,
                stream.handle,
                params,
                0,
            )
            assert result == (driver.CUresult.CUDA_SUCCESS,)
            answer = np.zeros(16, np.float32)
            block.copy_to(answer, stream=stream)
            stream.sync()
        assert (answer == 8).all()

    def arguments(self, form, address):
        """saxpy(3, x, x, 16): x becomes 2 + 3 * 2."""
        if form == "values and types":
            types = (ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
            return (3.0, address, address, 16), types
        if form == "objects":
            values = (np.float32(3), driver.CUdeviceptr(address), np.uint64(16))
            return tuple(
                self.holder(value) for value in (values[0], values[1], values[1], values[2])
            ), (None,) * 4
        self.refs = [
            np.array([3], dtype=np.float32),
            np.array([address], dtype=np.uint64),
            np.array([address], dtype=np.uint64),
            np.array([16], dtype=np.uint64),
        ]
        return np.array([arg.ctypes.data for arg in self.refs], dtype=np.uint64)

    def holder(self, value):
        """Return an object whose getPtr returns its address."""

        class Holder:
            def __init__(self):
                kind = ctypes.c_uint64 if not isinstance(value, np.floating) else ctypes.c_float
                self.storage = kind(value if kind is ctypes.c_float else int(value))

            def getPtr(self):
                return ctypes.addressof(self.storage)

        return Holder()


class TestEvents:
    def test_options_of_0_x(self, dev, stream, warned):
        with warned:
            options = EventOptions(enable_timing=True, busy_waited_sync=True, support_ipc=False)
        assert [text.split()[0] for text in warned.texts()] == [
            "EventOptions.enable_timing",
            "EventOptions.busy_waited_sync",
            "EventOptions.support_ipc",
        ]
        assert (options.timing_enabled, options.blocking_sync, options.ipc_enabled) == (
            True,
            True,
            False,
        )
        assert stream.record(options=options).is_blocking_sync

    def test_the_difference_is_in_milliseconds(self, dev, stream):
        start = stream.record(options=EventOptions(timing_enabled=True))
        end = stream.record(options=EventOptions(timing_enabled=True))
        stream.sync()
        assert isinstance(end - start, float)
        assert end - start >= 0


class TestLaunch:
    def test_cooperative_launch(self, warned):
        with warned:
            config = LaunchConfig(grid=1, block=1, cooperative_launch=False)
            assert config.cooperative_launch is False
        assert all("is_cooperative" in text for text in warned.texts())
        assert len(warned.texts()) == 2

    def test_scalars_of_numpy_and_addresses_as_ints(self, dev, stream, saxpy):
        x = dev.memory_resource.allocate(64, stream=stream)
        y = dev.memory_resource.allocate(64, stream=stream)
        x.copy_from(np.ones(16, np.float32), stream=stream)
        y.copy_from(np.ones(16, np.float32), stream=stream)
        config = LaunchConfig(grid=1, block=16)
        launch(stream, config, saxpy, np.float32(2), int(x.handle), int(y.handle), np.uint64(16))
        result = np.zeros(16, np.float32)
        y.copy_to(result, stream=stream)
        stream.sync()
        assert (result == 3).all()
        x.close()
        y.close()

    def test_attributes_that_were_methods(self, saxpy, dev, warned):
        attributes = saxpy.attributes
        with warned:
            called = attributes.max_threads_per_block(), attributes.num_regs(dev)
        assert called == (attributes.max_threads_per_block, attributes.num_regs)
        assert len(warned.texts()) == 2


class TestPrograms:
    def test_the_architecture_in_a_name(self, dev):
        assert f"sm_{dev.arch}" == f"sm_{''.join(map(str, dev.compute_capability))}"

    def test_mangled_names_as_str(self, dev, ptx):
        code = ObjectCode.from_ptx(ptx, symbol_mapping={"twice<int>": "_Z5twiceIiEvPT_"})
        assert code.get_kernel("twice<int>").num_arguments == 1


class TestStreams:
    def test_without_arguments(self, dev):
        with Stream() as stream:
            stream.sync()
        with pytest.raises(RuntimeError, match="closed"):
            stream.sync()

    def test_a_stream_as_context_manager(self, dev):
        with dev.create_stream() as stream:
            assert stream.record() is not None
        with pytest.raises(RuntimeError, match="closed"):
            stream.sync()

    def test_a_stream_of_an_invalid_object_is_refused(self, dev):
        with pytest.raises(RuntimeError):
            Stream(0)


class TestDevices:
    def test_memory_and_properties(self, dev):
        assert dev.total_memory > 1 << 20
        assert dev.properties.multiprocessor_count > 0

    def test_allocation_on_the_default_stream(self, dev, warned):
        with warned:
            buffer = dev.allocate(64)
        buffer.close()
        assert len(warned.texts()) == 1

    def test_allocation_before_the_device_is_current(self):
        code = """
import warnings
warnings.simplefilter("ignore")
from cuda.core import Device
print(Device(0).allocate(64).size)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout.strip() == "64", done.stderr

    def test_host_arrays_are_copied_and_their_size_is_checked(self, dev, stream):
        with dev.memory_resource.allocate(16, stream=stream) as buffer:
            buffer.copy_from(np.arange(4, dtype=np.int32), stream=stream)
            result = np.zeros(4, np.int32)
            buffer.copy_to(result, stream=stream)
            stream.sync()
            assert (result == range(4)).all()
            with pytest.raises(ValueError, match="16"):
                buffer.copy_from(np.zeros(8), stream=stream)

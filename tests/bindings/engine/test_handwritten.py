# SPDX-License-Identifier: Apache-2.0
"""Functions with handwritten bodies: contexts, linker invocations, NVRTC's outputs."""

import ctypes
import gc
import weakref

import pytest
from cuda.bindings import driver, nvrtc

# Older call forms are used on purpose; test_spellings.py covers their warnings.
pytestmark = pytest.mark.filterwarnings("ignore:.* is deprecated. use:DeprecationWarning")

Pointer, Unsigned = ctypes.c_void_p, ctypes.c_uint
SUCCESS = driver.CUresult.CUDA_SUCCESS
Jit = driver.CUjit_option


class TestCreateContext:
    @pytest.fixture
    def created(self, calls):
        return calls("cuCtxCreate", Pointer, Pointer, Unsigned, ctypes.c_int)

    @pytest.mark.parametrize(
        ("args", "keywords"),
        [
            ((None, 4, 2), {}),
            ((4, 2), {}),
            ((4,), {"dev": 2}),
            ((), {"flags": 4, "dev": 2}),
            ((), {"ctxCreateParams": None, "flags": 4, "dev": 2}),
        ],
    )
    def test_the_parameters_struct_may_be_omitted_as_in_cuda_12(self, created, args, keywords):
        assert driver.cuCtxCreate(*args, **keywords)[0] is SUCCESS
        assert created[0][1:] == (None, 4, 2)

    def test_the_parameters_struct_is_passed_by_its_address(self, created):
        params = driver.CUctxCreateParams()
        driver.cuCtxCreate(params, 0, driver.CUdevice(1))
        assert created[0][1:] == (params.getPtr(), 0, 1)

    @pytest.mark.parametrize("args", [(), (1,), (None, 0, 0, 0)])
    def test_other_counts_of_arguments_are_refused(self, created, args):
        with pytest.raises(TypeError, match=r"cuCtxCreate\(\)"):
            driver.cuCtxCreate(*args)


class Log(bytearray):
    pass


class TestCreateLink:
    """The driver writes into the options until the state is destroyed."""

    @pytest.fixture
    def links(self, put):
        seen = []

        def create(count, options, values, state):
            ctypes.c_uint64.from_address(state).value = 0x100 + len(seen)
            seen.append((count, options, values))

        put("cuLinkCreate", create, Unsigned, Pointer, Pointer, Pointer)
        put("cuLinkDestroy", lambda _state: None, Pointer)
        return seen

    def test_buffers_and_arrays_live_until_the_state_is_destroyed(self, links):
        log = Log(100)
        reference = weakref.ref(log)
        start = ctypes.addressof(ctypes.c_char.from_buffer(log))
        options = [Jit.CU_JIT_INFO_LOG_BUFFER, Jit.CU_JIT_WALL_TIME]
        result, state = driver.cuLinkCreate(2, options, [log, 0.0])
        assert result is SUCCESS
        del log
        gc.collect()
        assert reference() is not None
        _, numbers, values = links[0]
        assert list((ctypes.c_int * 2).from_address(numbers)) == [int(o) for o in options]
        assert ctypes.c_uint64.from_address(values).value == start
        assert driver.cuLinkDestroy(state) == (SUCCESS,)
        gc.collect()
        assert reference() is None

    @pytest.mark.parametrize("log", [b"", b"x", bytearray(b"x")])
    def test_the_driver_may_write_where_python_shares_its_bytes(self, links, log):
        """CPython has one object for each bytes object of length 0 and 1."""
        options = [Jit.CU_JIT_INFO_LOG_BUFFER, Jit.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES]
        _, state = driver.cuLinkCreate(2, options, [log, len(log)])
        at, size = (ctypes.c_uint64 * 2).from_address(links[0][2])
        ctypes.memset(at, 0xAB, max(size, 1))
        assert bytes(log) == (b"\xab" if isinstance(log, bytearray) else b"x" * len(log))
        assert driver.cuLinkDestroy(state) == (SUCCESS,)

    def test_a_refused_link_retains_nothing(self, put):
        put("cuLinkCreate", lambda *_: 1, Unsigned, Pointer, Pointer, Pointer)
        log = Log(100)
        reference = weakref.ref(log)
        options = [Jit.CU_JIT_INFO_LOG_BUFFER]
        assert driver.cuLinkCreate(1, options, [log]) == (driver.CUresult(1), None)
        del log
        gc.collect()
        assert reference() is None

    def test_a_link_without_options_retains_nothing(self, links):
        _, state = driver.cuLinkCreate(0, [], [])
        assert links[0] == (0, None, None)
        assert driver.cuLinkDestroy(int(state)) == (SUCCESS,)


KERNEL = b'extern "C" __global__ void kernel(int* x) { *x = 1; }'


@pytest.fixture
def program():
    result, new_program = nvrtc.nvrtcCreateProgram(KERNEL, b"kernel.cu", 0, [], [])
    assert result == nvrtc.nvrtcResult.NVRTC_SUCCESS
    options = [b"--gpu-architecture=sm_90"]
    assert nvrtc.nvrtcCompileProgram(new_program, 1, options)[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS
    yield new_program
    assert nvrtc.nvrtcDestroyProgram(new_program)[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS


class TestOutputs:
    """NVRTC writes into memory that the caller created."""

    def test_bytes_are_written_in_place(self, program):
        _, size = nvrtc.nvrtcGetPTXSize(program)
        ptx = b" " * size
        assert nvrtc.nvrtcGetPTX(program, ptx) == (nvrtc.nvrtcResult.NVRTC_SUCCESS,)
        assert b".visible .entry kernel" in ptx

    @pytest.mark.parametrize("make", [bytearray, lambda n: memoryview(bytearray(n))])
    def test_writable_buffers_are_written_in_place(self, program, make):
        _, size = nvrtc.nvrtcGetCUBINSize(program)
        cubin = make(size)
        nvrtc.nvrtcGetCUBIN(program, cubin)
        assert bytes(cubin[:4]) == b"\x7fELF"

    @pytest.mark.parametrize("keywords", [False, True])
    def test_a_size_returns_new_bytes(self, program, keywords):
        _, size = nvrtc.nvrtcGetPTXSize(program)
        arguments = {"ptx": size} if keywords else {}
        result, ptx = nvrtc.nvrtcGetPTX(program, *([] if keywords else [size]), **arguments)
        assert result == nvrtc.nvrtcResult.NVRTC_SUCCESS
        assert len(ptx) == size
        assert b".visible .entry kernel" in ptx

    def test_a_too_small_buffer_is_refused_before_it_is_overrun(self, program):
        with pytest.raises(
            ValueError, match=r"argument 'ptx': the buffer has 3 bytes, \d+ are needed"
        ):
            nvrtc.nvrtcGetPTX(program, b"abc")
        with pytest.raises(ValueError, match="needed"):
            nvrtc.nvrtcGetPTX(program, 3)
        with pytest.raises(ValueError, match="argument 'ptx': a size must not be negative, got -1"):
            nvrtc.nvrtcGetPTX(program, -1)

    def test_an_empty_log_does_not_change_the_shared_empty_bytes(self, program):
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        assert size == 1
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        assert bytes([32]) == b" "
        assert nvrtc.nvrtcGetProgramLog(program, size) == (nvrtc.nvrtcResult(0), b"\0")

    def test_a_null_program_returns_an_error_code(self):
        invalid = nvrtc.nvrtcResult.NVRTC_ERROR_INVALID_PROGRAM
        assert nvrtc.nvrtcGetPTX(None, 10) == (invalid, None)
        assert nvrtc.nvrtcGetPTX(None, bytearray(10)) == (invalid,)

    @pytest.mark.parametrize("thing", [None, "text", 1.5])
    def test_an_object_without_memory_is_refused(self, program, thing):
        with pytest.raises(TypeError, match="argument 'ptx': expected bytes or a writable buffer"):
            nvrtc.nvrtcGetPTX(program, thing)


def test_lowered_names_are_bytes():
    _, program = nvrtc.nvrtcCreateProgram(b"__global__ void f(int) {}", b"x.cu", 0, [], [])
    assert nvrtc.nvrtcAddNameExpression(program, b"f")[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS
    nvrtc.nvrtcCompileProgram(program, 0, [])
    success = nvrtc.nvrtcResult.NVRTC_SUCCESS
    assert nvrtc.nvrtcGetLoweredName(program, b"f") == (success, b"_Z1fi")
    nvrtc.nvrtcDestroyProgram(program)


def test_a_compile_error_writes_a_log():
    _, program = nvrtc.nvrtcCreateProgram(b"nonsense", b"x.cu", 0, None, None)
    result = nvrtc.nvrtcCompileProgram(program, 0, [])
    assert result == (nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION,)
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    assert b"error" in nvrtc.nvrtcGetProgramLog(program, size)[1]
    nvrtc.nvrtcDestroyProgram(program)


def test_headers_are_lists_of_texts():
    source = b'#include "mine.h"\n__global__ void k() { int x = MINE; }'
    _, program = nvrtc.nvrtcCreateProgram(source, b"x.cu", 1, [b"#define MINE 5"], [b"mine.h"])
    assert nvrtc.nvrtcCompileProgram(program, 0, None)[0] == nvrtc.nvrtcResult.NVRTC_SUCCESS
    nvrtc.nvrtcDestroyProgram(program)


def test_supported_architectures_are_a_list():
    result, architectures = nvrtc.nvrtcGetSupportedArchs()
    assert result == nvrtc.nvrtcResult.NVRTC_SUCCESS
    assert 90 in architectures
    assert len(architectures) == nvrtc.nvrtcGetNumSupportedArchs()[1]


def test_the_devices_of_gl_are_as_many_as_asked_for(put):
    """The array is the second output; its length is an argument."""

    def list_devices(count, devices, length, kind):
        count[0] = 2
        devices[0], devices[length - 1] = 7, length

    numbers = ctypes.POINTER(ctypes.c_uint), ctypes.POINTER(ctypes.c_int)
    put("cuGLGetDevices", list_devices, *numbers, ctypes.c_uint, ctypes.c_int)
    everything = driver.CUGLDeviceList.CU_GL_DEVICE_LIST_ALL
    code, count, devices = driver.cuGLGetDevices(3, everything)
    assert (int(code), count) == (0, 2)
    assert [int(each) for each in devices] == [7, 0, 3]

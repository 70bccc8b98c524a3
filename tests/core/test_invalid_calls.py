# SPDX-License-Identifier: Apache-2.0
"""Mistakes of users: each has a helpful message, also when repeated, and leaves no trace."""

import re

import numpy as np
import pytest
from cuda.core import (
    CUDAError,
    DeviceMemoryResource,
    LaunchConfig,
    NVRTCError,
    ObjectCode,
    OutOfMemoryError,
    Program,
    ProgramOptions,
    launch,
)

ONE = LaunchConfig(grid=1, block=1)
HEAD = b".version 8.0\n.target sm_75\n.address_size 64\n"
SAXPY = (
    HEAD + b".visible .entry saxpy(.param .u64 out, .param .u32 n, .param .f32 a)\n{\n ret;\n}\n"
)
LATER = HEAD.replace(b"8.0", b"99.0") + b".visible .entry f() { ret; }\n"
BROKEN = HEAD + b".visible .entry f()\n{\n  mov u32 %r1, ;;\n}\n"


class CallContext:
    """Objects that invalid calls use, created before the call and closed after it."""

    def __init__(self, device, stream):
        self.device = device
        self.stream = stream
        self.kernel = ObjectCode.from_ptx(SAXPY).get_kernel("saxpy")
        self.buffer = device.allocate(64, stream=stream)

    def launch(self, *arguments, stream=None, config=ONE):
        launch(stream or self.stream, config, self.kernel, *arguments)

    def closed_stream(self):
        stream = self.device.create_stream()
        stream.close()
        return stream

    def closed_buffer(self):
        buffer = self.device.allocate(64, stream=self.stream)
        buffer.close()
        return buffer

    def closed_event(self):
        event = self.device.create_event()
        event.close()
        return event

    def closed_pool(self):
        pool = DeviceMemoryResource(self.device, {})
        pool.close()
        return pool

    def closed_program(self):
        program = self.program("")
        program.close()
        return program

    def program(self, source):
        return Program(source, "c++", ProgramOptions(arch=f"sm_{self.device.arch}", name="my.cu"))


@pytest.fixture
def bench(device, stream):
    bench = CallContext(device, stream)
    yield bench
    bench.buffer.close()


# The call, the exception, and its text as regular expressions.
ARGUMENTS = {
    "none": (lambda b: b.launch(), TypeError, r"saxpy\(\) expected 3 arguments, got 0"),
    "too few": (
        lambda b: b.launch(b.buffer, 1),
        TypeError,
        r"saxpy\(\) expected 3 arguments, got 2",
    ),
    "too many": (
        lambda b: b.launch(b.buffer, 1, 2.0, 3),
        TypeError,
        r"saxpy\(\) expected 3 arguments, got 4",
    ),
    "too wide": (
        lambda b: b.launch(b.buffer, 1, np.float64(2)),
        TypeError,
        r"argument 3 of 3 \(a\): expected 4 bytes, got numpy.float64 \(8 bytes\)",
    ),
    "too narrow": (
        lambda b: b.launch(b.buffer, np.int16(1), 2.0),
        TypeError,
        r"argument 2 of 3 \(n\): expected 4 bytes, got numpy.int16 \(2 bytes\)",
    ),
    "too large": (
        lambda b: b.launch(b.buffer, 2**40, 2.0),
        OverflowError,
        r"argument 2 of 3 \(n\): .*int does not fit 4 bytes",
    ),
    "swapped": (
        lambda b: b.launch(1, b.buffer, 2.0),
        TypeError,
        r"argument 2 of 3 \(n\): expected 4 bytes, got .*Buffer \(8 bytes\)",
    ),
    "text": (
        lambda b: b.launch("out", 1, 2.0),
        TypeError,
        r"argument 1 of 3 \(out\): unsupported type: <class 'str'>; pass a Buffer",
    ),
    "array of the host": (
        lambda b: b.launch(np.zeros(4), 1, 2.0),
        TypeError,
        r"argument 1 of 3 \(out\): .*host memory.*copy it to the device",
    ),
    "prepared with too few": (
        lambda b: b.kernel.prepare(ONE, b.buffer),
        TypeError,
        r"saxpy\(\) expected 3 arguments, got 1",
    ),
    "order of 0.1": (
        lambda b: launch(b.kernel, ONE, b.stream),
        TypeError,
        r"launch\(stream, config, kernel, \*kernel_args\)",
    ),
    "no stream": (
        lambda b: launch(None, ONE, b.kernel),
        TypeError,
        "stream is required and must not be None; pass device.default_stream",
    ),
    "block too large": (
        lambda b: b.launch(b.buffer, 1, 2.0, config=LaunchConfig(grid=1, block=2048)),
        CUDAError,
        r"CUDA_ERROR_INVALID_VALUE: (?s:.*)\[cuLaunchKernelEx\]",
    ),
    "shared memory too large": (
        lambda b: b.launch(b.buffer, 1, 2.0, config=LaunchConfig(1, None, 1, 1 << 20)),
        ValueError,
        r"shmem_size of 1048576 bytes exceeds the \d+ bytes .* grants saxpy",
    ),
}

CLOSED = {
    "launch on a stream": (
        lambda b: b.launch(b.buffer, 1, 2.0, stream=b.closed_stream()),
        RuntimeError,
        "Stream has been closed",
    ),
    "launch with a buffer": (
        lambda b: b.launch(b.closed_buffer(), 1, 2.0),
        RuntimeError,
        r"saxpy\(\) argument 1 of 3 \(out\): Buffer has been closed",
    ),
    "allocate on a stream": (
        lambda b: b.device.allocate(8, stream=b.closed_stream()),
        RuntimeError,
        "Stream has been closed",
    ),
    "wait for an event": (
        lambda b: b.stream.wait(b.closed_event()),
        RuntimeError,
        "Event has been closed",
    ),
    "copy from a buffer": (
        lambda b: b.buffer.copy_from(b.closed_buffer(), stream=b.stream),
        RuntimeError,
        "Buffer has been closed",
    ),
    "fill a buffer": (
        lambda b: b.closed_buffer().fill(0, stream=b.stream),
        RuntimeError,
        "Buffer has been closed",
    ),
    "allocate from a pool": (
        lambda b: b.closed_pool().allocate(8, stream=b.stream),
        RuntimeError,
        "DeviceMemoryResource has been closed",
    ),
    "compile a program": (
        lambda b: b.closed_program().compile("ptx"),
        RuntimeError,
        "Program has been closed",
    ),
}

CODE = {
    "unknown kernel": (
        lambda b: ObjectCode.from_ptx(SAXPY).get_kernel("sgemm"),
        CUDAError,
        r"CUDA_ERROR_NOT_FOUND: (?s:.*)sgemm(?s:.*)saxpy",
    ),
    "source that does not compile": (
        lambda b: b.program("__global__ void f()\n{\n  int x = missing;\n}").compile("ptx"),
        NVRTCError,
        r'NVRTC_ERROR_COMPILATION(?s:.*)compilation log(?s:.*)my.cu\(3\): error: .*"missing"',
    ),
    "unknown option value": (
        lambda b: Program("", "c++", {"arch": "sm_1"}).compile("ptx"),
        NVRTCError,
        r"NVRTC_ERROR_INVALID_OPTION(?s:.*)NVRTC \d+\.\d+ rejects an option(?s:.*)-arch",
    ),
    "unknown target": (
        lambda b: b.program("").compile("exe"),
        ValueError,
        r'Unsupported target_type="exe" for NVRTC.*cubin.*',
    ),
    "PTX that does not parse": (
        lambda b: ObjectCode.from_ptx(BROKEN).get_kernel("f"),
        CUDAError,
        r"CUDA_ERROR_INVALID_PTX: (?s:.*)JIT error log:(?s:.*)line 6: mov u32 %r1, ;;",
    ),
    "PTX of a later release": (
        lambda b: ObjectCode.from_ptx(LATER).get_kernel("f"),
        CUDAError,
        r"CUDA_ERROR_UNSUPPORTED_PTX_VERSION: (?s:.*)\[cuLibrary(LoadData|GetKernel)\]",
    ),
    "no image": (
        lambda b: ObjectCode.from_cubin(b"this is no cubin").get_kernel("f"),
        CUDAError,
        r"CUDA_ERROR_INVALID_IMAGE: (?s:.*)\[cuLibrary(LoadData|GetKernel)\]",
    ),
    "no file": (
        lambda b: ObjectCode.from_cubin("/nowhere/f.cubin").get_kernel("f"),
        CUDAError,
        r"CUDA_ERROR_FILE_NOT_FOUND: (?s:.*)\[cuLibraryLoadFromFile\]",
    ),
}

MEMORY = {
    "too much": (
        lambda b: b.device.allocate(1 << 50, stream=b.stream),
        OutOfMemoryError,
        r"CUDA_ERROR_OUT_OF_MEMORY: (?s:.*)1125899906842624 bytes requested",
    ),
    "negative": (
        lambda b: b.device.allocate(-1, stream=b.stream),
        OverflowError,
        "",
    ),
    "sizes that differ": (
        lambda b: b.buffer.copy_to(b.device.allocate(8, stream=b.stream), stream=b.stream),
        ValueError,
        r"buffer sizes mismatch between src and dst \(sizes are: src=64, dst=8\)",
    ),
    "pattern that does not divide": (
        lambda b: b.device.allocate(6, stream=b.stream).fill(b"1234", stream=b.stream),
        ValueError,
        r"buffer size \(6\) must be divisible by 4",
    ),
    "no stream": (
        lambda b: b.buffer.copy_to(stream=None),
        TypeError,
        "stream is required and must not be None",
    ),
}

CALLS = {
    f"{group}: {name}": call
    for group, calls in (
        ("arguments", ARGUMENTS),
        ("closed", CLOSED),
        ("code", CODE),
        ("memory", MEMORY),
    )
    for name, call in calls.items()
}


@pytest.mark.parametrize(("call", "kind", "text"), CALLS.values(), ids=CALLS)
def test_a_mistake_is_reported_the_same_way_twice(bench, call, kind, text):
    messages = []
    for _ in range(2):
        with pytest.raises(kind) as caught:
            call(bench)
        assert type(caught.value) is kind
        messages.append("\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])]))
    # Addresses and free bytes may differ.
    first, second = (re.sub(r"0x[0-9a-f]+|\d{4,}", "N", message) for message in messages)
    assert first == second
    assert re.search(text, messages[0]), messages[0]


@pytest.mark.parametrize(("call", "kind", "text"), CALLS.values(), ids=CALLS)
def test_everything_works_after_a_mistake(bench, call, kind, text):
    with pytest.raises(kind):
        call(bench)
    bench.buffer.fill(1, stream=bench.stream)
    bench.launch(bench.buffer, 1, 2.0)
    bench.stream.sync()


WITHOUT_NVRTC = """
from cuda.core import Program, ProgramOptions
for _ in range(2):
    try:
        Program("", "c++", ProgramOptions(arch="sm_90")).compile("ptx")
    except RuntimeError as error:
        print(type(error).__name__, str(error).replace("\\n", " "))
"""


def test_a_missing_nvrtc_is_reported_twice(run_python):
    hide = "import cuda.pathfinder as p\ndef no(name): raise p.DynamicLibNotFoundError(name)\n"
    out = run_python(f"{hide}p.load_nvidia_dynamic_lib = no\n{WITHOUT_NVRTC}")
    first, second = out.splitlines()
    assert first == second
    assert "nvrtc" in first


def test_a_missing_driver_is_reported_twice_with_a_hint(run_python, tmp_path):
    (tmp_path / "libcuda.so.1").write_text("not a library")
    code = """
from cuda.core import Device
for _ in range(2):
    try:
        Device(0)
    except RuntimeError as error:
        print(str(error).replace("\\n", " "))
"""
    out = run_python(code, HALFWARP_BACKEND="driver", LD_LIBRARY_PATH=str(tmp_path))
    first, second = out.splitlines()
    assert first == second
    assert "libcuda" in first
    assert "HALFWARP_BACKEND=emulator" in first

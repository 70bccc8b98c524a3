# SPDX-License-Identifier: Apache-2.0
"""Calls of the device runtime by kernels: limits of launches, errors, buffers and properties."""

import numpy as np
import pytest
from cuda.bindings import runtime
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

LARGEST_SHARED = 227 << 10
SOURCE = """
__global__ void any() {}
__global__ void with_shared(int* a) { __shared__ int s[256]; s[threadIdx.x] = 1; a[9] = s[0]; }
__global__ void __launch_bounds__(64) bounded() {}
__global__ void __cluster_dims__(2, 1, 1) pairs_of_x() {}
__global__ void __cluster_dims__(1, 2, 1) pairs_of_y() {}
__global__ void __cluster_dims__(1, 1, 2) pairs_of_z() {}
__global__ void __block_size__((4, 2, 3)) sized() {}
#define TRY(name) name<<<dim3(v[0], v[1], v[2]), dim3(v[3], v[4], v[5]), v[6]>>>
extern "C" __global__ void configure(int* a, const int* v) {
  switch (v[7]) {
    case 0: TRY(any)(); break;
    case 1: TRY(with_shared)(a); break;
    case 2: TRY(bounded)(); break;
    case 3: TRY(pairs_of_x)(); break;
    case 4: TRY(pairs_of_y)(); break;
    case 5: TRY(pairs_of_z)(); break;
    case 6: TRY(sized)(); break;
  }
  a[0] = cudaGetLastError();
}
extern "C" __global__ void texts(int* a, const int* v) {
  const char* text = v[1] ? cudaGetErrorName((cudaError_t)v[0])
                          : cudaGetErrorString((cudaError_t)v[0]);
  int i = 0;
  do a[i] = text[i]; while (text[i++]);
}
extern "C" __global__ void buffers(int* a, const int* v) {
  a[0] = cudaGetParameterBuffer(v[0], v[1]) != nullptr;
  a[1] = cudaGetLastError();
}
extern "C" __global__ void properties(int* a, const int* v) {
  size_t limit = 0;
  a[0] = cudaRuntimeGetVersion(a + 1);
  for (int i = 0; i < 3; ++i) {
    a[2 + 2 * i] = cudaDeviceGetLimit(&limit, (cudaLimit)v[i]);
    a[3 + 2 * i] = limit;
  }
}
extern "C" __global__ void by_thread(int* a, const int* v) {
  int block = blockIdx.x + gridDim.x * blockIdx.y;
  int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  int number = block * blockDim.x * blockDim.y * blockDim.z + thread;
  if (number == v[0]) cudaStreamDestroy(0);
  __syncthreads();
  a[number] = cudaGetLastError();
}
extern "C" __global__ void handles(int* a, const int* v) {
  cudaStream_t first, second;
  cudaStreamCreateWithFlags(&first, 1);
  cudaStreamCreateWithFlags(&second, 1);
  a[0] = first != second;
  for (long long i = 0; i < 5; ++i) a[1 + i] = cudaStreamDestroy((cudaStream_t)i);
  a[6] = cudaStreamWaitEvent(first, (cudaEvent_t)4, 0);
  a[7] = cudaStreamWaitEvent(0, (cudaEvent_t)first, 0);
  a[8] = cudaEventRecord((cudaEvent_t)second, 0);
}
extern "C" __global__ void memory(int* a, const int* v) {
  void* block = a;
  a[0] = cudaMalloc(&block, 1ull << 40); a[1] = block == nullptr;
  a[2] = cudaMemsetAsync(a + 8, 0x105, 7, 0);
  a[3] = cudaMemsetAsync((void*)8, 1, 4, 0);
  a[4] = cudaMemcpyAsync((void*)8, a, 4, cudaMemcpyDeviceToDevice, 0);
  a[5] = cudaMemcpyAsync(a + 12, (void*)8, 4, cudaMemcpyDeviceToDevice, 0);
  a[6] = cudaMemcpyAsync(a + 12, a + 8, 6, cudaMemcpyDeviceToDevice, 0);
  a[7] = cudaFree((char*)a + 4);
}
"""
NAMES = ["any", "with_shared", "bounded", "pairs_of_x", "pairs_of_y", "pairs_of_z", "sized"]


@pytest.fixture(scope="module")
def code():
    options = ProgramOptions(arch="sm_90", relocatable_device_code=True)
    return bytes(Program(SOURCE, "c++", options).compile("ptx").code)


@pytest.fixture
def run(emulated, code):
    """Run a kernel with 128 zeros and 8 values; return what it made of the zeros."""
    device = Device()
    device.set_current()
    pinned = LegacyPinnedMemoryResource()

    def run(name, *values, grid=1, block=1):
        with pinned.allocate(512) as out, pinned.allocate(32) as inputs:
            numbers, words = (np.from_dlpack(each).view("i4") for each in (out, inputs))
            numbers[:] = 0
            words[: len(values)] = values
            with device.create_stream() as stream:
                kernel = ObjectCode.from_ptx(code).get_kernel(name)
                launch(stream, LaunchConfig(grid=grid, block=block), kernel, out, inputs)
                stream.sync()
            return numbers.tolist()

    return run


# The limits of devices with compute capability 9.0, and one more.
ALLOWED = [
    ("any", (1, 1, 1), (1, 1, 1), 0),
    ("any", (1, 65535, 1), (1, 1, 1), 0),
    ("any", (1, 1, 65535), (1, 1, 1), 0),
    ("any", (1, 1, 1), (1024, 1, 1), 0),
    ("any", (1, 1, 1), (1, 1024, 1), 0),
    ("any", (1, 1, 1), (1, 1, 64), 0),
    ("any", (1, 1, 1), (1, 1, 1), LARGEST_SHARED),
    ("with_shared", (1, 1, 1), (1, 1, 1), LARGEST_SHARED - 1024),
    ("bounded", (1, 1, 1), (64, 1, 1), 0),
    ("pairs_of_x", (4, 3, 3), (1, 1, 1), 0),
    ("pairs_of_y", (3, 4, 3), (1, 1, 1), 0),
    ("pairs_of_z", (3, 3, 4), (1, 1, 1), 0),
    ("sized", (1, 1, 1), (4, 2, 3), 0),
]
REFUSED = [
    ("any", (0, 1, 1), (1, 1, 1), 0),
    ("any", (1, 0, 1), (1, 1, 1), 0),
    ("any", (-(2**31), 1, 1), (1, 1, 1), 0),  # 2^31 as an unsigned number
    ("any", (1, 65536, 1), (1, 1, 1), 0),
    ("any", (1, 1, 65536), (1, 1, 1), 0),
    ("any", (1, 1, 1), (1, 1, 0), 0),
    ("any", (1, 1, 1), (1025, 1, 1), 0),
    ("any", (1, 1, 1), (1, 1025, 1), 0),
    ("any", (1, 1, 1), (1, 1, 65), 0),
    ("any", (1, 1, 1), (32, 33, 1), 0),
    ("any", (1, 1, 1), (1, 1, 1), LARGEST_SHARED + 1),
    ("with_shared", (1, 1, 1), (1, 1, 1), LARGEST_SHARED - 1023),
    ("bounded", (1, 1, 1), (65, 1, 1), 0),
    ("pairs_of_x", (3, 4, 4), (1, 1, 1), 0),
    ("pairs_of_y", (4, 3, 4), (1, 1, 1), 0),
    ("pairs_of_z", (4, 4, 3), (1, 1, 1), 0),
    ("sized", (1, 1, 1), (4, 3, 2), 0),
]


def error_of(run, name, grid, block, shared):
    return run("configure", *grid, *block, shared, NAMES.index(name))[0]


@pytest.mark.parametrize("configuration", ALLOWED, ids=str)
def test_launches_within_the_limits(run, configuration):
    assert error_of(run, *configuration) == 0


@pytest.mark.parametrize("configuration", REFUSED, ids=str)
def test_launches_beyond_a_limit_are_refused(run, configuration):
    assert error_of(run, *configuration) == runtime.cudaError_t.cudaErrorInvalidConfiguration


@pytest.mark.parametrize("number", [0, 1, 2, 9, 65, 69, 98, 400, 801, 12345])
def test_errors_have_the_texts_of_the_runtime(run, number):
    error = runtime.cudaError_t(number) if number != 12345 else number
    for is_name, query in enumerate([runtime.cudaGetErrorString, runtime.cudaGetErrorName]):
        expected = b"unrecognized error code" if number == 12345 else query(error)[1]
        letters = bytes(run("texts", number, is_name))
        assert letters[: letters.index(0)] == expected


@pytest.mark.parametrize(
    ("alignment", "size", "is_valid"),
    [(512, 8, True), (513, 8, False), (8, 32764, True), (8, 32765, False)],
)
def test_buffers_of_parameters_have_a_limit(run, alignment, size, is_valid):
    assert run("buffers", alignment, size)[:2] == [is_valid, 0 if is_valid else 1]


def test_versions_and_limits(run):
    names = ["StackSize", "MallocHeapSize", "DevRuntimePendingLaunchCount"]
    limits = [runtime.cudaLimit[f"cudaLimit{name}"] for name in names]
    sizes = [runtime.cudaDeviceGetLimit(each)[1] for each in limits]
    version = runtime.cudaRuntimeGetVersion()[1]
    expected = [0, version, *(n for size in sizes for n in (0, size))]
    assert run("properties", *limits)[:8] == expected


@pytest.mark.parametrize("number", [0, 5, 23, 24, 30, 47])
def test_each_thread_has_its_own_error(run, number):
    errors = run("by_thread", number, grid=(1, 2), block=(2, 3, 4))
    assert errors == [400 if n == number else 0 for n in range(128)]


def test_streams_and_events_that_no_call_created(run):
    assert run("handles")[:9] == [1, 400, 400, 400, 400, 400, 400, 0, 0]


def test_wrong_addresses_and_sizes(run):
    numbers = run("memory")
    assert numbers[:8] == [2, 1, 0, 1, 1, 1, 0, 1]
    # 7 bytes are filled, of which 6 are copied
    assert numbers[8:15] == [0x05050505, 0x050505, 0, 0, 0x05050505, 0x0505, 0]

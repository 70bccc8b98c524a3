# SPDX-License-Identifier: Apache-2.0
"""Kernels that launch kernels: order, limits, errors, copies and faults."""

import textwrap

import numpy as np
import pytest
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
__global__ void set(int* a, int value) { a[0] = value; }
__global__ void copy(int* a) { a[1] = a[0]; }
__global__ void many(char c, double d, int* a, short s) {
  extern __shared__ int words[];
  words[threadIdx.x] = c + (int)d + s;
  __syncthreads();
  a[blockIdx.x * blockDim.x + threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}
__global__ void chain(int* a, int n) {
  a[0]++;
  if (n > 1) chain<<<1, 1, 0, cudaStreamTailLaunch>>>(a, n - 1);
}
__global__ void nest(int* a, int n) {
  a[0]++;
  if (n > 0) nest<<<1, 1>>>(a, n - 1);
  int error = cudaGetLastError();
  if (error) a[1] = error;
}
__global__ void add(int* a) { atomicAdd(a, 1); }
__global__ void add_twice(int* a) { add<<<1, 1>>>(a); add<<<1, 1>>>(a); }
__global__ void release(int* a) { cudaFree(a); }
__global__ void endless(int* a) { endless<<<1, 1, 0, cudaStreamTailLaunch>>>(a); }
extern "C" __global__ void parameters(int* a) { many<<<2, 4, 16>>>(3, 4.0, a, -9); }
extern "C" __global__ void order(int* a) {
  set<<<1, 1, 0, cudaStreamTailLaunch>>>(a, 9);
  set<<<1, 1>>>(a, 5);
  copy<<<1, 1>>>(a);
  set<<<1, 1, 0, cudaStreamFireAndForget>>>(a + 2, 6);
  a[3] = a[0];
}
extern "C" __global__ void chained(int* a, int n) { chain<<<1, 1>>>(a, n); }
extern "C" __global__ void nested(int* a, int n) { nest<<<1, 1>>>(a, n); }
extern "C" __global__ void tree(int* a) { add_twice<<<3, 5>>>(a); }
extern "C" __global__ void errors(int* a) {
  set<<<0, 1>>>(a, 1);
  a[0] = cudaPeekAtLastError(); a[1] = cudaGetLastError();
  a[2] = cudaGetLastError();
  set<<<1, 1025>>>(a, 1);
  a[3] = cudaGetLastError();
  void* buffer = cudaGetParameterBuffer(8, 8);
  a[6] = cudaLaunchDevice((void*)1, buffer, dim3(1), dim3(1), 0, 0);
  a[7] = cudaLaunchDevice((void*)add, buffer, dim3(1), dim3(1), 0, 0);
  cudaGetLastError();
  for (int i = 0; i < 9000; ++i) add<<<1, 1>>>(a + 4);
  a[5] = cudaGetLastError();
}
extern "C" __global__ void by_buffer(int* a) {
  int** buffer = (int**)cudaGetParameterBuffer(8, 8);
  *buffer = a;
  a[1] = cudaLaunchDevice((void*)add, buffer, dim3(2), dim3(3), 0, 0);
}
extern "C" __global__ void streams(int* a) {
  cudaStream_t s;
  cudaEvent_t e;
  a[0] = cudaStreamCreateWithFlags(&s, 1);
  a[1] = cudaEventCreateWithFlags(&e, 2);
  set<<<1, 1, 0, s>>>(a + 2, 7);
  a[3] = cudaEventRecord(e, s);
  a[4] = cudaStreamWaitEvent(s, e, 0);
  a[5] = cudaEventDestroy(e);
  a[6] = cudaStreamDestroy(s);
  a[7] = cudaStreamDestroy(0);
}
extern "C" __global__ void memory(int* a) {
  int* block;
  a[0] = cudaMalloc((void**)&block, 64);
  a[1] = cudaMemsetAsync(block, 3, 64, 0);
  add<<<1, 1>>>(block);
  a[2] = cudaMemcpyAsync(a + 3, block, 8, cudaMemcpyDeviceToDevice, 0);
  a[5] = cudaMemcpyAsync(a, (void*)64, 8, cudaMemcpyDeviceToDevice, 0);
  a[6] = cudaFree(a);
  a[7] = cudaFree(0);
  release<<<1, 1, 0, cudaStreamTailLaunch>>>(block);
}
extern "C" __global__ void properties(int* a) {
  size_t limit;
  cudaGetDevice(a); cudaGetDeviceCount(a + 1);
  a[2] = cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize); a[3] = limit;
  a[4] = cudaDeviceGetLimit(&limit, (cudaLimit)99);
}
extern "C" __global__ void texts(int* a) {
  a[0] = cudaGetErrorName(cudaErrorInvalidValue)[9]; a[1] = cudaGetErrorString(cudaSuccess)[3];
  a[2] = cudaGetErrorString((cudaError_t)12345)[2]; a[3] = cudaGetErrorName(cudaSuccess)[11];
}
extern "C" __global__ void child_of_nothing(int* a) { set<<<1, 1>>>((int*)16, 1); }
extern "C" __global__ void without_end(int* a) { endless<<<1, 1>>>(a); }
"""


@pytest.fixture(scope="module")
def code():
    options = ProgramOptions(arch="sm_90", relocatable_device_code=True)
    return bytes(Program(SOURCE, "c++", options).compile("ptx").code)


@pytest.fixture
def run(emulated, code):
    """Run a kernel of one thread with eight zeros; return what it made of them."""
    device = Device()
    device.set_current()
    memory = LegacyPinnedMemoryResource()

    def run(name, *arguments):
        with memory.allocate(32) as buffer, device.create_stream() as stream:
            values = np.from_dlpack(buffer).view("i4")
            values[:] = 0
            config = LaunchConfig(grid=1, block=1)
            kernel = ObjectCode.from_ptx(code).get_kernel(name)
            launch(stream, config, kernel, buffer, *map(np.int32, arguments))
            stream.sync()
            return values.tolist()

    return run


def test_a_child_receives_its_parameters(run):
    assert run("parameters") == [-2] * 8


def test_children_run_in_order_and_tails_last(run):
    assert run("order")[:4] == [9, 5, 6, 0]


def test_tail_launches_make_loops(run):
    assert run("chained", 3000)[0] == 3000


@pytest.mark.parametrize(("levels", "outcome"), [(22, [23, 0]), (24, [24, 65]), (40, [24, 65])])
def test_grids_nest_24_deep(run, levels, outcome):
    assert run("nested", levels)[:2] == outcome


def test_every_thread_launches(run):
    assert run("tree")[0] == 30


def test_refused_launches_set_the_last_error(run):
    assert run("errors") == [9, 9, 0, 9, 2047, 69, 98, 1]


def test_a_launch_with_a_buffer_of_parameters(run):
    assert run("by_buffer")[:2] == [6, 0]


def test_streams_and_events_of_the_device(run):
    assert run("streams") == [0, 0, 7, 0, 0, 0, 0, 400]


def test_copies_are_ordered_with_kernels(run):
    assert run("memory") == [0, 0, 0, 0x03030304, 0x03030303, 1, 1, 0]


def test_properties(run):
    assert run("properties")[:5] == [0, len(Device.get_all_devices()), 0, 8 << 20, 801]


def test_texts_of_errors(run):
    assert run("texts")[:4] == [ord("I"), ord("e"), ord("r"), 0]


FAULTS = """
    import sys
    from cuda.core import Device, LaunchConfig, ObjectCode, launch
    device = Device()
    device.set_current()
    stream = device.create_stream()
    buffer = device.allocate(32, stream=stream)
    kernel = ObjectCode.from_ptx(CODE).get_kernel(NAME)
    launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
    try:
        stream.sync()
    except Exception as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("kernel", "report"),
    [("child_of_nothing", "kernel 'set(int*, int)'"), ("without_end", "step-limit")],
)
def test_a_fault_names_the_child(run_emulated, code, kernel, report):
    text = f"CODE = {code!r}\nNAME = {kernel!r}\n" + textwrap.dedent(FAULTS)
    assert report in run_emulated(text, step_limit=10**5).stdout


@pytest.mark.parametrize("kernel", ["tree", "memory"])
def test_checks_accept_correct_launches(run_emulated, code, kernel):
    text = f"CODE = {code!r}\nNAME = {kernel!r}\n" + textwrap.dedent(FAULTS)
    text = text.replace("launch(stream", "buffer.fill(0, stream=stream); launch(stream")
    done = run_emulated(text, check="all")
    assert done.stdout == "" and "race" not in done.stderr and "uninit" not in done.stderr

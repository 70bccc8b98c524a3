# SPDX-License-Identifier: Apache-2.0
"""Locks of CUDA C++: cycles are reported soon, and other waits are not reported."""

import numpy as np
import pytest
from cuda.core import (
    CUDAError,
    Device,
    DeviceMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

LAUNCH_FAILED = "CUDA_ERROR_LAUNCH_FAILED"
CYCLES = {
    "of_blocks": (2, 1),
    "of_warps": (1, 64),
    "of_lanes": (1, 32),
    "after_test": (2, 1),
    "by_exchange": (2, 1),
    "of_objects": (2, 1),
    "in_shared_memory": (1, 64),
    "with_backoff": (2, 1),
    "with_itself": (1, 1),
}
CORRECT = {"contended": (4, 64), "with_one_order": (4, 64)}
SOURCE = """
__device__ void lock(int* l) { while (atomicCAS(l, 0, 1) != 0); __threadfence(); }
__device__ void unlock(int* l) { __threadfence(); atomicExch(l, 0); }
__device__ __noinline__ void lock_after_test(int* l) {
    do { while (*(volatile int*)l) __nanosleep(20); } while (atomicCAS(l, 0, 1));
    __threadfence();
}
__device__ __noinline__ void unlock_by_store(int* l) { __threadfence(); *(volatile int*)l = 0; }
__device__ void lock_by_exchange(int* l) { while (atomicExch(l, 1)); __threadfence(); }
__device__ void lock_with_backoff(int* l) {
    unsigned pause = 8;
    while (atomicCAS(l, 0, 1) != 0) { __nanosleep(pause); if (pause < 256) pause *= 2; }
    __threadfence();
}
// Waits until n threads have arrived.
__device__ void meet(int* met, int n) {
    __threadfence();
    atomicAdd(met, 1);
    while (*(volatile int*)met < n);
    __threadfence();
}

#define CYCLE(name, me, take, give) \\
    extern "C" __global__ void name(int* words) { \\
        int i = me; \\
        if (i < 0) return; \\
        int* own = words + i; \\
        int* other = words + (i ^ 1); \\
        take(own); meet(words + 2, 2); take(other); \\
        words[3] += 1; \\
        give(other); give(own); \\
    }
CYCLE(of_blocks, blockIdx.x, lock, unlock)
CYCLE(of_warps, threadIdx.x % 32 ? -1 : threadIdx.x / 32, lock, unlock)
CYCLE(of_lanes, threadIdx.x < 2 ? threadIdx.x : -1, lock, unlock)
CYCLE(after_test, blockIdx.x, lock_after_test, unlock_by_store)
CYCLE(by_exchange, blockIdx.x, lock_by_exchange, unlock_by_store)
CYCLE(with_backoff, blockIdx.x, lock_with_backoff, unlock)

extern "C" __global__ void with_itself(int* words) {
    lock(words); lock(words); words[3] += 1; unlock(words); unlock(words);
}
struct mutex {
    int* word;
    __device__ void take() { lock(word); }
    __device__ void give() { unlock(word); }
};
__device__ mutex mutexes[2];
extern "C" __global__ void of_objects(int* words) {
    int i = blockIdx.x;
    mutexes[i].word = words + i;
    meet(words + 2, 2);
    mutexes[i].take(); meet(words + 2, 4); mutexes[i ^ 1].take();
    words[3] += 1;
    mutexes[i ^ 1].give(); mutexes[i].give();
}
extern "C" __global__ void in_shared_memory(int* words) {
    __shared__ int locks[2];
    if (threadIdx.x < 2) locks[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x % 32) return;
    int i = threadIdx.x / 32;
    lock(locks + i); meet(words + 2, 2); lock(locks + (i ^ 1));
    words[3] += 1;
    unlock(locks + (i ^ 1)); unlock(locks + i);
}

// ---- correct
extern "C" __global__ void contended(int* words) {
    if (threadIdx.x % 16) return;
    lock_with_backoff(words);
    int value = *(volatile int*)(words + 3);
    for (volatile int i = 0; i < 300; ++i);
    *(volatile int*)(words + 3) = value + 1;
    unlock(words);
}
extern "C" __global__ void with_one_order(int* words) {
    if (threadIdx.x % 16) return;
    lock(words); lock(words + 1);
    for (volatile int i = 0; i < 300; ++i);
    words[3] += 1;
    unlock(words + 1); unlock(words);
}
// Holds a lock and waits for a write by the host, a copy or another kernel.
extern "C" __global__ void waits_for(int* words, volatile int* flag) {
    lock(words + blockIdx.x);
    while (*flag == 0);
    unlock(words + blockIdx.x);
    atomicAdd(words + 3, 1);
}
extern "C" __global__ void works_and_sets(int* words, int* flag) {
    for (volatile int i = 0; i < 200000; ++i);
    atomicExch(flag, 1);
}
// Reads messages from two words in turn; another kernel writes them.
extern "C" __global__ void takes_messages(int* words, int messages) {
    for (int i = 0; i < messages; ++i) {
        int message;
        while ((message = atomicExch(words + (i & 1), 0)) == 0);
        words[3] += message;
    }
}
extern "C" __global__ void puts_messages(int* words, int messages) {
    for (int i = 0; i < messages; ++i) {
        for (volatile int work = 0; work < 50000; ++work);
        while (atomicCAS(words + (i & 1), 0, 1) != 0);
    }
}
"""
KERNELS = (*CYCLES, *CORRECT, "waits_for", "works_and_sets", "takes_messages", "puts_messages")


@pytest.fixture(scope="module")
def kernels():
    device = Device()
    device.set_current()
    options = ProgramOptions(arch=f"sm_{device.arch}", std="c++17", lineinfo=True)
    code = Program(SOURCE, "c++", options).compile("cubin")
    return {name: code.get_kernel(name) for name in KERNELS}


@pytest.fixture
def words():
    """Four words of device memory: two locks, the number of arrivals, the number of finished
    threads."""
    device = Device()
    with DeviceMemoryResource(device).allocate(16, stream=device.default_stream) as buffer:
        buffer.fill(0, stream=device.default_stream)
        device.default_stream.sync()
        yield buffer


def read(buffer):
    with LegacyPinnedMemoryResource().allocate(buffer.size) as copy:
        stream = Device().default_stream
        copy.copy_from(buffer, stream=stream)
        stream.sync()
        return np.from_dlpack(copy).view(np.int32).tolist()


def run(kernel, shape, *arguments):
    grid, block = shape
    with Device().create_stream() as stream:
        launch(stream, LaunchConfig(grid=grid, block=block), kernel, *arguments)
        stream.sync()


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_a_fault(emulated, kernels, words, name):
    grid, block = CYCLES[name]
    stream = Device().default_stream
    with (
        emulated.expect_fault("lock-cycle") as caught,
        pytest.raises(CUDAError, match=LAUNCH_FAILED),
    ):
        launch(stream, LaunchConfig(grid=grid, block=block), kernels[name], words)
        stream.sync()
    fault = caught.fault
    assert (fault.kernel, fault.block_index, fault.thread) == (name, (0, 0, 0), (0, 0, 0))
    assert fault.source_line > 0
    assert "acquired it on source line" in str(fault)
    assert "hint: " in str(fault)


@pytest.mark.parametrize("name", CORRECT)
def test_locks_acquired_in_one_order_are_no_cycle(emulated, kernels, words, name):
    before = emulated.stats()["faults"]
    run(kernels[name], CORRECT[name], words)
    assert read(words)[3] == 16
    assert emulated.stats()["faults"] == before


def test_a_wait_for_the_host_is_no_cycle(emulated, kernels, words):
    with (
        LegacyPinnedMemoryResource().allocate(8) as pinned,
        Device().create_stream() as stream,
    ):
        view = np.from_dlpack(pinned).view(np.int32)
        view[:] = 0
        launch(stream, LaunchConfig(grid=2, block=1), kernels["waits_for"], words, pinned)
        run(kernels["works_and_sets"], (1, 1), words, words.handle + 8)  # for the kernel to wait
        view[0] = 1
        stream.sync()
    assert read(words)[3] == 2


def test_a_wait_for_another_kernel_is_no_cycle(emulated, kernels, words):
    flag = words.handle + 8
    with Device().create_stream() as stream:
        launch(stream, LaunchConfig(grid=2, block=1), kernels["waits_for"], words, flag)
        run(kernels["works_and_sets"], (1, 1), words, flag)
        stream.sync()
    assert read(words)[3] == 2


def test_a_wait_for_a_copy_is_no_cycle(emulated, kernels, words):
    flag = words.handle + 8
    device = Device()
    with (
        LegacyPinnedMemoryResource().allocate(16) as ones,
        DeviceMemoryResource(device).allocate(16, stream=device.default_stream) as target,
        device.create_stream() as stream,
        device.create_stream() as other,
    ):
        np.from_dlpack(ones).view(np.int32)[:] = 1
        device.default_stream.sync()
        target.fill(0, stream=other)
        other.sync()
        launch(stream, LaunchConfig(grid=2, block=1), kernels["waits_for"], words, target)
        run(kernels["works_and_sets"], (1, 1), words, flag)
        target.copy_from(ones, stream=other)
        stream.sync()
    assert read(words)[3] == 2


def test_messages_from_another_kernel_are_no_cycle(emulated, kernels, words):
    messages = np.int32(6)
    with Device().create_stream() as stream:
        launch(stream, LaunchConfig(grid=1, block=1), kernels["takes_messages"], words, messages)
        run(kernels["puts_messages"], (1, 1), words, messages)
        stream.sync()
    assert read(words)[3] == 6

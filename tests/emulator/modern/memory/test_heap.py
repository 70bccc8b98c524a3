# SPDX-License-Identifier: Apache-2.0
"""malloc, free, new and assert in kernels."""

import functools
import re
import textwrap

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = r"""
struct node { int value; node* next; };
extern "C" __global__ void push(node** heads, int count) {
  node* head = nullptr;
  for (int i = 0; i < count; ++i) head = new node{i * (int)threadIdx.x, head};
  heads[threadIdx.x] = head;
}
extern "C" __global__ void pop(node** heads, long long* sums) {
  long long sum = 0;
  for (node* each = heads[threadIdx.x]; each;) {
    node* next = each->next; sum += each->value; delete each; each = next;
  }
  sums[threadIdx.x] = sum;
}
extern "C" __global__ void take(void** to, unsigned long long bytes) {
  to[threadIdx.x] = malloc(bytes);
}
extern "C" __global__ void give(void** from) { free(from[threadIdx.x]); }
extern "C" __global__ void put(char** to, int at) { to[threadIdx.x][at] = 1; }
"""
THREADS = 40


@functools.cache
def compiled(source, arch):
    """Return the PTX of a source."""
    return bytes(Program(source, "c++", ProgramOptions(arch=arch)).compile("ptx").code)


@pytest.fixture
def run():
    device = Device()
    device.set_current()
    with device.create_stream() as stream:

        def run(name, *arguments, threads=THREADS):
            code = ObjectCode.from_ptx(compiled(SOURCE, f"sm_{device.arch}"))
            config = LaunchConfig(grid=1, block=threads)
            launch(stream, config, code.get_kernel(name), *arguments)
            stream.sync()

        yield run


@pytest.fixture
def words():
    with LegacyPinnedMemoryResource().allocate(8 * THREADS) as memory:
        yield memory


def test_memory_outlives_the_kernel(run, words):
    with LegacyPinnedMemoryResource().allocate(8 * THREADS) as sums:
        run("push", words, 9)
        run("pop", words, sums)
        totals = np.from_dlpack(sums).view(np.int64)
        assert totals.tolist() == [36 * thread for thread in range(THREADS)]


def test_blocks_are_aligned_and_apart(run, words):
    run("take", words, 24)
    blocks = np.sort(np.from_dlpack(words).view(np.uint64).copy())
    assert (blocks % 16 == 0).all() and (np.diff(blocks) >= 24).all()
    run("give", words)


def test_a_full_heap_returns_null(run, words):
    run("take", words, 1 << 20)
    blocks = np.from_dlpack(words).view(np.uint64)
    assert 6 <= np.count_nonzero(blocks) <= 8  # of the 8 MB that a context has
    run("give", words)  # null has no effect
    run("take", words, 1 << 20, threads=6)
    assert blocks[:6].all()
    run("give", words, threads=6)


def test_a_null_block_is_returned_for_a_huge_size(run, words):
    run("take", words, (1 << 64) - 8)
    assert not np.from_dlpack(words).view(np.uint64).any()


def test_the_host_cannot_free_a_block(run, words):
    run("take", words, 64, threads=1)
    block = int(np.from_dlpack(words).view(np.uint64)[0])
    assert driver.cuMemFree(block)[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE
    run("give", words, threads=1)


PROGRAM = """
import sys
import numpy as np
from cuda.bindings import driver
from cuda.core import *
device = Device(); device.set_current(); stream = device.create_stream()
words = LegacyPinnedMemoryResource().allocate(256)
values = np.from_dlpack(words).view(np.uint64)
def load(source):
    return Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("ptx")
code = load(sys.argv[1])
def run(name, *arguments, threads=1):
    launch(stream, LaunchConfig(grid=1, block=threads), code.get_kernel(name), *arguments)
    stream.sync()
"""


@pytest.fixture
def run_alone(run_emulated):
    """Run a body in a process of its own, since a fault breaks the context."""

    def run(body, **options):
        return run_emulated(PROGRAM + textwrap.dedent(body), SOURCE, **options)

    return run


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('run("take", words, 8); run("give", words); run("give", words)', "invalid-free"),
        ('values[0] = words.handle; run("give", words)', "invalid-free"),
        ('run("take", words, 8); values[0] += 4; run("give", words)', "invalid-free"),
        ('run("take", words, 8); run("put", words, 8)', "out-of-bounds store"),
        (
            'run("take", words, 8); run("give", words); run("put", words, 0)',
            "use-after-free store",
        ),
    ],
)
def test_misuse_is_a_fault(run_alone, body, kind):
    result = run_alone(body, status=1)
    assert re.search(rf"^{kind}", result.stderr, re.M), result.stderr
    assert "allocated at: kernel 'take', PTX line" in result.stderr or "values[0] =" in body


def test_the_limit_is_the_size_of_the_heap(run_alone):
    body = """
    limit = driver.CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE
    print(driver.cuCtxSetLimit(limit, 1 << 16)[0].name)
    run("take", words, 1 << 15, threads=4)
    print(np.count_nonzero(values[:4]))
    print(driver.cuCtxSetLimit(limit, 1 << 20)[0].name)  # too late
    """
    lines = run_alone(body).stdout.split()
    assert lines == ["CUDA_SUCCESS", "1", "CUDA_ERROR_INVALID_VALUE"]


def test_a_reset_frees_the_heap(run_alone):
    body = """
    run("take", words, 1 << 22)
    driver.cuDevicePrimaryCtxReset(0)
    device.set_current()
    print(driver.cuMemGetInfo()[1] == driver.cuMemGetInfo()[2])
    """
    assert "True" in run_alone(body).stdout


def test_leaks_are_reported(run_alone):
    result = run_alone('run("take", words, 100, threads=3)', check="leak")
    line = "leak: 3 x memory of malloc in a kernel, 300 bytes, created at kernel 'take', PTX line"
    assert line in result.stderr


def test_an_assertion_prints_as_a_device_does(run_alone):
    source = r"""
    extern "C" __global__ void check() {
      if (threadIdx.x > 5) __assertfail("x <= 5", "a.cu", 7, "void check()", 1);
    }
    """
    body = f"""
    code = load({source!r})
    try:
        run("check", threads=8)
    except CUDAError as error:
        print(error)
    """
    result = run_alone(body)
    assert "CUDA_ERROR_ASSERT" in result.stdout
    for thread in 6, 7:
        line = f"a.cu:7: void check(): block: [0,0,0], thread: [{thread},0,0] Assertion `x <= 5`"
        assert f"{line} failed.\n" in result.stderr

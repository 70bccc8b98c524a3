# SPDX-License-Identifier: Apache-2.0
"""Each driver call of each constructor and context manager fails once: no crash, no leak.

`test_fault_injection.py` sweeps devices, contexts, streams and events.
"""

from contextlib import ExitStack

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    PER_THREAD_DEFAULT_STREAM,
    Buffer,
    CUDAError,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    GraphMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    ObjectCode,
    OutOfMemoryError,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    Stream,
    VirtualMemoryResource,
    launch,
)

SOURCE = 'extern "C" __global__ void store(int *out, int value) { out[threadIdx.x] = value; }'
PTX = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry store(.param .u64 out, .param .u32 value) { ret; }
"""
DEFAULTS = (LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM)
ONE = LaunchConfig(grid=1, block=1)
ERRORS = ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"]


class Foreign:
    """A stream of another library."""

    def __init__(self, stream):
        self.stream = stream

    def __cuda_stream__(self):
        return self.stream.__cuda_stream__()


def allocate(device, stream):
    device.allocate(64, stream=stream).close()


def allocate_without_a_stream(device, stream):
    with pytest.warns(DeprecationWarning, match="without a stream"):
        device.allocate(64).close()


def empty_the_context_stack():
    """Pop all contexts, including a context that a failed pop left on the stack."""
    while driver.cuCtxPopCurrent()[0] != driver.CUresult.CUDA_ERROR_INVALID_CONTEXT:
        pass


def free_on_a_default_stream_in_another_context(device, stream):
    with ExitStack() as cleaning:
        cleaning.callback(driver.cuCtxSetCurrent, device.context.handle)
        cleaning.callback(empty_the_context_stack)
        buffers = [device.allocate(64, stream=default) for default in DEFAULTS]
        error, other = driver.cuCtxCreate(None, 0, 0)
        if error:
            return
        cleaning.callback(driver.cuCtxDestroy, other)
        for buffer in buffers:
            buffer.close()


def allocate_on_a_default_stream(device, stream):
    with device.allocate(64, stream=device.default_stream) as buffer:
        buffer.set_deallocation_stream(stream)


def copy(device, stream):
    with device.allocate(64, stream=stream) as source, device.allocate(64, stream=stream) as target:
        source.copy_to(target, stream=stream)
        source.copy_from(target, stream=stream)
        source.copy_to(stream=stream).close()


def copy_with_the_host(device, stream):
    host = np.arange(8)
    with device.allocate(64, stream=stream) as buffer:
        buffer.copy_from(host, stream=stream)
        buffer.copy_to(host, stream=stream)
        stream.sync()


def fill(device, stream):
    with device.allocate(64, stream=stream) as buffer:
        for value in (1, b"ab", b"abcd"):
            buffer.fill(value, stream=stream)


def describe_a_buffer(device, stream):
    with device.allocate(64, stream=stream) as buffer:
        view = Buffer.from_handle(buffer.handle, 64)
        _ = view.device_id, view.is_managed, view.__dlpack_device__(), view.__dlpack__()
        _ = buffer.__dlpack__(stream=-1), buffer.__cuda_array_interface__


def share_a_buffer(device, stream):
    with device.allocate(64, stream=stream) as buffer:
        capsule = buffer.__dlpack__(max_version=(1, 0))
    del capsule


def wrap_memory(device, stream):
    pinned = LegacyPinnedMemoryResource()
    inner = pinned.allocate(64)
    with Buffer.from_handle(inner.handle, 64, owner=inner):
        inner.fill(1, stream=stream)
    inner.close(stream)


def pinned_memory(device, stream):
    with LegacyPinnedMemoryResource().allocate(64) as buffer:
        memoryview(buffer)[0] = 1


def own_pool(device, stream):
    pool = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 22))
    buffer = pool.allocate(64, stream=stream)
    pool.close()
    buffer.close()


def current_pool(device, stream):
    pool = DeviceMemoryResource(device)
    _ = repr(pool.attributes)
    pool.release_threshold = pool.attributes.release_threshold
    pool.trim()
    pool.close()


def compile_and_get_a_kernel(device, stream):
    options = ProgramOptions(arch=f"sm_{device.arch}")
    with Program(SOURCE, "c++", options) as program:
        program.compile("ptx").get_kernel("store")


def load(device, stream):
    code = ObjectCode.from_ptx(PTX)
    _ = code.kernels(), code.get_kernel("store"), code.get_global("counter").size


def load_for_older_calls(device, stream):
    code = ObjectCode.from_ptx(PTX)
    code.get_module()
    while driver.cuLibraryUnload(code.handle) != (driver.CUresult.CUDA_SUCCESS,):
        pass  # the injected failure may concern this call


def describe_a_kernel(device, stream):
    kernel = ObjectCode.from_ptx(PTX).get_kernel("store")
    _ = kernel.num_arguments, kernel.arguments_info, kernel.attributes.num_regs
    occupancy = kernel.occupancy
    occupancy.max_active_blocks_per_multiprocessor(64, 0)
    occupancy.max_potential_block_size(0, 0)
    occupancy.max_potential_block_size(lambda threads: 4 * threads, 0)


def run(device, stream):
    kernel = ObjectCode.from_ptx(PTX).get_kernel("store")
    with device.allocate(64, stream=stream) as buffer:
        launch(stream, ONE, kernel, buffer, 1)
        launch(stream, LaunchConfig(grid=1, block=1, shmem_size=100 << 10), kernel, buffer, 1)
        launch(stream, LaunchConfig(grid=1, block=1, is_cooperative=True), kernel, buffer, 1)
        stream.launch(ONE, kernel, buffer, 1)
        stream.sync()


def run_prepared(device, stream):
    kernel = ObjectCode.from_ptx(PTX).get_kernel("store")
    buffer = device.allocate(64, stream=stream)
    prepared = kernel.prepare(ONE, buffer, 1)
    prepared(stream)
    prepared[1] = 2
    prepared(stream)
    buffer.close()


def wrap_a_foreign_stream(device, stream):
    with device.create_stream(Foreign(stream)) as wrapped:
        wrapped.wait(Foreign(stream))
        wrapped.sync()
    with Stream.from_handle(int(stream.handle)) as wrapper, device.allocate(8, stream=wrapper):
        wrapper.sync()


def stream_in_a_block(device, stream):
    with device.create_stream() as own_stream, device.allocate(64, stream=own_stream) as buffer:
        buffer.fill(0, stream=own_stream)


def foreign_in_a_block(device, stream):
    with Stream() as own_stream, own_stream.record() as event:
        stream.wait(event)


def pinned_pool(device, stream):
    resource = PinnedMemoryResource({})
    with resource.allocate(64, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
    resource.close()


def managed_pool(device, stream):
    resource = ManagedMemoryResource({})
    with resource.allocate(64, stream=stream) as buffer:
        buffer.prefetch(device, stream=stream)
    resource.close()


def pinned_pool_of_a_node(device, stream):
    resource = PinnedMemoryResource({"numa_id": 0})
    with resource.allocate(64, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
    resource.close()


def virtual_memory(device, stream):
    resource = VirtualMemoryResource(device)
    with resource.allocate(1, stream=stream) as buffer:
        buffer.fill(1, stream=stream)
        resource.modify_allocation(buffer, 2 * buffer.size)


def graph_memory(device, stream):
    builder = device.create_graph_builder().begin_building()
    try:
        with GraphMemoryResource(device).allocate(64, stream=builder) as buffer:
            buffer.fill(1, stream=builder)
    finally:
        builder.close()


def share_memory(device, stream):
    resource = DeviceMemoryResource(device, {"ipc_enabled": True})
    with resource.allocate(64, stream=stream) as buffer:
        descriptor = buffer.ipc_descriptor
        Buffer.from_ipc_descriptor(resource, descriptor, stream=stream).close()
    resource.allocation_handle.close()
    resource.close()


def share_an_event(device, stream):
    with stream.record(options={"ipc_enabled": True}) as event:
        event.sync()


USES = [
    pinned_pool,
    managed_pool,
    pinned_pool_of_a_node,
    virtual_memory,
    graph_memory,
    share_memory,
    share_an_event,
    allocate,
    allocate_without_a_stream,
    free_on_a_default_stream_in_another_context,
    allocate_on_a_default_stream,
    copy,
    copy_with_the_host,
    fill,
    describe_a_buffer,
    share_a_buffer,
    wrap_memory,
    pinned_memory,
    own_pool,
    current_pool,
    compile_and_get_a_kernel,
    load,
    load_for_older_calls,
    describe_a_kernel,
    run,
    run_prepared,
    wrap_a_foreign_stream,
    stream_in_a_block,
    foreign_in_a_block,
]


@pytest.fixture(autouse=True)
def cleanup_messages(capfd):
    """Check that stderr contains nothing but the reports of failed cleanups."""
    yield
    lines = capfd.readouterr().err.splitlines()
    allowed = ("halfwarp: ", "Warning: ", "emulator: ")
    assert [line for line in lines if not line.startswith(allowed)] == []


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
def test_each_driver_call_may_fail(device, stream, emulation, use, error):
    use(device, stream)
    assert emulation.sweep(lambda: use(device, stream), error=error, expected=CUDAError) > 0
    device.set_current()
    use(device, stream)
    stream.sync()


@pytest.mark.parametrize(
    ("function", "use"),
    [
        ("cuMemAllocFromPoolAsync", allocate),
        ("cuMemAllocHost", pinned_memory),
        ("cuMemPoolCreate", own_pool),
        ("cuMemPoolCreate", pinned_pool),
        ("cuMemPoolCreate", managed_pool),
        ("cuMemAllocFromPoolAsync", pinned_pool),
        ("cuMemAllocFromPoolAsync", pinned_pool_of_a_node),
        ("cuMemAllocFromPoolAsync", managed_pool),
        ("cuMemAllocFromPoolAsync", share_memory),
        ("cuMemAddressReserve", virtual_memory),
        ("cuMemCreate", virtual_memory),
        ("cuLibraryLoadData", load),
    ],
)
def test_exhausted_memory_is_an_out_of_memory_error(device, stream, emulation, function, use):
    use(device, stream)
    with emulation.inject(function), pytest.raises(OutOfMemoryError) as caught:
        use(device, stream)
    assert caught.value.where == function

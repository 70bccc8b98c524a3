# SPDX-License-Identifier: Apache-2.0
"""Behavior of a driver where two devices meet: copies, kernels, frees, streams, events, graphs.

``HALFWARP_BACKEND=driver python -m tests.emulator.several_devices.hardware_probe`` runs each
question on two GPUs in a process of its own. It prints the results and the differences from
``answers.txt``, the emulator's results, and exits with status 1 if any differ. Device 1, whose
context is current, uses memory of device 0, unless the question says otherwise.
"""

import contextlib
import ctypes
import sys
from pathlib import Path

from cuda.bindings import driver

from tests.probing import main, name, ok

STORE = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry store(.param .u64 where)
{
    .reg .u64 %to;
    ld.param.u64 %to, [where];
    st.global.u32 [%to], 7;
    ret;
}
"""
SIZE = 64
GLOBAL = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
WRITE = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
ON_DEVICE = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE


class Side:
    """A device with its primary context, which becomes current; a stream, an event."""

    def __init__(self, number):
        self.number = number
        self.context = ok(driver.cuDevicePrimaryCtxRetain(number))
        self.use()
        self.stream = ok(driver.cuStreamCreate(1))
        self.event = ok(driver.cuEventCreate(0))

    def use(self):
        driver.cuCtxSetCurrent(self.context)
        return self

    def from_pool(self):
        self.use()
        memory = ok(driver.cuMemAllocAsync(SIZE, self.stream))
        driver.cuStreamSynchronize(self.stream)
        return memory

    def plain(self):
        return ok(driver.cuMemAlloc(SIZE)) if self.use() else None

    def store(self, target, stream=None):
        """Launch a kernel that writes 7; return the results of the launch and of the wait."""
        self.use()
        function = ok(driver.cuModuleGetFunction(ok(driver.cuModuleLoadData(STORE)), b"store"))
        parameters = ((int(target),), (ctypes.c_void_p,))
        own = self.stream if stream is None else stream
        launched = driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, own, parameters, 0)
        return f"{name(launched)} {name(driver.cuStreamSynchronize(own))}"


def sides():
    return Side(0), Side(1)


def two(ask):
    """Wrap a question about both devices; the context of device 1 is current."""
    return lambda: ask(*sides())


def waited(result, side):
    return f"{name(result)} {name(driver.cuStreamSynchronize(side.stream))}"


def copy(kind, way):
    """Copy between memory of the two kinds, without access from one to the other."""

    def ask(first, second):
        source, target = getattr(first, kind)(), getattr(second, kind)()
        return waited(way(source, target, first, second), second)

    return two(ask)


def asynchronous(source, target, first, second):
    return driver.cuMemcpyDtoDAsync(target, source, SIZE, second.stream)


def any_kind(source, target, first, second):
    return driver.cuMemcpyAsync(target, source, SIZE, second.stream)


def of_peers(source, target, first, second):
    return driver.cuMemcpyPeerAsync(
        target, second.context, source, first.context, SIZE, second.stream
    )


def of_swapped_peers(source, target, first, second):
    return driver.cuMemcpyPeerAsync(
        target, first.context, source, second.context, SIZE, second.stream
    )


def used(kind, way, current, stream):
    """Use memory of device 0 while a context of `current` is current, in a stream of `stream`."""

    def ask(*both):
        memory = getattr(both[0], kind)()
        result = way(memory, both[current], both[stream])
        return waited(result, both[stream])

    return two(ask)


def within(memory, current, order):
    half = SIZE // 2
    current.use()
    return driver.cuMemcpyDtoDAsync(int(memory) + half, memory, half, order.stream)


def with_attributes(memory, current, order):
    half = SIZE // 2
    attributes = driver.CUmemcpyAttributes()
    attributes.srcAccessOrder = driver.CUmemcpySrcAccessOrder.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM
    current.use()
    targets, sources = [int(memory) + half], [memory]
    return driver.cuMemcpyBatchAsync(
        targets, sources, [half], 1, [attributes], [0], 1, order.stream
    )


def to_host(memory, current, order):
    current.use()
    return driver.cuMemcpyDtoHAsync(bytearray(SIZE), memory, SIZE, order.stream)


def to_page_locked(memory, current, order):
    host = ok(driver.cuMemHostAlloc(SIZE, 1))
    current.use()
    return driver.cuMemcpyDtoHAsync(host, memory, SIZE, order.stream)


def rows(memory, current, order):
    parameters, device = driver.CUDA_MEMCPY2D(), driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
    parameters.srcMemoryType = parameters.dstMemoryType = device
    parameters.srcDevice, parameters.dstDevice = memory, int(memory) + SIZE // 2
    parameters.srcPitch = parameters.dstPitch = SIZE // 4
    parameters.WidthInBytes, parameters.Height = SIZE // 4, 2
    current.use()
    return driver.cuMemcpy2DAsync(parameters, order.stream)


def fill(memory, current, order):
    current.use()
    return driver.cuMemsetD8Async(memory, 1, SIZE, order.stream)


def by_default(memory, current, order):
    """Copy in the default stream of the current context."""
    current.use()
    return driver.cuMemcpyDtoH(bytearray(SIZE), memory, SIZE)


def wait_value(memory, current, order):
    current.use()
    return driver.cuStreamWriteValue32(order.stream, memory, 1, 0)


def refused_in_a_capture(first, second):
    """Return the result of a refused copy, and whether the capture remains valid."""
    memory = first.from_pool()
    second.use()
    ok(driver.cuStreamBeginCapture(second.stream, GLOBAL))
    refused = driver.cuMemcpyDtoDAsync(int(memory) + 32, memory, 32, second.stream)
    status = ok(driver.cuStreamIsCapturing(second.stream))
    first.use()
    second_copy = driver.cuMemcpyDtoDAsync(int(memory) + 32, memory, 32, second.stream)
    ended = driver.cuStreamEndCapture(second.stream)
    return f"{name(refused)} {status.name.rpartition('_')[2]} {name(second_copy)} {name(ended)}"


def store_in_pool_with_access(first, second):
    memory = first.from_pool()
    give(first, second)
    return second.store(memory)


def give(first, second):
    access = driver.CUmemAccessDesc()
    access.location.type, access.location.id = ON_DEVICE, second.number
    access.flags = WRITE
    pool = ok(driver.cuDeviceGetDefaultMemPool(first.number))
    ok(driver.cuMemPoolSetAccess(pool, [access], 1))


def enable(first, second):
    """Let the context of device 1 use allocations of the context of device 0."""
    second.use()
    return driver.cuCtxEnablePeerAccess(first.context, 0)


def store_with_access(first, second):
    memory = first.plain()
    return f"{name(enable(first, second))} {second.store(memory)}"


def store_in_pool_with_access_of_contexts(first, second):
    memory = first.from_pool()
    return f"{name(enable(first, second))} {second.store(memory)}"


def access_twice(first, second):
    return " ".join(name(enable(first, second)) for _ in range(2))


def access_enabled_twice(first, second):
    enable(first, second)
    return " ".join(name(driver.cuCtxDisablePeerAccess(first.context)) for _ in range(2))


def access_to_itself(first, second):
    return name(enable(second, second))


def access_with_flags(first, second):
    return name(driver.cuCtxEnablePeerAccess(first.context, 1))


def stream_of_the_other(first, second):
    """Launch a function of device 1 in a stream of device 0."""
    return second.store(second.plain(), first.stream)


def record_elsewhere(first, second):
    return " ".join(
        name(driver.cuEventRecord(event, stream))
        for event, stream in ((first.event, second.stream), (second.event, second.stream))
    )


def record_in_default_stream(first, second):
    second.use()
    return name(driver.cuEventRecord(first.event, 0))


def wait_elsewhere(first, second):
    first.use()
    ok(driver.cuEventRecord(first.event, first.stream))
    second.use()
    return waited(driver.cuStreamWaitEvent(second.stream, first.event, 0), second)


def query_elsewhere(first, second):
    first.use()
    ok(driver.cuEventRecord(first.event, first.stream))
    driver.cuStreamSynchronize(first.stream)
    second.use()
    results = driver.cuEventQuery(first.event), driver.cuStreamQuery(first.stream)
    return " ".join(map(name, results))


def time_between(first, second):
    for side in (first, second):
        side.use()
        ok(driver.cuEventRecord(side.event, side.stream))
        driver.cuStreamSynchronize(side.stream)
    return name(driver.cuEventElapsedTime(first.event, second.event))


def free_elsewhere(first, second):
    memory = first.plain()
    second.use()
    return name(driver.cuMemFree(memory))


def free_in_a_stream_elsewhere(first, second):
    memory = first.from_pool()
    second.use()
    return waited(driver.cuMemFreeAsync(memory, second.stream), second)


def plain_memory_in_a_stream_elsewhere(first, second):
    memory = first.plain()
    second.use()
    return waited(driver.cuMemFreeAsync(memory, second.stream), second)


def pool_elsewhere(first, second):
    pool = ok(driver.cuDeviceGetDefaultMemPool(first.number))
    second.use()
    return waited(driver.cuMemAllocFromPoolAsync(SIZE, pool, second.stream), second)


def stream_elsewhere_allocates(first, second):
    """Allocate in a stream of device 0 while the context of device 1 is current."""
    second.use()
    result = driver.cuMemAllocAsync(SIZE, first.stream)
    if result[0] != 0:
        return name(result)
    ordinal = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
    return f"{name(result)} {ok(driver.cuPointerGetAttribute(ordinal, result[1]))}"


def destroyed_elsewhere(first, second):
    second.use()
    results = driver.cuEventDestroy(first.event), driver.cuStreamDestroy(first.stream)
    return " ".join(map(name, results))


def host_memory(flags):
    """Write page-locked memory of device 0's context by a kernel of device 1."""

    def ask(first, second):
        first.use()
        return second.store(ok(driver.cuMemHostAlloc(SIZE, flags)))

    return two(ask)


def managed_memory(first, second):
    first.use()
    flag = driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value
    return second.store(ok(driver.cuMemAllocManaged(SIZE, flag)))


def facts_of_memory(first, second):
    """Query the device and the context of memory while the context of device 1 is current."""
    kinds = driver.CUpointer_attribute
    memory = first.plain()
    second.use()
    ordinal = driver.cuPointerGetAttribute(kinds.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory)
    context = driver.cuPointerGetAttribute(kinds.CU_POINTER_ATTRIBUTE_CONTEXT, memory)
    is_first = int(ok(context)) == int(first.context)
    return f"{ok(ordinal)} {'first' if is_first else 'second'}"


def capture(work):
    """Capture in a stream of device 0 that a stream of device 1 joins."""

    def ask(first, second):
        memory = first.plain(), second.plain()
        first.use()
        ok(driver.cuStreamBeginCapture(first.stream, GLOBAL))
        ok(driver.cuEventRecord(first.event, first.stream))
        forked = driver.cuStreamWaitEvent(second.stream, first.event, 0)
        second.use()
        results = [forked, *work(first, second, *memory)]
        with contextlib.suppress(AssertionError):
            ok(driver.cuEventRecord(second.event, second.stream))
            ok(driver.cuStreamWaitEvent(first.stream, second.event, 0))
        results.append(ended := driver.cuStreamEndCapture(first.stream))
        if ended[0] == 0:
            results.append(instantiation := driver.cuGraphInstantiate(ended[1], 0))
            results.append(driver.cuGraphLaunch(instantiation[1], first.stream))
            results.append(driver.cuStreamSynchronize(first.stream))
        return " ".join(map(name, results))

    return two(ask)


def fills(first, second, mine, other):
    return [driver.cuMemsetD8Async(other, 1, SIZE, second.stream)]


def copies(first, second, mine, other):
    return [driver.cuMemcpyDtoDAsync(other, mine, SIZE, second.stream)]


def node(kind, owner):
    """Copy between memory of both devices, without access, in a context of `owner`."""

    def ask(*both):
        source, target = (getattr(each, kind)() for each in both)
        graph = ok(driver.cuGraphCreate(0))
        device = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
        parameters = driver.CUDA_MEMCPY3D()
        parameters.srcMemoryType = parameters.dstMemoryType = device
        parameters.srcDevice, parameters.dstDevice = source, target
        parameters.WidthInBytes, parameters.Height, parameters.Depth = SIZE, 1, 1
        added = driver.cuGraphAddMemcpyNode(graph, [], 0, parameters, both[owner].context)
        return f"{name(added)} {launched(graph, both[1])}"

    return two(ask)


def memset_node(owner):
    def ask(*both):
        memory, graph = both[0].plain(), ok(driver.cuGraphCreate(0))
        parameters = driver.CUDA_MEMSET_NODE_PARAMS()
        parameters.dst, parameters.elementSize = memory, 1
        parameters.width, parameters.height = SIZE, 1
        added = driver.cuGraphAddMemsetNode(graph, [], 0, parameters, both[owner].context)
        return f"{name(added)} {launched(graph, both[1])}"

    return two(ask)


def launched(graph, side):
    side.use()
    result = driver.cuGraphInstantiate(graph, 0)
    if result[0] != 0:
        return name(result)
    return waited(driver.cuGraphLaunch(result[1], side.stream), side)


def function_of_the_other(first, second):
    """Launch a function loaded on device 0 in a stream of device 1."""
    memory = first.plain()
    function = ok(driver.cuModuleGetFunction(ok(driver.cuModuleLoadData(STORE)), b"store"))
    second.use()
    parameters = ((int(memory),), (ctypes.c_void_p,))
    return name(driver.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, second.stream, parameters, 0))


def library_kernel(first, second):
    """Launch a library kernel, which has no device of its own."""
    memory = second.plain()
    library = ok(driver.cuLibraryLoadData(STORE, [], [], 0, [], [], 0))
    kernel = ok(driver.cuLibraryGetKernel(library, b"store"))
    first.use()  # the current context is not the stream's
    parameters = ((int(memory),), (ctypes.c_void_p,))
    launched = driver.cuLaunchKernel(
        driver.CUfunction(int(kernel)), 1, 1, 1, 1, 1, 1, 0, second.stream, parameters, 0
    )
    return waited(launched, second)


def three_dimensions(kind):
    def ask(first, second):
        parameters = driver.CUDA_MEMCPY3D_PEER()
        device = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
        parameters.srcMemoryType = parameters.dstMemoryType = device
        parameters.srcDevice = getattr(first, kind)()
        parameters.dstDevice = getattr(second, kind)()
        parameters.srcContext, parameters.dstContext = first.context, second.context
        parameters.WidthInBytes, parameters.Height, parameters.Depth = SIZE, 1, 1
        return waited(driver.cuMemcpy3DPeerAsync(parameters, second.stream), second)

    return two(ask)


def host_call_elsewhere(first, second):
    """Enqueue a callback in a stream of device 0 while the context of device 1 is current."""
    second.use()
    called = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: called.append(1))
    address = ctypes.cast(function, ctypes.c_void_p).value
    result = driver.cuLaunchHostFunc(first.stream, driver.CUhostFn(address), 0)
    return f"{name(result)} {name(driver.cuStreamSynchronize(first.stream))} {len(called)}"


USES = {
    f"{use} {kind.replace('from_', '')} memory, {'first' if current == 0 else 'second'} current, "
    f"stream of the {'first' if stream == 0 else 'second'}": used(kind, way, current, stream)
    for kind in ("plain", "from_pool")
    for use, way in {
        "a copy within": within,
        "a copy of rows within": rows,
        "a batch of copies within": with_attributes,
        "a copy to the host from": to_host,
        "a copy to page-locked memory from": to_page_locked,
        "a synchronous copy to the host from": by_default,
        "a fill of": fill,
        "a value written to": wait_value,
    }.items()
    for current, stream in ((0, 1), (1, 0), (1, 1))
}

QUESTIONS = {
    **USES,
    "a copy of plain memory": copy("plain", asynchronous),
    "a copy of plain memory, kind not named": copy("plain", any_kind),
    "a copy of plain memory between peers": copy("plain", of_peers),
    "a copy of plain memory between swapped peers": copy("plain", of_swapped_peers),
    "a copy of pool memory": copy("from_pool", asynchronous),
    "a copy of pool memory, kind not named": copy("from_pool", any_kind),
    "a copy of pool memory between peers": copy("from_pool", of_peers),
    "a copy of pool memory between swapped peers": copy("from_pool", of_swapped_peers),
    "a copy in three dimensions between peers": three_dimensions("plain"),
    "a copy of pool memory in three dimensions between peers": three_dimensions("from_pool"),
    "a kernel writes plain memory": two(lambda a, b: b.store(a.plain())),
    "a kernel writes pool memory": two(lambda a, b: b.store(a.from_pool())),
    "a kernel writes plain memory with access": two(store_with_access),
    "a kernel writes pool memory with access": two(store_in_pool_with_access),
    "a kernel writes pool memory with access of contexts": two(
        store_in_pool_with_access_of_contexts
    ),
    "a kernel writes page-locked memory": host_memory(0),
    "a kernel writes portable page-locked memory": host_memory(1),
    "a kernel writes managed memory": two(managed_memory),
    "a kernel in a stream of the other": two(stream_of_the_other),
    "a function of the other": two(function_of_the_other),
    "a kernel of a library": two(library_kernel),
    "access twice": two(access_twice),
    "access taken away twice": two(access_enabled_twice),
    "access to itself": two(access_to_itself),
    "access with flags": two(access_with_flags),
    "events recorded in a stream of the other and of their own": two(record_elsewhere),
    "an event recorded in the default stream of the other": two(record_in_default_stream),
    "a wait for an event of the other": two(wait_elsewhere),
    "an event and a stream of the other asked": two(query_elsewhere),
    "the time between events of both": two(time_between),
    "a free": two(free_elsewhere),
    "a free of pool memory in a stream": two(free_in_a_stream_elsewhere),
    "a free of plain memory in a stream": two(plain_memory_in_a_stream_elsewhere),
    "memory of the pool of the other": two(pool_elsewhere),
    "a stream of the other allocates": two(stream_elsewhere_allocates),
    "an event and a stream of the other destroyed": two(destroyed_elsewhere),
    "a host function in a stream of the other": two(host_call_elsewhere),
    "device and context of memory": two(facts_of_memory),
    "a refused copy in a capture": two(refused_in_a_capture),
    "a capture of both: a fill": capture(fills),
    "a capture of both: a copy": capture(copies),
    "a memset node in its context": memset_node(0),
    "a memset node in the context of the other": memset_node(1),
    "a copy node, context of the source": node("plain", 0),
    "a copy node, context of the target": node("plain", 1),
    "a copy node of pool memory": node("from_pool", 1),
}

# Results of two H100, and of two H200, with a driver of CUDA 13.0.
ANSWERS = Path(__file__).with_name("answers.txt").read_text()
EXPECTED = dict(line.split(" -> ") for line in ANSWERS.splitlines())

if __name__ == "__main__":
    sys.exit(main(__spec__.name, QUESTIONS, EXPECTED, sys.argv[1:], apart=True))

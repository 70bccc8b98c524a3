# SPDX-License-Identifier: Apache-2.0
"""Refusals that depend on earlier calls: events, captures, graphs, memory and code."""

import ctypes
import os
import struct

import pytest
from cuda.bindings import driver as cu

pytestmark = pytest.mark.usefixtures("emulated")
INVALID_VALUE, OUT_OF_MEMORY, INVALID_CONTEXT, INVALID_HANDLE = 1, 2, 201, 400
NOT_FOUND, ALREADY_REGISTERED, NOT_REGISTERED, NOT_PERMITTED = 500, 712, 713, 800
NOT_SUPPORTED, CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED = 801, 900, 901
CAPTURE_ISOLATION, CAPTURED_EVENT = 905, 907
CLONE, MOVE = 0, 1
KERNEL, GRAPH, MEMSET, ALLOCATION, CONDITIONAL = 0, 4, 2, 10, 13
HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"


def out():
    return ctypes.byref(ctypes.c_uint64())


def node_parameters(kind, fields=b""):
    """A CUgraphNodeParams."""
    return ctypes.create_string_buffer(struct.pack("iiii", kind, 0, 0, 0) + fields, 256)


def child(graph, ownership=CLONE):
    return node_parameters(GRAPH, struct.pack("Qi", graph, ownership))


def allocation_parameters():
    """The parameters of a node that allocates memory of device 0."""
    pool = struct.pack("iiii", 1, 0, 1, 0).ljust(88, b"\0")
    return node_parameters(ALLOCATION, pool + struct.pack("QQQQ", 0, 0, 64, 0))


def add_allocation(driver, graph):
    arguments = graph, None, None, 0, allocation_parameters()
    return driver.output("cuGraphAddNode", *arguments)


@pytest.fixture
def graphs(driver):
    """Return a function that creates a graph, which is destroyed at the end."""
    created = []

    def create():
        created.append(driver.output("cuGraphCreate", 0))
        return created[-1]

    yield create
    for graph in reversed(created):
        driver.cuGraphDestroy(graph)


@pytest.fixture
def event(driver):
    handle = driver.output("cuEventCreate", 0)
    yield handle
    assert driver.cuEventDestroy(handle) == 0


@pytest.fixture
def other_stream(driver):
    handle = driver.output("cuStreamCreate", 1)
    yield handle
    assert driver.cuStreamDestroy(handle) == 0


def capture(driver, stream, *, is_valid=True):
    """End a capture, and destroy its graph."""
    graph = ctypes.c_uint64()
    code = driver.cuStreamEndCapture(stream, ctypes.byref(graph))
    assert code == (0 if is_valid else CAPTURE_INVALIDATED)
    if is_valid:
        assert driver.cuGraphDestroy(graph.value) == 0


class TestEvents:
    def test_a_time_needs_two_recorded_events_with_timing(self, driver, event, refused):
        untimed = driver.output("cuEventCreate", 2)
        unrecorded = driver.output("cuEventCreate", 0)
        for each in (event, untimed):
            assert driver.cuEventRecord(each, None) == driver.cuEventSynchronize(each) == 0
        time = ctypes.c_float(-1)
        for other, reason in ((untimed, "records no time"), (unrecorded, "was never recorded")):
            for pair in ((event, other), (other, event)):
                arguments = "cuEventElapsedTime", ctypes.byref(time), *pair
                refused(INVALID_HANDLE, reason, *arguments)
        assert time.value == -1
        assert driver.cuEventElapsedTime(ctypes.byref(time), event, event) == 0
        assert time.value == 0
        for each in (untimed, unrecorded):
            assert driver.cuEventDestroy(each) == 0

    def test_the_event_of_another_context_is_not_recorded(self, driver, event, stream, refused):
        context = driver.output("cuCtxCreate_v2", 0, 0)
        foreign, other = driver.output("cuEventCreate", 0), driver.output("cuStreamCreate", 1)
        reason = "the event and the stream belong to different contexts"
        refused(INVALID_HANDLE, reason, "cuEventRecord", foreign, stream)
        refused(INVALID_HANDLE, reason, "cuEventRecord", event, other)
        assert driver.cuEventRecord(foreign, other) == 0
        assert driver.cuCtxDestroy(context) == 0

    def test_the_event_of_an_ended_capture(self, driver, event, stream, other_stream, refused):
        assert driver.cuStreamBeginCapture_v2(stream, 2) == driver.cuEventRecord(event, stream) == 0
        capture(driver, stream)
        for name in ("cuEventQuery", "cuEventSynchronize"):
            refused(CAPTURED_EVENT, "so it has no recording", name, event)
        wait = "cuStreamWaitEvent", other_stream, event, 0
        refused(CAPTURED_EVENT, "the event was recorded in a capture", *wait)
        assert driver.cuStreamBeginCapture_v2(other_stream, 2) == 0
        refused(CAPTURE_ISOLATION, "recorded in a capture that has ended", *wait)
        capture(driver, other_stream, is_valid=False)

    def test_the_event_of_a_capture_in_progress(self, driver, event, stream, other_stream, refused):
        assert driver.cuStreamBeginCapture_v2(stream, 2) == driver.cuEventRecord(event, stream) == 0
        legacy = "cuStreamWaitEvent", None, event, 0
        refused(CAPTURE_UNSUPPORTED, "the legacy default stream cannot join a capture", *legacy)
        assert driver.cuStreamSynchronize(stream) == CAPTURE_UNSUPPORTED
        wait = "cuStreamWaitEvent", other_stream, event, 0
        reason = "the capture in which the event was recorded is invalid"
        refused(CAPTURE_INVALIDATED, reason, *wait)
        reason = "an earlier call made the capture of this stream invalid"
        memory = driver.output("cuMemAlloc", 16)
        refused(CAPTURE_INVALIDATED, reason, "cuMemsetD8Async", memory, 0, 1, stream)
        capture(driver, stream, is_valid=False)
        assert driver.cuMemFree(memory) == 0


class TestCaptures:
    def test_there_are_three_modes(self, driver, stream, refused):
        reason = "cuda.h has no such capture mode"
        for mode in (-1, 3):
            refused(INVALID_VALUE, reason, "cuStreamBeginCapture_v2", stream, mode)
            changed = ctypes.c_int(mode)
            exchange = "cuThreadExchangeStreamCaptureMode", ctypes.byref(changed)
            refused(INVALID_VALUE, reason, *exchange)
            assert changed.value == mode
        mode = ctypes.c_int(0)
        for previous in (0, 1, 2):
            following = (previous + 1) % 3
            mode.value = following
            assert driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode)) == 0
            assert mode.value == previous
            assert driver.cuStreamBeginCapture_v2(stream, following) == 0
            capture(driver, stream)

    def test_dependencies_are_added_or_replaced(self, driver, stream, refused):
        name = "cuStreamUpdateCaptureDependencies_v2"
        reason = "the stream is not being captured"
        refused(401, reason, name, stream, None, None, 0, 0)
        assert driver.cuStreamBeginCapture_v2(stream, 2) == 0
        for flags, code in ((0, 0), (1, 0), (2, INVALID_VALUE), (3, INVALID_VALUE)):
            assert getattr(driver, name)(stream, None, None, 0, flags) == code, flags
        refused(INVALID_VALUE, "_SET_CAPTURE_DEPENDENCIES", name, stream, None, None, 0, 2)
        capture(driver, stream)


class TestGraphs:
    def test_edges(self, driver, graphs, refused):
        graph, other = graphs(), graphs()
        nodes = [driver.output("cuGraphAddEmptyNode", graph, None, 0) for _ in range(2)]
        foreign = driver.output("cuGraphAddEmptyNode", other, None, 0)
        first, second, third = ((ctypes.c_uint64 * 1)(each) for each in (*nodes, foreign))
        empty = "cuGraphAddEmptyNode", out(), graph, None, 1
        refused(INVALID_VALUE, "the list of nodes is null", *empty)
        name = "cuGraphAddDependencies_v2"
        for pair in ((first, third), (third, first)):
            arguments = name, graph, *pair, None, 1
            refused(INVALID_VALUE, "a node is in another graph", *arguments)
        for position in range(8):
            data = bytearray(8)
            data[position] = 1
            edge = (ctypes.c_char * 8)(*data)
            reason = (
                "a default dependency needs from_port 0",
                "to_port and the reserved bytes must be 0",
                "a programmatic dependency connects kernel nodes",
            )[position if position in (0, 2) else 1]
            refused(INVALID_VALUE, reason, name, graph, first, second, edge, 1)
        assert driver.cuGraphAddDependencies_v2(graph, first, second, (ctypes.c_char * 8)(), 1) == 0
        twice = name, graph, first, second, None, 1
        refused(INVALID_VALUE, "the dependency already exists", *twice)
        itself = name, graph, first, first, None, 1
        refused(INVALID_VALUE, "connects a node with itself", *itself)

    def test_an_upload_needs_a_stream(self, graphs, refused):
        arguments = "cuGraphInstantiateWithFlags", out(), graphs(), 2
        refused(INVALID_VALUE, "an upload needs the stream", *arguments)

    def test_kinds_of_nodes(self, driver, graphs, refused):
        graph = graphs()
        for kind in (-1, 0x7FFF):
            add = "cuGraphAddNode", out(), graph, None, None, 0, node_parameters(kind)
            refused(INVALID_VALUE, "cuda.h has no such node type", *add)

    def test_a_child_is_cloned_or_moved(self, driver, graphs, refused, stream):
        owner, running, captured = (graphs() for _ in range(3))
        moved = driver.output("cuGraphCreate", 0)  # its owner destroys it

        def add(graph, ownership, to=owner):
            arguments = out(), to, None, None, 0, child(graph, ownership)
            return "cuGraphAddNode", *arguments

        for wrong in (-1, 2):
            refused(INVALID_VALUE, "a child graph is cloned or moved", *add(moved, wrong))
        reason = "only a graph without an owner node and without an executable graph"
        refused(INVALID_VALUE, reason, *add(owner, MOVE))
        add_allocation(driver, running)
        executable = driver.output("cuGraphInstantiateWithFlags", running, 0)
        refused(INVALID_VALUE, reason, *add(running, MOVE))
        assert driver.cuGraphExecDestroy(executable) == 0
        begin = driver.cuStreamBeginCaptureToGraph
        assert begin(stream, captured, None, None, 0, 2) == 0
        refused(INVALID_VALUE, "a capture into the graph is in progress", *add(captured, MOVE))
        assert driver.cuStreamEndCapture(stream, None) == 0
        node = ctypes.c_uint64()
        move = driver.cuGraphAddNode
        assert move(ctypes.byref(node), owner, None, None, 0, child(moved, MOVE)) == 0
        refused(INVALID_VALUE, reason, *add(moved, MOVE, graphs()))
        allocate = "cuGraphAddNode", out(), moved, None, None, 0, allocation_parameters()
        refused(NOT_SUPPORTED, "a graph that was moved into a node", *allocate)
        replace = "cuGraphNodeSetParams", node.value, child(captured, MOVE)
        refused(INVALID_VALUE, "can only be replaced by a clone", *replace)
        assert driver.cuGraphNodeSetParams(node.value, child(captured)) == 0

    def test_conditional_nodes(self, driver, graphs, refused):
        graph, owner = graphs(), graphs()
        kinds = {"if": 0, "while": 1, "switch": 2}

        def add(kind, size, to=graph):
            handle = driver.output("cuGraphConditionalHandleCreate", to, driver.context, 0, 0)
            fields = struct.pack("QiIQQ", handle, kinds[kind], size, 0, driver.context)
            return "cuGraphAddNode", out(), to, None, None, 0, node_parameters(CONDITIONAL, fields)

        reason = "an if node has one or two bodies"
        for kind, size in (("if", 0), ("if", 3), ("while", 0), ("while", 2), ("switch", 0)):
            refused(INVALID_VALUE, reason, *add(kind, size))
        refused(OUT_OF_MEMORY, "at most 1,048,576 bodies", *add("switch", (1 << 20) + 1))
        for kind, size in (("if", 1), ("if", 2), ("while", 1), ("switch", 3)):
            name, *arguments = add(kind, size)
            assert getattr(driver, name)(*arguments) == 0, (kind, size)
        name, *arguments = add("while", 1)
        other = driver.output("cuCtxCreate_v2", 0, 0)
        struct.pack_into("Q", arguments[-1], 40, other)
        refused(INVALID_VALUE, "handle was created in another context", name, *arguments)
        assert driver.cuCtxDestroy(other) == 0
        struct.pack_into("Q", arguments[-1], 40, driver.context)
        assert driver.cuGraphAddNode(*arguments) == 0
        refused(INVALID_VALUE, "the conditional handle already has a node", name, *arguments)
        move = "cuGraphAddNode", out(), owner, None, None, 0, child(graph, MOVE)
        refused(NOT_SUPPORTED, "a child graph cannot have conditional nodes", *move)
        clone = *move[:-1], child(graph)
        refused(NOT_SUPPORTED, "has conditional nodes, cannot be copied", *clone)

    def test_a_kernel_node_keeps_the_context_of_its_function(self, driver, graphs, refused):
        function, graph = driver.kernel("empty"), graphs()
        other = driver.output("cuCtxCreate_v2", 0, 0)

        def parameters(context):
            fields = struct.pack("Q7IxxxxQQQQ", function, *[1] * 6, 0, 0, 0, 0, context)
            return node_parameters(KERNEL, fields)

        add = "cuGraphAddNode_v3", graph, None, None, 0
        nodes = [driver.output(*add, parameters(each)) for each in (0, driver.context)]
        reason = "the function was loaded in a context other than the node's"
        refused(INVALID_CONTEXT, reason, add[0], out(), *add[1:], parameters(other))
        for node in nodes:
            change = "cuGraphNodeSetParams_v2", node
            refused(INVALID_CONTEXT, reason, *change, parameters(other))
            for context in (0, driver.context):
                assert driver.cuGraphNodeSetParams_v2(node, parameters(context)) == 0
            # the older function ignores the context
            assert driver.cuGraphNodeSetParams(node, parameters(other)) == 0
        assert driver.cuCtxDestroy(other) == 0

    def test_the_parameters_of_memory_nodes_are_fixed(self, driver, graphs, refused):
        reason = "parameters of allocation, free and conditional nodes cannot be changed"
        node = add_allocation(driver, graphs())
        change = "cuGraphNodeSetParams", node, node_parameters(ALLOCATION)
        refused(NOT_SUPPORTED, reason, *change)

    def test_memory_of_a_node_belongs_to_the_current_context_of_its_device(self, driver, graphs):
        for context in (driver.context, driver.output("cuCtxCreate_v2", 0, 0)):
            graph, parameters = graphs(), allocation_parameters()
            assert driver.cuCtxSetCurrent(context) == 0
            driver.output("cuGraphAddNode", graph, None, None, 0, parameters)
            (address,) = struct.unpack_from("Q", parameters, 128)
            executable = driver.output("cuGraphInstantiateWithFlags", graph, 0)
            assert driver.cuGraphLaunch(executable, None) == driver.cuCtxSynchronize() == 0
            assert driver.output("cuPointerGetAttribute", 1, address) == context
            assert driver.cuMemFree(address) == driver.cuGraphExecDestroy(executable) == 0
        assert driver.cuCtxDestroy(context) == 0


CALL_IN_ANOTHER_THREAD = """
import ctypes, signal, sys, threading
from cuda.bindings import driver as cu
from cuda.core import Device

Device(0).set_current()
masks, is_called = [], threading.Event()
before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])

@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def note(_):
    with open("/proc/thread-self/status") as status:
        masks.append(status.read().partition("SigBlk:")[2].split()[0])
    is_called.set()

function = cu.CUhostFn(ctypes.cast(note, ctypes.c_void_p).value)
if sys.argv[1] == "destructor":
    _, created = cu.cuUserObjectCreate(0, function, 1, 1)
    assert cu.cuUserObjectRelease(created, 1)[0] == 0
else:
    _, stream = cu.cuStreamCreate(1)
    assert cu.cuLaunchHostFunc(stream, function, 0)[0] == 0
is_called.wait()
# All but SIGKILL, SIGSTOP and two that the C library uses.
assert masks == ["fffffffe7ffbfeff"], masks
assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before | {signal.SIGUSR1}
"""


@pytest.mark.parametrize("kind", ["host function", "destructor"])
def test_the_thread_of_a_called_function_receives_no_signals(run_emulated, kind):
    run_emulated(CALL_IN_ANOTHER_THREAD, kind)


class TestMemory:
    def test_each_kind_of_memory_has_its_own_function(self, driver, refused):
        pinned = driver.output("cuMemAllocHost", 64)
        device = driver.output("cuMemAlloc", 64)
        driver.kernel(".visible .global .u32 word;\n.visible .entry k() { ret; }", entry="k")
        word, size = ctypes.c_uint64(), ctypes.c_uint64()
        find = driver.cuModuleGetGlobal
        assert find(ctypes.byref(word), ctypes.byref(size), driver.modules[-1], b"word") == 0
        assert size.value == 4
        refused(INVALID_VALUE, "is freed with cuMemFreeHost", "cuMemFree", pinned)
        reason = "cuMemFreeHost frees memory of cuMemAllocHost and cuMemHostAlloc only"
        refused(INVALID_VALUE, reason, "cuMemFreeHost", device)
        reason = "module variables and registered memory cannot be freed"
        refused(INVALID_VALUE, reason, "cuMemFree", word.value)
        assert driver.cuMemFreeHost(pinned) == driver.cuMemFree(device) == 0
        ranges = "cuMemGetAddressRange", out(), out(), device
        refused(NOT_FOUND, "no allocation contains this address", *ranges)

    def test_registered_memory(self, driver, refused):
        memory = ctypes.create_string_buffer(3 * 4096)
        page = (ctypes.addressof(memory) + 4095) & ~4095
        unregister = "cuMemHostUnregister", page
        reason = "this address does not begin a registered range"
        refused(NOT_REGISTERED, reason, *unregister)
        assert driver.cuMemHostRegister(page, 4096, 0) == 0
        repeated = "cuMemHostRegister", page, 4096, 0
        refused(ALREADY_REGISTERED, "part of this memory is already registered", *repeated)
        refused(NOT_REGISTERED, reason, "cuMemHostUnregister", page + 8)
        registered = driver.output("cuMemHostGetDevicePointer", page, 0)
        reason = "module variables and registered memory cannot be freed"
        refused(INVALID_VALUE, reason, "cuMemFree", registered)
        assert driver.cuMemHostUnregister(page) == 0

    def test_a_second_row_needs_a_pitch(self, driver, refused):
        device = driver.output("cuMemAlloc", 4096)
        host = ctypes.create_string_buffer(4096)

        def copy(width=8, height=1, depth=1, pitch=0, rows=0, reserved=(0, 0), **changes):
            """A CUDA_MEMCPY3D from the host to the device."""
            source = [changes.get("x", 0), changes.get("y", 0), changes.get("z", 0), 0]
            kind = "4QiiQQQQQQ"
            address = ctypes.addressof(host)
            ends = struct.pack(kind, *source, 1, 0, address, 0, 0, reserved[0], pitch, rows)
            to = struct.pack(kind, 0, 0, 0, 0, 2, 0, 0, device, 0, reserved[1], 64, 8)
            return ctypes.create_string_buffer(ends + to + struct.pack("3Q", width, height, depth))

        small, low = "the pitch is smaller than a row", "the slice height is smaller"
        refusals = [
            ({"height": 2, "pitch": 7}, small), ({"height": 3, "pitch": 7}, small),
            ({"depth": 2, "pitch": 7, "rows": 1}, small), ({"y": 1, "pitch": 7}, small),
            ({"z": 1, "pitch": 7, "rows": 1}, small), ({"height": 2, "x": 1, "pitch": 8}, small),
            ({"depth": 2, "height": 2, "pitch": 8, "rows": 1}, low),
            ({"z": 1, "height": 2, "pitch": 8, "rows": 1}, low),
            ({"depth": 2, "y": 1, "pitch": 8, "rows": 1}, low),
            ({"reserved": (8, 0)}, "reserved members must be null"),
            ({"reserved": (0, 8)}, "reserved members must be null"),
        ]  # fmt: skip
        for changes, reason in refusals:
            refused(INVALID_VALUE, reason, "cuMemcpy3D", copy(**changes))
        accepted = [
            {}, {"pitch": 7}, {"height": 2, "pitch": 8}, {"height": 2, "x": 1, "pitch": 9},
            {"y": 1, "pitch": 8}, {"depth": 2, "pitch": 8, "rows": 1},
            {"z": 1, "pitch": 8, "rows": 1}, {"depth": 2, "y": 1, "pitch": 8, "rows": 2},
        ]  # fmt: skip
        for changes in accepted:
            assert driver.cuMemcpy3D(copy(**changes)) == 0, changes
        assert driver.cuMemFree(device) == 0

    def test_a_memset_node_fills_something(self, driver, graphs, refused):
        device, graph = driver.output("cuMemAlloc", 64), graphs()
        reason = "a memset node fills at least one element"
        for width, height in ((0, 1), (1, 0)):
            fields = struct.pack("QQIIQQ", device, 8, 0, 1, width, height)
            add = "cuGraphAddNode", out(), graph, None, None, 0, node_parameters(MEMSET, fields)
            refused(INVALID_VALUE, reason, *add)
        assert driver.cuMemFree(device) == 0

    @pytest.mark.parametrize(
        ("location", "handles", "direct", "code", "reason"),
        [
            (1, 0, 1, NOT_SUPPORTED, "GPUDirect RDMA"),
            (2, 1, 0, INVALID_VALUE, "requestedHandleTypes for HOST memory must be 0"),
            (4, 0, 0, INVALID_VALUE, "must be DEVICE, HOST_NUMA, or HOST"),
        ],
    )
    def test_physical_memory(self, refused, location, handles, direct, code, reason):
        values = 1, handles, location, 0, 0, 0, direct, 0, 0
        properties = struct.pack("iiiiQBBHB", *values).ljust(40, b"\0")
        create = "cuMemCreate", out(), 2 << 20, ctypes.create_string_buffer(properties), 0
        refused(code, reason, *create)

    def test_a_device_has_a_pool_of_its_own(self, driver, refused):
        host = ctypes.create_string_buffer(struct.pack("iiii", 1, 0, 2, 0), 88)
        pool = driver.output("cuMemPoolCreate", host)
        select = "cuDeviceSetMemPool", 0, pool
        refused(INVALID_VALUE, "the pool belongs to another device", *select)
        assert driver.cuMemPoolDestroy(pool) == 0

    def test_reductions_of_values(self, driver, stream, refused):
        memory = driver.output("cuMemAlloc", 16)
        pooled = driver.output("cuMemAllocAsync", 16, stream)
        operations = cu.CUstreamAtomicReductionOpType.__members__.values()
        types = cu.CUstreamAtomicReductionDataType.__members__.values()
        kind = int(cu.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_ATOMIC_REDUCTION)

        def batch(operation, data, address=memory):
            fields = struct.pack("iIiiQQQ", kind, 0, operation, data, address, 5, 0)
            return "cuStreamBatchMemOp_v2", stream, 1, ctypes.create_string_buffer(fields, 48), 0

        known = {"OP_ADD", "OP_AND", "OP_OR"}
        numbers = [int(x) for x in operations if any(x.name.endswith(k) for k in known)]
        plain = [int(x) for x in types if x.name.endswith(("UNSIGNED_32", "UNSIGNED_64"))]
        assert len(numbers) == 3 and len(plain) == 2
        for operation in range(-1, 12):
            name, *arguments = batch(operation, plain[0])
            if operation in numbers:
                assert getattr(driver, name)(*arguments) == 0
            else:
                refused(INVALID_VALUE, "cuda.h has no such reduction", name, *arguments)
        for data in range(-1, 12):
            name, *arguments = batch(numbers[0], data)
            if data in plain:
                assert getattr(driver, name)(*arguments) == 0
            else:
                refused(INVALID_VALUE, "reductions need unsigned values", name, *arguments)
        refused(INVALID_VALUE, "it is memory of a pool", *batch(numbers[0], plain[0], pooled))
        assert driver.cuMemFreeAsync(pooled, stream) == driver.cuStreamSynchronize(stream) == 0
        assert driver.cuMemFree(memory) == 0


class TestCode:
    def test_names_that_do_not_exist(self, driver, refused):
        driver.kernel("empty")
        find = "cuModuleGetFunction", out(), driver.modules[-1], b"absent"
        refused(NOT_FOUND, "the module has no kernel 'absent'", *find)

    def test_the_module_of_a_library_is_unloaded_with_it(self, driver, refused):
        text = (HEAD + ".visible .entry k() { ret; }").encode()
        load = text, None, None, 0, None, None
        null = "cuLibraryLoadData", out(), *load, 1
        refused(INVALID_VALUE, "the list of library options is null", *null)
        library = driver.output("cuLibraryLoadData", *load, 0)
        absent = "cuLibraryGetKernel", out(), library, b"absent"
        refused(NOT_FOUND, "the library has no kernel 'absent'", *absent)
        module = driver.output("cuLibraryGetModule", library)
        refused(NOT_PERMITTED, "the module belongs to a library", "cuModuleUnload", module)
        assert driver.cuLibraryUnload(library) == 0

    def test_a_list_of_launch_attributes(self, driver, refused):
        config = struct.pack("7IxxxxQQI", 1, 1, 1, 1, 1, 1, 0, 0, 0, 1).ljust(64, b"\0")
        launch = ctypes.create_string_buffer(config), driver.kernel("empty"), None, None
        reason = "the list of launch attributes is null"
        refused(INVALID_VALUE, reason, "cuLaunchKernelEx", *launch)


class TestDevices:
    def test_attributes_that_do_not_exist(self, refused):
        for number in (0, -1, 1000):
            query = "cuDeviceGetAttribute", out(), number, 0
            refused(INVALID_VALUE, "cuda.h has no such device attribute", *query)

    def test_a_primary_context_is_released(self, driver, refused):
        reason = "a primary context is released with cuDevicePrimaryCtxRelease"
        refused(INVALID_CONTEXT, reason, "cuCtxDestroy", driver.context)

    def test_a_green_context_has_a_stream_flag_only(self, driver, refused):
        resource = ctypes.create_string_buffer(144)
        assert driver.cuDeviceGetDevResource(0, resource, 1) == 0
        described = driver.output("cuDevResourceGenerateDesc", resource, 1)
        create = "cuGreenCtxCreate", out(), described, 0
        for flags in (2, 3):
            refused(INVALID_VALUE, "the flags are invalid for a green context", *create, flags)


class TestCheckpoints:
    RESTORE, CHECKPOINT, LOCK = (
        "cuCheckpointProcess" + x for x in ("Restore", "Checkpoint", "Lock")
    )

    def test_arguments(self, driver, refused):
        own, unsupported = os.getpid(), "does not support custom storage for checkpoints"
        for position in range(4, 64):
            reason = "reserved members of the arguments must be 0"
            refused(INVALID_VALUE, reason, self.LOCK, own, self.arguments((position, "B", 1)))
        refused(NOT_SUPPORTED, unsupported, self.CHECKPOINT, own, self.arguments((0, "Q", 8)))
        refused(NOT_SUPPORTED, unsupported, self.RESTORE, own, self.arguments((16, "Q", 8)))

    def test_a_migration_names_each_device(self, driver, refused):
        own, uuid = os.getpid(), ctypes.create_string_buffer(16)
        assert driver.cuDeviceGetUuid_v2(uuid, 0) == 0
        pair, count = uuid.raw * 2, ctypes.c_int()
        assert driver.cuDeviceGetCount(ctypes.byref(count)) == 0
        pairs = [ctypes.create_string_buffer(pair * 2)]
        for position in (0, 16):
            changed = bytearray(pair)
            changed[position] ^= 1
            pairs.append(ctypes.create_string_buffer(bytes(changed)))
        lists = [(None, 1, "the list of GPU pairs is null")]
        if count.value == 1:
            lists += [
                (pairs[0], 2, "a migration must name every GPU in exactly one pair"),
                (pairs[1], 1, "a pair names a GPU that does not exist"),
                (pairs[2], 1, "a pair names a GPU that does not exist"),
            ]
        assert driver.cuCheckpointProcessLock(own, None) == 0
        assert driver.cuCheckpointProcessCheckpoint(own, None) == 0
        try:
            for named, number, reason in lists:
                address = ctypes.addressof(named) if named else 0
                arguments = self.arguments((0, "Q", address), (8, "I", number))
                refused(INVALID_VALUE, reason, self.RESTORE, own, arguments)
        finally:
            none = self.arguments()
            assert driver.cuCheckpointProcessRestore(own, none) == 0
            assert driver.cuCheckpointProcessUnlock(own, None) == 0

    def arguments(self, *fields):
        memory = ctypes.create_string_buffer(64)
        for position, kind, value in fields:
            struct.pack_into(kind, memory, position, value)
        return memory

# SPDX-License-Identifier: Apache-2.0
"""Each kind of an attribute or resource has its answer, and an unknown kind is refused."""

import ctypes

import pytest

INVALID_VALUE, OUT_OF_MEMORY, INVALID_PTX = 1, 2, 218
NOT_SUPPORTED, CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED = 801, 900, 901
INVALID_RESOURCE_TYPE, INVALID_RESOURCE_CONFIGURATION, NOT_READY = 914, 915, 600
UNKNOWN = 10_000
HEAD = b".version 8.0\n.target sm_75\n.address_size 64\n"
pytestmark = pytest.mark.usefixtures("emulated")


@pytest.mark.parametrize(
    "attribute, expected",
    # allocation type: pinned; no handle types; device 0; location type: device; no locality domain
    [(9, 1), (10, 0), (11, 0), (12, 1), (14, 0), (15, -1), (UNKNOWN, None)],
)
def test_attributes_of_a_pool(driver, attribute, expected):
    pool = driver.output("cuDeviceGetDefaultMemPool", 0)
    value = ctypes.c_int(-7)
    code = driver.cuMemPoolGetAttribute(pool, attribute, ctypes.byref(value))
    assert (code, value.value) == ((0, expected) if expected is not None else (INVALID_VALUE, -7))


@pytest.mark.parametrize("attribute", [5, 7])  # bytes that are reserved now, bytes in use now
def test_current_bytes_of_a_pool_cannot_be_set(driver, emulated, attribute):
    pool = driver.output("cuDeviceGetDefaultMemPool", 0)
    zero = ctypes.c_uint64(0)
    assert driver.cuMemPoolSetAttribute(pool, attribute, ctypes.byref(zero)) == INVALID_VALUE
    assert "this attribute cannot be set" in emulated.error_text(INVALID_VALUE)
    assert driver.cuMemPoolSetAttribute(pool, attribute + 1, ctypes.byref(zero)) == 0


def test_attributes_of_a_pointer(driver, emulated):
    memory = driver.output("cuMemAlloc_v2", 100)

    def ask(attribute, kind=ctypes.c_uint64, address=memory):
        value = kind()
        code = driver.cuPointerGetAttribute(ctypes.byref(value), attribute, address)
        assert code == 0, (attribute, code)
        return value.value

    first, byte = 3, ctypes.c_bool
    assert ask(first) == ask(11) == memory
    assert ask(12) == 100
    assert ask(10, byte) is True  # CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE
    host = driver.output("cuMemAllocHost", 4)
    assert ask(10, byte, host) is False
    assert ask(2, ctypes.c_uint, memory + 50) == 2  # CU_MEMORYTYPE_DEVICE
    assert ask(2, ctypes.c_uint, host) == 1
    assert ask(13, byte) is True  # CU_POINTER_ATTRIBUTE_MAPPED
    assert ask(15, byte) is False  # CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE
    assert ask(16, ctypes.c_uint) == 3  # CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    assert ask(22, ctypes.c_int) == -1  # CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL
    value = ctypes.c_uint64()
    tokens, code = 5, driver.cuPointerGetAttribute
    assert code(ctypes.byref(value), tokens, memory) == NOT_SUPPORTED
    assert code(ctypes.byref(value), UNKNOWN, memory) == INVALID_VALUE
    assert "no such pointer attribute" in emulated.error_text(INVALID_VALUE)
    assert driver.cuMemFreeHost(host) == driver.cuMemFree_v2(memory) == 0


def test_an_unknown_attribute_of_graph_memory_is_refused(driver):
    value = ctypes.c_uint64()
    for known in range(4):
        assert driver.cuDeviceGetGraphMemAttribute(0, known, ctypes.byref(value)) == 0
    assert driver.cuDeviceGetGraphMemAttribute(0, 4, ctypes.byref(value)) == INVALID_VALUE


RAW_PEERS = """
    import ctypes
    from cuda.bindings import _low, driver
    driver.cuInit(0)
    address = _low.inspect_function_pointer("driver", "cuDeviceGetP2PAttribute")
    ask = ctypes.CFUNCTYPE(ctypes.c_int)(address)
    for kind, peer in ((1, 1), (2, 1), (3, 1), (4, 1), (99, 1), (2, 0)):
        value = ctypes.c_int(7)
        print(ask(ctypes.byref(value), kind, 0, peer), value.value, sep=":")
"""


def test_attributes_of_two_peers(run_emulated):
    done = run_emulated(RAW_PEERS, devices=2)
    assert done.stdout.split() == ["0:0", "0:1", "0:1", "0:0", "1:7", "101:7"]


class TestLoadFailures:
    @pytest.fixture
    def load(self, driver):
        """Load a library; return the code, its log and the library."""

        def run(text):
            log, out = ctypes.create_string_buffer(1000), ctypes.c_uint64()
            options = (ctypes.c_int * 2)(5, 6)  # the log of errors, and its size
            values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
            arguments = options, values, 2, None, None, 0
            code = driver.cuLibraryLoadData(ctypes.byref(out), HEAD + text, *arguments)
            return code, log.value.decode(), out.value

        return run

    def test_a_variable_needs_memory(self, load):
        code, log, library = load(b".global .b8 huge[70368744177664];")
        assert (code, library) == (OUT_OF_MEMORY, 0)
        assert "out of memory for the variable 'huge' of 70368744177664 bytes" in log

    def test_a_variable_is_defined(self, load, driver):
        code, log, library = load(b".extern .global .u32 other; .visible .entry k() { ret; }")
        assert (code, library) == (INVALID_PTX, 0)
        assert "'other'" in log

    def test_without_a_context_the_error_comes_later(self, load, driver):
        driver.cuCtxSetCurrent(None)
        text = b".global .b8 huge[70368744177664]; .visible .entry k() { ret; }"
        code, log, library = load(text)
        assert (code, log) == (0, "")
        driver.cuCtxSetCurrent(driver.context)
        out = ctypes.c_uint64()
        assert driver.cuLibraryGetModule(ctypes.byref(out), library) == OUT_OF_MEMORY
        assert driver.cuLibraryUnload(library) == 0


class TestCaptures:
    PER_THREAD = 2

    @pytest.fixture
    def of_thread(self, driver):
        """Find a function whose null stream is the stream of the thread."""

        def find(name):
            address = ctypes.c_void_p()
            assert driver.cuGetProcAddress_v2(name, ctypes.byref(address), 12000, 2, None) == 0
            function = ctypes.CFUNCTYPE(ctypes.c_int)(address.value)
            return lambda *arguments: function(*map(ctypes.c_void_p, arguments))

        return find

    @pytest.fixture
    def capture(self, driver, stream):
        """Run a call in a capture, which it must invalidate."""

        def run(call, captured=stream):
            assert driver.cuStreamBeginCapture_v2(captured, 2) == 0
            assert call() == CAPTURE_UNSUPPORTED
            graph = ctypes.c_uint64()
            assert driver.cuStreamEndCapture(captured, ctypes.byref(graph)) == CAPTURE_INVALIDATED

        return run

    def test_a_callback_cannot_be_captured(self, driver, stream, capture):
        callback = ctypes.CFUNCTYPE(None)(lambda: None)
        capture(lambda: driver.cuStreamAddCallback(stream, callback, None, 0))

    def test_a_synchronous_memset_cannot_be_captured(self, driver, of_thread, capture):
        memory = driver.output("cuMemAlloc_v2", 16)
        for bits in (8, 16, 32):
            call = of_thread(f"cuMemsetD{bits}".encode())
            capture(lambda call=call: call(memory, 1, 4), self.PER_THREAD)
        driver.cuMemFree_v2(memory)

    def test_a_synchronous_copy_cannot_be_captured(self, driver, of_thread, capture):
        memory = driver.output("cuMemAlloc_v2", 16)
        host = ctypes.create_string_buffer(16)
        call = of_thread(b"cuMemcpyDtoH")
        capture(lambda: call(ctypes.addressof(host), memory, 16), self.PER_THREAD)
        driver.cuMemFree_v2(memory)


DIVIDE = """
    import ctypes
    from cuda.bindings import _low, driver as cu
    cu.cuInit(0)
    whole = cu.cuDeviceGetDevResource(0, cu.CUdevResourceType(1))[1]
    def split(*sizes):
        groups = [cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS() for _ in sizes]
        for group, (size, coscheduled, preferred) in zip(groups, sizes):
            group.smCount, group.coscheduledSmCount = size, coscheduled
            group.preferredCoscheduledSmCount = preferred
        return cu.cuDevSmResourceSplit(len(groups), whole, 0, groups)
    print([int(split((8, 4, preferred))[0]) for preferred in (4, 8, 6)])
    for alignment in (2, 8):
        parts = list(split((8, 2, 2), (8, alignment, alignment))[1])
        print(int(cu.cuDevResourceGenerateDesc(parts, 2)[0]))
    address = _low.inspect_function_pointer("driver", "cuDevSmResourceSplitByCount")
    number, source = ctypes.c_uint(0), ctypes.c_void_p(whole.getPtr())
    count = ctypes.CFUNCTYPE(ctypes.c_int)(address)
    print(count(None, ctypes.byref(number), source, None, 0, 8), number.value)
"""


def test_a_large_device_is_divided(run_emulated):
    lines = run_emulated(DIVIDE, cc="9.0", multiprocessors=132).stdout.splitlines()
    assert lines == ["[0, 0, 915]", "0", "915", "0 16"]


class TestDivision:
    SM, WORKQUEUE_CONFIG, WORKQUEUE = 1, 1000, 10000

    @pytest.fixture
    def cu(self, driver):
        from cuda.bindings import driver as cu

        return cu

    @pytest.fixture
    def whole(self, cu):
        return cu.cuDeviceGetDevResource(0, cu.CUdevResourceType(self.SM))[1]

    def groups(self, cu, *sizes):
        result = []
        for size, coscheduled, preferred in sizes:
            group = cu.CU_DEV_SM_RESOURCE_GROUP_PARAMS()
            group.smCount, group.coscheduledSmCount = size, coscheduled
            group.preferredCoscheduledSmCount = preferred
            result.append(group)
        return result

    def test_groups_fit_together(self, cu, whole):
        all_, code = whole.sm.smCount, INVALID_RESOURCE_CONFIGURATION
        half = all_ // 2 // 2 * 2
        fitting = self.groups(cu, (half, 2, 2), (all_ - half, 2, 2))
        assert cu.cuDevSmResourceSplit(2, whole, 0, fitting)[0] == 0
        larger = self.groups(cu, (half, 2, 2), (all_ - half + 2, 2, 2))
        assert cu.cuDevSmResourceSplit(2, whole, 0, larger)[0] == code
        empty = self.groups(cu, (all_, 2, 2), (0, 2, 2))
        assert cu.cuDevSmResourceSplit(2, whole, 0, empty)[0] == code

    def test_a_description_has_one_workqueue_at_most(self, cu, whole):
        kinds = [self.WORKQUEUE_CONFIG, self.WORKQUEUE]
        queues = [cu.cuDeviceGetDevResource(0, cu.CUdevResourceType(kind))[1] for kind in kinds]
        for queue in queues:
            assert cu.cuDevResourceGenerateDesc([whole, queue], 2)[0] == 0
            code = cu.cuDevResourceGenerateDesc([queue, queues[1]], 2)[0]
            assert code == INVALID_RESOURCE_CONFIGURATION


def test_an_event_of_a_green_context_waits_for_its_streams(driver, flag):
    from cuda.bindings import driver as cu

    whole = cu.cuDeviceGetDevResource(0, cu.CUdevResourceType(1))[1]
    green = cu.cuGreenCtxCreate(cu.cuDevResourceGenerateDesc([whole], 1)[1], 0, 1)[1]
    stream = int(cu.cuGreenCtxStreamCreate(green, 1, 0)[1])
    event = driver.output("cuEventCreate", 2)
    assert driver.cuStreamWaitValue32_v2(stream, ctypes.addressof(flag), 1, 0) == 0
    assert driver.cuGreenCtxRecordEvent(int(green), event) == 0
    assert driver.cuEventQuery(event) == NOT_READY
    flag.value = 1
    assert driver.cuEventSynchronize(event) == 0
    assert driver.cuEventQuery(event) == driver.cuStreamQuery(stream) == 0
    assert driver.cuEventDestroy_v2(event) == driver.cuStreamDestroy_v2(stream) == 0
    assert driver.cuGreenCtxDestroy(int(green)) == 0


def test_each_axis_of_a_cluster_is_kept(driver):
    width, height, depth = 11, 12, 13  # CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_...
    module = driver.output("cuModuleLoadData", HEAD + b".visible .entry k() { ret; }")
    function = driver.output("cuModuleGetFunction", module, b"k")

    def sizes():
        value, found = ctypes.c_int(), []
        for axis in (width, height, depth):
            assert driver.cuFuncGetAttribute(ctypes.byref(value), axis, function) == 0
            found.append(value.value)
        return found

    assert sizes() == [0, 0, 0]
    for axis, size in ((height, 3), (depth, 4), (width, 2)):
        assert driver.cuFuncSetAttribute(function, axis, size) == 0
    assert sizes() == [2, 3, 4]
    assert driver.cuModuleUnload(module) == 0


def test_attributes_of_no_allocation(driver):
    ordinal, locality, start, invalid_device = 9, 22, 11, -2
    kinds = (ctypes.c_int * 3)(ordinal, locality, start)
    values = (ctypes.c_int64 * 3)(7, 7, 7)
    into = (ctypes.c_void_p * 3)(*(ctypes.addressof(values) + 8 * i for i in range(3)))
    ask = driver.cuPointerGetAttributes
    address = ctypes.addressof(values)
    assert ask(0, kinds, into, address) == INVALID_VALUE
    assert ask(3, kinds, into, address) == 0
    assert ctypes.c_int(values[0]).value == invalid_device
    assert values[2] == 0
    assert values[0] >> 32 == values[1] >> 32 == 0, "a value of four bytes"


GRAPH_MEMORY = """
    from cuda.bindings import driver as cu
    cu.cuInit(0)
    cu.cuCtxSetCurrent(cu.cuDevicePrimaryCtxRetain(0)[1])
    graph = cu.cuGraphCreate(0)[1]
    def add(kind, place, device=0, access=None, size=64, handles=0):
        p = cu.CUDA_MEM_ALLOC_NODE_PARAMS()
        p.poolProps.allocType = cu.CUmemAllocationType(kind)
        p.poolProps.handleTypes = cu.CUmemAllocationHandleType(handles)
        p.poolProps.location.type = cu.CUmemLocationType(place)
        p.poolProps.location.id = device
        p.bytesize = size
        if access:
            one = cu.CUmemAccessDesc()
            one.location.type, one.location.id = cu.CUmemLocationType(access[0]), access[1]
            one.flags = cu.CUmemAccess_flags(3)
            p.accessDescs, p.accessDescCount = [one], 1
        return int(cu.cuGraphAddMemAllocNode(graph, [], 0, p)[0])
    pinned, managed, on_device, on_host, on_node = 1, 2, 1, 2, 3
    print(add(pinned, on_device), add(pinned, on_device, 1), add(pinned, on_device, 2))
    print(add(pinned, on_host), add(pinned, on_node), add(pinned, 0), add(0, on_device))
    print(add(managed, on_device), add(managed, on_host), add(managed, 0))
    print(add(pinned, on_device, size=0), add(pinned, on_device, handles=1))
    for access in ((on_device, 0), (on_device, 1), (on_device, 2), (on_host, 0)):
        print(add(pinned, on_device, access=access))
"""


def test_places_and_accesses_of_graph_memory(run_emulated):
    done = run_emulated(GRAPH_MEMORY, devices=2)
    invalid, unsupported, no_device = INVALID_VALUE, NOT_SUPPORTED, 101
    assert [[int(code) for code in line.split()] for line in done.stdout.splitlines()] == [
        [0, 0, no_device],
        [unsupported, unsupported, invalid, invalid],
        [0, 0, 0],
        [invalid, invalid],
        [0],
        [0],
        [no_device],
        [invalid],
    ]

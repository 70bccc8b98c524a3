# SPDX-License-Identifier: Apache-2.0
"""Refusals with their reasons: pools, launches, clusters, links, resources and copies."""

import ctypes
import struct

import pytest
from cuda.bindings import driver as cu
from cuda.core import emulation

pytestmark = pytest.mark.usefixtures("emulated")
INVALID_VALUE, OUT_OF_MEMORY, INVALID_DEVICE, INVALID_PTX = 1, 2, 101, 218
FILE_NOT_FOUND, NOT_SUPPORTED, CAPTURE_UNSUPPORTED = 301, 801, 900
INVALID_CLUSTER_SIZE, INVALID_RESOURCE_TYPE = 912, 914
NOT_MAPPED_AS_ARRAY, LAUNCH_OUT_OF_RESOURCES = 212, 701
HEAD = b".version 8.0\n.target sm_90\n.address_size 64\n"


def properties(kind=1, handles=0, location=(1, 0), most=0):
    """A CUmemPoolProps: pinned memory on device 0."""
    return struct.pack("iiiiQQ", kind, handles, *location, 0, most).ljust(88, b"\0")


class TestPools:
    SWITCHES, THRESHOLD, RESERVED_HIGH, USED_HIGH = (1, 2, 3), 4, 6, 8

    @pytest.fixture
    def pool(self, driver):
        handle = driver.output("cuMemPoolCreate", properties(most=1 << 20))
        yield handle
        assert driver.cuMemPoolDestroy(handle) == 0

    def get(self, driver, pool, attribute, kind=ctypes.c_uint64):
        value = kind(0)
        assert driver.cuMemPoolGetAttribute(pool, attribute, ctypes.byref(value)) == 0
        return value.value

    def set(self, driver, pool, attribute, value, kind=ctypes.c_uint64):
        number = kind(value)
        return driver.cuMemPoolSetAttribute(pool, attribute, ctypes.byref(number))

    def test_each_switch_is_on_until_it_is_turned_off(self, driver, pool):
        def states():
            return [self.get(driver, pool, each, ctypes.c_int) for each in self.SWITCHES]

        assert states() == [1, 1, 1]
        for i, switch in enumerate(self.SWITCHES):
            assert self.set(driver, pool, switch, 0, ctypes.c_int) == 0
            assert states() == [int(i != k) for k in range(3)]
            assert self.set(driver, pool, switch, 5, ctypes.c_int) == 0
        assert states() == [1, 1, 1]

    def test_the_counters_follow_the_allocations(self, driver, pool, stream, refused):
        unit, segment = 512, 2 << 20
        counters = range(self.THRESHOLD, self.USED_HIGH + 1)

        def values():
            return [self.get(driver, pool, each) for each in counters]

        def allocate(size):
            return driver.output("cuMemAllocFromPoolAsync", size, pool, stream)

        def free(address):
            assert driver.cuMemFreeAsync(address, stream) == 0
            assert driver.cuStreamSynchronize(stream) == 0

        assert values() == [0] * 5
        assert self.set(driver, pool, self.THRESHOLD, 2**64 - 1) == 0
        first, second = allocate(unit + 1), allocate(unit)
        threshold = 2**64 - 1
        assert values() == [threshold, segment, segment, 3 * unit, 3 * unit]
        free(first)
        assert values() == [threshold, segment, segment, unit, 3 * unit]
        assert self.set(driver, pool, self.USED_HIGH, 0) == 0
        assert values() == [threshold, segment, segment, unit, unit]
        free(second)
        assert driver.cuMemPoolTrimTo(pool, 0) == 0
        assert values() == [threshold, 0, segment, 0, unit]
        assert self.set(driver, pool, self.RESERVED_HIGH, 0) == 0
        assert values() == [threshold, 0, 0, 0, unit]
        one = ctypes.c_uint64(1)
        for high in (self.RESERVED_HIGH, self.USED_HIGH):
            reason = "a high-water mark can only be set to 0"
            arguments = "cuMemPoolSetAttribute", pool, high, ctypes.byref(one)
            refused(INVALID_VALUE, reason, *arguments)

    def test_a_pool_has_a_maximum(self, driver, pool, stream, refused):
        assert self.get(driver, pool, 13) == 1 << 20  # CU_MEMPOOL_ATTR_MAX_POOL_SIZE
        address = driver.output("cuMemAllocFromPoolAsync", (1 << 20) - 512, pool, stream)
        out = ctypes.byref(ctypes.c_uint64())
        refused(OUT_OF_MEMORY, "513 bytes requested on device 0", "cuMemAllocFromPoolAsync", out,
                513, pool, stream)  # fmt: skip
        last = driver.output("cuMemAllocFromPoolAsync", 512, pool, stream)
        for each in (address, last):
            assert driver.cuMemFreeAsync(each, stream) == 0
        assert driver.cuStreamSynchronize(stream) == 0

    @pytest.mark.parametrize(
        ("changes", "code", "reason"),
        [
            ({"kind": 0}, INVALID_VALUE, "neither pinned nor managed"),
            ({"kind": 3}, INVALID_VALUE, "neither pinned nor managed"),
            ({"location": (0, 0)}, INVALID_VALUE, "on a device or on the host"),
            ({"location": (9, 0)}, INVALID_VALUE, "on a device or on the host"),
            ({"location": (1, 16)}, INVALID_DEVICE, ""),
            ({"location": (3, 1)}, INVALID_VALUE, "only NUMA node 0"),
            ({"handles": 2}, NOT_SUPPORTED, "by file descriptors only"),
            ({"handles": 1, "location": (2, 0)}, INVALID_VALUE, "a shareable pool must be"),
            ({"handles": 1, "kind": 2}, INVALID_VALUE, "a shareable pool must be"),
        ],
        ids=str,
    )
    def test_a_pool_is_refused(self, refused, changes, code, reason):
        out = ctypes.byref(ctypes.c_uint64())
        refused(code, reason, "cuMemPoolCreate", out, properties(**changes))

    @pytest.mark.parametrize(
        "changes",
        [
            *({"location": (place, 0)} for place in (1, 2, 3, 4)),
            *({"kind": 2, "location": (place, 0)} for place in (0, 1, 2, 3, 4)),
            {"handles": 1},
            {"handles": 1, "location": (3, 0)},
        ],
        ids=str,
    )
    def test_a_pool_reports_its_properties(self, driver, changes):
        requested = {"kind": 1, "handles": 0, "location": (1, 0)} | changes
        pool = driver.output("cuMemPoolCreate", properties(**requested))
        numbers = [self.get(driver, pool, each, ctypes.c_int) for each in (9, 10, 11, 12)]
        assert numbers == [requested["kind"], requested["handles"], 0, requested["location"][0]]
        assert driver.cuMemPoolDestroy(pool) == 0

    def test_the_default_pool_stays(self, driver, refused):
        pool = driver.output("cuDeviceGetDefaultMemPool", 0)
        refused(INVALID_VALUE, "a default pool cannot be destroyed", "cuMemPoolDestroy", pool)


ACCESS = """
    import struct, ctypes
    from cuda.bindings import _low, driver as cu
    cu.cuInit(0)
    class raw:
        def __getattr__(self, name):
            address = _low.inspect_function_pointer("driver", name)
            function = ctypes.CFUNCTYPE(ctypes.c_int)(address)
            cast = lambda a: ctypes.c_uint64(a) if isinstance(a, int) else a
            return lambda *arguments: function(*map(cast, arguments))
    d = raw()
    def pool_of(kind, handles, place, device):
        out = ctypes.c_uint64()
        text = struct.pack("iiiiQQ", kind, handles, place, device, 0, 0).ljust(88, b"\\0")
        assert d.cuMemPoolCreate(ctypes.byref(out), text) == 0
        return out.value
    def access(pool, place, device):
        flags = ctypes.c_int(7)
        code = d.cuMemPoolGetAccess(ctypes.byref(flags), pool, struct.pack("ii", place, device))
        return code, flags.value
    def grant(pool, place, device, flags, count=1):
        return d.cuMemPoolSetAccess(pool, struct.pack("iii", place, device, flags), count)
    on_device, on_host = 1, 2
    own, pinned, managed = pool_of(1, 0, 1, 1), pool_of(1, 0, 2, 0), pool_of(2, 0, 1, 1)
    def row(pool):
        return [access(pool, on_device, 0), access(pool, on_device, 1), access(pool, on_host, 0)]
    rows = [row(own), row(pinned), row(managed), access(own, on_device, 2)]
    codes = [grant(own, on_device, 0, 3), grant(pinned, on_device, 1, 3),
             grant(own, on_device, 1, 0), grant(own, on_device, 0, 1), grant(own, on_host, 0, 3),
             grant(own, on_device, 2, 3), d.cuMemPoolSetAccess(own, None, 1),
             d.cuMemPoolSetAccess(own, None, 0)]
    later = [row(own), row(pinned)]
    codes += [grant(own, on_device, 0, 0)]
    print((rows, codes, later, row(own)))
"""


def test_the_access_of_two_devices_to_pools(run_emulated):
    import ast

    rows, codes, later, last = ast.literal_eval(run_emulated(ACCESS, devices=2).stdout)
    none, both = (0, 0), (0, 3)
    assert rows == [
        [none, both, none],
        [none, none, both],
        [both, both, both],
        (INVALID_DEVICE, 7),
    ]
    assert codes == [0, 0, INVALID_DEVICE, 1, 1, INVALID_DEVICE, 1, 0, 0]
    assert later == [[both, both, none], [none, both, both]]
    assert last == [none, both, none]


PARAMETERS = """
    .visible .entry k(.param .u32 a, .param .u64 b) { ret; }"""


class Config(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("extents", ctypes.c_uint * 6),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("count", ctypes.c_uint),
    )


def configured(*attributes, grid=(1, 1, 1), block=(1, 1, 1), stream=None):
    """A launch with attributes: pairs of a number and the bytes of its value."""
    rows = b"".join(struct.pack("ii", number, 0) + value.ljust(64, b"\0")
                    for number, value in attributes)  # fmt: skip
    memory = ctypes.create_string_buffer(rows, max(1, len(rows)))
    extents = (ctypes.c_uint * 6)(*grid, *block)
    config = Config(extents, 0, stream, ctypes.addressof(memory), len(attributes))
    config.memory = memory
    return config


CLUSTER, EVENT, PREFERRED, UPDATABLE, PORTABLE_MODE, SHARED_MODE = 4, 7, 11, 13, 17, 18


class TestLaunches:
    @pytest.fixture
    def function(self, driver):
        return driver.kernel(PARAMETERS, entry="k")

    def extra(self, *options):
        values = []
        for number, value in options:
            values += [number, value]
        return (ctypes.c_uint64 * (len(values) + 1))(*values)

    def test_packed_arguments(self, driver, function, refused):
        packed, size = ctypes.create_string_buffer(16), ctypes.c_size_t(16)
        buffer, length = (1, ctypes.addressof(packed)), (2, ctypes.addressof(size))
        launch = "cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, None
        assert driver.cuLaunchKernel(*launch[1:], self.extra(buffer, length)) == 0
        unknown = "extra contains an unknown option"
        refused(INVALID_VALUE, unknown, *launch, self.extra(buffer, (3, 1), length))
        for missing in (buffer, length):
            lacks = "extra lacks the buffer or its size"
            refused(INVALID_VALUE, lacks, *launch, self.extra(missing))
        for wrong in (15, 17):
            size.value = wrong
            reason = "the size of the packed arguments does not match"
            refused(INVALID_VALUE, reason, *launch, self.extra(buffer, length))
        both = (*launch[:-1], packed, self.extra(buffer, length))
        refused(INVALID_VALUE, "not both", *both)
        refused(INVALID_VALUE, "no arguments were passed", *launch, None)
        first = (ctypes.c_void_p * 2)(ctypes.addressof(packed), None)
        refused(INVALID_VALUE, "argument 1 is null", *launch[:-1], first, None)

    @pytest.mark.parametrize(
        ("extents", "reason"),
        [
            ((1, 1, 1, 1025, 1, 1), "a block of (1025, 1, 1): from 1 to 1024 in x"),
            ((1, 1, 1, 1, 1025, 1), "a block of (1, 1025, 1): from 1 to 1024 in y"),
            ((1, 1, 1, 1, 1, 65), "a block of (1, 1, 65): from 1 to 64 in z"),
            ((1, 1, 1, 0, 1, 1), "a block of (0, 1, 1): from 1 to 1024 in x"),
            ((1 << 31, 1, 1, 1, 1, 1), "a grid of (2147483648, 1, 1): from 1 to 2147483647 in x"),
            ((1, 65536, 1, 1, 1, 1), "a grid of (1, 65536, 1): from 1 to 65535 in y"),
            ((1, 1, 65536, 1, 1, 1), "a grid of (1, 1, 65536): from 1 to 65535 in z"),
            ((1, 1, 1, 33, 32, 1), "a block of (33, 32, 1): at most 1024 threads"),
        ],
    )
    def test_a_shape_is_refused(self, driver, refused, extents, reason):
        empty = driver.kernel("empty")
        refused(INVALID_VALUE, reason, "cuLaunchKernel", empty, *extents, 0, None, None, None)

    def test_blocks_for_which_a_kernel_was_compiled(self, driver, refused):
        bounded = driver.kernel(".visible .entry k() .maxntid 8, 4, 2 { ret; }", entry="k")
        exact = driver.kernel(".visible .entry k() .reqntid 32 { ret; }", entry="k")

        def shape(function, *block):
            return function, 1, 1, 1, *block, 0, None, None, None

        for block in ((64, 1, 1), (1, 64, 1), (8, 8, 1)):
            assert driver.cuLaunchKernel(*shape(bounded, *block)) == 0
        text = "compiled for at most 64 threads per block (__launch_bounds__), got 65"
        refused(INVALID_VALUE, text, "cuLaunchKernel", *shape(bounded, 65, 1, 1))
        assert driver.cuLaunchKernel(*shape(exact, 32, 1, 1)) == 0
        for block in ((31, 1, 1), (32, 2, 1), (32, 1, 2)):
            text = "compiled for blocks of (32, 1, 1) threads (.reqntid), got "
            refused(INVALID_VALUE, text, "cuLaunchKernel", *shape(exact, *block))

    def test_shared_memory_beyond_the_limit_of_the_kernel(self, driver, refused):
        kernel = driver.kernel("with_shared")  # 1,024 bytes of its own
        limit = (48 << 10) - 1024
        out = driver.output("cuMemAlloc", 64)
        value = ctypes.c_uint64(out)
        argument = (ctypes.c_void_p * 1)(ctypes.addressof(value))
        launch = kernel, 1, 1, 1, 1, 1, 1
        assert driver.cuLaunchKernel(*launch, limit, None, argument, None) == 0
        reason = f"{limit + 1} bytes of dynamic shared memory requested, the kernel's limit is"
        refused(INVALID_VALUE, f"{reason} {limit};", "cuLaunchKernel", *launch, limit + 1, None,
                argument, None)  # fmt: skip
        assert driver.cuFuncSetAttribute(kernel, 8, limit + 1) == 0
        assert driver.cuLaunchKernel(*launch, limit + 1, None, argument, None) == 0
        assert driver.cuCtxSynchronize() == 0
        driver.cuMemFree(out)

    def test_the_mode_of_a_launch_limits_shared_memory(self, driver, refused):
        empty = driver.kernel("empty")
        portable, optional = 48 << 10, 227 << 10
        for mode, limit in ((0, portable), (1, portable), (2, optional)):
            config = configured((SHARED_MODE, struct.pack("i", mode)))
            config.shared = limit
            arguments = ctypes.byref(config), empty, None, None
            assert driver.cuLaunchKernelEx(*arguments) == 0
            config.shared = limit + 1
            text = f"the kernel's limit is {limit};"
            refused(INVALID_VALUE, text, "cuLaunchKernelEx", *arguments)

    def test_attributes_of_a_launch(self, driver, stream, refused):
        empty = driver.kernel("empty")

        def launch(*attributes, **options):
            config = configured(*attributes, **options)
            return "cuLaunchKernelEx", ctypes.byref(config), empty, None, None

        for number in (3, 15, 19):
            unknown = f"launches have no attribute {number}"
            refused(INVALID_VALUE, unknown, *launch((number, b"")))
        updatable = (UPDATABLE, struct.pack("i", 1))
        refused(INVALID_VALUE, "needs a captured launch", *launch(updatable))
        assert driver.cuStreamBeginCapture_v2(stream, 2) == 0
        text = "the emulator does not support device-updatable nodes"
        refused(NOT_SUPPORTED, text, *launch(updatable, stream=stream))
        out = ctypes.c_uint64()
        assert driver.cuStreamEndCapture(stream, ctypes.byref(out)) == 0
        assert driver.cuGraphDestroy(out.value) == 0
        timed, untimed = (driver.output("cuEventCreate", flags) for flags in (0, 2))
        event = "needs CU_EVENT_DISABLE_TIMING and no flags"
        refused(INVALID_VALUE, event, *launch((EVENT, struct.pack("Qii", timed, 0, 0))))
        refused(INVALID_VALUE, event, *launch((EVENT, struct.pack("Qii", untimed, 1, 0))))
        name, *arguments = launch((EVENT, struct.pack("Qii", untimed, 0, 0)))
        assert getattr(driver, name)(*arguments) == 0
        assert driver.cuEventSynchronize(untimed) == 0
        for each in (timed, untimed):
            assert driver.cuEventDestroy(each) == 0


@pytest.mark.skipif(
    emulation.is_active() and emulation.options()["mode"] == "eager",
    reason="the kernel waits for the test inside of its launch",
)
class TestCompletion:
    def test_the_event_of_a_launch_is_recorded_after_the_kernel(self, driver, stream, flag):
        untimed = driver.output("cuEventCreate", 2)
        address = ctypes.c_uint64(ctypes.addressof(flag))
        pointers = (ctypes.c_void_p * 1)(ctypes.addressof(address))
        config = configured((EVENT, struct.pack("Qii", untimed, 0, 0)), stream=stream)
        launch = ctypes.byref(config), driver.kernel("latch"), pointers, None
        assert driver.cuLaunchKernelEx(*launch) == 0
        assert driver.cuEventQuery(untimed) == 600
        flag.value = 1
        assert driver.cuEventSynchronize(untimed) == 0
        assert driver.cuEventDestroy(untimed) == 0


class TestClusters:
    @pytest.fixture
    def launch(self, driver, refused):
        empty = driver.kernel("empty")

        def run(grid, *attributes, reason=None):
            config = configured(*attributes, grid=grid)
            arguments = ctypes.byref(config), empty, None, None
            if reason is None:
                assert driver.cuLaunchKernelEx(*arguments) == 0
            else:
                refused(INVALID_CLUSTER_SIZE, reason, "cuLaunchKernelEx", *arguments)

        return run

    def test_clusters_divide_the_grid(self, launch):
        def cluster(*size):
            return CLUSTER, struct.pack("III", *size)

        for grid, size in (((4, 2, 2), (2, 2, 2)), ((8, 1, 1), (8, 1, 1)), ((1, 8, 1), (1, 4, 1))):
            launch(grid, cluster(*size))
        for grid, size in (((4, 2, 2), (3, 1, 1)), ((4, 3, 2), (1, 2, 1)), ((4, 2, 3), (1, 1, 2)),
                           ((16, 1, 1), (16, 1, 1)), ((9, 1, 1), (9, 1, 1))):  # fmt: skip
            text = f"clusters of {size} blocks do not divide a grid of {grid}, or are too large"
            launch(grid, cluster(*size), reason=text)

    def test_the_mode_of_a_launch_limits_the_cluster(self, launch):
        cluster = CLUSTER, struct.pack("III", 16, 1, 1)
        portable, any_ = 1, 2
        launch((16, 1, 1), cluster, (PORTABLE_MODE, struct.pack("i", any_)))
        for mode in (0, portable):
            mode = PORTABLE_MODE, struct.pack("i", mode)
            launch((16, 1, 1), cluster, mode, reason="too large")

    def test_preferred_clusters_are_multiples(self, launch):
        def attributes(cluster, preferred):
            return (CLUSTER, struct.pack("III", *cluster)), (
                PREFERRED,
                struct.pack("III", *preferred),
            )

        grid = (8, 4, 2)
        for preferred in ((2, 1, 2), (4, 1, 2), (2, 4, 2), (8, 1, 2)):
            launch(grid, *attributes((2, 1, 2), preferred))
        for preferred in ((3, 1, 2), (6, 1, 2), (4, 3, 2), (4, 1, 1), (2, 0, 2), (2, 1, 0),
                          (16, 1, 2)):  # fmt: skip
            reason = f"preferred clusters of {preferred} blocks are not a multiple of clusters of"
            launch(grid, *attributes((2, 1, 2), preferred), reason=f"{reason} (2, 1, 2),")
        launch(grid, *attributes((1, 1, 1), (2, 2, 2)), reason="differ from them in z")


class TestLinks:
    PTX, OBJECT, LTO = 1, 3, 5

    @pytest.fixture
    def link(self, driver):
        log = ctypes.create_string_buffer(500)
        names = (ctypes.c_int * 2)(5, 6)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        state = ctypes.c_uint64()
        assert driver.cuLinkCreate(2, names, values, ctypes.byref(state)) == 0
        yield state.value, log, values
        assert driver.cuLinkDestroy(state.value) == 0

    def test_an_invalid_input_is_named_in_the_log(self, driver, link, refused):
        state, log, values = link
        add, wrong = "cuLinkAddData", HEAD + b".entry k() { nothing; }"
        data = wrong, len(wrong) + 1
        refused(INVALID_PTX, "a name: ", add, state, self.PTX, *data, b"a name", 0, None, None)
        assert log.value.startswith(b"a name: ") and values[1] == len(log.value)
        refused(INVALID_PTX, "<unknown>: ", add, state, self.PTX, *data, None, 0, None, None)
        assert log.value.startswith(b"<unknown>: ")
        good = HEAD + b".visible .entry k() { ret; }"
        arguments = state, self.PTX, good, len(good) + 1, b"good", 0, None, None
        assert driver.cuLinkAddData(*arguments) == 0
        out = ctypes.c_uint64()
        assert driver.cuLinkComplete(state, ctypes.byref(out), None) == 0
        size = ctypes.c_size_t()
        second = ctypes.c_uint64()
        assert driver.cuLinkComplete(state, ctypes.byref(second), ctypes.byref(size)) == 0
        assert second.value == out.value and size.value > len(good)
        refused(INVALID_VALUE, "the link is already complete", add, *arguments)

    def test_inputs_that_cannot_be_linked(self, link, refused, tmp_path):
        state, log, _ = link
        text = HEAD + b".visible .entry k() { ret; }"
        no_data = "there is no data to link"
        options = b"name", 0, None, None
        refused(INVALID_VALUE, no_data, "cuLinkAddData", state, self.PTX, None, 5, *options)
        refused(INVALID_VALUE, no_data, "cuLinkAddData", state, self.PTX, text, 0, *options)
        lto = "the driver cannot link LTO-IR; use nvJitLink"
        refused(INVALID_VALUE, lto, "cuLinkAddData", state, self.LTO, text, len(text), *options)
        path = str(tmp_path / "none.ptx").encode()
        refused(INVALID_VALUE, lto, "cuLinkAddFile", state, self.LTO, path, 0, None, None)
        missing = f"the file '{path.decode()}' cannot be read"
        refused(FILE_NOT_FOUND, missing, "cuLinkAddFile", state, self.PTX, path, 0, None, None)
        assert log.value.decode() == missing
        null = "the file name is null"
        refused(INVALID_VALUE, null, "cuLinkAddFile", state, self.PTX, None, 0, None, None)
        refused(INVALID_VALUE, "the list of options is null", "cuLinkAddData", state, self.PTX,
                text, len(text), b"", 1, None, None)  # fmt: skip


def test_the_log_of_a_module_has_the_reason_of_its_failure(driver):
    log, out = ctypes.create_string_buffer(200), ctypes.c_uint64()
    names = (ctypes.c_int * 2)(5, 6)
    for room in (200, 20, 1):
        log.raw = b"?" * 200
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), room)
        text = HEAD + b".global .b8 huge[70368744177664];"
        code = driver.cuModuleLoadDataEx(ctypes.byref(out), text, 2, names, values)
        reason = b"out of memory for the variable 'huge' of 70368744177664 bytes"
        assert code == OUT_OF_MEMORY
        assert log.value == reason[: room - 1], log.value
        assert (values[1] or 0) == len(log.value)


class TestResources:
    def test_an_unknown_type_is_refused(self, driver, refused):
        unknown = "cuda.h has no such type of resource"
        memory = ctypes.create_string_buffer(256)
        name = "cuCtxGetDevResource"
        refused(INVALID_RESOURCE_TYPE, unknown, name, driver.context, memory, 5)

    def test_a_changed_resource_is_refused(self, driver, refused):
        memory, out = ctypes.create_string_buffer(256), ctypes.c_uint64()
        generate = "cuDevResourceGenerateDesc", ctypes.byref(out), memory, 1
        configuration, processors = 915, 1
        assert driver.cuDeviceGetDevResource(0, memory, processors) == 0
        original = memory.raw
        memory[0] = 7  # its type
        refused(INVALID_RESOURCE_TYPE, "a resource has an unknown type", *generate)
        memory.raw = original
        whole = cu.cuDeviceGetDevResource(0, cu.CUdevResourceType(1))[1]
        position = original.index(struct.pack("I", whole.sm.smCount), 4)
        memory[position] = 2
        refused(configuration, "the fields of a resource from the driver are read-only", *generate)
        memory.raw = bytes([1]) + bytes(255)
        refused(configuration, "the resource was not filled in by the driver", *generate)
        memory.raw = original
        assert driver.cuDevResourceGenerateDesc(*generate[1:]) == 0


def test_copies_with_attributes_are_not_captured(driver, stream, refused):
    memory = driver.output("cuMemAlloc", 64)
    attributes = struct.pack("iiiiiI", 1, 0, 0, 0, 0, 0)
    assert driver.cuStreamBeginCapture_v2(stream, 2) == 0
    copy = "cuMemcpyWithAttributesAsync", memory + 32, memory, 16, attributes, stream
    refused(CAPTURE_UNSUPPORTED, "copies with attributes cannot be captured", *copy)
    out = ctypes.c_uint64()
    assert driver.cuStreamEndCapture(stream, ctypes.byref(out)) == 901
    assert driver.cuMemFree(memory) == 0


def test_the_current_node_is_node_0(driver, stream):
    """CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT becomes node 0."""
    current, node, preferred_type = 4, 3, 5
    memory = driver.output("cuMemAllocManaged", 4096, 1)
    place = struct.pack("ii", current, 0)
    location = ctypes.c_uint64(int.from_bytes(place, "little"))
    assert driver.cuMemAdvise(memory, 4096, 3, location) == 0
    out = ctypes.c_int()
    arguments = ctypes.byref(out), 4, preferred_type, memory, 4096
    assert driver.cuMemRangeGetAttribute(*arguments) == 0
    assert out.value == node
    assert driver.cuMemFree(memory) == 0


def test_a_full_device_reports_its_memory(driver, refused):
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert driver.cuMemGetInfo(ctypes.byref(free), ctypes.byref(total)) == 0
    request = total.value + 1
    out = ctypes.byref(ctypes.c_uint64())
    reason = f"{request} bytes requested on device 0, "
    refused(OUT_OF_MEMORY, reason, "cuMemAlloc", out, request)
    refused(OUT_OF_MEMORY, f" of {total.value} bytes free;", "cuMemAlloc", out, request)


def test_a_pitch_is_a_multiple_of_512(driver):
    for width, expected in ((1, 512), (512, 512), (513, 1024)):
        address, pitch = ctypes.c_uint64(), ctypes.c_size_t()
        arguments = ctypes.byref(address), ctypes.byref(pitch), width, 3, 4
        assert driver.cuMemAllocPitch(*arguments) == 0
        base, size = ctypes.c_uint64(), ctypes.c_size_t()
        inside = ctypes.byref(base), ctypes.byref(size), address.value + 7
        assert driver.cuMemGetAddressRange(*inside) == 0
        assert (pitch.value, size.value) == (expected, 3 * expected)
        assert base.value == address.value
        assert driver.cuMemFree(address.value) == 0


DESCRIPTORS = """
    import contextlib, ctypes, os, resource, struct
    from cuda.bindings import driver as cu
    from cuda.core import emulation
    cu.cuInit(0)
    cu.cuCtxSetCurrent(cu.cuDevicePrimaryCtxRetain(0)[1])
    properties = cu.CUmemPoolProps()
    properties.allocType = cu.CUmemAllocationType(1)
    properties.handleTypes = cu.CUmemAllocationHandleType(1)
    properties.location.type, properties.location.id = cu.CUmemLocationType(1), 0
    pool = cu.cuMemPoolCreate(properties)[1]
    kind = cu.CUmemAllocationHandleType(1)
    descriptor = cu.cuMemPoolExportToShareableHandle(pool, kind, 0)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    files = []
    with contextlib.suppress(OSError):
        while True:
            files.append(os.open("/", os.O_RDONLY))
    for call in (lambda: cu.cuMemPoolExportToShareableHandle(pool, kind, 0),
                 lambda: cu.cuMemPoolImportFromShareableHandle(descriptor, kind, 0),
                 lambda: cu.cuMemPoolCreate(properties)):
        code = int(call()[0])
        text = emulation.error_text(code)
        print(code, "the process is out of file descriptors (" in text, "`ulimit -n`" in text)
    for file in files:
        os.close(file)
    print(int(cu.cuMemPoolImportFromShareableHandle(0, kind, 0)[0]))
"""


def test_a_process_without_file_descriptors_shares_no_pool(run_emulated):
    lines = run_emulated(DESCRIPTORS).stdout.splitlines()
    assert lines == ["304 True True"] * 3 + ["1"]

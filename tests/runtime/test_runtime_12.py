# SPDX-License-Identifier: Apache-2.0
"""The emulated runtime of CUDA 12: functions that CUDA 13 has in another form, or no longer."""

import ctypes
from ctypes import byref

import pytest
from cuda.bindings import runtime
from cuda.core import emulation
from cuda.core.emulation import library

from .conftest import ok

pointer, size = ctypes.c_void_p, ctypes.c_size_t
INVALID_VALUE, NOT_SUPPORTED = 1, 801
PER_THREAD = pointer(2)
NONE_FAILED = 2**64 - 1


class Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


DEVICE, HOST = Location(1, 0), Location(2, 0)


@pytest.fixture(scope="module")
def later():
    if not emulation.is_active():
        pytest.skip("this is about the emulated runtime")
    return ctypes.CDLL(library.runtime_path(), mode=ctypes.RTLD_GLOBAL)


@pytest.fixture(scope="module")
def earlier(later):
    return ctypes.CDLL(library.runtime_12_path())


@pytest.fixture
def managed(earlier):
    address = pointer()
    assert earlier.cudaMallocManaged(byref(address), size(8192), 1) == 0
    yield address
    assert earlier.cudaFree(address) == 0


@pytest.fixture
def stream(earlier):
    stream = pointer()
    assert earlier.cudaStreamCreate(byref(stream)) == 0
    yield stream
    assert earlier.cudaStreamDestroy(stream) == 0


@pytest.fixture
def graph(earlier):
    graph = pointer()
    assert earlier.cudaGraphCreate(byref(graph), 0) == 0
    yield graph
    assert earlier.cudaGraphDestroy(graph) == 0


@pytest.fixture
def nodes(earlier, graph):
    """Two nodes without an edge."""
    nodes = (pointer * 2)()
    for at in range(2):
        place = byref(nodes, 8 * at)
        assert earlier.cudaGraphAddEmptyNode(place, graph, None, size(0)) == 0
    return nodes


# ---- graphs
EDGE, WRONG_EDGE = bytes(8), b"\0\0\x09" + bytes(5)  # the third byte is the kind of an edge


def edges_of(earlier, graph):
    """Return the nodes at the ends of the edges."""
    ends, count, edges = (pointer * 4, pointer * 4), size(4), b"\x5a" * 32
    starts, ends = (each() for each in ends)
    assert earlier.cudaGraphGetEdges_v2(graph, starts, ends, edges, byref(count)) == 0
    assert edges[: 8 * count.value] == EDGE * count.value
    return list(zip(starts[: count.value], ends[: count.value], strict=True))


def test_edges_are_added_and_removed_with_and_without_data(earlier, graph, nodes):
    first, second = byref(nodes), byref(nodes, 8)
    edge = nodes[0], nodes[1]
    for add, remove in [
        ("cudaGraphAddDependencies", "cudaGraphRemoveDependencies_v2"),
        ("cudaGraphAddDependencies_v2", "cudaGraphRemoveDependencies"),
    ]:
        data = [[EDGE] if name.endswith("_v2") else [] for name in (add, remove)]
        assert earlier[add](graph, first, second, *data[0], size(1)) == 0
        assert edges_of(earlier, graph) == [edge]
        assert earlier[remove](graph, first, second, *data[1], size(1)) == 0
        assert edges_of(earlier, graph) == []
    add = earlier.cudaGraphAddDependencies_v2
    assert add(graph, first, second, WRONG_EDGE, size(1)) == INVALID_VALUE


@pytest.mark.parametrize("form", ["", "_v2"])
def test_a_node_of_any_kind_is_added_after_others(earlier, graph, nodes, form):
    parameters = (ctypes.c_int * 64)(5)  # an empty node
    added, data = pointer(), [EDGE] if form else []
    add = earlier["cudaGraphAddNode" + form]
    before = byref(added), graph, byref(nodes, 8)
    assert add(*before, *data, size(1), parameters) == 0
    assert edges_of(earlier, graph) == [(nodes[1], added.value)]
    if form:
        assert add(*before, WRONG_EDGE, size(1), parameters) == INVALID_VALUE


@pytest.mark.parametrize("form", ["", "_v2"])
def test_neighbors_of_a_node_are_listed(earlier, graph, nodes, form):
    earlier.cudaGraphAddDependencies(graph, byref(nodes), byref(nodes, 8), size(1))
    for name, node, neighbor in [
        ("cudaGraphNodeGetDependencies", nodes[1], nodes[0]),
        ("cudaGraphNodeGetDependentNodes", nodes[0], nodes[1]),
    ]:
        found, count = (pointer * 2)(), size(2)
        data = ctypes.create_string_buffer(b"\x5a" * 16)
        extra = [data] if form else []
        assert earlier[name + form](pointer(node), found, *extra, byref(count)) == 0
        assert (found[0], count.value) == (neighbor, 1)
        assert data.raw[:8] == (EDGE if form else b"\x5a" * 8)


class Capture:
    """The outputs of a function that describes a capture."""

    def __init__(self, function, stream, edges=None):
        self.status, self.id = ctypes.c_int(-1), ctypes.c_ulonglong()
        self.graph, self.nodes, self.count = pointer(), pointer(), size(9)
        self.edges = pointer()
        outputs = [self.status, self.id]
        if edges is not None:
            outputs += [self.graph, self.nodes, *[self.edges] * edges, self.count]
        assert function(stream, *map(byref, outputs)) == 0


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
def test_a_capture_is_described_and_its_dependencies_change(earlier, managed, suffix):
    """With the suffix, a null stream is the default stream of the thread."""
    stream = pointer() if suffix else PER_THREAD
    assert earlier.cudaStreamBeginCapture(PER_THREAD, 2) == 0
    info = "cudaStreamGetCaptureInfo"
    assert earlier.cudaMemsetAsync(managed, 0, size(4), PER_THREAD) == 0
    short = Capture(earlier[info + suffix], stream)
    assert (short.status.value, short.count.value) == (1, 9)
    full = Capture(earlier[f"{info}_v2{suffix}"], stream, edges=False)
    with_edges = Capture(earlier[f"{info}_v3{suffix}"], stream, edges=True)
    for each in (full, with_edges):
        assert (each.status.value, each.id.value, each.count.value) == (1, short.id.value, 1)
        assert each.graph.value == full.graph.value != 0
    change = "cudaStreamUpdateCaptureDependencies"
    node = pointer.from_address(full.nodes.value).value
    for form, data in (("", []), ("_v2", [None])):
        function = earlier[change + form + suffix]
        assert function(stream, None, *data, size(0), 1) == 0  # 1 replaces them
        assert Capture(earlier[f"{info}_v2{suffix}"], stream, edges=False).count.value == 0
        assert function(stream, byref(pointer(node)), *data, size(1), 0) == 0  # 0 adds to them
        assert Capture(earlier[f"{info}_v2{suffix}"], stream, edges=False).count.value == 1
    captured = pointer()
    assert earlier.cudaStreamEndCapture(PER_THREAD, byref(captured)) == 0
    assert earlier.cudaGraphDestroy(captured) == 0


# ---- memory
def attribute(earlier, managed, number):
    value = ctypes.c_int(-9)
    size_of = size(4)
    assert earlier.cudaMemRangeGetAttribute(byref(value), size_of, number, managed, size(4096)) == 0
    return value.value


def test_a_location_is_a_number_or_a_structure(earlier, managed):
    """3 prefers a location, which attribute 2 returns."""
    advise, part = earlier.cudaMemAdvise, (managed, size(4096), 3)
    assert advise(*part, 0) == 0
    assert attribute(earlier, managed, 2) == 0
    assert advise(*part, -1) == 0
    assert attribute(earlier, managed, 2) == -1
    assert earlier.cudaMemAdvise_v2(*part, DEVICE) == 0
    assert attribute(earlier, managed, 2) == 0
    assert advise(*part, 7) == 101  # no such device


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
def test_memory_is_fetched_to_a_number_or_a_structure(earlier, managed, suffix):
    """Attribute 4 is the last place that memory was fetched to."""
    part = managed, size(4096)
    fetch, fetch_to = (earlier[f"cudaMemPrefetchAsync{form}{suffix}"] for form in ("", "_v2"))
    assert fetch(*part, 0, None) == 0
    assert attribute(earlier, managed, 4) == 0
    assert fetch_to(*part, HOST, 0, None) == 0
    assert attribute(earlier, managed, 4) == -1
    assert fetch_to(*part, DEVICE, 0, None) == 0
    assert fetch(*part, -1, None) == 0
    assert attribute(earlier, managed, 4) == -1
    assert fetch_to(*part, HOST, 5, None) == INVALID_VALUE  # flags


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
def test_a_batch_tells_no_index_of_a_wrong_copy(earlier, managed, stream, suffix):
    values = (ctypes.c_int * 4).from_address(managed.value)
    values[:] = 1, 2, 0, 0
    targets, sources = (pointer * 1)(managed.value + 8), (pointer * 1)(managed.value)
    attributes, failed = (ctypes.c_int * 6)(1), size(7)  # in the order of the stream
    head = targets, sources, (size * 1)(8), size(1)
    copy = earlier["cudaMemcpyBatchAsync" + suffix]
    first = (size * 1)(0)
    assert copy(*head, attributes, first, size(1), byref(failed), stream) == 0
    assert earlier.cudaStreamSynchronize(stream) == 0
    assert (list(values), failed.value) == ([1, 2, 1, 2], 7)
    assert copy(*head, attributes, first, size(2), byref(failed), stream) == INVALID_VALUE
    assert failed.value == NONE_FAILED
    assert copy(*head, attributes, first, size(2), None, stream) == INVALID_VALUE


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
def test_a_batch_of_boxes_is_passed_on(earlier, stream, suffix, capfd):
    failed, flags = size(7), ctypes.c_ulonglong(0)
    copy = earlier["cudaMemcpy3DBatchAsync" + suffix]
    assert copy(size(1), None, byref(failed), flags, stream) == NOT_SUPPORTED
    assert failed.value == NONE_FAILED
    error = capfd.readouterr().err  # once in a process
    assert error in ("", "emulator: cuMemcpy3DBatchAsync is not emulated\n")


# ---- textures and surfaces
GUARD = 0x5A


class Written(ctypes.Structure):
    """A structure of CUDA 12, and memory behind it that must be kept."""

    _fields_ = (("bytes", ctypes.c_ubyte * 64), ("behind", ctypes.c_ubyte * 128))

    def __init__(self):
        super().__init__(
            (ctypes.c_ubyte * 64)(*[GUARD] * 64), (ctypes.c_ubyte * 128)(*[GUARD] * 128)
        )

    def is_intact(self, count):
        return set(self.behind) == {GUARD} and set(self.bytes[count:]) <= {GUARD}


@pytest.fixture
def array_resource(earlier):
    """A resource description of an array."""
    channels, array = (ctypes.c_int * 5)(32, 0, 0, 0, 0), pointer()
    assert earlier.cudaMallocArray(byref(array), channels, size(8), size(4), 2) == 0
    yield (pointer * 8)(0, array.value)
    assert earlier.cudaFreeArray(array) == 0


def test_a_texture_returns_its_descriptions(earlier, array_resource):
    texture, resource = ctypes.c_ulonglong(), Written()
    description = (ctypes.c_int * 20)()
    create = earlier.cudaCreateTextureObject
    assert create(byref(texture), array_resource, description, None) == 0
    query = earlier.cudaGetTextureObjectResourceDesc
    assert query(byref(resource), texture) == 0
    assert bytes(resource.bytes)[8:16] == bytes(array_resource)[8:16]
    assert resource.is_intact(64)
    assert query(None, texture) == INVALID_VALUE
    assert earlier.cudaDestroyTextureObject(texture) == 0
    assert create(byref(texture), None, description, None) == INVALID_VALUE
    assert create(byref(texture), array_resource, None, None) == INVALID_VALUE


def test_a_view_of_an_array_is_passed_on(earlier, later, array_resource):
    """The emulator has no views; it refuses their formats."""
    texture, view = ctypes.c_ulonglong(), Written()
    description, viewed = (ctypes.c_int * 20)(), (ctypes.c_ulonglong * 6)(0x0F, 8, 4)
    create = earlier.cudaCreateTextureObject
    assert create(byref(texture), array_resource, description, viewed) == NOT_SUPPORTED
    assert create(byref(texture), array_resource, description, None) == 0
    query = "cudaGetTextureObjectResourceViewDesc"
    code = later[query](byref(view), texture)
    assert code != 0
    assert earlier[query](byref(view), texture) == code
    assert view.is_intact(0)
    assert earlier.cudaDestroyTextureObject(texture) == 0


def test_a_surface_returns_its_description(earlier, array_resource):
    surface, resource = ctypes.c_ulonglong(), Written()
    assert earlier.cudaCreateSurfaceObject(byref(surface), array_resource) == 0
    assert earlier.cudaGetSurfaceObjectResourceDesc(byref(resource), surface) == 0
    assert bytes(resource.bytes)[:16] == bytes(array_resource)[:16]
    assert resource.is_intact(64)
    assert earlier.cudaDestroySurfaceObject(surface) == 0
    assert earlier.cudaCreateSurfaceObject(byref(surface), None) == INVALID_VALUE


# ---- devices
def test_functions_of_the_thread_are_those_of_the_device(earlier, later):
    limit, config = size(), ctypes.c_int(-1)
    assert later.cudaDeviceGetLimit(byref(limit), 0) == 0
    before = limit.value
    assert earlier.cudaThreadSetLimit(0, size(before + 1024)) == 0
    assert later.cudaDeviceGetLimit(byref(limit), 0) == 0
    assert limit.value == before + 1024
    assert later.cudaDeviceSetLimit(0, size(before)) == 0
    assert earlier.cudaThreadGetLimit(byref(limit), 0) == 0
    assert limit.value == before
    for name, value in (("cudaThread", 2), ("cudaDevice", 0)):
        assert (earlier if value else later)[name + "SetCacheConfig"](value) == 0
        other = later.cudaDeviceGetCacheConfig if value else earlier.cudaThreadGetCacheConfig
        assert other(byref(config)) == 0
        assert config.value == value


def test_the_end_of_a_thread_resets_the_device(run_python):
    output = run_python("""
        import ctypes
        from cuda.core.emulation import library
        ctypes.CDLL(library.runtime_path(), mode=ctypes.RTLD_GLOBAL)
        earlier = ctypes.CDLL(library.runtime_12_path())
        earlier.cudaFree(None)
        print(ok(driver.cuDevicePrimaryCtxGetState(0))[1])
        print(earlier.cudaThreadExit())
        print(ok(driver.cuDevicePrimaryCtxGetState(0))[1])
    """)
    assert output == ["1", "0", "0"]


def test_functions_without_an_effect_keep_their_arguments(earlier, capfd):
    number = ctypes.c_double(1.5)
    assert earlier.cudaSetDoubleForDevice(byref(number)) == 0
    assert earlier.cudaSetDoubleForHost(byref(number)) == 0
    assert number.value == 1.5
    name = "cudaLaunchCooperativeKernelMultiDevice"
    assert earlier[name](None, 0, 0) == NOT_SUPPORTED
    assert capfd.readouterr().err == f"emulator: {name} is not emulated\n"


def test_the_time_between_events_is_told(earlier):
    events, passed = (pointer * 2)(), ctypes.c_float(-1)
    for at in range(2):
        assert earlier.cudaEventCreate(byref(events, 8 * at)) == 0
        assert earlier.cudaEventRecord(pointer(events[at]), None) == 0
    assert earlier.cudaDeviceSynchronize() == 0
    elapsed = earlier.cudaEventElapsedTime_v2
    assert elapsed(byref(passed), pointer(events[0]), pointer(events[1])) == 0
    assert passed.value >= 0
    for event in events:
        assert earlier.cudaEventDestroy(pointer(event)) == 0


@pytest.mark.parametrize("suffix", ["", "_ptsz"])
def test_functions_of_the_driver_are_those_of_the_release(earlier, later, suffix):
    found, expected, newer = pointer(), pointer(), pointer()
    by_version = later["cudaGetDriverEntryPointByVersion" + suffix]
    entry = earlier["cudaGetDriverEntryPoint" + suffix]
    flags, status = ctypes.c_ulonglong(0), ctypes.c_int(-1)
    name = b"cuMemcpyBatchAsync"
    assert entry(name, byref(found), flags, byref(status)) == 0
    assert by_version(name, byref(expected), 12090, flags, None) == 0
    assert by_version(name, byref(newer), 13000, flags, None) == 0
    assert (found.value, status.value) == (expected.value, 0)
    assert found.value != newer.value
    per_thread = ctypes.c_ulonglong(2)  # the form for the streams of threads
    name = b"cuMemcpyAsync"
    assert entry(name, byref(found), per_thread, None) == 0
    assert by_version(name, byref(expected), 12090, per_thread, None) == 0
    assert by_version(name, byref(newer), 12090, flags, None) == 0
    assert found.value == expected.value != newer.value


@pytest.mark.parametrize("verb", ["Signal", "Wait"])
def test_semaphores_of_other_interfaces_are_no_more_than_in_cuda_13(earlier, later, verb):
    name = f"cuda{verb}ExternalSemaphoresAsync"
    arguments = None, None, 0, None
    code = later[name](*arguments)
    assert earlier[f"{name}_v2"](*arguments) == code
    assert earlier[f"{name}_v2_ptsz"](*arguments) == code


def fields():
    """Return the fields of a device's properties in CUDA 12."""
    number = ctypes.c_int
    extents = {"maxThreadsDim": 3, "maxGridSize": 3, "maxTexture2D": 2, "maxTexture2DMipmap": 2}
    extents |= {"maxTexture2DLinear": 3, "maxTexture2DGather": 2, "maxTexture3D": 3}
    extents |= {"maxTexture3DAlt": 3, "maxTexture1DLayered": 2, "maxTexture2DLayered": 3}
    extents |= {"maxTextureCubemapLayered": 2, "maxSurface2D": 2, "maxSurface3D": 3}
    extents |= {"maxSurface1DLayered": 2, "maxSurface2DLayered": 3, "maxSurfaceCubemapLayered": 2}
    wide = "totalGlobalMem sharedMemPerBlock memPitch totalConstMem textureAlignment "
    wide += "texturePitchAlignment surfaceAlignment sharedMemPerMultiprocessor "
    wide += "sharedMemPerBlockOptin reservedSharedMemPerBlock"
    kinds = dict.fromkeys(wide.split(), size)
    kinds |= {name: number * count for name, count in extents.items()}
    head = [
        ("name", ctypes.c_char * 256),
        ("uuid", ctypes.c_char * 16),
        ("luid", ctypes.c_char * 8),
    ]
    return head + [(name, kinds.get(name, number)) for name in NAMES.split()]


NAMES = """
luidDeviceNodeMask totalGlobalMem sharedMemPerBlock regsPerBlock warpSize memPitch
maxThreadsPerBlock maxThreadsDim maxGridSize clockRate totalConstMem major minor textureAlignment
texturePitchAlignment deviceOverlap multiProcessorCount kernelExecTimeoutEnabled integrated
canMapHostMemory computeMode maxTexture1D maxTexture1DMipmap maxTexture1DLinear maxTexture2D
maxTexture2DMipmap maxTexture2DLinear maxTexture2DGather maxTexture3D maxTexture3DAlt
maxTextureCubemap maxTexture1DLayered maxTexture2DLayered maxTextureCubemapLayered maxSurface1D
maxSurface2D maxSurface3D maxSurface1DLayered maxSurface2DLayered maxSurfaceCubemap
maxSurfaceCubemapLayered surfaceAlignment concurrentKernels ECCEnabled pciBusID pciDeviceID
pciDomainID tccDriver asyncEngineCount unifiedAddressing memoryClockRate memoryBusWidth l2CacheSize
persistingL2CacheMaxSize maxThreadsPerMultiProcessor streamPrioritiesSupported
globalL1CacheSupported localL1CacheSupported sharedMemPerMultiprocessor regsPerMultiprocessor
managedMemory isMultiGpuBoard multiGpuBoardGroupID hostNativeAtomicSupported
singleToDoublePrecisionPerfRatio pageableMemoryAccess concurrentManagedAccess
computePreemptionSupported canUseHostPointerForRegisteredMem cooperativeLaunch
cooperativeMultiDeviceLaunch sharedMemPerBlockOptin pageableMemoryAccessUsesHostPageTables
directManagedMemAccessFromHost maxBlocksPerMultiProcessor accessPolicyMaxWindowSize
reservedSharedMemPerBlock hostRegisterSupported sparseCudaArraySupported
hostRegisterReadOnlySupported timelineSemaphoreInteropSupported memoryPoolsSupported
gpuDirectRDMASupported gpuDirectRDMAFlushWritesOptions gpuDirectRDMAWritesOrdering
memoryPoolSupportedHandleTypes deferredMappingCudaArraySupported ipcEventSupported clusterLaunch
unifiedFunctionPointers
"""


class Properties(ctypes.Structure):
    _fields_ = (*fields(), ("reserved", ctypes.c_int * 63))


ATTRIBUTES = {
    "clockRate": "ClockRate",
    "deviceOverlap": "GpuOverlap",
    "kernelExecTimeoutEnabled": "KernelExecTimeout",
    "computeMode": "ComputeMode",
    "maxTexture1DLinear": "MaxTexture1DLinearWidth",
    "memoryClockRate": "MemoryClockRate",
    "singleToDoublePrecisionPerfRatio": "SingleToDoublePrecisionPerfRatio",
}


def test_properties_are_those_of_cuda_13_and_its_attributes(earlier):
    properties = Properties()
    assert ctypes.sizeof(properties) == 1032
    assert earlier.cudaGetDeviceProperties_v2(byref(properties), 0) == 0
    expected = ok(runtime.cudaGetDeviceProperties(0))
    compared = 0
    for name, kind in fields():
        value = getattr(properties, name)
        value = list(value) if hasattr(kind, "_length_") and kind._type_ is ctypes.c_int else value
        if name in ATTRIBUTES:
            member = getattr(runtime.cudaDeviceAttr, f"cudaDevAttr{ATTRIBUTES[name]}")
            assert value == ok(runtime.cudaDeviceGetAttribute(member, 0)), name
        elif name in ("uuid", "luid", "name"):
            continue
        elif hasattr(expected, name):
            compared += 1
            assert value == getattr(expected, name), name
        else:
            assert value == 0, name  # the driver has no such property any longer
    assert compared > 70
    assert earlier.cudaGetDeviceProperties_v2(None, 0) == INVALID_VALUE
    assert earlier.cudaGetDeviceProperties_v2(byref(properties), 99) == 101


def test_the_device_nearest_to_properties_is_chosen(earlier):
    properties, device = Properties(major=9), ctypes.c_int(-1)
    assert earlier.cudaChooseDevice(byref(device), byref(properties)) == 0
    assert device.value == 0
    assert earlier.cudaChooseDevice(byref(device), None) == INVALID_VALUE
    assert earlier.cudaChooseDevice(None, byref(properties)) == INVALID_VALUE


def test_a_result_needs_a_place(earlier):
    assert earlier.cudaPointerGetAttributes(None, None) == INVALID_VALUE
    assert earlier.cudaRuntimeGetVersion(None) == INVALID_VALUE

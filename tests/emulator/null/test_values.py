# SPDX-License-Identifier: Apache-2.0
"""The values that the null driver returns: of its device, its memory, contexts, code and graphs."""

import ast

import pytest

from ..checks.seeds.raw_driver import HEADER
from .test_null_driver import run

START = """
def ask(name, *arguments, kind=ctypes.c_uint64, room=1):
    out = (kind * room)()
    code = function(name)(out, *(as_c(each) for each in arguments))
    return (code, out[0]) if room == 1 else (code, list(out))
def after(name, *arguments, kind=ctypes.c_uint64, outputs=1):
    # the outputs follow the other arguments
    out = [kind(77) for _ in range(outputs)]
    return function(name)(*map(as_c, arguments), *map(ctypes.byref, out)), *(o.value for o in out)
def as_c(value):
    if isinstance(value, int):
        return ctypes.c_uint64(value & 2**64 - 1)
    return ctypes.c_char_p(value) if isinstance(value, bytes) else ctypes.c_void_p(value)
def text(name, size, *arguments):
    out = ctypes.create_string_buffer(b"?" * 63)
    return function(name)(out, size, *arguments), out.value.decode().rstrip("?")
"""


@pytest.fixture
def answers():
    """Run code with the null driver; return the object that it prints."""
    return lambda code: ast.literal_eval("".join(run(START + code)))


def test_the_device(answers):
    rows = answers("""
uuid = ctypes.create_string_buffer(16)
print([ask("cuDeviceGet", 0), ask("cuDeviceGet", 1), ask("cuDeviceGet", -1),
       ask("cuDriverGetVersion", kind=ctypes.c_int), ask("cuDeviceTotalMem_v2", 0),
       ask("cuDeviceComputeCapability", 0, kind=ctypes.c_int),
       text("cuDeviceGetName", 64, 0), text("cuDeviceGetName", 5, 0), text("cuDeviceGetName", 0, 0),
       text("cuDeviceGetPCIBusId", 20, 0), text("cuDeviceGetPCIBusId", 5, 0),
       (function("cuDeviceGetUuid_v2")(uuid, 0), uuid.raw)])
""")
    name = "Null CUDA device (runs nothing)"
    memory = 80 << 30
    assert rows[:5] == [(0, 0), (101, 0), (101, 0), (0, 13050), (0, memory)]
    assert rows[6:] == [
        (0, name), (0, name[:4]), (0, ""), (0, "E000:00:00.0"), (0, "E000"),
        (0, b"NULLDEVICE".ljust(16, b"\0")),
    ]  # fmt: skip


def test_the_capability_and_free_memory(answers):
    rows = answers("""
def both(name, kind, *arguments):
    first, second = kind(), kind()
    code = function(name)(ctypes.byref(first), ctypes.byref(second), *arguments)
    return code, first.value, second.value
print([both("cuDeviceComputeCapability", ctypes.c_int, 0), both("cuMemGetInfo_v2", ctypes.c_size_t),
       both("cuCtxGetStreamPriorityRange", ctypes.c_int)])
""")
    assert rows == [(0, 9, 0), (0, 80 << 30, 80 << 30), (0, 0, -5)]


def test_attributes_are_those_of_a_device_of_capability_9_0(answers):
    rows = answers("""
from cuda.bindings.driver import CUdevice_attribute as A
print([ask("cuDeviceGetAttribute", number, 0, kind=ctypes.c_int)
       for number in (1, 16, 75, 76, 97, 0, int(A.CU_DEVICE_ATTRIBUTE_MAX) - 1,
                      int(A.CU_DEVICE_ATTRIBUTE_MAX))])
""")
    assert rows == [(0, 1024), (0, 4), (0, 9), (0, 0), (0, 227 << 10), (1, 0), (0, 0), (1, 0)]


def test_names_and_texts_of_errors(answers):
    rows = answers("""
def text_of(name, code):
    out = ctypes.c_char_p(b"unchanged")
    return function(name)(code, ctypes.byref(out)), out.value
print([text_of(name, code) for name in ("cuGetErrorName", "cuGetErrorString")
       for code in (2, 98765)])
""")
    assert rows == [
        (0, b"CUDA_ERROR_OUT_OF_MEMORY"), (1, None), (0, b"out of memory"), (1, None),
    ]  # fmt: skip


def test_allocations_of_each_kind(answers):
    rows = answers("""
def allocations(name, *arguments):
    pair = [ask(name, *arguments) for _ in range(2)]
    first, second = (address for _, address in pair)
    ctypes.memset(first, 1, 1000)
    return pair[0][0], second - first
print([allocations(name, 1000, *rest) for name, rest in
       (("cuMemAlloc_v2", ()), ("cuMemAllocManaged", (1,)), ("cuMemAllocHost_v2", ()),
        ("cuMemHostAlloc", (0,)), ("cuMemAllocAsync", (0,)), ("cuMemAllocFromPoolAsync", (0, 0)),
        ("cuMemAddressReserve", (0, 0, 0)))])
""")
    assert rows == [(0, 1024)] * 7


def test_sizes_of_allocations(answers):
    rows = answers("""
def step(bytes_):
    first, second = (ask("cuMemAlloc_v2", size)[1] for size in (bytes_, 512))
    return second - first
def pitch(width, height):
    address, pitch = ctypes.c_uint64(), ctypes.c_size_t()
    pair = ctypes.byref(address), ctypes.byref(pitch)
    assert function("cuMemAllocPitch_v2")(*pair, as_c(width), as_c(height), 4) == 0
    return pitch.value, ask("cuMemAlloc_v2", 512)[1] - address.value
print([[step(bytes_) for bytes_ in (0, 1, 512, 513, 1 << 30)], pitch(512, 3), pitch(513, 3),
       ask("cuMemAddressReserve", 4096, 0, 1 << 40, 0),
       ask("cuMemHostGetDevicePointer_v2", 0x1234, 0),
       ask("cuMemGetAllocationGranularity", 0, 0), ask("cuMemGetAddressRange_v2", 0, 0x777)])
""")
    assert rows[:3] == [[512, 512, 512, 1024, 1 << 30], (512, 1536), (1024, 3072)]
    assert rows[3:] == [(0, 1 << 40), (0, 0x1234), (0, 2 << 20), (0, 0x777)]


def test_addresses_begin_again_after_64_gib(answers):
    facts = answers("""
first = ask("cuMemAlloc_v2", 512)[1]
last = ask("cuMemAlloc_v2", (64 << 30) - 1024)[1]
end = ask("cuMemAlloc_v2", 512)[1]
ctypes.memset(end, 1, 512)
print((last == first + 512, end == first + (64 << 30) - 512, ask("cuMemAlloc_v2", 512)[1] == first))
""")
    assert facts == (True, True, True)


def test_an_allocation_beyond_the_end_begins_at_the_base(answers):
    assert answers("""
first = ask("cuMemAlloc_v2", 1024)[1]
print([ask("cuMemAlloc_v2", (64 << 30) - 512)[1] == first])
""") == [True]


def test_pools(answers):
    rows = answers("""
pool = ask("cuDeviceGetDefaultMemPool", 0)
values = []
for attribute in range(1, 8):
    out = ctypes.c_uint64(2**64 - 1)
    function("cuMemPoolGetAttribute")(as_c(pool[1]), attribute, ctypes.byref(out))
    values.append(out.value)
print((pool[0], pool[1] != 0, ask("cuDeviceGetMemPool", 0) == pool, values))
""")
    assert rows == (0, True, True, [0xFFFFFFFF_00000000] * 3 + [0] * 4)


def test_several_attributes_of_a_pointer(answers):
    rows = answers("""
kinds, values = (ctypes.c_int * 3)(3, 2, 9), [ctypes.c_uint64(7) for _ in range(3)]
into = (ctypes.c_void_p * 3)(*map(ctypes.addressof, values))
codes = [function("cuPointerGetAttributes")(count, kinds, into, as_c(0x500)) for count in (0, 2)]
print((codes, [each.value for each in values]))
""")
    assert rows == ([0, 0], [0x500, 2, 7])


def test_the_stack_of_contexts(answers):
    rows = answers("""
current = lambda: ask("cuCtxGetCurrent")[1]
def destroy(context):
    function("cuCtxDestroy_v2")(as_c(context))
    return current()
primary = ask("cuDevicePrimaryCtxRetain", 0)[1]
stream_of = lambda: after("cuStreamGetCtx", 1)[1]
rows = [stream_of() == primary]
created = [ask("cuCtxCreate_v4", 0, 0, 0)[1] for _ in range(2)]
rows += [current() == created[1], stream_of() == created[1], destroy(created[0]) == created[1],
         destroy(created[1]) == created[0]]
function("cuCtxSetCurrent")(as_c(primary))
rows += [current() == primary, ask("cuCtxPopCurrent_v2") == (0, primary),
         ask("cuCtxPopCurrent_v2") == (201, 0), function("cuCtxSetCurrent")(None), current()]
push = function("cuCtxPushCurrent_v2")
print((rows, [push(as_c(number)) for number in range(1, 66)][-3:], current(),
       ask("cuCtxCreate_v4", 0, 0, 0)[0]))
""")
    assert rows == ([True] * 8 + [0, 0], [0, 0, 2], 64, 2)


def test_code_is_listed_and_found(answers):
    rows = answers(f"""
image = {(HEADER + ".entry a(.param .u64 x) { ret; } .func f() { ret; } .entry b() { ret; }")!r}
image = ctypes.create_string_buffer(image.encode())
rows = []
for kind, load, count, names, get, query, owner, info, params in (
    ("cuModule", "LoadData", "GetFunctionCount", "EnumerateFunctions", "GetFunction",
     "cuFuncGetName", "cuFuncGetModule", "cuFuncGetParamInfo", "cuFuncGetParamCount"),
    ("cuLibrary", "LoadData", "GetKernelCount", "EnumerateKernels", "GetKernel",
     "cuKernelGetName", "cuKernelGetLibrary", "cuKernelGetParamInfo", "cuKernelGetParamCount"),
):
    loaded = ctypes.c_uint64()
    assert function(kind + load)(ctypes.byref(loaded), image, None, None, 0, None, None, 0) == 0
    assert function(kind + load)(None, image, None, None, 0, None, None, 0) == 1
    assert function(kind + load)(ctypes.byref(loaded), None, None, None, 0, None, None, 0) == 1
    code = loaded.value
    total = ask(kind + count, code, kind=ctypes.c_uint)
    lists = [ask(kind + names, room, code, room=3) for room in (0, 1, 2, 3)]
    first, second = (ask(kind + get, code, name) for name in (b"a", b"b"))
    assert lists[3] == (0, [first[1], second[1], 0]) and lists[0] == (0, [0] * 3)
    assert lists[1] == (0, [first[1], 0, 0]) and lists[2] == lists[3]
    name = ctypes.c_char_p()
    assert function(query)(ctypes.byref(name), as_c(second[1])) == 0
    assert ask(owner, first[1]) == (0, code)
    size = [after(info, first[1], index, kind=ctypes.c_size_t, outputs=2) for index in (0, 1)]
    number = [after(params, each[1], kind=ctypes.c_size_t) for each in (first, second)]
    missing = ask(kind + get, code, b"f")[0], ask(kind + get, code, None)[0]
    wrong = [ask(kind + count, 64)[0], ask(kind + names, 1, 64)[0], ask(kind + get, 64, b"a")[0],
             ask(query, 64)[0], ask(owner, 64)[0], after(info, 64, 0, outputs=2)[0],
             after(params, 64)[0]]
    none = function(kind + get)(None, as_c(code), b"a")
    rows.append((total, name.value, size, number, missing, wrong, none))
    assert function(kind + "Unload")(as_c(code)) == 0
    assert (ask(kind + count, code)[0], ask(query, first[1])[0]) == (400, 400)
print(rows)
""")
    assert rows == 2 * [
        ((0, 2), b"b", [(0, 0, 8), (1, 77, 77)], [(0, 1), (0, 0)], (500, 1), [400] * 7, 1)
    ]


def test_attributes_of_code(answers):
    rows = answers("""
print([[ask(name, number, *rest, kind=ctypes.c_int)[1] for number in range(9)]
       for name, rest in (("cuFuncGetAttribute", (0,)), ("cuKernelGetAttribute", (0, 0)))])
""")
    assert rows == [[1024, 0, 0, 0, 16, 90, 90, 0, 0]] * 2


def test_code_from_a_file(answers, tmp_path):
    path = tmp_path / "code.ptx"
    path.write_text(HEADER + ".entry a() { ret; }")
    rows = answers(f"""
rows = []
for load, count, rest in (("cuModuleLoad", "cuModuleGetFunctionCount", ()),
                          ("cuLibraryLoadFromFile", "cuLibraryGetKernelCount", (0,) * 7)):
    code, loaded = ask(load, {bytes(path)!r}, *rest)
    rows.append((code, ask(count, loaded)[1], ask(load, b"/none", *rest)[0],
                 ask(load, None, *rest)[0]))
print(rows)
""")
    assert rows == [(0, 1, 301, 301)] * 2


def test_occupancy(answers):
    rows = answers("""
grid, block = ctypes.c_int(), ctypes.c_int()
pair = ctypes.byref(grid), ctypes.byref(block)
rows = [ask("cuOccupancyMaxActiveBlocksPerMultiprocessor", 0, 32, 0),
        ask("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", 0, 32, 0, 0),
        ask("cuOccupancyAvailableDynamicSMemPerBlock", 0, 1, 32),
        ask("cuOccupancyMaxPotentialClusterSize", 0, 0), ask("cuOccupancyMaxActiveClusters", 0, 0)]
for name in ("cuOccupancyMaxPotentialBlockSize", "cuOccupancyMaxPotentialBlockSizeWithFlags"):
    grid.value = block.value = 0
    rows.append((function(name)(*pair, None, None, 0, 0, 0), grid.value, block.value))
print(rows)
""")
    assert rows == [(0, 1), (0, 1), (0, 48 << 10), (0, 8), (0, 1), (0, 1, 256), (0, 1, 256)]


def test_captures(answers):
    rows = answers("""
def info(stream, name="cuStreamGetCaptureInfo_v3"):
    out = [ctypes.c_uint64(0) for _ in range(6)]
    function(name)(as_c(stream), *map(ctypes.byref, out))
    return [each.value for each in out[:3]]
begin, end = function("cuStreamBeginCapture_v2"), lambda stream: after("cuStreamEndCapture", stream)
rows = [begin(as_c(stream), 0) for stream in range(1, 18)]
states = [info(stream) for stream in range(18)]
assert [info(s, "cuStreamGetCaptureInfo_v2") for s in range(18)] == states
graphs = {state[2] for state in states[1:17]}
ended = [end(stream)[1] for stream in range(1, 17)]
fresh_graph = end(17)[1]
function("cuStreamBeginCaptureToGraph")(as_c(5), as_c(0x99), None, None, 0, 0)
print((set(rows), [state[:2] for state in states], len(graphs), set(ended) == graphs,
       fresh_graph in graphs, info(5), end(5), info(5)[0],
       after("cuStreamIsCapturing", 5, kind=ctypes.c_int)))
""")
    active = [[0, 0], *[[1, 1]] * 16, [0, 0]]
    assert rows == ({0}, active, 16, True, False, [1, 1, 0x99], (0, 0x99), 0, (0, 0))


def test_nodes(answers):
    rows = answers("""
from cuda.bindings import driver as d
params = d.CUDA_MEM_ALLOC_NODE_PARAMS()
params.bytesize = 600
graph = d.cuGraphCreate(0)[1]
node = d.cuGraphAddMemAllocNode(graph, [], 0, params)[1]
request = d.CUDA_GRAPH_INSTANTIATE_PARAMS()
code, executable = d.cuGraphInstantiateWithParams(graph, request)
print((int(node) != 0, ask("cuMemAlloc_v2", 1)[1] - int(params.dptr), int(request.result_out),
       int(request.hErrNode_out), after("cuGraphNodeGetEnabled", 1, 2, kind=ctypes.c_uint)))
""")
    assert rows == (True, 1024, 0, 0, (0, 1))

# SPDX-License-Identifier: Apache-2.0
"""Structs of another size in another driver: no memory beside the object is overwritten.

Each case is a process whose allocator checks the bytes around every block (PYTHONMALLOC=debug).
"""

import pytest

GROWTH = 128  # maximum excess in bytes of a newer struct

# A driver of Python functions whose structs are larger.
DRIVER = f"""
import ctypes, gc
from cuda.bindings import driver
from tests.bindings.function_tables import Replacements

put = Replacements().put

def overwrite(address, type, count=1):
    ctypes.memset(address, 0xAB, count * (driver.sizeof(type) + {GROWTH}))

Pointer, Int, Size = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t
"""

CASES = {
    "output": """
put("cuDeviceGetProperties", lambda out, dev: overwrite(out, driver.CUdevprop), Pointer, Int)
for _ in range(50):
    assert driver.cuDeviceGetProperties(0)[1].maxThreadsPerBlock == -0x54545455
""",
    "struct of the caller": """
write = lambda node, out: overwrite(out, driver.CUDA_MEMCPY3D)
put("cuGraphMemcpyNodeGetParams", write, Pointer, Pointer)
for _ in range(50):
    assert driver.cuGraphMemcpyNodeGetParams(1)[1].Depth == 0xABABABABABABABAB
""",
    "argument that is changed": """
def add(out, graph, dependencies, count, params):
    overwrite(params, driver.CUDA_MEM_ALLOC_NODE_PARAMS)
put("cuGraphAddMemAllocNode", add, Pointer, Pointer, Pointer, Size, Pointer)
for _ in range(50):
    params = driver.CUDA_MEM_ALLOC_NODE_PARAMS()
    driver.cuGraphAddMemAllocNode(1, None, 0, params)
    assert params.bytesize == 0xABABABABABABABAB
""",
    "object of a subclass": """
class Mine(driver.CUDA_MEM_ALLOC_NODE_PARAMS):
    def __init__(self):
        self.note = "mine"
def add(out, graph, dependencies, count, params):
    overwrite(params, driver.CUDA_MEM_ALLOC_NODE_PARAMS)
put("cuGraphAddMemAllocNode", add, Pointer, Pointer, Pointer, Size, Pointer)
for _ in range(50):
    params = Mine()
    driver.cuGraphAddMemAllocNode(1, None, 0, params)
    assert (params.bytesize, params.note) == (0xABABABABABABABAB, "mine")
""",
    "array that is returned": """
def edges(graph, first, second, data, count):
    n = Size.from_address(count).value
    overwrite(data, driver.CUgraphEdgeData, n)
put("cuGraphGetEdges", edges, Pointer, Pointer, Pointer, Pointer, Pointer)
for n in 1, 10, 100, 1000:
    assert len(driver.cuGraphGetEdges(1, n)[3]) == n
""",
    "array of the caller": """
def batch(count, operations, flags, stream):
    overwrite(operations, driver.CUDA_MEMCPY3D_BATCH_OP, count)
put("cuMemcpy3DBatchAsync", batch, Size, Pointer, ctypes.c_ulonglong, Pointer)
for n in 1, 2, 10, 100:
    operations = [driver.CUDA_MEMCPY3D_BATCH_OP() for _ in range(n)]
    driver.cuMemcpy3DBatchAsync(n, operations, 0, 0)
""",
    "value of an attribute": """
def attribute(out, attribute, pointer):
    overwrite(out, driver.CUDA_POINTER_ATTRIBUTE_P2P_TOKENS)
put("cuPointerGetAttribute", attribute, Pointer, Int, ctypes.c_uint64)
tokens = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_P2P_TOKENS
for _ in range(50):
    assert driver.cuPointerGetAttribute(tokens, 1)[1].p2pToken == 0xABABABABABABABAB
""",
    "values of several attributes": """
def attributes(count, attributes, values, pointer):
    for value in reversed((Pointer * count).from_address(values)):
        ctypes.c_uint64.from_address(value).value = value
        ctypes.memset(value + 8, 0xAB, 100 + driver.sizeof(Tokens))
put("cuPointerGetAttributes", attributes, ctypes.c_uint, Pointer, Pointer, ctypes.c_uint64)
Tokens = driver.CUDA_POINTER_ATTRIBUTE_P2P_TOKENS
tokens = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_P2P_TOKENS
passed = [each.p2pToken for each in driver.cuPointerGetAttributes(3, [tokens] * 3, 1)[1]]
assert len(set(passed)) == 3 and 0xABABABABABABABAB not in passed
""",
}


@pytest.mark.parametrize("case", CASES)
def test_a_larger_struct_overwrites_nothing_else(on_null_driver, case):
    code = DRIVER + CASES[case] + "gc.collect()\nprint('done')\n"
    assert on_null_driver(code, PYTHONMALLOC="debug").split() == ["done"]


def test_a_smaller_struct_leaves_the_tail_zero(on_null_driver):
    code = (
        DRIVER
        + """
def write(out, dev):
    ctypes.memset(out, 0xAB, 4)
put("cuDeviceGetProperties", write, Pointer, Int)
properties = driver.cuDeviceGetProperties(0)[1]
print(properties.maxThreadsPerBlock, properties.clockRate, bytes(properties)[4:].count(0))
"""
    )
    first, clock, zeros = on_null_driver(code).split()
    assert (first, clock) == ("-1414812757", "0")
    assert int(zeros) > 40


def test_slack_is_not_visible_in_the_object(on_null_driver):
    code = """
from cuda.bindings import driver
properties = driver.CUdevprop()
size = driver.sizeof(driver.CUdevprop)
print(len(bytes(properties)) == size, len(memoryview(properties)) == size)
"""
    assert on_null_driver(code).split() == ["True", "True"]

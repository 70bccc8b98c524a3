# SPDX-License-Identifier: Apache-2.0
"""The text of cuGraphDebugDotPrint, row by row, for a node of each kind."""

import ctypes
import re

import pytest
from cuda.bindings import driver

from tests.emulator.graph.conftest import check, copy, copy_parameters, fill
from tests.emulator.graph.test_conditional import SWITCH, add, condition

pytestmark = pytest.mark.usefixtures("emulated")
# Bits of the flags. Bit 0 selects all rows.
VERBOSE = 1 << 0
KERNEL, MEMCPY, MEMSET, HOST, EVENT = (1 << bit for bit in range(2, 7))
ATTRIBUTES, HANDLES, ALLOC, FREE, BATCH, TOPOLOGY, COND = (1 << bit for bit in range(9, 16))
NODE = (HANDLES, "node handle", "ADDRESS")
ROWS = [
    ("KERNEL", [NODE, (HANDLES, "func handle", "ADDRESS"), (KERNEL, "gridDim", "1,1,1"),
                (KERNEL, "blockDim", "1,1,1"), (KERNEL, "sharedMemBytes", "0"),
                (ATTRIBUTES, "cooperative", "0"), (ATTRIBUTES, "clusterDim", "0,0,0"),
                (ATTRIBUTES, "priority", "0")]),
    ("MEMSET", [NODE, (MEMSET, "dptr", "MEMORY"), (MEMSET, "pitch", "0"), (MEMSET, "value", "7"),
                (MEMSET, "elementSize", "1"), (MEMSET, "width,height", "16,1")]),
    ("MEMCPY", [NODE, (MEMCPY, "src", "DEVICE MEMORY+64"), (MEMCPY, "dst", "DEVICE MEMORY"),
                (MEMCPY, "WidthInBytes,Height,Depth", "16,1,1"),
                (MEMCPY, "srcPitch,srcHeight", "16,1"), (MEMCPY, "dstPitch,dstHeight", "16,1")]),
    ("MEMCPY", [NODE, (MEMCPY, "src", "HOST ON_HOST"), (MEMCPY, "dst", "DEVICE MEMORY"),
                (MEMCPY, "WidthInBytes,Height,Depth", "8,2,1"),
                (MEMCPY, "srcPitch,srcHeight", "16,3"), (MEMCPY, "dstPitch,dstHeight", "32,4")]),
    ("HOST", [NODE, (HOST, "fn", "0x0000000000001234"), (HOST, "userData", "0x0000000000000055")]),
    ("EVENT_RECORD", [NODE, (EVENT, "event", "ADDRESS")]),
    ("EVENT_WAIT", [NODE, (EVENT, "event", "ADDRESS")]),
    ("MEM_ALLOC", [NODE, (ALLOC, "dptr", "ALLOCATED"), (ALLOC, "bytesize", "64")]),
    ("MEM_FREE", [NODE, (FREE, "dptr", "ALLOCATED")]),
    ("BATCH_MEM_OP", [NODE, (BATCH, "count", "1"), (BATCH, "BARRIER", "0x0000000000000000")]),
    ("CONDITIONAL", [NODE, (COND, "handle", "ADDRESS"), (COND, "type", "SWITCH"),
                     (COND, "size", "2")]),
]  # fmt: skip


@pytest.fixture
def addresses(graph, kernels, events, memory):
    """Add a node of each kind, in the order of the rows; return addresses that they name."""
    context = check(*driver.cuCtxGetCurrent())
    first = kernels.add(graph, "store", memory, 5)
    filled = fill(graph, memory, 7, first)
    copy(graph, memory, memory + 64, filled)
    on_host = ctypes.create_string_buffer(64)
    parameters = copy_parameters(memory, 0, 8)
    parameters.srcMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_HOST
    parameters.srcHost, parameters.Height = ctypes.addressof(on_host), 2
    parameters.srcPitch, parameters.srcHeight = 16, 3
    parameters.dstPitch, parameters.dstHeight = 32, 4
    check(*driver.cuGraphAddMemcpyNode(graph, [], 0, parameters, context))
    called = driver.CUDA_HOST_NODE_PARAMS()
    called.fn, called.userData = 0x1234, 0x55
    check(*driver.cuGraphAddHostNode(graph, [], 0, called))
    check(*driver.cuGraphAddEventRecordNode(graph, [], 0, events[0]))
    check(*driver.cuGraphAddEventWaitNode(graph, [], 0, events[0]))
    allocation = driver.CUDA_MEM_ALLOC_NODE_PARAMS()
    allocation.poolProps.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    allocation.poolProps.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    allocation.bytesize = 64
    allocated = check(*driver.cuGraphAddMemAllocNode(graph, [], 0, allocation))
    check(*driver.cuGraphAddMemFreeNode(graph, [allocated], 1, allocation.dptr))
    barrier = driver.CUstreamBatchMemOpParams()
    barrier.memoryBarrier.operation = driver.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_BARRIER
    batch = driver.CUDA_BATCH_MEM_OP_NODE_PARAMS()
    batch.ctx, batch.count, batch.paramArray = context, 1, [barrier]
    check(*driver.cuGraphAddBatchMemOpNode(graph, [], 0, batch))
    add(graph, condition(graph), SWITCH, 2)
    yield {
        memory: "MEMORY", memory + 64: "MEMORY+64", ctypes.addressof(on_host): "ON_HOST",
        int(allocation.dptr): "ALLOCATED", 0x1234: None, 0x55: None, 0: None,
    }  # fmt: skip


@pytest.mark.parametrize(
    "flags",
    [0, VERBOSE, *(1 << bit for bit in range(1, 18)), KERNEL | MEMSET],
    ids=hex,
)
def test_a_flag_adds_the_rows_of_its_kind(graph, addresses, tmp_path, flags):
    path = tmp_path / "graph.dot"
    check(*driver.cuGraphDebugDotPrint(graph, bytes(path), flags))

    def named(match):
        name = addresses.get(int(match[0], 16), "ADDRESS")
        return match[0] if name is None else name

    text = re.sub(r"0x[0-9A-F]{16}", named, path.read_text())
    nodes = re.findall(r'"graph_\d+_node_\d+"(\[.*?\]);\n\n', text, re.S)
    titles = [r"store\<\<\<1,1,1;1,1,1;0\>\>\>"] + [""] * 10
    for number, ((kind, rows), title, actual) in enumerate(zip(ROWS, titles, nodes, strict=True)):
        has_order = flags & (VERBOSE | TOPOLOGY)
        actual, order = re.subn(r" \(topoId: \d+\)", "", actual)
        assert bool(order) == bool(has_order), actual
        style = "bold" if title else "solid"
        selected = [f"| {{{n} | {v}}}\n" for flag, n, v in rows if flags & (flag | VERBOSE)]
        if selected:
            identity = f"{number} | {title}" if title else str(number)
            label = "".join((f"{{{kind}\n| {{ID | {identity}}}\n", *selected, "}"))
            shape = "record"
        else:
            label, shape = f"{number}\n{title or kind}\n", "octagon" if title else "rectangle"
        assert actual == f'[style="{style}" shape="{shape}" label="{label}"]'
    edges = re.findall(r'"graph_\d+_node_(\d+)" -> "graph_\d+_node_(\d+)"', text)
    assert edges == [("0", "1"), ("1", "2"), ("7", "8")]
    assert len(re.findall(r'label="graph_\d+ \(body [01] of graph_\d+_node_10\)"', text)) == 2

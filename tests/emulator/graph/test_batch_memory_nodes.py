# SPDX-License-Identifier: Apache-2.0
"""Nodes with batches of memory operations: values that a graph writes, waits for and reduces."""

import ctypes
import re

import pytest
from cuda.bindings import driver

from tests.emulator.graph.conftest import check, empty, fill, in_background, launch, read, word

R = driver.CUresult
INVALID = R.CUDA_ERROR_INVALID_VALUE
Operation = driver.CUstreamBatchMemOpType
WRITE, WAIT = (
    Operation.CU_STREAM_MEM_OP_WRITE_VALUE_32,
    Operation.CU_STREAM_MEM_OP_WAIT_VALUE_32,
)
EQUAL = driver.CUstreamWaitValue_flags.CU_STREAM_WAIT_VALUE_EQ
BATCH = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP


def write(address, value, kind=WRITE):
    operation = driver.CUstreamBatchMemOpParams()
    operation.writeValue.operation = kind
    operation.writeValue.address = address
    operation.writeValue.value64 = value
    return operation


def wait(address, value):
    operation = driver.CUstreamBatchMemOpParams()
    operation.waitValue.operation = WAIT
    operation.waitValue.address = address
    operation.waitValue.value = value
    operation.waitValue.flags = EQUAL
    return operation


def barrier():
    operation = driver.CUstreamBatchMemOpParams()
    operation.memoryBarrier.operation = Operation.CU_STREAM_MEM_OP_BARRIER
    return operation


def add_up(address, value):
    operation = driver.CUstreamBatchMemOpParams()
    operation.atomicReduction.operation = Operation.CU_STREAM_MEM_OP_ATOMIC_REDUCTION
    operation.atomicReduction.address = address
    operation.atomicReduction.value = value
    kind = driver.CUstreamAtomicReductionOpType.CU_STREAM_ATOMIC_REDUCTION_OP_ADD
    operation.atomicReduction.reductionOp = kind
    word_kind = driver.CUstreamAtomicReductionDataType.CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32
    operation.atomicReduction.dataType = word_kind
    return operation


REDUCTIONS = {
    "ADD": lambda a, b: a + b,
    "AND": lambda a, b: a & b,
    "OR": lambda a, b: a | b,
}
WORDS = (0xFFFF_FFFF_F0F0_FFFE, 0x0123_4567_89AB_CDEF, 2, 1 << 63)


def reduction(name, bits, address, value):
    operation = add_up(address, value)
    kinds, types = driver.CUstreamAtomicReductionOpType, driver.CUstreamAtomicReductionDataType
    operation.atomicReduction.reductionOp = kinds[f"CU_STREAM_ATOMIC_REDUCTION_OP_{name}"]
    operation.atomicReduction.dataType = types[f"CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_{bits}"]
    return operation


def batch(*operations):
    params = driver.CUDA_BATCH_MEM_OP_NODE_PARAMS()
    params.ctx = check(*driver.cuCtxGetCurrent())
    params.count, params.paramArray = len(operations), list(operations)
    return params


def array_of(params):
    """Return the first operation of parameters that the driver wrote."""
    address = ctypes.c_void_p.from_address(params.getPtr() + 16).value
    return driver.CUstreamBatchMemOpParams(address)


def add(graph, *operations, after=()):
    return check(
        *driver.cuGraphAddBatchMemOpNode(graph, list(after), len(after), batch(*operations))
    )


def test_operations_run_in_order_after_the_dependencies(graph, streams, memory):
    filled = fill(graph, memory, 1)
    add(
        graph,
        wait(memory, 0x01010101),
        write(memory, 5),
        barrier(),
        add_up(memory, 2),
        write(memory + 8, 2**40, Operation.CU_STREAM_MEM_OP_WRITE_VALUE_64),
        after=[filled],
    )
    launch(graph, streams[0], times=2)
    assert word(memory) == 7
    assert int.from_bytes(read(memory + 8, 8), "little") == 2**40


@in_background
def test_a_node_waits_for_a_value_of_another_stream(graph, streams, memory, executable):
    waiting = add(graph, wait(memory, 3))
    fill(graph, memory + 64, 9, waiting)
    ready = executable()
    check(*driver.cuGraphLaunch(ready, streams[0]))
    assert driver.cuStreamQuery(streams[0])[0] == R.CUDA_ERROR_NOT_READY
    check(*driver.cuStreamWriteValue32(streams[1], memory, 3, 0))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert read(memory + 64, 1) == b"\t"


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_changes_a_word_of_its_size(streams, memory, name, bits):
    """Compare each pair of words, beside neighbors that stay."""
    neighbors = 0x5A5A_5A5A_5A5A_5A5A
    pairs = [(a, b) for a in WORDS for b in WORDS]
    expected, operations = b"", []
    for number, (old, operand) in enumerate(pairs):
        address, mask = memory + 24 * number, 2**bits - 1
        start = b"".join(each.to_bytes(8, "little") for each in (neighbors, old, neighbors))
        check(*driver.cuMemcpyHtoD(address, start, 24))
        result = old & ~mask | REDUCTIONS[name](old, operand) & mask
        expected += start[:8] + result.to_bytes(8, "little") + start[16:]
        operations.append(reduction(name, bits, address + 8, operand & mask))
    check(*driver.cuStreamBatchMemOp(streams[0], len(operations), operations, 0))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert read(memory, len(expected)) == expected


def test_the_general_functions_add_read_and_change_a_node(graph, streams, memory):
    params = driver.CUgraphNodeParams()
    params.type = BATCH
    params.memOp.ctx = check(*driver.cuCtxGetCurrent())
    params.memOp.count, params.memOp.paramArray = 1, [write(memory, 4)]
    node = check(*driver.cuGraphAddNode(graph, [], None, 0, params))
    assert check(*driver.cuGraphNodeGetType(node)) == BATCH
    params.memOp.count, params.memOp.paramArray = 2, [write(memory, 5), write(memory + 4, 6)]
    check(*driver.cuGraphNodeSetParams(node, params))
    launch(graph, streams[0])
    assert (word(memory), word(memory + 4)) == (5, 6)


def test_parameters_are_copied(graph, memory):
    operations = [write(memory, 4), wait(memory, 4)]
    node = add(graph, *operations)
    operations[0].writeValue.value = 9
    params = check(*driver.cuGraphBatchMemOpNodeGetParams(node))
    assert (params.count, params.flags) == (2, 0)
    assert int(params.ctx) == int(check(*driver.cuCtxGetCurrent()))
    first = array_of(params)
    assert (first.writeValue.operation, int(first.writeValue.value)) == (WRITE, 4)
    assert int(first.writeValue.address) == memory


def test_a_change_of_the_node_leaves_executable_graphs(graph, streams, memory, executable):
    node = add(graph, write(memory, 4))
    before = executable()
    check(*driver.cuGraphBatchMemOpNodeSetParams(node, batch(write(memory, 5), barrier())))
    check(*driver.cuGraphLaunch(before, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert word(memory) == 4
    launch(graph, streams[0])
    assert word(memory) == 5


def test_an_executable_graph_changes_values_and_addresses_only(graph, streams, memory, executable):
    node = add(graph, write(memory, 4), barrier(), add_up(memory, 1))
    ready = executable()
    change = driver.cuGraphExecBatchMemOpNodeSetParams
    unchanged = barrier(), add_up(memory, 1)
    for refused in (
        batch(write(memory, 4)),
        batch(wait(memory, 4), *unchanged),
        batch(write(memory, 4), barrier(), add_up(memory, 2)),
    ):
        assert change(ready, node, refused)[0] == INVALID
    check(*change(ready, node, batch(write(memory + 4, 5), *unchanged)))
    check(*driver.cuGraphLaunch(ready, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert (word(memory), word(memory + 4)) == (1, 5)


def test_an_update_adopts_values(graph, streams, memory, executable):
    add(graph, write(memory, 4))
    ready = executable()
    update = driver.cuGraphExecUpdate
    for value, kind, expected in (
        (6, WRITE, R.CUDA_SUCCESS),
        (7, Operation.CU_STREAM_MEM_OP_WRITE_VALUE_64, R.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE),
    ):
        other = check(*driver.cuGraphCreate(0))
        add(other, write(memory, value, kind))
        assert update(ready, other)[0] == expected
        check(*driver.cuGraphDestroy(other))
    check(*driver.cuGraphLaunch(ready, streams[0]))
    check(*driver.cuStreamSynchronize(streams[0]))
    assert word(memory) == 6


def test_clones_and_child_graphs_have_the_operations(graph, streams, memory):
    add(graph, add_up(memory, 3))
    clone = check(*driver.cuGraphClone(graph))
    check(*driver.cuGraphAddChildGraphNode(clone, [], 0, graph))
    launch(clone, streams[0])
    assert word(memory) == 6
    check(*driver.cuGraphDestroy(clone))


def test_value_calls_are_captured(graph, streams, memory):
    stream = streams[0]
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    check(*driver.cuStreamBeginCapture(stream, mode))
    check(*driver.cuStreamWriteValue32(stream, memory, 4, 0))
    check(*driver.cuStreamWaitValue32(stream, memory, 4, EQUAL))
    check(*driver.cuStreamBatchMemOp(stream, 2, [add_up(memory, 1), write(memory + 4, 8)], 0))
    captured = check(*driver.cuStreamEndCapture(stream))
    nodes, count = check(*driver.cuGraphGetNodes(captured, 8))
    assert [check(*driver.cuGraphNodeGetType(each)) for each in nodes[:count]] == [BATCH] * 3
    last = check(*driver.cuGraphBatchMemOpNodeGetParams(nodes[2]))
    assert last.count == 2
    assert word(memory) == 0
    launch(captured, stream)
    assert (word(memory), word(memory + 4)) == (5, 8)
    check(*driver.cuGraphDestroy(captured))


def test_dot_has_the_operations(graph, memory, tmp_path):
    add(graph, write(memory, 4), barrier())
    path = tmp_path / "graph.dot"
    flag = driver.CUgraphDebugDot_flags.CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS
    check(*driver.cuGraphDebugDotPrint(graph, bytes(path), flag))
    text = path.read_text()
    assert "BATCH_MEM_OP" in text
    assert re.search(rf"WRITE_VALUE_32 \| 0x0*{memory:X}\b", text)
    assert "BARRIER" in text


@pytest.mark.parametrize("count", [0, 257])
def test_invalid_batches_are_refused(graph, memory, count):
    params = batch(*[write(memory, 1)] * count)
    assert driver.cuGraphAddBatchMemOpNode(graph, [], 0, params)[0] == INVALID
    misaligned = batch(write(memory + 1, 1))
    assert driver.cuGraphAddBatchMemOpNode(graph, [], 0, misaligned)[0] == INVALID
    assert check(*driver.cuGraphGetNodes(graph, 1))[1] == 0


def test_a_node_cannot_be_disabled_or_be_of_another_type(graph, memory, executable):
    node = add(graph, write(memory, 1))
    assert driver.cuGraphNodeSetEnabled(executable(), node, 0)[0] == INVALID
    other = empty(graph)
    assert driver.cuGraphBatchMemOpNodeSetParams(other, batch(write(memory, 1)))[0] == INVALID
    assert driver.cuGraphBatchMemOpNodeGetParams(other)[0] == INVALID

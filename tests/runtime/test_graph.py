# SPDX-License-Identifier: Apache-2.0
"""Graphs of the runtime: what is captured, built, updated, chosen and kept."""

import ctypes
import threading

import pytest
from cuda.bindings import runtime

from .conftest import ok

Error = runtime.cudaError_t
Type = runtime.cudaGraphNodeType


@pytest.fixture
def graph():
    made = ok(runtime.cudaGraphCreate(0))
    yield made
    ok(runtime.cudaGraphDestroy(made))


def fill(graph, address, value, *after, size=16):
    wanted = runtime.cudaMemsetParams()
    wanted.dst, wanted.value, wanted.elementSize = address, value, 1
    wanted.width, wanted.height = size, 1
    return ok(runtime.cudaGraphAddMemsetNode(graph, list(after), len(after), wanted))


def read(address, size=1):
    found = bytearray(size)
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    ok(runtime.cudaMemcpy(found, address, size, kind))
    return bytes(found)


def run(executable, stream):
    ok(runtime.cudaGraphLaunch(executable, stream))
    ok(runtime.cudaStreamSynchronize(stream))


def test_an_update_takes_the_parameters_of_another_graph(graph, stream, memory):
    address = memory(16)
    node = fill(graph, address, 1)  # nodes of the graph of an update name none of the executable
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    other = ok(runtime.cudaGraphCreate(0))
    fill(other, address, 2)
    result = ok(runtime.cudaGraphExecUpdate(executable, other)).result
    assert result == runtime.cudaGraphExecUpdateResult.cudaGraphExecUpdateSuccess
    run(executable, stream)
    assert read(address) == b"\2"
    wanted = ok(runtime.cudaGraphMemsetNodeGetParams(node))
    wanted.value = 3
    ok(runtime.cudaGraphExecMemsetNodeSetParams(executable, node, wanted))
    run(executable, stream)
    assert read(address) == b"\3"
    ok(runtime.cudaGraphNodeSetEnabled(executable, node, 0))
    assert ok(runtime.cudaGraphNodeGetEnabled(executable, node)) == 0
    ok(runtime.cudaGraphExecDestroy(executable))
    ok(runtime.cudaGraphDestroy(other))


def test_a_condition_chooses_a_graph(graph, stream, memory):
    address = memory(16)
    handle = ok(runtime.cudaGraphConditionalHandleCreate(graph, 1, 1))
    wanted = runtime.cudaGraphNodeParams()
    wanted.type = Type.cudaGraphNodeTypeConditional
    wanted.conditional.handle = handle
    wanted.conditional.type = runtime.cudaGraphConditionalNodeType.cudaGraphCondTypeSwitch
    wanted.conditional.size = 2
    node = ok(runtime.cudaGraphAddNode(graph, [], None, 0, wanted))
    assert ok(runtime.cudaGraphNodeGetType(node)) == Type.cudaGraphNodeTypeConditional
    for i, body in enumerate(wanted.conditional.phGraph_out):
        fill(body, address, 5 + i)
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    assert read(address) == b"\6"
    ok(runtime.cudaGraphExecDestroy(executable))


def test_memory_of_a_graph_is_allocated_and_freed_in_it(graph, stream, memory):
    address = memory(16)
    wanted = runtime.cudaMemAllocNodeParams()
    wanted.poolProps.allocType = runtime.cudaMemAllocationType.cudaMemAllocationTypePinned
    wanted.poolProps.location.type = runtime.cudaMemLocationType.cudaMemLocationTypeDevice
    wanted.bytesize = 16
    made = ok(runtime.cudaGraphAddMemAllocNode(graph, [], 0, wanted))
    own = int(wanted.dptr)
    assert int(ok(runtime.cudaGraphMemAllocNodeGetParams(made)).dptr) == own
    filled = fill(graph, own, 9, made)
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToDevice
    copied = ok(runtime.cudaGraphAddMemcpyNode1D(graph, [filled], 1, address, own, 16, kind))
    ok(runtime.cudaGraphAddMemFreeNode(graph, [copied], 1, own))
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    run(executable, stream)
    assert read(address) == b"\11"
    attribute = runtime.cudaGraphMemAttributeType.cudaGraphMemAttrUsedMemCurrent
    assert int(ok(runtime.cudaDeviceGetGraphMemAttribute(0, attribute))) > 0
    ok(runtime.cudaGraphExecDestroy(executable))
    ok(runtime.cudaDeviceGraphMemTrim(0))
    assert int(ok(runtime.cudaDeviceGetGraphMemAttribute(0, attribute))) == 0


def test_user_objects_go_with_their_graph():
    gone = threading.Event()
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: gone.set())
    host = runtime.cudaHostFn_t(ctypes.cast(function, ctypes.c_void_p).value)
    graph = ok(runtime.cudaGraphCreate(0))
    made = ok(runtime.cudaUserObjectCreate(0, host, 1, 1))
    ok(runtime.cudaGraphRetainUserObject(graph, made, 1, 1))
    assert not gone.is_set()
    ok(runtime.cudaGraphDestroy(graph))
    assert gone.wait(30)


def test_a_graph_is_drawn_and_its_nodes_are_numbered(graph, memory, tmp_path):
    node = fill(graph, memory(16), 1)
    if ok(runtime.cudaDriverGetVersion()) >= 13010:
        assert ok(runtime.cudaGraphNodeGetLocalId(node)) == 0
    else:
        code = runtime.cudaGraphNodeGetLocalId(node)[0]
        assert code == Error.cudaErrorCallRequiresNewerDriver
    path = tmp_path / "graph.dot"
    ok(runtime.cudaGraphDebugDotPrint(graph, str(path).encode(), 1))
    assert path.read_text().startswith("digraph")


def test_a_cycle_is_told_with_its_node(graph):
    first = ok(runtime.cudaGraphAddEmptyNode(graph, [], 0))
    second = ok(runtime.cudaGraphAddEmptyNode(graph, [first], 1))
    ok(runtime.cudaGraphAddDependencies(graph, [second], [first], None, 1))
    wanted = runtime.cudaGraphInstantiateParams()
    code, _ = runtime.cudaGraphInstantiateWithParams(graph, wanted)
    assert code == Error.cudaErrorInvalidValue
    invalid = runtime.cudaGraphInstantiateResult.cudaGraphInstantiateInvalidStructure
    assert wanted.result_out == invalid
    assert int(wanted.errNode_out) in (int(first), int(second))


def copy_of(target, source, size=16):
    """Parameters of a copy of one row on the device."""
    made = runtime.cudaMemcpy3DParms()
    made.srcPtr = runtime.make_cudaPitchedPtr(source, size, size, 1)
    made.dstPtr = runtime.make_cudaPitchedPtr(target, size, size, 1)
    made.extent = runtime.make_cudaExtent(size, 1, 1)
    made.kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToDevice
    return made


@pytest.fixture
def sources(memory):
    """Addresses of 16 bytes each: of ones, of twos, of threes."""
    made = [memory(16) for _ in range(3)]
    for value, address in enumerate(made, 1):
        ok(runtime.cudaMemset(address, value, 16))
    ok(runtime.cudaDeviceSynchronize())
    return made


def test_a_copy_takes_other_parameters_in_the_graph_and_in_what_was_made_of_it(
    graph, stream, memory, sources
):
    target, (ones, twos, threes) = memory(16), sources
    node = ok(runtime.cudaGraphAddMemcpyNode(graph, [], 0, copy_of(target, ones)))
    told = ok(runtime.cudaGraphMemcpyNodeGetParams(node))
    assert (told.srcPtr.ptr, told.dstPtr.ptr, told.extent.width) == (ones, target, 16)
    ok(runtime.cudaGraphMemcpyNodeSetParams(node, copy_of(target, twos)))
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    assert read(target) == b"\2"
    ok(runtime.cudaGraphExecMemcpyNodeSetParams(executable, node, copy_of(target, threes)))
    run(executable, stream)
    assert read(target) == b"\3"
    assert ok(runtime.cudaGraphMemcpyNodeGetParams(node)).srcPtr.ptr == twos
    ok(runtime.cudaGraphExecDestroy(executable))


def test_a_copy_of_one_row_takes_other_addresses(graph, stream, memory, sources):
    target, (ones, twos, threes) = memory(16), sources
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToDevice
    node = ok(runtime.cudaGraphAddMemcpyNode1D(graph, [], 0, target, ones, 16, kind))
    ok(runtime.cudaGraphMemcpyNodeSetParams1D(node, target, twos, 16, kind))
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    assert read(target, 16) == b"\2" * 16
    ok(runtime.cudaGraphExecMemcpyNodeSetParams1D(executable, node, target, threes, 16, kind))
    run(executable, stream)
    assert read(target, 16) == b"\3" * 16
    ok(runtime.cudaGraphExecDestroy(executable))


def filling(address, value):
    made = runtime.cudaGraphNodeParams()
    made.type = Type.cudaGraphNodeTypeMemset
    made.memset.dst, made.memset.value, made.memset.elementSize = address, value, 1
    made.memset.width, made.memset.height = 16, 1
    return made


def test_a_node_of_any_type_takes_other_parameters(graph, stream, memory):
    address = memory(16)
    node = ok(runtime.cudaGraphAddNode(graph, [], None, 0, filling(address, 1)))
    ok(runtime.cudaGraphNodeSetParams(node, filling(address, 2)))
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    assert read(address) == b"\2"
    ok(runtime.cudaGraphExecNodeSetParams(executable, node, filling(address, 3)))
    run(executable, stream)
    assert read(address) == b"\3"
    assert ok(runtime.cudaGraphMemsetNodeGetParams(node)).value == 2
    ok(runtime.cudaGraphExecDestroy(executable))


def test_a_kernel_takes_other_arguments_in_the_graph_and_in_what_was_made_of_it(
    graph, stream, memory, library
):
    n, target, source = 4, memory(16), memory(16)
    ok(runtime.cudaMemset(target, 0, 16))
    ok(runtime.cudaMemset(source, 0, 16))
    ok(runtime.cudaMemset(source + 3, 0x40, 1))  # 2.0 in front
    ok(runtime.cudaDeviceSynchronize())
    kernel = ok(runtime.cudaLibraryGetKernel(library, b"saxpy"))

    def calling(a):
        made = runtime.cudaKernelNodeParams()
        made.func = int(kernel)
        made.gridDim.x, made.gridDim.y, made.gridDim.z = 1, 1, 1
        made.blockDim.x, made.blockDim.y, made.blockDim.z = n, 1, 1
        types = (ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
        made.kernelParams = ((a, source, target, n), types)
        return made

    node = ok(runtime.cudaGraphAddKernelNode(graph, [], 0, calling(1.0)))
    ok(runtime.cudaGraphKernelNodeSetParams(node, calling(3.0)))
    # The parameters name a symbol of a compiled program, which this kernel does not have.
    answer = runtime.cudaGraphKernelNodeGetParams(node)
    assert answer[0] == Error.cudaErrorInvalidDeviceFunction
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    assert ctypes.c_float.from_buffer_copy(read(target, 4)).value == 6.0
    ok(runtime.cudaGraphExecKernelNodeSetParams(executable, node, calling(10.0)))
    run(executable, stream)
    assert ctypes.c_float.from_buffer_copy(read(target, 4)).value == 26.0
    ok(runtime.cudaGraphExecDestroy(executable))

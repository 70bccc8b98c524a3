# SPDX-License-Identifier: Apache-2.0
"""Graphs of the runtime: captures, construction, updates, conditions and retention."""

import ctypes
import threading

import pytest
from cuda.bindings import runtime

from .conftest import ok

Error = runtime.cudaError_t
Type = runtime.cudaGraphNodeType
KERNEL = runtime.cudaKernelFunctionType.cudaKernelFunctionTypeKernel
int32 = ctypes.c_int32


@pytest.fixture
def graph():
    new_graph = ok(runtime.cudaGraphCreate(0))
    yield new_graph
    ok(runtime.cudaGraphDestroy(new_graph))


def fill(graph, address, value, *after, size=16):
    params = runtime.cudaMemsetParams()
    params.dst, params.value, params.elementSize = address, value, 1
    params.width, params.height = size, 1
    return ok(runtime.cudaGraphAddMemsetNode(graph, list(after), len(after), params))


def read(address, size=1):
    contents = bytearray(size)
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    ok(runtime.cudaMemcpy(contents, address, size, kind))
    return bytes(contents)


def run(executable, stream):
    ok(runtime.cudaGraphLaunch(executable, stream))
    ok(runtime.cudaStreamSynchronize(stream))


def test_an_update_copies_the_parameters_of_another_graph(graph, stream, memory):
    address = memory(16)
    node = fill(graph, address, 1)  # nodes of the updating graph name none of the executable
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    other = ok(runtime.cudaGraphCreate(0))
    fill(other, address, 2)
    result = ok(runtime.cudaGraphExecUpdate(executable, other)).result
    assert result == runtime.cudaGraphExecUpdateResult.cudaGraphExecUpdateSuccess
    run(executable, stream)
    assert read(address) == b"\2"
    params = ok(runtime.cudaGraphMemsetNodeGetParams(node))
    params.value = 3
    ok(runtime.cudaGraphExecMemsetNodeSetParams(executable, node, params))
    run(executable, stream)
    assert read(address) == b"\3"
    ok(runtime.cudaGraphNodeSetEnabled(executable, node, 0))
    assert ok(runtime.cudaGraphNodeGetEnabled(executable, node)) == 0
    ok(runtime.cudaGraphExecDestroy(executable))
    ok(runtime.cudaGraphDestroy(other))


def test_a_condition_selects_a_graph(graph, stream, memory):
    address = memory(16)
    handle = ok(runtime.cudaGraphConditionalHandleCreate(graph, 1, 1))
    params = runtime.cudaGraphNodeParams()
    params.type = Type.cudaGraphNodeTypeConditional
    params.conditional.handle = handle
    params.conditional.type = runtime.cudaGraphConditionalNodeType.cudaGraphCondTypeSwitch
    params.conditional.size = 2
    node = ok(runtime.cudaGraphAddNode(graph, [], None, 0, params))
    assert ok(runtime.cudaGraphNodeGetType(node)) == Type.cudaGraphNodeTypeConditional
    for i, body in enumerate(params.conditional.phGraph_out):
        fill(body, address, 5 + i)
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    assert read(address) == b"\6"
    ok(runtime.cudaGraphExecDestroy(executable))


def device_memory(size):
    """Return the parameters of a node that allocates memory of device 0."""
    params = runtime.cudaMemAllocNodeParams()
    params.poolProps.allocType = runtime.cudaMemAllocationType.cudaMemAllocationTypePinned
    params.poolProps.location.type = runtime.cudaMemLocationType.cudaMemLocationTypeDevice
    params.bytesize = size
    return params


def test_graph_memory_is_allocated_and_freed_in_the_graph(graph, stream, memory):
    address = memory(16)
    params = device_memory(16)
    allocation = ok(runtime.cudaGraphAddMemAllocNode(graph, [], 0, params))
    own = int(params.dptr)
    assert int(ok(runtime.cudaGraphMemAllocNodeGetParams(allocation)).dptr) == own
    filled = fill(graph, own, 9, allocation)
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


def test_user_objects_are_destroyed_with_their_graph():
    destroyed = threading.Event()
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: destroyed.set())
    host = runtime.cudaHostFn_t(ctypes.cast(function, ctypes.c_void_p).value)
    graph = ok(runtime.cudaGraphCreate(0))
    user_object = ok(runtime.cudaUserObjectCreate(0, host, 1, 1))
    ok(runtime.cudaGraphRetainUserObject(graph, user_object, 1, 1))
    assert not destroyed.is_set()
    ok(runtime.cudaGraphDestroy(graph))
    assert destroyed.wait(30)


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


def test_a_cycle_is_reported_with_its_node(graph):
    first = ok(runtime.cudaGraphAddEmptyNode(graph, [], 0))
    second = ok(runtime.cudaGraphAddEmptyNode(graph, [first], 1))
    ok(runtime.cudaGraphAddDependencies(graph, [second], [first], None, 1))
    params = runtime.cudaGraphInstantiateParams()
    code, _ = runtime.cudaGraphInstantiateWithParams(graph, params)
    assert code == Error.cudaErrorInvalidValue
    invalid = runtime.cudaGraphInstantiateResult.cudaGraphInstantiateInvalidStructure
    assert params.result_out == invalid
    assert int(params.errNode_out) in (int(first), int(second))


def copy_of(target, source, size=16):
    """Return parameters of a copy of one row on the device."""
    params = runtime.cudaMemcpy3DParms()
    params.srcPtr = runtime.make_cudaPitchedPtr(source, size, size, 1)
    params.dstPtr = runtime.make_cudaPitchedPtr(target, size, size, 1)
    params.extent = runtime.make_cudaExtent(size, 1, 1)
    params.kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToDevice
    return params


@pytest.fixture
def sources(memory):
    """Return addresses of 16 bytes each: of ones, of twos, of threes."""
    addresses = [memory(16) for _ in range(3)]
    for value, address in enumerate(addresses, 1):
        ok(runtime.cudaMemset(address, value, 16))
    ok(runtime.cudaDeviceSynchronize())
    return addresses


def test_parameters_of_a_copy_are_set_in_the_graph_and_the_executable(
    graph, stream, memory, sources
):
    target, (ones, twos, threes) = memory(16), sources
    node = ok(runtime.cudaGraphAddMemcpyNode(graph, [], 0, copy_of(target, ones)))
    params = ok(runtime.cudaGraphMemcpyNodeGetParams(node))
    assert (params.srcPtr.ptr, params.dstPtr.ptr, params.extent.width) == (ones, target, 16)
    ok(runtime.cudaGraphMemcpyNodeSetParams(node, copy_of(target, twos)))
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    assert read(target) == b"\2"
    ok(runtime.cudaGraphExecMemcpyNodeSetParams(executable, node, copy_of(target, threes)))
    run(executable, stream)
    assert read(target) == b"\3"
    assert ok(runtime.cudaGraphMemcpyNodeGetParams(node)).srcPtr.ptr == twos
    ok(runtime.cudaGraphExecDestroy(executable))


def test_addresses_of_a_one_row_copy_are_set(graph, stream, memory, sources):
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
    params = runtime.cudaGraphNodeParams()
    params.type = Type.cudaGraphNodeTypeMemset
    params.memset.dst, params.memset.value, params.memset.elementSize = address, value, 1
    params.memset.width, params.memset.height = 16, 1
    return params


def test_parameters_of_any_node_type_are_set(graph, stream, memory):
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


def test_kernel_arguments_are_set_in_the_graph_and_the_executable(graph, stream, memory, library):
    n, target, source = 4, memory(16), memory(16)
    ok(runtime.cudaMemset(target, 0, 16))
    ok(runtime.cudaMemset(source, 0, 16))
    ok(runtime.cudaMemset(source + 3, 0x40, 1))  # 2.0 in front
    ok(runtime.cudaDeviceSynchronize())
    kernel = ok(runtime.cudaLibraryGetKernel(library, b"saxpy"))

    def calling(a):
        params = runtime.cudaKernelNodeParams()
        params.func = int(kernel)
        params.gridDim.x, params.gridDim.y, params.gridDim.z = 1, 1, 1
        params.blockDim.x, params.blockDim.y, params.blockDim.z = n, 1, 1
        types = (ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
        params.kernelParams = ((a, source, target, n), types)
        return params

    node = ok(runtime.cudaGraphAddKernelNode(graph, [], 0, calling(1.0)))
    ok(runtime.cudaGraphKernelNodeSetParams(node, calling(3.0)))
    # The parameters name a symbol of a compiled program, which this kernel does not have.
    result = runtime.cudaGraphKernelNodeGetParams(node)
    assert result[0] == Error.cudaErrorInvalidDeviceFunction
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    assert ctypes.c_float.from_buffer_copy(read(target, 4)).value == 6.0
    ok(runtime.cudaGraphExecKernelNodeSetParams(executable, node, calling(10.0)))
    run(executable, stream)
    assert ctypes.c_float.from_buffer_copy(read(target, 4)).value == 26.0
    ok(runtime.cudaGraphExecDestroy(executable))


def test_parameters_of_any_node_type_are_returned(graph, memory, library):
    source, target = memory(64), memory(64)
    down = runtime.cudaMemcpyKind.cudaMemcpyDeviceToDevice
    filled = fill(graph, target, 7, size=24)
    copied = ok(runtime.cudaGraphAddMemcpyNode1D(graph, [filled], 1, target, source, 48, down))
    kernel = ok(runtime.cudaLibraryGetKernel(library, b"saxpy"))
    arguments = (1.5, source, target, 4), (ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, int32)
    params = runtime.cudaGraphNodeParams()
    params.type = Type.cudaGraphNodeTypeKernel
    params.kernel.kern, params.kernel.functionType = kernel, KERNEL
    params.kernel.gridDim.x, params.kernel.gridDim.y, params.kernel.gridDim.z = 3, 2, 1
    params.kernel.blockDim.x, params.kernel.blockDim.y, params.kernel.blockDim.z = 32, 1, 1
    params.kernel.kernelParams = arguments
    launched = ok(runtime.cudaGraphAddNode(graph, [copied], None, 1, params))

    answer = ok(runtime.cudaGraphNodeGetParams(filled))
    assert answer.type == Type.cudaGraphNodeTypeMemset
    assert (int(answer.memset.dst), answer.memset.value, answer.memset.width) == (target, 7, 24)
    answer = ok(runtime.cudaGraphNodeGetParams(copied))
    assert answer.type == Type.cudaGraphNodeTypeMemcpy
    copy = answer.memcpy.copyParams
    assert (int(copy.srcPtr.ptr), int(copy.dstPtr.ptr)) == (source, target)
    assert (copy.extent.width, copy.extent.height, copy.extent.depth) == (48, 1, 1)
    answer = ok(runtime.cudaGraphNodeGetParams(launched))
    assert answer.type == Type.cudaGraphNodeTypeKernel
    assert (int(answer.kernel.kern), answer.kernel.functionType) == (int(kernel), KERNEL)
    assert (answer.kernel.gridDim.x, answer.kernel.gridDim.y) == (3, 2)
    assert answer.kernel.blockDim.x == 32
    answer.kernel.gridDim.x = 5
    ok(runtime.cudaGraphNodeSetParams(launched, answer))
    assert ok(runtime.cudaGraphNodeGetParams(launched)).kernel.gridDim.x == 5


def test_the_address_of_a_free_node_is_returned(graph):
    params = device_memory(100)
    allocated = ok(runtime.cudaGraphAddMemAllocNode(graph, [], 0, params))
    address = int(params.dptr)
    freed = ok(runtime.cudaGraphAddMemFreeNode(graph, [allocated], 1, address))
    assert int(ok(runtime.cudaGraphMemFreeNodeGetParams(freed))) == address != 0


def copying(source, target, size):
    params = runtime.cudaGraphNodeParams()
    params.type = Type.cudaGraphNodeTypeMemcpy
    copy = params.memcpy.copyParams
    copy.srcPtr = runtime.make_cudaPitchedPtr(source, size, size, 1)
    copy.dstPtr = runtime.make_cudaPitchedPtr(target, size, size, 1)
    copy.extent = runtime.make_cudaExtent(size, 1, 1)
    copy.kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToDevice
    return params


def test_a_copy_is_added_and_changed_as_a_node_of_any_type(graph, stream, memory):
    source, target = memory(16), memory(16)
    ok(runtime.cudaMemset(source, 5, 8))
    ok(runtime.cudaMemset(source + 8, 6, 8))
    ok(runtime.cudaMemset(target, 0, 16))
    node = ok(runtime.cudaGraphAddNode(graph, [], None, 0, copying(source, target, 8)))
    executable = ok(runtime.cudaGraphInstantiate(graph, 0))
    run(executable, stream)
    assert read(target, 16) == b"\5" * 8 + bytes(8)
    ok(runtime.cudaGraphExecNodeSetParams(executable, node, copying(source + 8, target + 8, 8)))
    run(executable, stream)
    assert read(target, 16) == b"\5" * 8 + b"\6" * 8
    ok(runtime.cudaGraphExecDestroy(executable))

# SPDX-License-Identifier: Apache-2.0
"""Behavior of a driver where its manual is silent about graphs.

``HALFWARP_BACKEND=driver python -m tests.emulator.graph.hardware_probe`` runs each question on a
GPU in a process of its own. It prints the results and the differences from `EXPECTED`, the
emulator's results, and exits with status 1 if any differ.
"""

import ctypes
import sys

from cuda.bindings import driver

from tests.probing import main, name, ok

Type = driver.CUgraphNodeType
EMPTY = b".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry f() { ret; }\n"
RELAXED = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
PIECE = 32 << 20


def graph():
    return ok(driver.cuGraphCreate(0))


def empty(into):
    return ok(driver.cuGraphAddEmptyNode(into, [], 0))


def allocation(size):
    parameters = driver.CUDA_MEM_ALLOC_NODE_PARAMS()
    parameters.poolProps.allocType = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    location_type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    parameters.poolProps.location.type = location_type
    parameters.bytesize = size
    return parameters


def allocate(into, size=64):
    parameters = allocation(size)
    node = ok(driver.cuGraphAddMemAllocNode(into, [], 0, parameters))
    return node, int(parameters.dptr)


def conditional(into, default=1, handle=None, kind=0, size=1):
    """Add an if node; return it and its first graph."""
    context = ok(driver.cuCtxGetCurrent())
    handle = handle or ok(driver.cuGraphConditionalHandleCreate(into, context, default, 1))
    parameters = driver.CUgraphNodeParams()
    parameters.type = Type.CU_GRAPH_NODE_TYPE_CONDITIONAL
    parameters.conditional.handle = handle
    parameters.conditional.type = driver.CUgraphConditionalNodeType(kind)
    parameters.conditional.size = size
    parameters.conditional.ctx = context
    result = driver.cuGraphAddNode(into, [], None, 0, parameters)
    bodies = list(parameters.conditional.phGraph_out) if result[0] == 0 else []
    return result, handle, bodies


def used(kind):
    attribute = getattr(driver.CUgraphMem_attribute, f"CU_GRAPH_MEM_ATTR_{kind}_MEM_CURRENT")
    return int(ok(driver.cuDeviceGetGraphMemAttribute(0, attribute)))


def with_allocation(ask):
    def run():
        built = graph()
        node, own = allocate(built)
        return ask(built, node, own)

    return run


def with_condition(ask):
    def run():
        built = graph()
        _, handle, bodies = conditional(built)
        return ask(built, handle, bodies[0])

    return run


def left_behind(ask):
    """Query memory that a launch left allocated."""

    def run():
        stream = ok(driver.cuStreamCreate(1))
        built = graph()
        _, own = allocate(built)
        executable = ok(driver.cuGraphInstantiate(built, 0))
        ok(driver.cuGraphLaunch(executable, stream))
        result = ask(executable, own, stream)
        driver.cuMemFree(own)
        ok(driver.cuStreamSynchronize(stream))
        return result

    return run


def usage_over_time(built, node, own):
    stream = ok(driver.cuStreamCreate(1))
    ok(driver.cuGraphAddMemFreeNode(built, [node], 1, own))
    ok(driver.cuDeviceGraphMemTrim(0))
    sizes = [used("USED"), used("RESERVED")]
    executable = ok(driver.cuGraphInstantiate(built, 0))
    sizes += [used("USED"), used("RESERVED")]
    ok(driver.cuGraphUpload(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    sizes += [used("USED"), used("RESERVED")]
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    sizes += [used("USED"), used("RESERVED")]
    ok(driver.cuGraphExecDestroy(executable))
    sizes += [used("USED"), used("RESERVED")]
    ok(driver.cuDeviceGraphMemTrim(0))
    return " ".join(str(each) for each in [*sizes, used("USED"), used("RESERVED")])


def second_executable(built, *args):
    ok(driver.cuGraphInstantiate(built, 0))
    return name(driver.cuGraphInstantiate(built, 0))


def captured_launch(built, *args):
    stream = ok(driver.cuStreamCreate(1))
    executable = ok(driver.cuGraphInstantiate(built, 0))
    ok(driver.cuStreamBeginCapture(stream, RELAXED))
    launched = name(driver.cuGraphLaunch(executable, stream))
    status = ok(driver.cuStreamIsCapturing(stream)).name.removeprefix("CU_STREAM_CAPTURE_STATUS_")
    driver.cuStreamEndCapture(stream)
    return f"{launched} {status}"


def host_function_in_a_body(built, handle, body):
    stream = ok(driver.cuStreamCreate(1))
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None)
    address = driver.CUhostFn(ctypes.cast(function, ctypes.c_void_p).value)
    ok(driver.cuStreamBeginCaptureToGraph(stream, body, [], None, 0, RELAXED))
    launched = name(driver.cuLaunchHostFunc(stream, address, 0))
    status = ok(driver.cuStreamIsCapturing(stream)).name.removeprefix("CU_STREAM_CAPTURE_STATUS_")
    driver.cuStreamEndCapture(stream)
    return f"{launched} {status}"


def host_node(built, handle, body):
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: None)
    parameters = driver.CUDA_HOST_NODE_PARAMS()
    parameters.fn = ctypes.cast(function, ctypes.c_void_p).value
    return name(driver.cuGraphAddHostNode(body, [], 0, parameters))


def allocation_in_a_body(built, handle, body):
    return name(driver.cuGraphAddMemAllocNode(body, [], 0, allocation(64)))


def run_to_the_end(built):
    """Return the result of the instantiation and, if it succeeds, of the launch."""
    result = driver.cuGraphInstantiate(built, 0)
    if result[0] != 0:
        return name(result)
    stream = ok(driver.cuStreamCreate(1))
    launched = driver.cuGraphLaunch(result[1], stream)
    ended = driver.cuStreamSynchronize(stream)
    return " ".join(map(name, (result, launched, ended)))


def allocation_of_a_body_runs(built, handle, body):
    allocate(body)
    return run_to_the_end(built)


def allocation_and_free_of_a_body_run(built, handle, body):
    node, own = allocate(body)
    ok(driver.cuGraphAddMemFreeNode(body, [node], 1, own))
    return run_to_the_end(built)


def host_node_of_a_body_runs(built, handle, body):
    called = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: called.append(data))
    parameters = driver.CUDA_HOST_NODE_PARAMS()
    parameters.fn = ctypes.cast(function, ctypes.c_void_p).value
    ok(driver.cuGraphAddHostNode(body, [], 0, parameters))
    return f"{run_to_the_end(built)} {len(called)}"


def event_node_of_a_body_runs(built, handle, body):
    event = ok(driver.cuEventCreate(0))
    ok(driver.cuGraphAddEventRecordNode(body, [], 0, event))
    return f"{run_to_the_end(built)} {name(driver.cuEventQuery(event))}"


def handle_of_a_body(built, handle, body):
    """Add a condition created for a body to a node beside the one that owns the body."""
    context = ok(driver.cuCtxGetCurrent())
    inner = ok(driver.cuGraphConditionalHandleCreate(body, context, 0, 1))
    result = conditional(built, handle=inner)[0]
    return name(result) if result[0] else f"{name(result)} {run_to_the_end(built)}"


def carveouts():
    """Query the carveout of a kernel node that has none set, then set it to -1."""
    attribute = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
    module = ok(driver.cuModuleLoadData(EMPTY))
    parameters = driver.CUDA_KERNEL_NODE_PARAMS()
    parameters.func = ok(driver.cuModuleGetFunction(module, b"f"))
    for extent in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"):
        setattr(parameters, extent, 1)
    node = ok(driver.cuGraphAddKernelNode(graph(), [], 0, parameters))
    unset = ok(driver.cuGraphKernelNodeGetAttribute(node, attribute)).sharedMemCarveout
    value = driver.CUkernelNodeAttrValue()
    value.sharedMemCarveout = 0xFFFFFFFF
    of_node = driver.cuGraphKernelNodeSetAttribute(node, attribute, value)
    config = driver.CUlaunchConfig()
    for extent in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"):
        setattr(config, extent, 1)
    launch_attribute = driver.CUlaunchAttribute()
    launch_attribute.id, launch_attribute.value.sharedMemCarveout = attribute, 0xFFFFFFFF
    config.attrs, config.numAttrs = [launch_attribute], 1
    of_launch = driver.cuLaunchKernelEx(config, parameters.func, 0, 0)
    return f"{unset} {name(of_node)} {name(of_launch)}"


def captured_plain_launch():
    built = graph()
    empty(built)
    return captured_launch(built)


def unused_handle():
    built = graph()
    context = ok(driver.cuCtxGetCurrent())
    ok(driver.cuGraphConditionalHandleCreate(built, context, 0, 0))
    params = driver.CUDA_GRAPH_INSTANTIATE_PARAMS()
    result = name(driver.cuGraphInstantiateWithParams(built, params))
    return f"{result} {params.result_out.name.removeprefix('CUDA_GRAPH_INSTANTIATE_')}"


def handle_of_another_graph():
    first, second = graph(), graph()
    context = ok(driver.cuCtxGetCurrent())
    handle = ok(driver.cuGraphConditionalHandleCreate(first, context, 0, 0))
    return name(conditional(second, handle=handle)[0])


def update_with_an_allocation(built, node, own):
    other = graph()
    allocate(other)
    executable = ok(driver.cuGraphInstantiate(built, 0))
    return name(driver.cuGraphExecUpdate(executable, other))


def update_to_another_size(built, node, own):
    other = graph()
    allocate(other, 4096)
    executable = ok(driver.cuGraphInstantiate(built, 0))
    return name(driver.cuGraphExecUpdate(executable, other))


def addresses_after_an_update(built, node, own):
    """Return whether the addresses of both graphs are known after an update."""
    other = graph()
    _, theirs = allocate(other)
    stream = ok(driver.cuStreamCreate(1))
    executable = ok(driver.cuGraphInstantiate(built, 0))
    ok(driver.cuGraphExecUpdate(executable, other))
    ok(driver.cuGraphLaunch(executable, stream))
    ok(driver.cuStreamSynchronize(stream))
    results = [memory_type_before_a_launch(None, None, at) for at in (own, theirs)]
    freed = [name(driver.cuMemFree(at)) for at in (own, theirs)]
    return " ".join(results + freed)


def used_by_two(built, node, own):
    """Count pieces of two graphs that ran, before and after their executables are destroyed and the
    memory freed."""
    stream = ok(driver.cuStreamCreate(1))
    other = graph()
    _, theirs = allocate(other)
    ok(driver.cuDeviceGraphMemTrim(0))
    executables = [ok(driver.cuGraphInstantiate(each, 0)) for each in (built, other)]
    pieces = []
    for each in executables:
        ok(driver.cuGraphLaunch(each, stream))
        ok(driver.cuStreamSynchronize(stream))
        pieces.append(used("USED") // PIECE)
    for each in executables:
        ok(driver.cuGraphExecDestroy(each))
    pieces.append(used("USED") // PIECE)
    for at in (own, theirs):
        ok(driver.cuMemFree(at))
    pieces.append(used("USED") // PIECE)
    ok(driver.cuDeviceGraphMemTrim(0))
    pieces.append(used("USED") // PIECE)
    return " ".join(map(str, pieces))


def memory_type_before_a_launch(built, node, own):
    attribute = driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    return name(driver.cuPointerGetAttribute(attribute, own))


def dependency_twice():
    built = graph()
    node = empty(built)
    return name(driver.cuGraphAddEmptyNode(built, [node, node], 2))


def nodes_of_an_update():
    """Check whether nodes of the updating graph identify nodes of the executable."""
    first, second = graph(), graph()
    address = int(ok(driver.cuMemAlloc(64)))
    parameters = driver.CUDA_MEMSET_NODE_PARAMS()
    parameters.dst, parameters.elementSize, parameters.width, parameters.height = address, 1, 4, 1
    context = ok(driver.cuCtxGetCurrent())
    ok(driver.cuGraphAddMemsetNode(first, [], 0, parameters, context))
    node = ok(driver.cuGraphAddMemsetNode(second, [], 0, parameters, context))
    executable = ok(driver.cuGraphInstantiate(first, 0))
    ok(driver.cuGraphExecUpdate(executable, second))
    result = name(driver.cuGraphNodeSetEnabled(executable, node, 0))
    driver.cuMemFree(address)
    return result


def local_ids():
    built = graph()
    nodes = [empty(built) for _ in range(2)]
    ok_ = [ok(driver.cuGraphNodeGetLocalId(node)) for node in nodes]
    (status,) = driver.cuGraphDestroyNode(nodes[1])
    assert status == 0
    return " ".join(map(str, [*ok_, ok(driver.cuGraphNodeGetLocalId(empty(built)))]))


def free_of_graph_memory(free):
    return lambda executable, own, stream: name(free(own, stream))


def relaunch(executable, own, stream):
    return name(driver.cuGraphLaunch(executable, stream))


QUESTIONS = {
    "a graph that allocates: clone": with_allocation(lambda g, n, p: name(driver.cuGraphClone(g))),
    "a graph that allocates: destroy a node": with_allocation(
        lambda g, n, p: name(driver.cuGraphDestroyNode(n))
    ),
    "a graph that allocates: as a child": with_allocation(
        lambda g, n, p: name(driver.cuGraphAddChildGraphNode(graph(), [], 0, g))
    ),
    "a graph that allocates: second executable": with_allocation(second_executable),
    "a graph that allocates: captured launch": with_allocation(captured_launch),
    "a graph that allocates: update from another": with_allocation(update_with_an_allocation),
    "a graph that allocates: update to another size": with_allocation(update_to_another_size),
    "a graph that allocates: addresses after an update": with_allocation(addresses_after_an_update),
    "a graph that allocates: used by two": with_allocation(used_by_two),
    "a graph that allocates: pointer attribute before a launch": with_allocation(
        memory_type_before_a_launch
    ),
    "a graph that allocates: free before a launch": with_allocation(
        lambda g, n, p: name(driver.cuMemFreeAsync(p, 0))
    ),
    "a graph that allocates: used and reserved bytes": with_allocation(usage_over_time),
    "memory left by a launch: launch again": left_behind(relaunch),
    "memory left by a launch: free in a stream": left_behind(
        free_of_graph_memory(lambda own, stream: driver.cuMemFreeAsync(own, stream))
    ),
    "memory left by a launch: free at once": left_behind(
        free_of_graph_memory(lambda own, stream: driver.cuMemFree(own))
    ),
    "a graph with a condition: clone": with_condition(lambda g, h, b: name(driver.cuGraphClone(g))),
    "a graph with a condition: as a child": with_condition(
        lambda g, h, b: name(driver.cuGraphAddChildGraphNode(graph(), [], 0, g))
    ),
    "a graph with a condition: second executable": with_condition(second_executable),
    "a graph with a condition: captured launch": with_condition(captured_launch),
    "a graph with a condition: its handle again": with_condition(
        lambda g, h, b: name(conditional(g, handle=h)[0])
    ),
    "a body: destroy": with_condition(lambda g, h, b: name(driver.cuGraphDestroy(b))),
    "a body: host node": with_condition(host_node),
    "a body: captured host function": with_condition(host_function_in_a_body),
    "a body: allocation node": with_condition(allocation_in_a_body),
    "a body: an allocation runs": with_condition(allocation_of_a_body_runs),
    "a body: an allocation and its free run": with_condition(allocation_and_free_of_a_body_run),
    "a body: a host node runs": with_condition(host_node_of_a_body_runs),
    "a body: an event node runs": with_condition(event_node_of_a_body_runs),
    "a condition: unused handle": unused_handle,
    "a condition: handle of another graph": handle_of_another_graph,
    "a condition: handle of a body": with_condition(handle_of_a_body),
    "a condition: if of three": lambda: name(conditional(graph(), size=3)[0]),
    "a condition: while of two": lambda: name(conditional(graph(), kind=1, size=2)[0]),
    "a condition: switch of none": lambda: name(conditional(graph(), kind=2, size=0)[0]),
    "a dependency named twice": dependency_twice,
    "a node of the graph of an update": nodes_of_an_update,
    "a graph: captured launch": captured_plain_launch,
    "a carveout that nobody chose, and -1": carveouts,
    "numbers of nodes": local_ids,
}

EXPECTED = {
    "a graph that allocates: clone": "NOT_SUPPORTED",
    "a graph that allocates: destroy a node": "NOT_SUPPORTED",
    "a graph that allocates: as a child": "NOT_SUPPORTED",
    "a graph that allocates: second executable": "NOT_SUPPORTED",
    "a graph that allocates: captured launch": "STREAM_CAPTURE_UNSUPPORTED INVALIDATED",
    "a graph that allocates: update from another": "SUCCESS",
    "a graph that allocates: update to another size": "SUCCESS",
    "a graph that allocates: addresses after an update": (
        "INVALID_VALUE SUCCESS INVALID_VALUE SUCCESS"
    ),
    "a graph that allocates: used by two": "1 2 2 2 0",
    "a graph that allocates: pointer attribute before a launch": "INVALID_VALUE",
    "a graph that allocates: free before a launch": "INVALID_VALUE",
    "a graph that allocates: used and reserved bytes": (
        f"0 0 0 0 {PIECE} {PIECE} {PIECE} {PIECE} {PIECE} {PIECE} 0 0"
    ),
    "memory left by a launch: launch again": "INVALID_VALUE",
    "memory left by a launch: free in a stream": "SUCCESS",
    "memory left by a launch: free at once": "SUCCESS",
    "a graph with a condition: clone": "NOT_SUPPORTED",
    "a graph with a condition: as a child": "NOT_SUPPORTED",
    "a graph with a condition: second executable": "NOT_SUPPORTED",
    "a graph with a condition: captured launch": "STREAM_CAPTURE_UNSUPPORTED INVALIDATED",
    "a graph with a condition: its handle again": "INVALID_VALUE",
    "a body: destroy": "INVALID_VALUE",
    "a body: host node": "SUCCESS",
    "a body: captured host function": "SUCCESS ACTIVE",
    "a body: allocation node": "SUCCESS",
    "a body: an allocation runs": "INVALID_VALUE",
    "a body: an allocation and its free run": "INVALID_VALUE",
    "a body: a host node runs": "INVALID_VALUE 0",
    "a body: an event node runs": "INVALID_VALUE SUCCESS",
    "a condition: unused handle": "INVALID_VALUE CONDITIONAL_HANDLE_UNUSED",
    "a condition: handle of another graph": "INVALID_VALUE",
    "a condition: handle of a body": "SUCCESS SUCCESS SUCCESS SUCCESS",
    "a condition: if of three": "INVALID_VALUE",
    "a condition: while of two": "INVALID_VALUE",
    "a condition: switch of none": "INVALID_VALUE",
    "a dependency named twice": "INVALID_VALUE",
    "a node of the graph of an update": "INVALID_VALUE",
    "a graph: captured launch": "STREAM_CAPTURE_UNSUPPORTED INVALIDATED",
    "a carveout that nobody chose, and -1": "0 INVALID_VALUE INVALID_VALUE",
    "numbers of nodes": "0 1 2",
}

# Questions about functions that are newer than the others.
SINCE = {"numbers of nodes": 13010}


if __name__ == "__main__":
    sys.exit(main(__spec__.name, QUESTIONS, EXPECTED, sys.argv[1:], SINCE))

# SPDX-License-Identifier: Apache-2.0
"""The first driver of each feature: it works there, and the version before is treated as older."""

from ...programs.forking import FORK

FIRST = {
    "PinnedMemoryResource": 13000,
    "ManagedMemoryResource": 13000,
    "discard": 13000,
    "discard_batch": 13000,
    "a NUMA node": 13000,
    "the location of a NUMA node": 13000,
    "cuMemPrefetchBatchAsync": 13000,
    "cuMemcpyBatchAsync": 13000,
    "cuMemcpyBatchAsync for one copy": 13000,
    "cuMemcpyWithAttributesAsync": 13020,
    "the body of a condition": 13020,
}
VERSIONS = sorted({first - age for first in FIRST.values() for age in (0, 1)})

CODE = """
from cuda.bindings import _low, driver
from cuda.core import *
from cuda.core import emulation
from cuda.core.graph import GraphDefinition
from cuda.core.utils import CopyOptions, copy_batch, discard_batch, prefetch_batch

def is_accepted(function, *arguments, **named):
    try:
        result = function(*arguments, **named)
    except (RuntimeError, TypeError) as error:
        assert "CUDA 13.0 or later" in str(error), error
        return False
    if hasattr(result, "close"):
        result.close()
    return True

def calls(name, function, *arguments, **named):
    with emulation.inject(name, error="CUDA_ERROR_UNKNOWN", optional=True):
        try:
            function(*arguments, **named)
        except CUDAError as error:
            assert error.where == name, error
            return True
    return False

def location_of_a_node(memory):
    location = driver.CUmemLocation()
    location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA
    advice = driver.CUmem_advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION
    assert not driver.cuMemAdvise(memory.handle, memory.size, advice, location)[0]
    return memory.preferred_location

def class_of_a_foreign_condition():
    graph = GraphDefinition()
    native, context = driver.CUgraph(int(graph.handle)), driver.cuCtxGetCurrent()[1]
    params = driver.CUgraphNodeParams()
    params.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
    params.conditional.handle = driver.cuGraphConditionalHandleCreate(native, context, 0, 0)[1]
    params.conditional.type = driver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_WHILE
    params.conditional.size, params.conditional.ctx = 1, context
    assert not driver.cuGraphAddNode(native, [], None, 0, params)[0]
    (node,) = graph.nodes()
    return type(node).__name__

def check(version):
    _low._answer_as_driver_of(version)
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    memory = ManagedBuffer.from_handle(int(driver.cuMemAllocManaged(4096, 1)[1]), 4096)
    source, target = (device.allocate(8, stream=stream) for _ in range(2))
    options = {"stream": stream, "options": CopyOptions("any")}
    facts = {
        "PinnedMemoryResource": is_accepted(PinnedMemoryResource),
        "ManagedMemoryResource": is_accepted(ManagedMemoryResource, {}),
        "discard": is_accepted(memory.discard, stream=stream),
        "discard_batch": is_accepted(discard_batch, stream, [memory]),
        "a NUMA node": is_accepted(memory.prefetch, Host(0), stream=stream),
        "the location of a NUMA node": location_of_a_node(memory) == Host(0),
        "cuMemPrefetchBatchAsync": calls(
            "cuMemPrefetchBatchAsync", prefetch_batch, stream, [memory], device),
        "cuMemcpyBatchAsync": calls(
            "cuMemcpyBatchAsync", copy_batch, stream, [source], [target],
            options=options["options"]),
        "cuMemcpyBatchAsync for one copy": not calls(
            "cuMemcpyAsync", source.copy_to, target, **options),
        "cuMemcpyWithAttributesAsync": calls(
            "cuMemcpyWithAttributesAsync", source.copy_to, target, **options),
        "the body of a condition": class_of_a_foreign_condition() == "WhileNode",
    }
    for name, is_new in facts.items():
        print(version, is_new, name, flush=True)
"""


def test_a_feature_begins_with_its_first_driver(run_python):
    each = f"for version in {VERSIONS}:\n    in_child(lambda: check(version))\n"
    output = run_python(CODE + FORK + each, "-W", "ignore").splitlines()
    assert [tuple(line.split(maxsplit=2)) for line in output] == [
        (str(version), str(version >= first), name)
        for version in VERSIONS
        for name, first in FIRST.items()
    ]

# SPDX-License-Identifier: Apache-2.0
"""The published cuda-core on the emulator: graphs captured and graphs defined."""

import ctypes
import tempfile
from pathlib import Path

from cuda.core import (
    Device,
    EventOptions,
    GraphMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.graph import GraphCompleteOptions, GraphDefinition

SOURCE = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);
extern "C" __global__ void add(int* p, int n) { atomicAdd(p, n); }
extern "C" __global__ void count_down(int* p, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, atomicSub(p, 1) > 1);
}
"""

device = Device()
device.set_current()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", lineinfo=True)
code = Program(SOURCE, code_type="c++", options=options).compile(
    "cubin", name_expressions=("add", "count_down")
)
add, count_down = code.get_kernel("add"), code.get_kernel("count_down")
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
buffer = pinned.allocate(64)
words = (ctypes.c_int * 16).from_address(int(buffer.handle))
one = LaunchConfig(grid=1, block=1)


def address(index):
    return int(buffer.handle) + 4 * index


def captured():
    """Forks, loops, switches, child graphs, callbacks and graph memory."""
    seen = []
    builder = device.create_graph_builder().begin_building()
    loop = builder.create_condition(default_value=1)
    launch(builder, one, add, address(0), 3)
    body = builder.while_loop(loop).begin_building()
    launch(body, one, add, address(1), 10)
    launch(body, one, count_down, address(0), loop.handle)
    body.end_building()
    choice = builder.create_condition(default_value=2)
    for i, case in enumerate(builder.switch(choice, 3)):
        case.begin_building()
        launch(case, one, add, address(2), 100 + i)
        case.end_building()
    child = device.create_graph_builder().begin_building()
    launch(child, one, add, address(3), 7)
    builder.embed(child.end_building())
    own = GraphMemoryResource(device).allocate(64, stream=builder)
    own.fill(0, stream=builder)
    own.close(builder)
    builder.callback(lambda: seen.append(list(words[:4])))
    graph = builder.end_building().complete(GraphCompleteOptions(use_node_priority=True))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.dot"
        builder.debug_dot_print(str(path))
        assert "digraph" in path.read_text()
    graph.upload(stream)
    for _ in range(2):
        graph.launch(stream)
    stream.sync()
    assert seen == [[0, 30, 102, 7], [0, 60, 204, 14]], seen
    graph.close()
    builder.close()
    child.close()


def updated():
    builders = []
    for value in (1, 1000):
        builder = device.create_graph_builder().begin_building()
        launch(builder, one, add, address(4), value)
        builders.append(builder.end_building())
    graph = builders[0].complete()
    graph.launch(stream)
    graph.update(builders[1])
    graph.launch(stream)
    stream.sync()
    assert words[4] == 1001, words[4]


def defined():
    seen = []
    definition = GraphDefinition()
    loop = definition.create_condition(default_value=1)
    first = definition.launch(one, add, address(5), 4)
    loops = first.while_loop(loop)
    counted = loops.body.launch(one, count_down, address(5), loop.handle)
    counted.launch(one, add, address(6), 5)
    memory = loops.allocate(64)
    filled = memory.memset(memory.dptr, 9, 4)
    copied = filled.memcpy(address(7), memory.dptr, 4)
    copied.deallocate(memory.dptr)
    event = device.create_event(EventOptions())
    recorded = copied.record(event)
    recorded.callback(lambda: seen.append(words[6]))
    branch = definition.empty()
    definition.join(branch, recorded)
    child = GraphDefinition()
    child.launch(one, add, address(8), 6)
    branch.embed(child)
    chosen = definition.create_condition(default_value=0)
    either = branch.if_else(chosen)
    either.then.launch(one, add, address(9), 1)
    either.else_.launch(one, add, address(9), 2)
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    assert event.is_done
    assert seen == [20], seen
    assert words[7] == 0x09090909, hex(words[7])
    assert (words[8], words[9]) == (6, 2), words[8:10]
    kinds = sorted(type(node).__name__ for node in definition.nodes())
    assert len(kinds) == 12, kinds


def changed():
    definition = GraphDefinition()
    node = definition.launch(one, add, address(10), 1)
    tail = node.memset(address(11), 1, 4)
    graph = definition.instantiate()
    graph[node].update(config=one, kernel=add, args=(address(10), 20))
    graph[tail].disable()
    graph.launch(stream)
    stream.sync()
    assert (words[10], words[11]) == (20, 0), words[10:12]
    node.update(args=(address(10), 300))
    tail.update(value=2)
    second = definition.instantiate()
    second.launch(stream)
    stream.sync()
    assert (words[10], words[11]) == (320, 0x02020202), words[10:12]
    tail.destroy()
    assert len(definition.nodes()) == 1


def kept_memory():
    resource = GraphMemoryResource(device)
    builder = device.create_graph_builder().begin_building()
    buffer = resource.allocate(64, stream=builder)
    buffer.fill(5, stream=builder)
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert resource.attributes.used_mem_current > 0
    try:
        graph.launch(stream)
    except Exception as error:
        assert "INVALID_VALUE" in str(error), error
    else:
        raise AssertionError("memory was left and the graph was launched again")
    buffer.close(stream)
    graph.launch(stream)
    stream.sync()
    graph.close()
    builder.close()
    resource.trim()


words[:] = [0] * 16
for part in (captured, updated, defined, changed, kept_memory):
    part()
    print(part.__name__)

# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on graphs."""

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch
from cuda.core.graph import GraphBuilder, GraphDefinition

device = Device()
device.set_current()
stream = device.create_stream()
memory = LegacyPinnedMemoryResource().allocate(64)
ptx = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n"
kernel = ObjectCode.from_ptx(ptx).get_kernel("empty")
config = LaunchConfig(grid=1, block=1)

# example: graph.GraphBuilder
builder = device.create_graph_builder().begin_building()
launch(builder, config, kernel)  # recorded
memory.fill(1, stream=builder)
graph = builder.end_building().complete()
graph.launch(stream)

# example: graph.GraphBuilder.begin_building
builder = device.create_graph_builder()
builder.begin_building()

# example: graph.GraphBuilder.end_building
launch(builder, config, kernel)
builder.end_building()
assert not builder.is_building

# example: graph.GraphBuilder.complete
graph = builder.complete()
builder.close()

# example: graph.GraphBuilder.split
builder = device.create_graph_builder().begin_building()
first, second = builder.split(2)
launch(first, config, kernel)
launch(second, config, kernel)

# example: graph.GraphBuilder.join
builder = GraphBuilder.join(first, second).end_building()

# example: graph.Graph
graph = builder.complete()
graph.upload(stream)  # optional: the first launch is then faster
graph.launch(stream)
stream.sync()
graph.close()

# example: graph.Graph.launch
graph = builder.complete()
for _ in range(3):
    graph.launch(stream)

# example: graph.Graph.update
again = device.create_graph_builder().begin_building()
one, two = again.split(2)
launch(one, config, kernel)
launch(two, config, kernel)
again = GraphBuilder.join(one, two).end_building()
graph.update(again)  # the same shape with other parameters

# example: graph.GraphCompleteOptions, graph.GraphDebugPrintOptions
from cuda.core.graph import GraphCompleteOptions, GraphDebugPrintOptions

graph = again.complete(GraphCompleteOptions(auto_free_on_launch=True))
print(again.debug_print(options=GraphDebugPrintOptions(verbose=True)))

# example: graph.GraphDefinition
definition = GraphDefinition()
fill = definition.memset(memory, 1, 64)
end = fill.join()  # an empty node after the others
definition.instantiate().launch(stream)

# example: _graph.AdjacencySetProxy
other = definition.callback(lambda: None)
end.pred.add(other)  # changes the edges of the graph
assert other in end.pred

# example: graph.GraphCondition
definition = GraphDefinition()
condition = definition.create_condition(default_value=1)  # kernels can set it
definition.if_then(condition).then.memset(memory, 5, 64)
definition.instantiate().launch(stream)

# example: _graph.GraphMemoryResourceAttributes
from cuda.core import GraphMemoryResource

attributes = GraphMemoryResource(device).attributes
print(attributes.used_mem_high, attributes.reserved_mem_current)

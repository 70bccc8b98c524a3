# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on nodes of graphs."""

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode
from cuda.core.graph import GraphDefinition

device = Device()
device.set_current()
stream = device.create_stream()
memory = LegacyPinnedMemoryResource().allocate(64)
ptx = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n"
kernel = ObjectCode.from_ptx(ptx).get_kernel("empty")
config = LaunchConfig(grid=1, block=1)

# example: graph.GraphNode, graph.EmptyNode
from cuda.core.graph import EmptyNode

definition = GraphDefinition()
fill = definition.memset(memory, 1, 64)
end = fill.join()  # an empty node after the others
assert isinstance(end, EmptyNode) and end.pred == {fill}
definition.instantiate().launch(stream)

# example: graph.KernelNode, graph.ExecutableKernelNode, graph.ExecutableGraphNode
definition = GraphDefinition()
node = definition.launch(config, kernel)
assert node.grid == (1, 1, 1) and node.kernel == kernel
graph = definition.instantiate()
graph[node].update(config=LaunchConfig(grid=2, block=1), kernel=kernel, args=())
graph[node].disable()  # this graph skips the node

# example: graph.MemsetNode, graph.ExecutableMemsetNode
definition = GraphDefinition()
node = definition.memset(memory, 2, 64)
assert (node.value, node.width) == (2, 64)
graph = definition.instantiate()
graph[node].update(dst=memory, value=3, width=64)

# example: graph.MemcpyNode, graph.ExecutableMemcpyNode
other = LegacyPinnedMemoryResource().allocate(64)
definition = GraphDefinition()
node = definition.memcpy(other, memory, 64)
graph = definition.instantiate()
graph[node].update(dst=memory, src=other, size=64)

# example: graph.HostCallbackNode, graph.ExecutableHostCallbackNode
calls = []
definition = GraphDefinition()
node = definition.callback(lambda: calls.append(1))
definition.instantiate().launch(stream)
stream.sync()
assert calls == [1]

# example: graph.EventRecordNode, graph.EventWaitNode
event = device.create_event()
definition = GraphDefinition()
mark = definition.record(event)
wait = mark.wait(event)
assert mark.event == wait.event == event

# example: graph.ExecutableEventRecordNode, graph.ExecutableEventWaitNode
graph = definition.instantiate()
graph[mark].update(event)
graph[wait].update(event)

# example: graph.ChildGraphNode, graph.ExecutableChildGraphNode
child = GraphDefinition()
child.memset(memory, 4, 64)
definition = GraphDefinition()
node = definition.embed(child)
assert len(node.child_graph.nodes()) == 1
graph = definition.instantiate()
graph[node].update(child)

# example: graph.AllocNode, graph.FreeNode
definition = GraphDefinition()
block = definition.allocate(1024)
free = block.memset(block.dptr, 0, 1024).deallocate(block.dptr)
definition.instantiate().launch(stream)
stream.sync()

# example: graph.ConditionalNode, graph.IfNode
definition = GraphDefinition()
condition = definition.create_condition(default_value=1)  # kernels can set it
node = definition.if_then(condition)
node.then.memset(memory, 5, 64)
definition.instantiate().launch(stream)

# example: graph.IfElseNode
definition = GraphDefinition()
node = definition.if_else(definition.create_condition(default_value=0))
node.then.memset(memory, 6, 64)
node.else_.memset(memory, 7, 64)
definition.instantiate().launch(stream)

# example: graph.WhileNode
definition = GraphDefinition()
node = definition.while_loop(definition.create_condition(default_value=0))
node.body.memset(memory, 8, 64)  # runs as long as the condition is not 0
definition.instantiate().launch(stream)

# example: graph.SwitchNode
definition = GraphDefinition()
node = definition.switch(definition.create_condition(default_value=1), 2)
for value, branch in enumerate(node.branches):
    branch.memset(memory, value, 64)
definition.instantiate().launch(stream)
stream.sync()

# SPDX-License-Identifier: Apache-2.0
"""Building, updating, capturing and launching graphs."""

from rows import row


def operands(world):
    """Return a configuration, a kernel and its arguments: an address and a number."""
    return world.config, world.kernel("k2"), world.buffer, 1


def one_node(world):
    from cuda.core.graph import GraphDefinition

    definition = GraphDefinition()
    return definition, definition.launch(*operands(world))


@row("add a kernel node", target=300, calls=100)
def add_kernel_node(world):
    from cuda.core.graph import GraphDefinition

    config, kernel, buffer, number = operands(world)

    def build():
        add = GraphDefinition().launch
        for _ in range(100):
            add(config, kernel, buffer, number)

    return build


@row("update a kernel node", target=300)
def update_kernel_node(world):
    _, _, buffer, number = operands(world)
    update = one_node(world)[1].update
    return lambda: update(args=(buffer, number))


@row("update a node of an executable", target=300)
def update_in_executable(world):
    config, kernel, buffer, number = operands(world)
    definition, node = one_node(world)
    update = definition.instantiate()[node].update
    return lambda: update(config=config, kernel=kernel, args=(buffer, number))


@row("launch a graph", target=300, twin="graph_launch")
def launch_graph(world):
    graph, stream = one_node(world)[0].instantiate(), world.stream
    return lambda: graph.launch(stream)


@row("capture a launch", target=300, calls=100)
def capture_launch(world):
    from cuda.core import launch

    config, kernel, buffer, number = operands(world)
    create = world.stream.create_graph_builder

    def capture():
        builder = create().begin_building()
        for _ in range(100):
            launch(builder, config, kernel, buffer, number)
        builder.end_building().close()

    return capture


@row("complete()", target=600, twin="graph_instantiate_destroy")
def complete(world):
    from cuda.core import launch

    builder = world.stream.create_graph_builder().begin_building()
    launch(builder, *operands(world))
    builder.end_building()
    return lambda: builder.complete().close()


@row("launch a graph of 1,000 kernels, wait", target=500, twin="graph_of_1000", ours_only=True)
def launch_thousand(world):
    from cuda.core.graph import GraphDefinition

    config, kernel, stream = world.config, world.kernel("k0"), world.stream
    definition = node = GraphDefinition()
    for _ in range(1000):
        node = node.launch(config, kernel)
    graph = definition.instantiate()
    return lambda: (graph.launch(stream), stream.sync())

# SPDX-License-Identifier: Apache-2.0
"""Calls that fail in the middle, nodes of nested graphs, and objects without a handle."""

import pytest
from cuda.bindings import driver
from cuda.core import (
    CUDAError,
    GraphMemoryResource,
    LaunchConfig,
    MemoryResource,
    OutOfMemoryError,
    launch,
)
from cuda.core._utils import version
from cuda.core.graph import GraphDefinition, GraphNode, KernelNode

from .conftest import ONE


@pytest.fixture
def builder(device):
    builder = device.create_graph_builder().begin_building()
    yield builder
    builder.close()


class TestFailures:
    def test_a_failed_split_closes_its_builders(self, builder, emulation, add, numbers, stream):
        for nth in (1, 2):
            with emulation.inject("cuStreamCreate*", nth=nth):
                with pytest.raises(OutOfMemoryError):
                    builder.split(3)
        launch(builder, ONE, add, numbers.buffer, 1)
        with builder.end_building().complete() as graph:
            graph.launch(stream)
            stream.sync()
        assert numbers[0] == 1

    def test_an_error_without_a_result_is_the_error_of_the_driver(self, graph, emulation):
        with emulation.inject("cuGraphInstantiateWithParams"):
            with pytest.raises(OutOfMemoryError, match="CUDA_ERROR_OUT_OF_MEMORY"):
                graph.instantiate()

    def test_options_whose_stream_destroys_the_graph(self, graph, stream):
        class Destroying:
            def __cuda_stream__(self):
                node.destroy()
                return 0, int(stream.handle)

        node = graph.embed(GraphDefinition())
        child = node.child_graph
        with pytest.raises(RuntimeError, match="GraphDefinition is no longer valid"):
            child.instantiate({"upload_stream": Destroying()})

    def test_a_single_row_needs_no_pitch(self, emulation, numbers):
        """The pitch is 0 then, and explains no error."""
        graph = GraphDefinition()

        def text_of_failure(call, *arguments):
            with emulation.inject("cuGraphAddNode"), pytest.raises(OutOfMemoryError) as caught:
                call(*arguments)
            return str(caught.value)

        assert "less than a row" not in text_of_failure(graph.memset, numbers.buffer, 0, 64)
        other = numbers.buffer
        assert "less than a row" not in text_of_failure(graph.memcpy, other, numbers.buffer, 64)

    def test_a_refused_update_of_an_executable_node(self, graph, add, numbers, emulation, stream):
        node = graph.launch(ONE, add, numbers.buffer, 1)
        with graph.instantiate() as executable:
            with emulation.inject("cuGraphExecNodeSetParams"):
                with pytest.raises(OutOfMemoryError):
                    executable[node].update(config=ONE, kernel=add, args=(numbers.buffer, 5))
            executable.launch(stream)
            stream.sync()
        assert numbers[0] == 1

    def test_the_next_release_notes_the_call_that_invalidated(self, builder, monkeypatch):
        monkeypatch.setattr(version, "follows_release", lambda *release: True)
        with pytest.raises(CUDAError):
            builder.stream.sync()
        with pytest.raises(CUDAError, match="cuStreamEndCapture") as caught:
            builder.end_building()
        (note,) = [each for each in caught.value.__notes__ if "invalidated" in each]
        assert note.startswith("The capture was invalidated when cuStreamSynchronize")


class TestBuilders:
    def test_a_branch_adds_a_condition_to_the_graph_of_its_origin(
        self, builder, add, numbers, stream
    ):
        condition = builder.create_condition(1)
        first, second = builder.split(2)
        body = second.if_then(condition).begin_building()
        launch(body, ONE, add, numbers.buffer, 4)
        body.end_building()
        with first.join(first, second).end_building().complete() as graph:
            graph.launch(stream)
            stream.sync()
        assert numbers[0] == 4

    def test_a_body_of_a_destroyed_node_cannot_begin(self, builder):
        body = builder.if_then(builder.create_condition(1))
        (node,) = builder.end_building().graph_definition.nodes()
        node.destroy()
        with pytest.raises(RuntimeError, match="GraphDefinition is no longer valid"):
            body.begin_building()
        body.close()

    def test_another_class_with_a_stream_launches_a_graph(self, captured, numbers, stream):
        class Wrapped:
            def __cuda_stream__(self):
                return 0, int(stream.handle)

        with captured.complete() as graph:
            graph.launch(Wrapped())
            stream.sync()
        assert numbers[0] == 1


class TestNestedGraphs:
    @pytest.mark.parametrize("depth", [1, 2, 3])
    def test_a_node_of_a_child_is_updated(self, graph, add, numbers, stream, depth):
        inner = GraphDefinition()
        inner.launch(ONE, add, numbers.buffer, 1)
        for _ in range(depth - 1):
            outer = GraphDefinition()
            outer.embed(inner)
            inner = outer
        graph.empty()
        node = graph.embed(inner)
        while not isinstance(node, KernelNode):
            (node,) = node.child_graph.nodes()
        with graph.instantiate() as executable:
            executable[node].update(config=ONE, kernel=add, args=(numbers.buffer, 6))
            executable.launch(stream)
            stream.sync()
        assert numbers[0] == 6

    @pytest.mark.parametrize("wrong", [5, None, "graph"])
    def test_only_a_definition_is_a_child(self, graph, wrong):
        with pytest.raises(TypeError, match="child must be a GraphDefinition, got "):
            graph.embed(wrong)


class TestNodes:
    def test_the_handle_of_a_node(self, graph):
        node = graph.empty()
        (_, handles, count) = driver.cuGraphGetNodes(driver.CUgraph(int(graph.handle)), 1)
        assert type(node.handle) is driver.CUgraphNode
        assert (int(node.handle), count) == (int(handles[0]), 1)
        node.destroy()
        assert node.handle is None and graph._entry.handle is None

    def test_equality_of_destroyed_nodes(self, graph):
        first, second, third = (graph.empty() for _ in range(3))
        assert first != second
        first.destroy()
        assert first != second and second != first
        second.destroy()
        assert first == second and first != third
        assert first != "node"

    def test_an_object_that_was_not_initialized(self):
        assert repr(GraphNode.__new__(GraphNode)) == "<GraphNode>"
        assert repr(KernelNode.__new__(KernelNode)) == "<KernelNode>"
        assert list(GraphNode.__new__(GraphNode).pred) == []

    def test_data_belongs_to_an_edge(self, graph):
        first = graph.empty()
        second = first.join()
        assert first.succ.edge_data(second) == second.pred.edge_data(first) == (0, 0, 0)
        for adjacent, other in (
            (first.succ, first),
            (first.pred, second),
            (first.succ, 5),
            (graph._entry.succ, first),
        ):
            with pytest.raises(KeyError):
                adjacent.edge_data(other)

    @pytest.mark.parametrize("is_first", [False, True])
    def test_the_entry_has_no_edge(self, graph, is_first):
        nodes = graph.empty(), graph._entry
        with pytest.raises(ValueError, match="virtual graph entry node cannot be used in an edge"):
            graph.add_edge(*(nodes[::-1] if is_first else nodes))

    def test_a_launch_that_is_queried_again_has_its_cluster(self, graph, add, numbers):
        config = LaunchConfig(grid=(3, 4), cluster=(2, 1), block=8, shmem_size=32)
        graph.launch(config, add, numbers.buffer, 1)
        (node,) = graph.nodes()
        assert node.config == config

    def test_an_update_without_arguments_changes_nothing(self, graph, numbers, emulation):
        fill = graph.memset(numbers.buffer, 7, 2)
        copy = graph.memcpy(numbers.buffer, numbers.buffer, 8)
        with emulation.inject("cuGraph*SetParams*", optional=True) as rule:
            fill.update()
            copy.update()
        assert (rule.hits, fill.value, copy.size) == (0, 7, 8)

    def test_a_copy_of_no_bytes(self, graph, numbers):
        assert graph.memcpy(numbers.buffer, numbers.buffer, 0).size == 0


class TestRanges:
    """The last byte that a node accesses must be within its Buffer, here of 64 bytes."""

    @pytest.mark.parametrize("side", ["dst", "src"])
    @pytest.mark.parametrize(
        ("extent", "pitch", "height", "end"),
        [
            ((65, 1, 1), 0, 0, 65),
            ((8, 4, 1), 19, 0, 65),
            ((16, 2, 2), 0, 3, 80),  # a layer of 3 rows, a row and a row
            ((4, 2, 3), 5, 6, 69),
        ],
    )
    def test_the_end_of_a_copy(self, graph, numbers, side, extent, pitch, height, end):
        other = {"dst": "src", "src": "dst"}[side]
        steps = {f"{side}_pitch": pitch, f"{side}_height": height}
        operands = {side: numbers.buffer, other: 0x7F00_0000_0000}

        text = f"{side} is a Buffer of 64 bytes, but the node accesses {end} bytes"
        with pytest.raises(ValueError, match=text):
            graph.memcpy_3d(operands["dst"], operands["src"], *extent, **steps)

    @pytest.mark.parametrize(
        ("value", "width", "height", "pitch", "end"),
        [
            (1, 65, 1, 0, 65),
            (b"12", 33, 1, 0, 66),
            (b"1234", 2, 3, 29, 66),
        ],
    )
    def test_the_end_of_a_fill(self, graph, numbers, value, width, height, pitch, end):
        text = f"dst is a Buffer of 64 bytes, but the node accesses {end} bytes"
        with pytest.raises(ValueError, match=text):
            graph.memset(numbers.buffer, value, width, height, pitch)

    def test_the_end_of_an_updated_node(self, graph, numbers):
        address = int(numbers.buffer.handle)
        copy = graph.memcpy(address, address + 32, 4)
        for side in ("dst", "src"):
            with pytest.raises(ValueError, match=f"{side} is a Buffer of 64 bytes"):
                copy.update(**{side: numbers.buffer}, size=65)
        copy.update(dst=numbers.buffer, size=32)
        assert (copy.dst, copy.src, copy.size) == (address, address + 32, 32)
        fill = graph.memset(address, b"\x07\x00", 4)
        with pytest.raises(ValueError, match="the node accesses 66 bytes"):
            fill.update(dst=numbers.buffer, width=33)
        fill.update(dst=numbers.buffer, width=32)
        assert (fill.value, fill.element_size, fill.width, fill.height) == (7, 2, 32, 1)
        fill.update(width=2, height=3, pitch=16)
        assert (fill.width, fill.height, fill.pitch, fill.value) == (2, 3, 16, 7)


def test_options_of_an_allocation_are_its_keywords(graph, device):
    options = {"device": device, "memory_type": "managed", "peer_access": ()}
    with pytest.warns(DeprecationWarning, match=r"the options of allocate\(\).* its keywords"):
        node = graph.allocate(48, options=options)
    assert (node.bytesize, node.memory_type, node.device_id) == (48, "managed", 0)


def test_a_memory_resource_that_was_not_initialized():
    resource = MemoryResource.__new__(GraphMemoryResource)
    with pytest.raises(RuntimeError, match="GraphMemoryResource was not initialized"):
        _ = resource.device_id

# SPDX-License-Identifier: Apache-2.0
"""GraphDefinition and its nodes: created, inspected, changed and destroyed one by one."""

import ctypes
import gc
import weakref

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, LaunchConfig, LegacyPinnedMemoryResource
from cuda.core.graph import (
    ChildGraphNode,
    EmptyNode,
    EventRecordNode,
    GraphDefinition,
    GraphNode,
    HostCallbackNode,
    KernelNode,
    MemcpyNode,
    MemsetNode,
)

from ...threads import comes_true
from .conftest import ONE, id_of


def count(emulation, function):
    """Count the calls of a driver function."""
    return emulation.inject(function, nth=10**6, error="CUDA_ERROR_UNKNOWN", optional=True)


def run(definition, stream):
    with definition.instantiate() as graph:
        graph.launch(stream)
        stream.sync()


class TestIdentity:
    def test_a_node_has_one_object(self, graph):
        first = graph.empty()
        second = first.join()
        assert first in graph.nodes()
        assert next(iter(second.pred)) is first
        assert next(iter(first.succ)) is second
        assert {id(each) for each in graph.nodes()} == {id(first), id(second)}

    def test_edges_compare_as_sets_of_pairs(self, graph):
        first, second = graph.empty(), graph.empty()
        third = graph.join(first, second)
        assert graph.edges() == {(first, third), (second, third)}

    def test_a_destroyed_node_still_has_hash_and_equality(self, graph):
        node, other = graph.empty(), graph.empty()
        known = {node: 1}
        before = hash(node)
        node.destroy()
        node.destroy()
        assert hash(node) == before and known[node] == 1 and node != other
        assert graph.nodes() == {other}
        assert not node.is_valid and node.handle is None and node.type is None
        assert node.pred == set() and node.graph == graph
        assert repr(node) == "<EmptyNode handle=0x0>"
        with pytest.raises(RuntimeError, match="GraphNode has been destroyed"):
            node.join()

    def test_a_node_from_a_query_has_its_class_and_attributes(self, graph, add, numbers):
        graph.launch(LaunchConfig(grid=(2, 3), block=4, shmem_size=16), add, numbers.buffer, 1)
        gc.collect()
        (node,) = graph.nodes()
        assert type(node) is KernelNode and node.kernel == add
        assert (node.grid, node.block, node.shmem_size) == ((2, 3, 1), (4, 1, 1), 16)
        assert node.config == LaunchConfig(grid=(2, 3), block=4, shmem_size=16)

    def test_definitions_compare_by_their_graph(self, graph):
        node = graph.empty()
        assert node.graph == graph and hash(node.graph) == hash(graph)
        assert graph != GraphDefinition()

    def test_weak_references_to_nodes(self, graph):
        reference = weakref.ref(graph.empty())
        gc.collect()
        assert reference() is None and len(graph.nodes()) == 1

    def test_the_destructor_of_an_operand_can_list_the_nodes(self, graph):
        class QueriesNodes:
            # Some Python versions never free a class, so it must not refer to the graph.
            def __init__(self, graph, results):
                self.graph, self.results = graph, results

            def __call__(self):
                pass

            def __del__(self):
                self.results.append(self.graph.nodes())

        results = []
        node = graph.callback(QueriesNodes(graph, results))
        other = graph.empty()
        node.destroy()
        del node
        assert comes_true(lambda: gc.collect() >= 0 and results)  # a driver thread releases it
        assert results == [{other}]

    def test_numbers_fit_the_types_of_the_driver(self, graph, numbers):
        calls = {
            "width": lambda number: graph.memset(numbers.buffer, 1, number),
            "height": lambda number: graph.memset(numbers.buffer, 1, 4, number, pitch=4),
            "pitch": lambda number: graph.memset(numbers.buffer, 1, 4, 2, pitch=number),
            "size": lambda number: graph.memcpy(numbers.buffer, numbers.buffer, number),
            "dst of a node": lambda number: graph.memset(number, 1, 4),
            "src of a node": lambda number: graph.memcpy(numbers.buffer, number, 4),
        }
        for name, call in calls.items():
            for number in (-1, 2**64):
                with pytest.raises(OverflowError, match=f"^{name} must .* got {number}$"):
                    call(number)

    def test_options_of_another_type_are_refused(self, graph):
        with pytest.raises(TypeError, match="^allocation options must be provided as .*, got 5$"):
            graph.allocate(64, 5)

    def test_the_entry_is_not_a_node(self, graph):
        assert repr(graph._entry) == "<GraphNode entry>"
        assert graph._entry.type is None and graph._entry.handle is None
        assert graph._entry.succ == graph.nodes() == set()

    @pytest.mark.usefixtures("node_ids")
    def test_ids_of_nodes(self, graph):
        first, second = graph.empty(), graph.empty()
        assert (first.local_id, second.local_id) == (first.id, second.id)
        assert len({first.tools_id, second.tools_id, GraphDefinition().empty().tools_id}) == 3
        first.destroy()
        for name in ("local_id", "tools_id"):
            with pytest.raises(RuntimeError):
                getattr(first, name)
        assert second.tools_id

    def test_entries_of_two_graphs_have_two_hashes(self, graph):
        other = GraphDefinition()
        assert hash(graph._entry) == hash(graph._entry) != hash(other._entry)
        assert graph._entry == graph._entry != other._entry

    def test_lists_of_any_length_are_queried_once(self, graph, emulation):
        nodes = [graph.empty()]
        for _ in range(300):
            nodes.append(nodes[-1].join())
        for function, query in (("cuGraphGetNodes", graph.nodes), ("cuGraphGetEdges", graph.edges)):
            with count(emulation, function) as calls:
                assert len(query()) >= 300
            assert calls.matches == 2  # the count, then the nodes


class TestAdjacency:
    def test_sets_reflect_the_graph(self, graph):
        first, second = graph.empty(), graph.empty()
        before = second.pred
        assert len(before) == 0 and repr(before) == "{}"
        before.add(first)
        before.add(first)
        assert first in before and second in first.succ and graph.edges() == {(first, second)}
        before.discard(first)
        before.discard(first)
        assert before == set() and isinstance(before | {first}, set)

    def test_assignment_replaces_all(self, graph):
        first, second, third = (graph.empty() for _ in range(3))
        third.pred = {first}
        third.pred = [second]
        assert third.pred == {second} and first.succ == set()
        third.pred |= {first}
        third.pred -= {second}
        assert third.pred == {first}
        third.pred.clear()
        assert graph.edges() == set()

    def test_a_failed_assignment_changes_nothing(self, graph):
        first, second = graph.empty(), graph.empty()
        second.pred = {first}
        for wrong, error in (
            ([3], TypeError),
            (3, TypeError),
            ([GraphDefinition().empty()], ValueError),
        ):
            with pytest.raises(error):
                second.pred = wrong
        with pytest.raises(CUDAError):
            second.pred = {second}
        assert second.pred == {first}

    def test_errors(self, graph):
        node = graph.empty()
        with pytest.raises(KeyError):
            node.pred.remove(node)
        with pytest.raises(TypeError, match="expected GraphNode, got int"):
            node.pred.add(3)
        with pytest.raises(TypeError, match="expected GraphNode, got int"):
            node.pred.update([3])
        with pytest.raises(ValueError, match="must belong to the same GraphDefinition"):
            node.pred.add(GraphDefinition().empty())
        with pytest.raises(ValueError, match="virtual graph entry node cannot be used in an edge"):
            node.pred.add(graph._entry)
        with pytest.raises(CUDAError):
            node.pred.add(node)
        with pytest.raises(TypeError, match="unhashable"):
            hash(node.pred)

    def test_bulk_changes_are_one_call(self, graph, emulation):
        nodes, last = [graph.empty() for _ in range(5)], graph.empty()
        with count(emulation, "cuGraphAddDependencies") as calls:
            last.pred.update(nodes[:3], nodes[3:])
            last.pred.update(nodes)
        assert calls.matches == 1
        assert last.pred == set(nodes)

    def test_edges_have_data(self, graph):
        first, second = graph.empty(), graph.empty()
        graph.add_edge(first, second)
        assert graph.edges_with_data() == {(first, second): (0, 0, 0)}
        assert second.pred.edge_data(first) == (0, 0, 0)
        with pytest.raises(KeyError):
            first.pred.edge_data(second)

    def test_a_cycle_is_an_error_at_instantiation_at_the_latest(self, graph):
        first = graph.empty()
        second = first.join()
        with pytest.raises((CUDAError, RuntimeError)):
            first.pred.add(second)
            graph.instantiate()


class TestKernelNodes:
    def test_a_node_runs_after_another(self, graph, add, numbers, stream):
        first = graph.launch(ONE, add, numbers.buffer, 1)
        first.launch(ONE, add, numbers.buffer, 2)
        run(graph, stream)
        assert numbers[0] == 3

    def test_arguments_are_checked_like_those_of_a_launch(self, graph, add, numbers):
        with pytest.raises(TypeError, match="expected 2 arguments, got 1"):
            graph.launch(ONE, add, numbers.buffer)
        with pytest.raises(OverflowError):
            graph.launch(ONE, add, numbers.buffer, 1 << 40)
        with pytest.raises(TypeError, match="kernel must be a Kernel, got int"):
            graph.launch(ONE, 3)
        assert graph.nodes() == set()

    def test_update(self, graph, add, numbers, stream):
        node = graph.launch(ONE, add, numbers.buffer, 1)
        node.update()
        node.update(args=(numbers.buffer, 5))
        run(graph, stream)
        assert numbers[0] == 5
        node.update(config=LaunchConfig(grid=2, block=1))
        assert node.grid == (2, 1, 1)
        with pytest.raises(ValueError, match="changing kernel requires args"):
            node.update(kernel=add)

    def test_a_failed_update_keeps_the_node(self, graph, add, numbers, stream):
        node = graph.launch(ONE, add, numbers.buffer, 1)
        with pytest.raises(OverflowError):
            node.update(args=(numbers.buffer, 1 << 40))
        run(graph, stream)
        assert numbers[0] == 1

    def test_a_cooperative_launch_becomes_an_attribute(self, graph, add, numbers):
        config = LaunchConfig(grid=1, block=1, is_cooperative=True)
        node = graph.launch(config, add, numbers.buffer, 1)
        assert node.config.is_cooperative
        assert node.attributes["is_cooperative"] is True
        del node
        (node,) = graph.nodes()
        assert node.config.is_cooperative

    def test_ids(self, graph, add, numbers):
        node = graph.launch(ONE, add, numbers.buffer, 1)
        other = GraphDefinition()
        numbers = [id_of(each, "cuGraphGetId") for each in (graph, other)]
        assert id_of(node, "cuGraphNodeGetLocalId") == (None if numbers == [None, None] else 0)
        assert numbers[0] != numbers[1] or numbers == [None, None]


class TestMemoryNodes:
    def test_memset(self, graph, numbers, stream):
        node = graph.memset(numbers.buffer, 1, 64)
        assert (node.dptr, node.value, node.element_size) == (int(numbers.buffer.handle), 1, 1)
        assert (node.width, node.height, node.pitch) == (64, 1, 0)
        assert type(node) is MemsetNode and f"dptr=0x{node.dptr:x} value=1" in repr(node)
        run(graph, stream)
        assert numbers[15] == 0x01010101

    def test_values_of_one_byte(self, graph, numbers):
        for wrong in (-1, 256):
            with pytest.raises(OverflowError):
                graph.memset(numbers.buffer, wrong, 4)
        for wrong in (b"", b"123"):
            with pytest.raises(ValueError, match="1, 2, or 4 bytes"):
                graph.memset(numbers.buffer, wrong, 4)

    def test_the_length_of_the_value_is_the_element_size(self, graph, numbers, stream):
        node = graph.memset(numbers.buffer, b"\x01\x00\x00\x00", 16)
        assert (node.element_size, node.value) == (4, 1)
        run(graph, stream)
        assert list(numbers.values) == [1] * 16

    def test_memset_of_rows(self, graph, numbers, stream):
        graph.memset(numbers.buffer, b"\x02\x00\x00\x00", 1, height=4, pitch=16)
        run(graph, stream)
        assert list(numbers.values) == [2, 0, 0, 0] * 4

    def test_memset_update(self, graph, numbers, stream):
        node = graph.memset(numbers.buffer, 1, 64)
        node.update(value=3)
        node.update(width=4)
        run(graph, stream)
        assert (numbers[0], numbers[1]) == (0x03030303, 0)
        with pytest.raises(ValueError, match="dst_owner requires dst"):
            node.update(dst_owner=3)

    def test_memcpy(self, graph, numbers, stream):
        source = (ctypes.c_uint32 * 2)(7, 8)
        address = ctypes.addressof(source)
        node = graph.memcpy(numbers.buffer, address, 8, src_owner=source)
        assert (node.dst, node.src, node.size) == (int(numbers.buffer.handle), address, 8)
        assert f"src=0x{address:x}(H) size=8" in repr(node) and type(node) is MemcpyNode
        run(graph, stream)
        assert list(numbers.values[:3]) == [7, 8, 0]

    def test_memcpy_of_rows(self, graph, numbers, stream):
        source = (ctypes.c_uint32 * 4)(1, 2, 3, 4)
        graph.memcpy_2d(
            numbers.buffer, ctypes.addressof(source), 8, 2, dst_pitch=16, src_owner=source
        )
        run(graph, stream)
        assert list(numbers.values[:7]) == [1, 2, 0, 0, 3, 4, 0]

    def test_memcpy_of_layers(self, graph, numbers, stream):
        source = (ctypes.c_uint32 * 4)(1, 2, 3, 4)
        node = graph.memcpy_3d(
            numbers.buffer, ctypes.addressof(source), 4, 2, 2, dst_pitch=8, src_owner=source
        )
        assert node.extent == (4, 2, 2) and node.size == 16
        run(graph, stream)
        assert list(numbers.values[:8]) == [1, 0, 2, 0, 3, 0, 4, 0]
        with pytest.raises(ValueError, match="updating multidimensional"):
            node.update(size=4)

    def test_memcpy_update(self, graph, numbers, stream):
        source, other = (ctypes.c_uint32 * 2)(7, 8), (ctypes.c_uint32 * 2)(9, 10)
        node = graph.memcpy(numbers.buffer, ctypes.addressof(source), 8, src_owner=source)
        node.update(src=ctypes.addressof(other), src_owner=other)
        node.update(size=4)
        run(graph, stream)
        assert list(numbers.values[:2]) == [9, 0]

    def test_ranges_are_checked(self, graph, numbers):
        with pytest.raises(ValueError, match="Buffer of 64 bytes"):
            graph.memset(numbers.buffer, 0, 65)
        with pytest.raises(ValueError, match="Buffer of 64 bytes"):
            graph.memcpy(numbers.buffer, numbers.buffer, 65)
        with pytest.raises(ValueError, match="dst_owner cannot be used when dst is a Buffer"):
            graph.memset(numbers.buffer, 0, 1, dst_owner=3)
        with pytest.raises(ValueError, match="src_owner cannot be used when src is a Buffer"):
            graph.memcpy(numbers.buffer, numbers.buffer, 1, src_owner=3)
        with pytest.raises(TypeError, match="dst must be a Buffer"):
            graph.memset("a", 0, 1)
        closed = LegacyPinnedMemoryResource().allocate(4)
        closed.close()
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            graph.memset(closed, 0, 1)
        assert graph.nodes() == set()

    def test_allocations(self, graph, stream):
        node = graph.allocate(64)
        assert (node.bytesize, node.device_id, node.memory_type) == (64, 0, "device")
        assert node.peer_access == () and node.dptr
        freed = node.memset(node.dptr, 1, 64).deallocate(node.dptr)
        assert freed.dptr == node.dptr
        run(graph, stream)
        with pytest.raises(ValueError, match="is not a valid GraphMemoryType"):
            graph.allocate(64, memory_type="x")
        assert graph.allocate(64, memory_type=None).memory_type == "device"
        with pytest.raises(CUDAError):
            graph.allocate(0)
        with pytest.raises(CUDAError):
            graph.deallocate(0)


class TestEventNodes:
    def test_the_event_has_the_options_of_the_original(self, graph, device):
        event = device.create_event({"timing_enabled": True, "blocking_sync": True})
        record, wait = graph.record(event), graph.wait(event)
        assert record.event == event and wait.event == event
        del record
        gc.collect()
        (node,) = [each for each in graph.nodes() if isinstance(each, EventRecordNode)]
        assert node.event.is_timing_enabled and node.event.is_blocking_sync

    def test_a_recorded_event_is_done_after_the_launch(self, graph, device, stream):
        event = device.create_event()
        graph.record(event)
        run(graph, stream)
        assert event.is_done

    def test_closing_the_event_of_a_node_keeps_the_native_event(self, graph, device, stream):
        event = device.create_event()
        node = graph.record(event)
        event.close()
        node.event.close()
        run(graph, stream)
        assert node.event.is_done

    def test_update_and_errors(self, graph, device):
        node = graph.record(device.create_event())
        other = device.create_event()
        node.update(other)
        assert node.event == other
        with pytest.raises(TypeError, match="event must be an Event, got int"):
            node.update(3)
        other.close()
        with pytest.raises(RuntimeError, match="Event has been closed"):
            graph.wait(other)


class TestChildGraphs:
    def test_a_child_is_a_copy(self, graph, add, numbers, stream):
        child = GraphDefinition()
        child.launch(ONE, add, numbers.buffer, 1)
        first = graph.embed(child)
        first.embed(child)
        child.launch(ONE, add, numbers.buffer, 100)
        assert first.child_graph != child and len(first.child_graph.nodes()) == 1
        run(graph, stream)
        assert numbers[0] == 2

    def test_destroying_the_node_invalidates_its_children(self, graph):
        inner, outer = GraphDefinition(), GraphDefinition()
        inner.empty()
        outer.embed(inner)
        node = graph.embed(outer)
        child = node.child_graph
        (below,) = child.nodes()
        nested = below.child_graph
        (deepest,) = nested.nodes()
        before = hash(nested)
        node.destroy()
        for each in (child, nested):
            assert not each.is_valid and int(each.handle) == 0
            with pytest.raises(RuntimeError, match="GraphDefinition is no longer valid"):
                each.nodes()
        assert hash(nested) == before
        assert not deepest.is_valid and deepest.type is None
        with pytest.raises(RuntimeError, match="belongs to an invalid GraphDefinition"):
            deepest.join()

    def test_update_invalidates_earlier_wrappers(self, graph, add, numbers, stream):
        child, other = GraphDefinition(), GraphDefinition()
        child.launch(ONE, add, numbers.buffer, 1)
        other.launch(ONE, add, numbers.buffer, 5)
        node = graph.embed(child)
        before = node.child_graph
        node.update(other)
        assert not before.is_valid and node.child_graph.is_valid
        run(graph, stream)
        assert numbers[0] == 5

    def test_a_child_retains_the_graph(self, device):
        graph, child = GraphDefinition(), GraphDefinition()
        child.empty()
        inside = graph.embed(child).child_graph
        del graph, child
        gc.collect()
        assert len(inside.nodes()) == 1 and inside.is_valid

    def test_a_node_from_a_query_has_its_child(self, graph):
        graph.embed(GraphDefinition())
        gc.collect()
        (node,) = graph.nodes()
        assert type(node) is ChildGraphNode and node.child_graph.is_valid


class TestCallbacks:
    def test_each_launch_calls_the_callable(self, graph, stream):
        calls = []
        node = graph.callback(lambda: calls.append(1))
        with graph.instantiate() as executable:
            executable.launch(stream)
            executable.launch(stream)
            stream.sync()
        assert calls == [1, 1]
        assert type(node) is HostCallbackNode and "callback=<lambda>" in repr(node)

    def test_a_node_from_a_query_has_its_callable(self, graph):
        def function():
            pass

        graph.callback(function)
        gc.collect()
        (node,) = graph.nodes()
        assert node.callback is function

    def test_the_prototype_is_checked_at_creation(self, graph):
        wrong = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda data: 0)
        with pytest.raises(TypeError, match="CUhostFn-compatible"):
            graph.callback(wrong)
        assert graph.nodes() == set()

    def test_bytes_are_copied(self, graph, stream):
        values = []
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(
            lambda data: values.append(ctypes.string_at(data, 3))
        )
        data = bytearray(b"abc")
        node = graph.callback(function, user_data=data)
        data[:] = b"xyz"
        run(graph, stream)
        assert values == [b"abc"] and node.callback is None and "cfunc=0x" in repr(node)

    def test_exceptions_are_reported_as_unraisable(self, graph, stream, monkeypatch):
        import sys

        values = []
        monkeypatch.setattr(sys, "unraisablehook", lambda args: values.append(args.exc_value))

        def function():
            raise KeyError("mine")

        graph.callback(function)
        run(graph, stream)
        assert [type(each) for each in values] == [KeyError]

    def test_update(self, graph, stream):
        calls = []
        node = graph.callback(lambda: calls.append(1))
        node.update(lambda: calls.append(2))
        run(graph, stream)
        assert calls == [2]

    def test_errors(self, graph):
        with pytest.raises(TypeError, match="callback must be callable, got int"):
            graph.callback(3)
        with pytest.raises(ValueError, match="user_data is only supported with ctypes"):
            graph.callback(print, user_data=3)


class TestConstruction:
    @pytest.mark.parametrize("cls", [GraphNode, KernelNode, EmptyNode])
    def test_nodes_cannot_be_constructed(self, cls):
        with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
            cls()

    def test_uninitialized_objects_report_it(self):
        with pytest.raises(RuntimeError, match="was not initialized"):
            GraphDefinition.__new__(GraphDefinition).nodes()
        with pytest.raises(RuntimeError, match="was not initialized"):
            KernelNode.__new__(KernelNode).join()


def test_a_foreign_graph_is_inspected(device, captured):
    """Nodes of another library, in a graph of this package."""
    definition = captured.graph_definition
    code, _ = driver.cuGraphAddEmptyNode(definition.handle, [], 0)
    assert code == driver.CUresult.CUDA_SUCCESS
    assert {type(each) for each in definition.nodes()} == {KernelNode, EmptyNode}


@pytest.mark.parametrize("depth", [1, 40])
def test_a_graph_can_be_dropped_in_any_order(device, depth):
    graph = GraphDefinition()
    nodes = [graph.empty()]
    for _ in range(depth):
        nodes.append(nodes[-1].join())
    del graph
    del nodes[::2]
    gc.collect()
    assert all(node.is_valid for node in nodes)

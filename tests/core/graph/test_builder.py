# SPDX-License-Identifier: Apache-2.0
"""GraphBuilder: a graph of the work that a stream captures."""

import gc
import pathlib
import weakref

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, Device, LegacyPinnedMemoryResource, launch
from cuda.core.graph import GraphBuilder, GraphDefinition, KernelNode

from .conftest import ONE


@pytest.fixture
def builder(device):
    with device.create_graph_builder() as builder:
        yield builder


def test_begin_and_end_return_the_builder(builder):
    assert builder.begin_building() is builder
    assert builder.end_building() is builder


def test_the_stream_of_the_user_stays_open(stream):
    builder = stream.create_graph_builder()
    assert builder.stream is stream
    builder.begin_building()
    builder.close()
    stream.sync()
    assert not stream.is_closed


def test_a_device_builder_closes_its_own_stream(device):
    builder = device.create_graph_builder()
    stream = builder.stream
    builder.close()
    assert stream.is_closed


def test_each_launch_runs_the_captured_work(captured, numbers, stream):
    assert numbers[0] == 0
    with captured.complete() as graph:
        graph.launch(stream)
        graph.launch(stream)
        stream.sync()
    assert numbers[0] == 2


def test_each_complete_returns_a_separate_executable(captured, numbers, stream):
    first, second = captured.complete(), captured.complete()
    assert first != second and first.handle != second.handle
    first.close()
    second.launch(stream)
    stream.sync()
    assert numbers[0] == 1


def test_joined_builders_are_closed(builder):
    builder.begin_building()
    branches = builder.split(3)
    assert branches[0] is builder
    assert [each.is_join_required for each in branches] == [False, True, True]
    assert GraphBuilder.join(*branches) is builder
    assert all(each.is_closed for each in branches[1:])
    with pytest.raises(RuntimeError, match="GraphBuilder has been closed"):
        branches[1].split(2)


def test_forked_builders_can_be_joined_to_the_first(builder):
    _, first, second = builder.begin_building().split(3)
    assert GraphBuilder.join(first, second) is first
    assert first.is_join_required and second.is_closed
    assert GraphBuilder.join(first, builder) is builder
    builder.end_building()


def test_an_end_with_unjoined_forks_leaves_the_stream_usable(stream, add, numbers):
    builder = stream.create_graph_builder().begin_building()
    forks = builder.split(2)
    launch(forks[1], ONE, add, numbers.buffer, 1)
    with pytest.raises(CUDAError, match="STREAM_CAPTURE_UNJOINED"):
        builder.end_building()
    forks[1].close()
    builder.close()
    stream.sync()


def test_branches_run_before_the_work_that_joins_them(builder, add, numbers, stream):
    builder.begin_building()
    branches = builder.split(3)
    for each in branches:
        launch(each, ONE, add, numbers.buffer, 10)
    GraphBuilder.join(*branches)
    launch(builder, ONE, add, numbers.buffer, 1)
    definition = builder.end_building().graph_definition
    last = [node for node in definition.nodes() if not node.succ]
    assert len(definition.nodes()) == 4 and len(last) == 1
    assert len(last[0].pred) == 3


@pytest.mark.parametrize("mode", ["relaxed", "thread_local", "global"])
def test_modes(builder, mode):
    assert builder.begin_building(mode).is_building


class TestErrors:
    def test_the_class_cannot_be_called(self):
        with pytest.raises(NotImplementedError, match=r"Device.create_graph_builder\(\)"):
            GraphBuilder()

    @pytest.mark.parametrize(
        ("call", "error", "text"),
        [
            (lambda b: b.begin_building("x"), ValueError, "Unsupported build mode: x"),
            (lambda b: b.begin_building(None), ValueError, "Unsupported build mode: None"),
            (lambda b: b.end_building(), RuntimeError, "Graph builder is not building."),
            (lambda b: b.complete(), RuntimeError, "Graph has not finished building."),
            (lambda b: b.debug_dot_print("x"), RuntimeError, "Graph has not finished building."),
            (lambda b: b.split(2), RuntimeError, "must be building before it can be split"),
            (lambda b: b.split(1), ValueError, "Invalid split count: expecting >= 2, got 1"),
            (lambda b: b.split("a"), TypeError, "expected int, got str"),
            (lambda b: b.create_condition(), RuntimeError, "Cannot create a condition"),
            (lambda b: b.callback(print), RuntimeError, "Cannot add callback"),
            (lambda b: b.callback(3), TypeError, "callback must be callable, got int"),
            (lambda b: b.graph_definition, RuntimeError, "unavailable before begin_building"),
            (lambda b: b.if_then(None), TypeError, "create_condition"),
            (lambda b: b.embed(b), ValueError, "Child graph has not finished building."),
        ],
    )
    def test_before_begin_building(self, builder, call, error, text):
        with pytest.raises(error, match=text):
            call(builder)

    @pytest.mark.parametrize(
        ("call", "error", "text"),
        [
            (lambda b: b.begin_building(), RuntimeError, "already building"),
            (lambda b: b.complete(), RuntimeError, "has not finished building"),
            (lambda b: b.graph_definition, RuntimeError, "call end_building\\(\\) first"),
            (lambda b: b.split(2)[1].graph_definition, RuntimeError, "forked graph builders"),
            (lambda b: b.split(2)[1].begin_building(), RuntimeError, "already building"),
            (lambda b: b.embed(b), ValueError, "Child graph has not finished"),
            (lambda b: b.embed(3), TypeError, "child must be a GraphBuilder"),
        ],
    )
    def test_during_the_capture(self, builder, call, error, text):
        builder.begin_building()
        with pytest.raises(error, match=text):
            call(builder)

    def test_after_end_building(self, captured):
        with pytest.raises(RuntimeError, match="Cannot resume building after building has ended."):
            captured.begin_building()
        with pytest.raises(RuntimeError, match="must be building before it can be split"):
            captured.split(2)
        with pytest.raises(TypeError, match="GraphCompleteOptions"):
            captured.complete(3)

    @pytest.mark.parametrize(
        "call",
        [
            lambda b: b.begin_building(),
            lambda b: b.end_building(),
            lambda b: b.complete(),
            lambda b: b.stream,
            lambda b: b.is_building,
            lambda b: b.graph_definition,
            lambda b: b.split(2),
            lambda b: b.embed(b),
            lambda b: b.callback(print),
            lambda b: b.create_condition(),
            lambda b: b.debug_dot_print("x"),
            lambda b: b.__cuda_stream__(),
            lambda b: GraphBuilder.join(b, b),
            lambda b: Device().create_stream().wait(b),
            lambda b: LegacyPinnedMemoryResource().allocate(4).fill(0, stream=b),
        ],
    )
    def test_of_a_closed_builder(self, builder, call):
        builder.close()
        builder.close()
        with pytest.raises(RuntimeError, match="GraphBuilder has been closed"):
            call(builder)

    def test_join(self, builder):
        with pytest.raises(ValueError, match="Must join with at least two graph builders"):
            GraphBuilder.join(builder)
        with pytest.raises(TypeError, match="All arguments must be GraphBuilder instances"):
            GraphBuilder.join(builder, 3)


class TestBrokenCapture:
    def test_the_end_names_the_call_that_invalidated_the_capture(self, builder):
        builder.begin_building()
        with pytest.raises(CUDAError):
            builder.stream.sync()
        with pytest.raises(RuntimeError, match=r"has been invalidated.*must now be ended"):
            assert builder.is_building
        with pytest.raises(RuntimeError, match=r"cuStreamSynchronize at .*test_builder\.py:\d+"):
            builder.end_building()

    def test_the_next_capture_is_unaffected(self, stream):
        broken = stream.create_graph_builder().begin_building()
        with pytest.raises(CUDAError):
            stream.sync()
        broken.close()
        other = stream.create_graph_builder().begin_building()
        driver.cuStreamSynchronize(stream.handle)  # not through this package
        with pytest.raises(RuntimeError, match=r"call close\(\)$"):
            assert other.is_building
        other.close()

    def test_close_leaves_the_stream_usable(self, stream):
        builder = stream.create_graph_builder().begin_building()
        with pytest.raises(CUDAError):
            stream.sync()
        builder.close()
        stream.sync()

    def test_a_dropped_builder_ends_the_capture(self, stream):
        stream.create_graph_builder().begin_building()
        gc.collect()
        stream.sync()

    def test_a_dropped_builder_of_an_invalid_capture_ends_the_capture(self, stream, capfd):
        builder = stream.create_graph_builder().begin_building()
        with pytest.raises(CUDAError):
            stream.sync()
        del builder
        gc.collect()
        stream.sync()
        assert "halfwarp" not in capfd.readouterr().err.replace("halfwarp: CUDA is emulated", "")

    def test_while_an_exception_propagates(self, stream):
        def build():
            builder = stream.create_graph_builder().begin_building()
            assert builder.is_building
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            build()
        gc.collect()
        stream.sync()

    def test_leaving_a_with_block_closes_builder_and_graph(self, captured, stream):
        with stream.create_graph_builder() as builder:
            builder.begin_building()
        assert builder.is_closed
        with pytest.raises(KeyError), captured.complete() as graph:
            graph.launch(stream)
            raise KeyError
        assert graph.is_closed and int(graph.handle) == 0
        stream.sync()

    def test_in_a_reference_cycle(self, stream):
        class Holder:
            pass

        holder = Holder()
        holder.builder = stream.create_graph_builder().begin_building()
        holder.self = holder
        del holder
        gc.collect()
        stream.sync()


class TestBuilderAsStream:
    def test_protocol(self, builder):
        assert builder.__cuda_stream__() == (0, int(builder.stream.handle))

    def test_copies_and_fills_are_captured(self, builder, stream, numbers):
        memory = LegacyPinnedMemoryResource()
        with memory.allocate(64) as other:
            builder.begin_building()
            other.fill(7, stream=builder)
            other.copy_to(numbers.buffer, stream=builder)
            graph = builder.end_building().complete()
            assert numbers[0] == 0
            graph.launch(stream)
            stream.sync()
        assert numbers[0] == 0x07070707

    def test_launch_does_not_warn(self, builder, add, numbers, recwarn):
        builder.begin_building()
        launch(builder, ONE, add, numbers.buffer, 1)
        assert not recwarn.list

    def test_a_prepared_launch_is_captured(self, builder, add, numbers, stream):
        prepared = add.prepare(ONE, numbers.buffer, 3)
        builder.begin_building()
        prepared(builder)
        builder.end_building().complete().launch(stream)
        stream.sync()
        assert numbers[0] == 3

    def test_a_launch_outside_of_the_capture_is_refused(self, builder, add, numbers, stream):
        prepared = add.prepare(ONE, numbers.buffer, 3)
        calls = [lambda: launch(builder, ONE, add, numbers.buffer, 3), lambda: prepared(builder)]
        for call in calls:
            message = r"whose capture has not begun.*call begin_building\(\) first"
            with pytest.raises(RuntimeError, match=message):
                call()
        builder.begin_building()
        fork = builder.split(2)[1]
        launch(GraphBuilder.join(builder, fork), ONE, add, numbers.buffer, 4)
        builder.end_building()
        for call in calls:
            with pytest.raises(RuntimeError, match=r"capture has ended.*complete\(\) returns"):
                call()
        for call in (lambda: launch(fork, ONE, add, numbers.buffer, 3), lambda: prepared(fork)):
            with pytest.raises(RuntimeError, match="GraphBuilder has been closed"):
                call()
        builder.stream.sync()
        assert numbers[0] == 0
        launch(builder.stream, ONE, add, numbers.buffer, 3)
        builder.stream.sync()
        assert numbers[0] == 3

    def test_a_launch_on_a_fork_after_the_end_is_refused(self, stream, add, numbers):
        builder = stream.create_graph_builder().begin_building()
        fork = builder.split(2)[1]
        builder.close()
        with pytest.raises(RuntimeError, match="capture has ended"):
            launch(fork, ONE, add, numbers.buffer, 3)
        fork.close()

    def test_a_launch_on_a_body_outside_of_its_capture_is_refused(self, builder, add, numbers):
        builder.begin_building()
        body = builder.if_then(builder.create_condition(1))
        with pytest.raises(RuntimeError, match="has not begun"):
            launch(body, ONE, add, numbers.buffer, 3)
        launch(body.begin_building(), ONE, add, numbers.buffer, 3)
        body.end_building()
        with pytest.raises(RuntimeError, match="has ended"):
            launch(body, ONE, add, numbers.buffer, 3)
        builder.end_building()

    def test_a_launch_into_an_invalidated_capture_is_the_error_of_the_driver(
        self, builder, add, numbers
    ):
        builder.begin_building()
        with pytest.raises(CUDAError):
            builder.stream.sync()
        with pytest.raises(CUDAError, match="CAPTURE_INVALIDATED"):
            launch(builder, ONE, add, numbers.buffer, 3)

    def test_another_stream_waits_for_it(self, builder, device, numbers, add):
        builder.begin_building()
        other = device.create_stream()
        other.wait(builder)
        launch(other, ONE, add, numbers.buffer, 1)
        builder.stream.wait(other)
        definition = builder.end_building().graph_definition
        assert len([n for n in definition.nodes() if isinstance(n, KernelNode)]) == 1

    def test_an_event_recorded_in_it_orders_captured_work(
        self, builder, device, numbers, add, stream
    ):
        """The event belongs to the capture: another stream that waits for it is captured too."""
        builder.begin_building()
        launch(builder, ONE, add, numbers.buffer, 1)
        event, other = builder.stream.record(), device.create_stream()
        other.wait(event)
        launch(other, ONE, add, numbers.buffer, 2)
        builder.stream.wait(other)
        definition = builder.end_building().graph_definition
        ((first, second),) = definition.edges()
        assert isinstance(first, KernelNode) and isinstance(second, KernelNode)
        with builder.complete() as graph:
            graph.launch(stream)
            stream.sync()
        assert numbers[0] == 3

    def test_recording_an_event_outside_ends_its_use_in_a_capture(self, builder, stream):
        event = builder.begin_building().stream.record()
        builder.end_building()
        stream.record(event)
        event.sync()
        assert event.is_done

    def test_a_plain_stream_is_named_in_the_error(self, numbers):
        with pytest.raises(TypeError, match="Stream or GraphBuilder expected, got int"):
            numbers.buffer.fill(0, stream=3)


class TestDefinitionOfABuilder:
    def test_it_contains_the_captured_work(self, captured, add):
        (node,) = captured.graph_definition.nodes()
        assert isinstance(node, KernelNode)
        assert node.grid == (1, 1, 1) and node.kernel == add

    def test_nodes_added_to_it_are_part_of_later_executables(self, captured, numbers, stream, add):
        (node,) = captured.graph_definition.nodes()
        node.launch(ONE, add, numbers.buffer, 10)
        captured.complete().launch(stream)
        stream.sync()
        assert numbers[0] == 11

    def test_all_views_are_equal_and_outlive_the_builder(self, captured):
        first, second = captured.graph_definition, captured.graph_definition
        captured.close()
        assert first == second and hash(first) == hash(second) and first is not second
        assert first.is_valid and len(first.nodes()) == 1


def test_embed_copies_the_graph_of_a_builder(builder, captured, numbers, stream):
    builder.begin_building()
    builder.embed(captured)
    builder.embed(captured)
    builder.end_building().complete().launch(stream)
    stream.sync()
    assert numbers[0] == 2
    captured.complete()


def test_a_graph_is_not_launched_on_a_builder_outside_of_its_capture(builder, captured, numbers):
    graph = captured.complete()
    for idle, state in ((builder, "has not begun"), (captured, "has ended")):
        with pytest.raises(RuntimeError, match=f"capture {state}: the graph would run at once"):
            graph.launch(idle)
        idle.stream.sync()
    assert numbers[0] == 0


def test_a_graph_cannot_be_launched_into_a_capture(builder, captured, numbers, stream):
    graph = captured.complete()
    builder.begin_building()
    with pytest.raises(CUDAError, match="STREAM_CAPTURE_UNSUPPORTED"):
        graph.launch(builder)
    builder.close()
    graph.launch(stream)
    stream.sync()
    assert numbers[0] == 1


class TestDot:
    @pytest.mark.parametrize("kind", [str, pathlib.Path])
    def test_only_the_requested_file_is_written(self, captured, tmp_path, kind):
        path = tmp_path / "graph.dot"
        captured.debug_dot_print(kind(path), {"verbose": True})
        assert [each.name for each in tmp_path.iterdir()] == ["graph.dot"]
        assert "digraph" in path.read_text()
        captured.complete()
        captured.debug_dot_print(kind(path))

    def test_a_file_without_write_access_is_an_error(self, captured, tmp_path):
        with pytest.raises(CUDAError):
            captured.debug_dot_print(tmp_path / "missing" / "graph.dot")

    def test_the_deprecated_name_returns_the_text(self, captured):
        with pytest.warns(DeprecationWarning, match="debug_dot_print"):
            assert "digraph" in captured.debug_print()


def test_builders_and_graphs_compare_by_identity(captured):
    graph = captured.complete()
    assert graph in {graph} and weakref.ref(graph)() is graph
    assert weakref.ref(captured)() is captured and captured != object()


def test_a_definition_is_no_builder(captured):
    with pytest.raises(TypeError, match="child must be a GraphBuilder, got"):
        captured.embed(GraphDefinition())

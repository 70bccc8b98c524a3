# SPDX-License-Identifier: Apache-2.0
"""Graph: launched, uploaded, updated as a whole and node by node."""

import ctypes

import pytest
from cuda.core import CUDAError, LaunchConfig, launch
from cuda.core.graph import (
    ExecutableChildGraphNode,
    ExecutableEventRecordNode,
    ExecutableHostCallbackNode,
    ExecutableKernelNode,
    ExecutableMemcpyNode,
    ExecutableMemsetNode,
    Graph,
    GraphCompleteOptions,
    GraphDefinition,
)

from .conftest import ONE, id_of


def launch_and_sync(graph, stream):
    graph.launch(stream)
    stream.sync()


class TestGraph:
    def test_handle_and_close(self, captured, stream):
        graph = captured.complete()
        assert int(graph.handle) and not graph.is_closed
        assert isinstance(id_of(graph, "cuGraphExecGetId"), (int, type(None)))
        graph.upload(stream)
        graph.launch(stream)
        graph.close()  # the launch continues
        graph.close()
        assert graph.is_closed and int(graph.handle) == 0
        for use in (
            lambda: graph.launch(stream),
            lambda: graph.upload(stream),
            lambda: graph.update(captured),
            lambda: graph.__enter__(),
            lambda: graph.id,
        ):
            with pytest.raises(RuntimeError, match="Graph has been closed"):
                use()

    def test_the_class_cannot_be_called(self):
        with pytest.raises(RuntimeError, match="directly constructing a Graph instance"):
            Graph()

    def test_a_stream_is_required(self, captured):
        with captured.complete() as graph:
            with pytest.raises(TypeError, match="must not be None"):
                graph.launch(None)
            with pytest.raises(TypeError, match="Stream or GraphBuilder expected, got int"):
                graph.launch(3)

    @pytest.mark.parametrize(
        "options",
        [
            None,
            {},
            {"auto_free_on_launch": True},
            GraphCompleteOptions(use_node_priority=True),
        ],
    )
    def test_options(self, captured, numbers, stream, options):
        with captured.complete(options) as graph:
            launch_and_sync(graph, stream)
        assert numbers[0] == 1

    def test_upload_during_complete(self, captured, stream):
        captured.complete({"upload_stream": stream}).close()
        with pytest.raises(TypeError, match="Stream or GraphBuilder expected"):
            captured.complete({"upload_stream": 3})
        with pytest.raises(TypeError, match="unexpected keyword"):
            captured.complete({"x": 3})

    def test_a_graph_that_cannot_run_reports_the_reason(self, graph):
        first = graph.empty()
        second = first.join()
        try:
            first.pred.add(second)
        except CUDAError:
            pytest.skip("the driver refuses the edge itself")
        with pytest.raises(RuntimeError, match="invalid structure, such as cycles"):
            graph.instantiate()


class TestUpdate:
    def test_it_adopts_parameters_and_references(self, captured, graph, add, numbers, stream):
        graph.launch(ONE, add, numbers.buffer, 5)
        with captured.complete() as executable:
            executable.update(graph)
            launch_and_sync(executable, stream)
            assert numbers[0] == 5
            executable.update(captured)
            launch_and_sync(executable, stream)
            assert numbers[0] == 6

    def test_another_topology_is_refused_and_changes_nothing(
        self, captured, graph, add, numbers, stream
    ):
        graph.launch(ONE, add, numbers.buffer, 5).launch(ONE, add, numbers.buffer, 5)
        with captured.complete() as executable:
            with pytest.raises(CUDAError, match="^Graph update failed: CU_GRAPH_EXEC_UPDATE"):
                executable.update(graph)
            with pytest.raises(RuntimeError, match="Graph update failed"):  # as in 0.x
                executable.update(graph)
            launch_and_sync(executable, stream)
        assert numbers[0] == 1

    def test_errors(self, captured, device):
        with captured.complete() as executable:
            with pytest.raises(TypeError, match="expected GraphBuilder or GraphDefinition, got in"):
                executable.update(3)
            builder = device.create_graph_builder()
            with pytest.raises(ValueError, match="Graph has not finished building."):
                executable.update(builder)
            builder.close()
            with pytest.raises(RuntimeError, match="GraphBuilder has been closed"):
                executable.update(builder)
            child = GraphDefinition()
            node = GraphDefinition().embed(child)
            inside = node.child_graph
            node.destroy()
            with pytest.raises(RuntimeError, match="GraphDefinition is no longer valid"):
                executable.update(inside)


class TestViews:
    def test_kernel(self, graph, add, numbers, stream):
        node = graph.launch(ONE, add, numbers.buffer, 1)
        with graph.instantiate() as executable, graph.instantiate() as other:
            view = executable[node]
            assert type(view) is ExecutableKernelNode and view.is_enabled
            view.update(config=ONE, kernel=add, args=(numbers.buffer, 5))
            launch_and_sync(executable, stream)
            assert numbers[0] == 5
            launch_and_sync(other, stream)
            assert numbers[0] == 6  # the definition and other executables are unchanged
            view.disable()
            assert not view.is_enabled
            launch_and_sync(executable, stream)
            assert numbers[0] == 6
            view.enable()
            launch_and_sync(executable, stream)
            assert numbers[0] == 11

    def test_memset_and_memcpy(self, graph, numbers, stream):
        source = (ctypes.c_uint32 * 2)(7, 8)
        fill = graph.memset(numbers.buffer, 1, 64)
        copy = fill.memcpy(numbers.buffer, ctypes.addressof(source), 4, src_owner=source)
        with graph.instantiate() as executable:
            assert type(executable[fill]) is ExecutableMemsetNode
            assert type(executable[copy]) is ExecutableMemcpyNode
            executable[fill].update(dst=numbers.buffer, value=2, width=64)
            executable[copy].update(dst=numbers.buffer, src=ctypes.addressof(source), size=8)
            launch_and_sync(executable, stream)
        assert list(numbers.values[:3]) == [7, 8, 0x02020202]

    def test_callback_event_and_child(self, graph, add, numbers, device, stream):
        calls = []
        child, other = GraphDefinition(), GraphDefinition()
        child.launch(ONE, add, numbers.buffer, 1)
        other.launch(ONE, add, numbers.buffer, 7)
        call = graph.callback(lambda: calls.append(1))
        mark, below = graph.record(device.create_event()), graph.embed(child)
        event = device.create_event()
        with graph.instantiate() as executable:
            assert type(executable[call]) is ExecutableHostCallbackNode
            assert type(executable[mark]) is ExecutableEventRecordNode
            assert type(executable[below]) is ExecutableChildGraphNode
            executable[call].update(lambda: calls.append(2))
            executable[mark].update(event)
            executable[below].update(other)
            launch_and_sync(executable, stream)
        assert calls == [2] and event.is_done and numbers[0] == 7

    def test_errors(self, graph, add, numbers):
        node, empty = graph.launch(ONE, add, numbers.buffer, 1), graph.empty()
        executable = graph.instantiate()
        with pytest.raises(TypeError, match="EmptyNode does not support executable updates"):
            executable[empty]
        with pytest.raises(TypeError, match="must be a GraphNode .*, got int"):
            executable[3]
        with pytest.raises(ValueError, match="is not a node of the definition"):
            executable[GraphDefinition().memset(numbers.buffer, 0, 1)]
        view = executable[node]
        with pytest.raises(TypeError):
            view.update(config=ONE)
        with pytest.raises(NotImplementedError, match="clustered or cooperative"):
            config = LaunchConfig(grid=1, block=1, is_cooperative=True)
            view.update(config=config, kernel=add, args=(numbers.buffer, 1))
        node.destroy()
        for use in (lambda: view.is_enabled, view.enable, lambda: executable[node]):
            with pytest.raises(RuntimeError, match="GraphNode has been destroyed"):
                use()
        executable.close()
        with pytest.raises(RuntimeError, match="Graph has been closed"):
            executable[empty]
        with pytest.raises(RuntimeError, match="directly constructing an executable graph node"):
            ExecutableKernelNode()

    def test_a_view_obtained_before_close_stays_usable(self, graph, add, numbers):
        node = graph.launch(ONE, add, numbers.buffer, 1)
        executable = graph.instantiate()
        view = executable[node]
        executable.close()
        view.disable()
        assert not view.is_enabled
        assert "ExecutableKernelNode" in repr(view) and "KernelNode" in repr(view)


def test_launch_errors_of_the_driver_propagate(captured, stream, emulation):
    with (
        captured.complete() as graph,
        emulation.inject("cuGraphLaunch", error="CUDA_ERROR_INVALID_CONTEXT"),
        pytest.raises(CUDAError, match="INVALID_CONTEXT"),
    ):
        graph.launch(stream)


def test_a_graph_is_launched_while_a_stream_captures_in_another_mode(captured, device, stream):
    """In relaxed mode, other streams are unaffected."""
    with device.create_graph_builder() as builder, captured.complete() as graph:
        builder.begin_building()
        launch_and_sync(graph, stream)
        assert builder.is_building


def test_launches_do_not_overlap(captured, numbers, device):
    with captured.complete() as graph:
        streams = [device.create_stream() for _ in range(4)]
        for _ in range(8):
            for each in streams:
                graph.launch(each)
        for each in streams:
            each.sync()
    assert numbers[0] == 32


def test_plain_launches_work_during_a_capture_of_another_stream(device, stream, add, numbers):
    with device.create_graph_builder() as builder:
        builder.begin_building()
        launch(stream, ONE, add, numbers.buffer, 1)
        stream.sync()
    assert numbers[0] == 1

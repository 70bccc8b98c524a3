# SPDX-License-Identifier: Apache-2.0
"""Hostile uses of graphs: closed during calls, forked, still running at exit."""

import functools
import os
import subprocess
import sys
import textwrap
import threading
from collections import Counter

import pytest
from cuda.core import CUDAError, launch
from cuda.core.graph import GraphDefinition

from ...threads import run_together
from .conftest import ONE

PRELUDE = """
    import os, threading
    from cuda.core import CUDAError, Device
    from cuda.core.graph import GraphDefinition
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
"""


NEVER_RETURNING = """
graph = GraphDefinition()
graph.callback(threading.Event().wait)
executable = graph.instantiate()
executable.launch(stream)
print("end")
"""


def run_program(text):
    text = textwrap.dedent(PRELUDE) + textwrap.dedent(text)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=300, env=os.environ
    )
    stderr = [line for line in done.stderr.splitlines() if "CUDA is emulated" not in line]
    return done.returncode, done.stdout, stderr


@pytest.fixture(scope="module", autouse=True)
def never_returning(start_python):
    """Start a program that waits for five seconds at exit, beside the other tests of this file."""
    return start_python(textwrap.dedent(PRELUDE) + NEVER_RETURNING, allowed=[""])


class Closing:
    """An argument that runs an action while it is converted."""

    def __init__(self, action):
        self.action = action

    def __index__(self):
        self.action()
        return 1

    def __cuda_kernel_arg__(self):
        self.action()
        return 1


class TestClosedWhileAnArgumentIsConverted:
    def test_the_builder_of_a_launch(self, device, add, numbers):
        builder = device.create_graph_builder().begin_building()
        with pytest.raises(RuntimeError, match="has been closed"):
            launch(builder, ONE, add, numbers.buffer, Closing(builder.close))
        assert builder.is_closed

    def test_the_builder_of_a_fill(self, stream, numbers):
        builder = stream.create_graph_builder().begin_building()
        numbers.buffer.fill(Closing(builder.close), stream=builder)  # the user's stream stays open
        stream.sync()
        assert numbers[0] == 0x01010101

    def test_the_node_that_is_updated(self, graph, add, numbers):
        node = graph.launch(ONE, add, numbers.buffer, 1)
        with pytest.raises(RuntimeError, match="GraphNode has been destroyed"):
            node.update(args=(numbers.buffer, Closing(node.destroy)))

    def test_the_node_that_comes_before(self, graph, add, numbers):
        node = graph.empty()
        with pytest.raises(RuntimeError, match="GraphNode has been destroyed"):
            node.launch(ONE, add, numbers.buffer, Closing(node.destroy))
        with pytest.raises(RuntimeError, match="GraphNode has been destroyed"):
            other = graph.empty()
            other.memset(numbers.buffer, Closing(other.destroy), 1)
        assert graph.nodes() == set()

    def test_the_graph_that_a_child_belongs_to(self, graph, add, numbers):
        node = graph.embed(GraphDefinition())
        child = node.child_graph
        with pytest.raises(RuntimeError, match="GraphDefinition is no longer valid"):
            child.launch(ONE, add, numbers.buffer, Closing(node.destroy))

    def test_the_buffer(self, graph, add):
        from cuda.core import LegacyPinnedMemoryResource

        buffer = LegacyPinnedMemoryResource().allocate(4)
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            graph.memset(buffer, Closing(buffer.close), 1)
        assert graph.nodes() == set()


class TestOtherThreads:
    def test_another_thread_ends_a_relaxed_capture(self, device, add, numbers, stream):
        builder = device.create_graph_builder().begin_building()
        launch(builder, ONE, add, numbers.buffer, 1)
        thread = threading.Thread(target=builder.end_building)
        thread.start()
        thread.join()
        builder.complete().launch(stream)
        stream.sync()
        builder.close()
        assert numbers[0] == 1

    def test_another_thread_cannot_end_a_global_capture(self, device, in_new_thread):
        builder = device.create_graph_builder().begin_building("global")

        def end():
            with pytest.raises(CUDAError, match="WRONG_THREAD"):
                builder.end_building()

        in_new_thread(end)
        with pytest.raises(RuntimeError, match="not building"):  # the attempt ended the capture
            builder.end_building()
        builder.close()

    def test_threads_launch_a_graph_that_another_closes(self, captured, device):
        graph = captured.complete()
        errors = []

        def work():
            device.set_current()
            stream = device.create_stream()
            try:
                for _ in range(200):
                    graph.launch(stream)
            except RuntimeError as error:
                errors.append(str(error))
            stream.sync()

        threads = [threading.Thread(target=work) for _ in range(3)]
        for each in threads:
            each.start()
        graph.close()
        for each in threads:
            each.join()
        assert set(errors) <= {"Graph has been closed"}

    def test_one_thread_changes_a_graph_that_others_launch(self, graph, add, numbers, device):
        node = graph.launch(ONE, add, numbers.buffer, 1)
        executable = graph.instantiate()
        view, turns, values = executable[node], 60, set()

        def work():
            device.set_current()
            stream = device.create_stream()
            for _ in range(turns):
                executable.launch(stream)
                stream.sync()

        def change():
            device.set_current()
            for value in range(1, turns + 1):
                view.update(config=ONE, kernel=add, args=(numbers.buffer, 1))
                node.update(args=(numbers.buffer, 1))
                executable.update(graph)
                values.add(value)

        run_together(work, work, change, change)
        assert numbers[0] == 2 * turns and len(values) == turns

    def test_threads_build_one_definition_and_instantiate_it(self, graph, add, numbers, device):
        count = 40

        def build():
            device.set_current()
            for _ in range(count):
                node = graph.launch(ONE, add, numbers.buffer, 1)
                node.update(args=(numbers.buffer, 2))
                graph.launch(ONE, add, numbers.buffer, 1).destroy()

        def instantiate():
            device.set_current()
            for _ in range(count):
                graph.instantiate().close()
                assert len(graph.edges()) == 0 and len(graph.nodes()) <= 3 * count + 3

        run_together(build, build, build, instantiate, instantiate)
        assert len(graph.nodes()) == 3 * count

    def test_nodes_are_destroyed_while_other_threads_query_them(
        self, graph, add, numbers, device, switching_collector
    ):
        center = graph.empty()
        for _ in range(20):  # their objects are dropped, so each query describes them anew
            center.launch(ONE, add, numbers.buffer, 1)
        is_done = threading.Event()

        def change():
            device.set_current()
            try:
                for _ in range(4000):
                    graph.memset(numbers.buffer, 0, 4).succ = {center}
                    (node,) = center.pred
                    node.destroy()
            finally:
                is_done.set()

        def until_done(query):
            device.set_current()
            while not is_done.is_set():
                query()

        run_together(
            change,
            lambda: until_done(lambda: [repr(node) for node in graph.nodes()]),
            lambda: until_done(lambda: [first.type for first, _ in graph.edges()]),
            lambda: until_done(lambda: list(center.pred)),
            lambda: until_done(lambda: GraphDefinition().embed(graph)),
            lambda: until_done(lambda: graph.instantiate().close()),
        )
        assert len(graph.nodes()) == 21

    def test_a_node_is_destroyed_while_another_thread_waits_to_change_it(
        self, graph, add, numbers, device
    ):
        def use(node):
            device.set_current()
            executable = graph.instantiate()
            for _ in range(20):
                try:
                    node.update(args=(numbers.buffer, 2))
                    executable[node].update(config=ONE, kernel=add, args=(numbers.buffer, 1))
                    node.join()
                except (RuntimeError, ValueError) as error:
                    assert "destroyed" in str(error) or "not a node" in str(error)
                    return

        def instantiate():
            device.set_current()
            for _ in range(5):
                graph.instantiate().close()

        for _ in range(10):
            node = graph.launch(ONE, add, numbers.buffer, 1)
            change = functools.partial(use, node)
            run_together(change, change, instantiate, node.destroy)
            assert not node.is_valid

    def test_a_launch_that_waits_for_a_callback_blocks_no_other_thread(self, graph, device):
        """The callback acquires the GIL, so no waiting thread may hold it."""
        entered, gate = threading.Event(), threading.Event()
        graph.callback(lambda: entered.set() or gate.wait(30))
        executable = graph.instantiate()

        def work():
            device.set_current()
            with device.create_stream() as stream:
                executable.launch(stream)
                stream.sync()

        def open_gate():
            assert entered.wait(30)
            threading.Timer(0.05, gate.set).start()

        run_together(work, work, open_gate)
        executable.close()


class TestCallbacks:
    def test_a_callback_that_changes_its_graph(self, graph, numbers, stream):
        errors = []

        def change():
            try:
                graph.memset(numbers.buffer, 1, 64)
            except CUDAError as error:  # a GPU's driver permits no calls inside a callback
                errors.append(error)

        graph.callback(change)
        with graph.instantiate() as executable:
            executable.launch(stream)
            stream.sync()
        assert len(graph.nodes()) == 2 - len(errors)

    def test_a_callback_that_closes_its_graph(self, graph, stream):
        graphs = []
        graph.callback(lambda: graphs[0].close())
        graphs.append(graph.instantiate())
        graphs[0].launch(stream)
        stream.sync()
        assert graphs.pop().is_closed
        graph.instantiate().close()  # the driver defers the destruction inside a callback

    @pytest.mark.parametrize(
        ("function", "kind"),
        [("cuGraphDestroy", "graph"), ("cuGraphExecDestroy", "executable graph")],
    )
    @pytest.mark.parametrize(
        ("following", "difference"),
        [
            ("creation", {"graph": 1}),
            ("graph", {"graph": -1}),
            ("executable", {"executable graph": -1}),
        ],
    )
    def test_the_next_creation_or_destruction_repeats_a_refused_one(
        self, graph, emulation, function, kind, following, difference
    ):
        """A driver permits no destruction inside a callback of another graph."""
        refused = {"cuGraphDestroy": GraphDefinition(), "cuGraphExecDestroy": graph.instantiate()}
        objects = {"graph": GraphDefinition(), "executable": graph.instantiate()}
        before = Counter(each.kind for each in emulation.leaks())
        with emulation.inject(function, error="CUDA_ERROR_NOT_PERMITTED"):
            del refused[function]
        assert Counter(each.kind for each in emulation.leaks()) == before
        objects.pop(following, None)
        created = GraphDefinition() if following == "creation" else None
        before.update(difference)
        before[kind] -= 1
        assert Counter(each.kind for each in emulation.leaks()) == before
        del created

    def test_a_callback_in_a_graph_of_its_own(self, device, stream):
        """Objects that only the launch retains are destroyed while it runs."""
        calls = []
        definition = GraphDefinition()
        definition.callback(lambda: calls.append(1))
        definition.instantiate().launch(stream)
        del definition
        stream.sync()
        assert calls == [1]


class TestProcess:
    def test_exit_with_graphs_in_flight(self):
        status, _, stderr = run_program(
            """
            graph = GraphDefinition()
            calls = []
            graph.callback(lambda: calls.append(1))
            executable = graph.instantiate()
            for _ in range(100):
                executable.launch(stream)
            """
        )
        assert status == 0 and [line for line in stderr if "still queued" not in line] == []

    def test_exit_in_the_middle_of_a_capture(self):
        status, _, stderr = run_program(
            """
            builder = device.create_graph_builder().begin_building()
            builder.callback(print)
            body = builder.if_then(builder.create_condition(1)).begin_building()
            """
        )
        assert (status, stderr) == (0, [])

    def test_exit_while_threads_launch_and_change_a_graph(self):
        status, _, stderr = run_program(
            """
            graph = GraphDefinition()
            node = graph.callback(dict)
            executable = graph.instantiate()
            def go():
                device.set_current()
                own = device.create_stream()
                while True:
                    executable.launch(own)
                    own.sync()
            def change():
                device.set_current()
                while True:
                    node.update(list)
                    executable.update(graph)
            for each in (go, go, change):
                threading.Thread(target=each, daemon=True).start()
            threading.Event().wait(0.2)
            """
        )
        assert status == 0 and [line for line in stderr if "still queued" not in line] == []

    def test_a_forked_child_while_a_thread_is_in_the_driver(self):
        status, out, stderr = run_program(
            """
            graph = GraphDefinition()
            graph.empty()
            graph.instantiate()  # nothing is imported in the thread
            stop = threading.Event()
            def work():
                device.set_current()
                while not stop.is_set():
                    graph.instantiate().close()
            thread = threading.Thread(target=work)
            thread.start()
            statuses = []
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    try:
                        graph.empty()
                    except CUDAError:
                        os._exit(0)
                    os._exit(1)
                statuses.append(os.waitpid(child, 0)[1])
            stop.set()
            thread.join()
            print(statuses)
            """
        )
        assert (status, out, stderr) == (0, "[0, 0, 0, 0, 0]\n", [])

    def test_exit_while_a_callback_never_returns(self, never_returning):
        assert never_returning() == "end\n"

    def test_a_fork_leaves_the_graphs_to_the_parent(self):
        status, out, stderr = run_program(
            """
            import sys
            builder = device.create_graph_builder().begin_building()
            graph = GraphDefinition()
            calls = []
            node = graph.callback(lambda: calls.append(1))
            executable = graph.instantiate()
            child = os.fork()
            if child == 0:
                del builder, graph, node, executable
                sys.exit(0)
            _, status = os.waitpid(child, 0)
            executable.launch(stream)
            builder.end_building()
            stream.sync()
            print(status, calls)
            """
        )
        assert (status, out, stderr) == (0, "0 [1]\n", [])

    def test_a_reset_context(self):
        status, out, stderr = run_program(
            """
            from cuda.bindings import driver
            graph = GraphDefinition()
            graph.callback(print)
            executable = graph.instantiate()
            driver.cuDevicePrimaryCtxReset(0)
            executable.close()
            del graph
            print("end")
            """
        )
        assert (status, out, stderr) == (0, "end\n", [])

# SPDX-License-Identifier: Apache-2.0
"""A graph retains every object that it uses, and releases it with the last graph that needs it."""

import ctypes
import gc
import threading
import time
import weakref

import numpy as np
import pytest
from cuda.core import CUDAError, LegacyPinnedMemoryResource, MemoryResource, launch
from cuda.core.graph import GraphDefinition
from cuda.core.utils import StridedMemoryView

from .conftest import ONE

PATIENCE = 30  # seconds that a thread of the driver may take on a busy machine


class TrackedResource(MemoryResource):
    """Pinned memory that tracks its live allocations."""

    def __init__(self):
        self.upstream_resource, self.live = LegacyPinnedMemoryResource(), {}

    def allocate(self, size, *, stream=None):
        from cuda.core import Buffer

        buffer = self.upstream_resource.allocate(size)
        self.live[int(buffer.handle)] = buffer
        return Buffer.from_handle(int(buffer.handle), size, mr=self)

    def deallocate(self, ptr, size, *, stream=None):
        self.live.pop(int(ptr)).close()

    is_device_accessible = is_host_accessible = True
    device_id = -1


@pytest.fixture
def memory(device):
    return TrackedResource()


@pytest.fixture
def settled(emulation):
    """Return a function that waits until driver threads have freed all but some allocations."""

    def settle(resource, count=0):
        deadline = time.monotonic() + PATIENCE
        while len(resource.live) != count and time.monotonic() < deadline:
            gc.collect()
            emulation.settle()
            ctypes.pythonapi.Py_MakePendingCalls()
            time.sleep(0.001)
        return len(resource.live) == count

    return settle


def number_of(buffer):
    return ctypes.c_uint32.from_address(int(buffer.handle))


def build(kind, device, add, buffer):
    """Return a definition or builder that adds 1 to a number, and its executable."""
    if "view" in kind:
        buffer = StridedMemoryView.from_buffer(buffer, (4,), dtype=np.uint8)
    if "definition" in kind:
        definition = GraphDefinition()
        definition.launch(ONE, add, buffer, 1)
        return definition, definition.instantiate()
    builder = device.create_graph_builder().begin_building()
    if kind in ("builder", "view"):
        launch(builder, ONE, add, buffer, 1)
    elif kind == "stream of a builder":
        launch(builder.stream, ONE, add, buffer, 1)
    elif "prepared launch" in kind:
        add.prepare(ONE, buffer, 1)(builder)
    else:
        buffer.fill(b"\x01\x00\x00\x00", stream=builder)
    return builder.end_building(), builder.complete()


KINDS = ["definition", "builder", "stream of a builder", "prepared launch", "fill"]
KINDS += ["view", "definition with a view", "prepared launch with a view"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_allocation_outlives_the_buffer(kind, device, add, memory, stream, settled):
    buffer = memory.allocate(4)
    number, address = number_of(buffer), int(buffer.handle)
    number.value = 0
    source, graph = build(kind, device, add, buffer)
    buffer.close()
    if hasattr(source, "close"):
        source.close()
    del source, buffer
    gc.collect()
    assert address in memory.live
    graph.launch(stream)
    stream.sync()
    assert number.value == 1
    graph.close()
    del graph
    assert settled(memory)


def test_the_buffer_object_itself_is_retained(device, add, memory, settled):
    buffer = memory.allocate(4)
    graph = GraphDefinition()
    graph.launch(ONE, add, buffer, 1)
    reference = weakref.ref(buffer)
    del buffer
    gc.collect()
    assert reference() is not None and memory.live
    del graph
    assert settled(memory)


def test_addresses_are_not_retained(device, add, memory):
    buffer = memory.allocate(4)
    graph = GraphDefinition()
    graph.launch(ONE, add, int(buffer.handle), 1)
    buffer.close()
    assert not memory.live and len(graph.nodes()) == 1


def test_a_capture_can_retain_nothing(device, add, memory):
    buffer = memory.allocate(4)
    builder = device.create_graph_builder().begin_building(retain_operands=False)
    launch(builder, ONE, add, buffer, 1)
    builder.end_building()
    buffer.close()
    assert not memory.live
    builder.close()


def test_the_kernel_outlives_its_module(device, load_kernel, numbers, stream):
    from .conftest import ADD

    graph = GraphDefinition()
    graph.launch(
        ONE, load_kernel(".param .u64 out, .param .u32 value", ADD, name="add"), numbers.buffer, 3
    )
    gc.collect()
    graph.instantiate().launch(stream)
    stream.sync()
    assert numbers[0] == 3


def test_objects_among_the_arguments_are_retained(device, load_kernel, is_collected):
    class Argument:
        def __cuda_kernel_arg__(self):
            return 7

    kernel = load_kernel(".param .u32 value")
    argument = Argument()
    reference = weakref.ref(argument)
    graph = GraphDefinition()
    graph.launch(ONE, kernel, argument)
    del argument
    gc.collect()
    assert reference() is not None
    del graph
    assert is_collected(reference)


@pytest.mark.parametrize("drop", ["destroy", "update", "definition"])
def test_operands_are_released_with_the_node(drop, device, add, memory, numbers, settled):
    buffer = memory.allocate(4)
    graph = GraphDefinition()
    node = graph.launch(ONE, add, buffer, 1)
    other = graph.launch(ONE, add, numbers.buffer, 1)
    buffer.close()
    assert memory.live
    if drop == "destroy":
        node.destroy()
    elif drop == "update":
        node.update(args=(numbers.buffer, 1))
    else:
        del graph, node
        other = None
    assert settled(memory)
    assert other is None or other.is_valid


def test_executables_retain_operands_that_the_definition_released(
    device, add, memory, stream, settled
):
    buffer = memory.allocate(4)
    number = number_of(buffer)
    number.value = 0
    graph = GraphDefinition()
    node = graph.launch(ONE, add, buffer, 1)
    executable = graph.instantiate()
    buffer.close()
    node.destroy()
    del graph, node
    gc.collect()
    executable.launch(stream)
    stream.sync()
    assert number.value == 1
    executable.close()
    assert settled(memory)


def test_operands_added_later_are_not_retained_by_earlier_executables(device, add, memory, settled):
    graph = GraphDefinition()
    first, second = memory.allocate(4), memory.allocate(4)
    graph.launch(ONE, add, first, 1)
    executable = graph.instantiate()
    graph.launch(ONE, add, second, 1)
    address = int(first.handle)
    first.close()
    second.close()
    del graph
    assert settled(memory, 1) and address in memory.live
    executable.close()
    assert settled(memory)


def test_a_running_launch_retains_everything(device, add, memory, settled, stream):
    """The graph is closed and all other objects are dropped while the launch runs."""
    import threading

    go = threading.Event()
    buffer = memory.allocate(4)
    number = number_of(buffer)
    number.value = 0
    graph = GraphDefinition()
    graph.callback(go.wait).launch(ONE, add, buffer, 1)
    executable = graph.instantiate()
    buffer.close()
    executable.launch(stream)
    executable.close()
    del graph, executable
    gc.collect()
    assert memory.live
    go.set()
    stream.sync()
    assert settled(memory)


def test_copies_of_a_child_retain_its_operands(device, add, memory, stream, settled):
    buffer = memory.allocate(4)
    number = number_of(buffer)
    number.value = 0
    child, graph = GraphDefinition(), GraphDefinition()
    child.launch(ONE, add, buffer, 1)
    graph.embed(child)
    buffer.close()
    del child
    gc.collect()
    executable = graph.instantiate()
    del graph
    gc.collect()
    executable.launch(stream)
    stream.sync()
    assert number.value == 1
    executable.close()
    assert settled(memory)


def test_an_update_releases_the_old_operands(device, add, memory, stream, settled):
    first, second = memory.allocate(4), memory.allocate(4)
    number = number_of(second)
    number.value = 0
    graph, other = GraphDefinition(), GraphDefinition()
    graph.launch(ONE, add, first, 1)
    other.launch(ONE, add, second, 1)
    executable = graph.instantiate()
    executable.update(other)
    address = int(second.handle)
    first.close()
    second.close()
    del graph, other
    assert settled(memory, 1) and address in memory.live
    executable.launch(stream)
    stream.sync()
    assert number.value == 1
    executable.close()
    assert settled(memory)


def test_operands_of_views_are_retained_by_the_executable(
    device, add, memory, numbers, stream, settled
):
    buffer, other = memory.allocate(4), memory.allocate(4)
    number = number_of(buffer)
    number.value = 0
    graph = GraphDefinition()
    node = graph.launch(ONE, add, numbers.buffer, 1)
    executable = graph.instantiate()
    executable[node].update(config=ONE, kernel=add, args=(buffer, 1))
    address = int(buffer.handle)
    buffer.close()
    executable.launch(stream)
    stream.sync()
    assert number.value == 1 and address in memory.live
    executable[node].update(config=ONE, kernel=add, args=(other, 1))
    executable.launch(stream)
    stream.sync()
    other.close()
    executable.close()
    del graph, node, executable
    gc.collect()
    stream.record().sync()
    buffer = numbers.buffer
    source = (ctypes.c_uint32 * 16)()
    buffer.copy_from(source, stream=stream)  # releases the operands of completed launches
    stream.sync()
    assert settled(memory)


@pytest.mark.parametrize("change", ["callback", "operand"])
def test_the_collector_releases_nothing_of_a_running_launch(
    change, device, add, memory, numbers, stream, settled
):
    class Owner:
        pass

    calls, gate, buffer = [], threading.Event(), memory.allocate(4)
    address = int(buffer.handle)
    definition = GraphDefinition()
    first = definition.callback(lambda: gate.wait(30))
    node = first.launch(ONE, add, numbers.buffer, 1)
    call = node.callback(lambda: calls.append("as built"))
    owner = Owner()
    owner.itself, owner.executable = owner, definition.instantiate()
    if change == "callback":
        owner.executable[call].update(lambda: calls.append("changed"))
    else:
        owner.executable[node].update(config=ONE, kernel=add, args=(buffer, 1))
    buffer.close()
    owner.executable.launch(stream)
    del definition, first, call, node, buffer, owner
    gc.collect()  # the owner is in a reference cycle: its attributes are cleared, not destroyed
    assert (address in memory.live) == (change == "operand")
    gate.set()
    stream.sync()
    assert calls == ["changed" if change == "callback" else "as built"]
    numbers.buffer.copy_from((ctypes.c_uint32 * 16)(), stream=stream)  # releases completed operands
    stream.sync()
    assert settled(memory)


def test_owners_of_addresses_are_retained(device, numbers, is_collected):
    class Owner:
        pass

    owner = Owner()
    reference = weakref.ref(owner)
    graph = GraphDefinition()
    node = graph.memset(int(numbers.buffer.handle), 0, 4, dst_owner=owner)
    del owner
    gc.collect()
    assert reference() is not None
    node.destroy()
    assert is_collected(reference)
    assert graph.nodes() == set()


def test_a_callable_is_retained_until_the_last_executable_is_destroyed(
    device, stream, is_collected
):
    class Function:
        def __init__(self):
            self.calls = 0

        def __call__(self):
            self.calls += 1

    function = Function()
    reference = weakref.ref(function)
    graph = GraphDefinition()
    graph.callback(function)
    executable = graph.instantiate()
    del graph, function
    gc.collect()
    executable.launch(stream)
    stream.sync()
    assert reference().calls == 1
    executable.close()
    assert is_collected(reference)


@pytest.mark.parametrize("function", ["cuUserObjectCreate", "cuGraphRetainUserObject"])
def test_a_refused_retention_leaves_no_node(function, device, add, memory, emulation, settled):
    buffer = memory.allocate(4)
    graph = GraphDefinition()
    with emulation.inject(function), pytest.raises(CUDAError):
        graph.launch(ONE, add, buffer, 1)
    assert graph.nodes() == set()
    graph.launch(ONE, add, buffer, 1)
    buffer.close()
    del graph
    assert settled(memory)


def test_a_refused_node_retains_nothing(device, add, memory, emulation, settled):
    buffer = memory.allocate(4)
    graph = GraphDefinition()
    with emulation.inject("cuGraphAddNode"), pytest.raises(CUDAError):
        graph.launch(ONE, add, buffer, 1)
    buffer.close()
    assert graph.nodes() == set()
    assert settled(memory)


def test_a_refused_update_keeps_the_old_operands(device, add, memory, stream, emulation, settled):
    buffer, other = memory.allocate(4), memory.allocate(4)
    number = number_of(buffer)
    number.value = 0
    graph = GraphDefinition()
    node = graph.launch(ONE, add, buffer, 1)
    with emulation.inject("cuGraphNodeSetParams"), pytest.raises(CUDAError):
        node.update(args=(other, 1))
    buffer.close()
    graph.instantiate().launch(stream)
    stream.sync()
    assert number.value == 1
    other.close()
    del graph, node
    assert settled(memory)


def test_many_nodes_share_a_few_user_objects(device, add, numbers, emulation):
    graph = GraphDefinition()
    with emulation.inject(
        "cuUserObjectCreate", nth=10**6, error="CUDA_ERROR_UNKNOWN", optional=True
    ) as calls:
        for _ in range(320):
            graph.launch(ONE, add, numbers.buffer, 1)
    assert calls.matches == 10


def test_all_launches_of_a_capture_share_a_user_object(device, add, numbers, emulation):
    builder = device.create_graph_builder().begin_building()
    with emulation.inject(
        "cuUserObjectCreate", nth=10**6, error="CUDA_ERROR_UNKNOWN", optional=True
    ) as calls:
        for _ in range(320):
            launch(builder, ONE, add, numbers.buffer, 1)
        numbers.buffer.fill(0, stream=builder)
    assert calls.matches == 1
    builder.end_building().close()


def test_interleaved_captures_retain_their_own_operands(device, add, memory, stream, settled):
    """The references of one capture end with its graph, while the other capture continues."""
    first, second = (device.create_graph_builder().begin_building("relaxed") for _ in range(2))
    buffers = [memory.allocate(4) for _ in range(4)]
    for builder, buffer in zip((first, second, first, second), buffers, strict=True):
        launch(builder, ONE, add, buffer, 1)
        buffer.close()
    first.end_building().close()
    assert settled(memory, 2)
    graph = second.end_building().complete()
    second.close()
    graph.launch(stream)
    stream.sync()
    assert len(memory.live) == 2
    graph.close()
    del graph
    assert settled(memory)


class ActingResource(TrackedResource):
    """A resource with an upstream resource that runs an action when it is queried."""

    _is_adaptor = True
    action = staticmethod(lambda: None)

    @property
    def upstream(self):
        self.action()
        return self.upstream_resource


def test_a_node_is_destroyed_while_the_operands_of_another_are_retained(
    device, add, stream, settled
):
    memory, graph = ActingResource(), GraphDefinition()
    buffers = [memory.allocate(4) for _ in range(3)]
    numbers = [number_of(buffer) for buffer in buffers]
    for number in numbers:
        number.value = 0
    node = graph.launch(ONE, add, buffers[0], 1)
    memory.action = node.destroy
    later = graph.launch(ONE, add, buffers[1], 1)
    memory.action = ActingResource.action
    graph.launch(ONE, add, buffers[2], 1)
    for buffer in buffers:
        buffer.close()
    assert len(graph.nodes()) == 2
    graph.instantiate().launch(stream)
    stream.sync()
    assert [number.value for number in numbers[1:]] == [1, 1]
    later.destroy()
    assert settled(memory, 1)
    del graph, node, later
    assert settled(memory)


def test_a_failed_retention_of_an_operand_adds_no_node(device, add, settled):
    memory, graph = ActingResource(), GraphDefinition()
    buffers = [memory.allocate(4) for _ in range(2)]
    graph.launch(ONE, add, buffers[0], 1)
    memory.action = {}.popitem
    with pytest.raises(KeyError):
        graph.launch(ONE, add, buffers[1], 1)
    memory.action = ActingResource.action
    buffers[1].close()
    assert len(graph.nodes()) == 1
    assert len(memory.live) == 1
    buffers[0].close()
    del graph
    assert settled(memory)


def test_the_buffer_of_a_captured_value_is_retained(device, memory, stream, settled):
    buffer = memory.allocate(64)
    number = number_of(buffer)
    number.value = 0
    builder = device.create_graph_builder().begin_building()
    builder.stream.write_value(buffer, 7)
    builder.stream.reduce_value("add", buffer, 2)
    executable = builder.end_building().complete()
    builder.close()
    del builder
    buffer.close()
    assert (len(memory.live), number.value) == (1, 0)
    executable.launch(stream)
    stream.sync()
    assert number.value == 9
    executable.close()
    assert settled(memory)


@pytest.mark.parametrize("through", ["builder", "stream of a builder"])
def test_views_of_a_captured_copy_retain_their_buffers(through, device, memory, stream, settled):
    buffers = [memory.allocate(4), memory.allocate(4)]
    numbers = [number_of(buffer) for buffer in buffers]
    numbers[0].value, numbers[1].value = 7, 0
    target, source = (
        StridedMemoryView.from_buffer(buffer, (4,), dtype=np.uint8) for buffer in buffers[::-1]
    )
    builder = device.create_graph_builder().begin_building()
    target.copy_from(source, stream=builder if through == "builder" else builder.stream)
    executable = builder.end_building().complete()
    builder.close()
    for buffer in buffers:
        buffer.close()
    del builder, target, source, buffers, buffer
    assert (len(memory.live), numbers[1].value) == (2, 0)
    executable.launch(stream)
    stream.sync()
    assert numbers[1].value == 7
    executable.close()
    assert settled(memory)


def test_a_captured_array_is_retained(device, stream, is_collected):
    numpy = pytest.importorskip("numpy")
    target = LegacyPinnedMemoryResource().allocate(16)
    array = numpy.arange(4, dtype=numpy.uint32)
    reference = weakref.ref(array)
    builder = device.create_graph_builder().begin_building()
    target.copy_from(array, stream=builder)
    graph = builder.end_building().complete()
    builder.close()
    del array
    gc.collect()
    assert reference() is not None
    graph.launch(stream)
    stream.sync()
    assert list(memoryview(target).cast("B").cast("I")) == [0, 1, 2, 3]
    graph.close()
    del graph, builder
    assert is_collected(reference)
    target.close()


@pytest.mark.parametrize("direction", ["copy_to", "copy_from"])
def test_the_buffer_of_a_captured_copy_of_an_array_is_retained(
    direction, device, memory, stream, settled
):
    buffer, array = memory.allocate(4), bytearray([7, 0, 0, 0])
    number = number_of(buffer)
    number.value = 5
    builder = device.create_graph_builder().begin_building()
    getattr(buffer, direction)(array, stream=builder)
    executable = builder.end_building().complete()
    builder.close()
    buffer.close()
    del builder, buffer
    assert (len(memory.live), number.value, array[0]) == (1, 5, 7)
    executable.launch(stream)
    stream.sync()
    assert number.value == array[0] == (7 if direction == "copy_from" else 5)
    executable.close()
    assert settled(memory)


OWNED = {
    "memset": lambda graph, address, owner: graph.memset(address, 1, 4, dst_owner=owner),
    "memcpy to": lambda graph, address, owner: graph.memcpy(
        address, ctypes.addressof(SOURCE), 4, dst_owner=owner
    ),
    "memcpy from": lambda graph, address, owner: graph.memcpy(
        ctypes.addressof(SOURCE), address, 4, src_owner=owner
    ),
}
SOURCE = (ctypes.c_uint8 * 4)(1, 1, 1, 1)


@pytest.mark.parametrize("operation", OWNED)
@pytest.mark.parametrize("drop", ["graph", "node"])
def test_the_memory_of_an_owner_outlives_the_buffer(drop, operation, memory, stream, settled):
    buffer = memory.allocate(4)
    address, number = int(buffer.handle), number_of(buffer)
    number.value = 0x01010101 if operation == "memcpy from" else 0
    graph = GraphDefinition()
    node = OWNED[operation](graph, address, buffer)
    buffer.close()
    assert address in memory.live
    graph.instantiate().launch(stream)
    stream.sync()
    assert number.value == 0x01010101
    if drop == "node":
        node.destroy()
    else:
        del graph, node
    assert settled(memory)


@pytest.mark.parametrize("operation", OWNED)
def test_a_closed_buffer_is_not_an_owner(operation, memory):
    buffer, graph = memory.allocate(4), GraphDefinition()
    address = int(buffer.handle)
    buffer.close()
    with pytest.raises(RuntimeError, match="^Buffer has been closed"):
        OWNED[operation](graph, address, buffer)
    assert graph.nodes() == set()


class Owner:
    """An object that is not a Buffer."""


def copy_with_owners(count, memory, depth=1):
    """Return the owners of nodes, and a graph that contains a copy of these nodes."""
    owners, graph = [Owner() for _ in range(count)], GraphDefinition()
    address = int(memory.handle)
    for owner in owners:
        graph.memset(address, 0, 4, dst_owner=owner)
    for _ in range(depth):
        outer = GraphDefinition()
        outer.embed(graph)
        graph = outer
    references = [weakref.ref(owner) for owner in owners]
    return references, graph


def innermost(graph):
    nodes = sorted(graph.nodes(), key=lambda node: node.id)
    return innermost(nodes[0].child_graph) if hasattr(nodes[0], "child_graph") else nodes


@pytest.mark.usefixtures("node_ids")
@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("change", ["destroy", "update"])
def test_the_nodes_of_a_copy_release_their_objects(change, depth, numbers, is_collected):
    references, graph = copy_with_owners(3, numbers.buffer, depth)
    nodes = innermost(graph)
    for number in (1, 0, 2):
        if change == "destroy":
            nodes[number].destroy()
        else:
            nodes[number].update(dst=int(numbers.buffer.handle))
        assert is_collected(references[number])
        references[number] = None
        assert all(each is None or each() is not None for each in references)


@pytest.mark.usefixtures("node_ids")
def test_a_copy_of_a_copy_releases_objects_after_its_source(numbers, is_collected):
    references, graph = copy_with_owners(2, numbers.buffer)
    outer = GraphDefinition()
    outer.embed(graph)
    innermost(graph)[0].destroy()
    gc.collect()
    assert references[0]() is not None
    del graph
    innermost(outer)[0].destroy()
    assert is_collected(references[0])
    assert references[1]() is not None
    del outer
    assert is_collected(references[1])


def test_an_update_of_one_side_of_a_copied_memcpy_retains_the_other(
    memory, numbers, is_collected, settled
):
    buffer, graph, outer = memory.allocate(4), GraphDefinition(), GraphDefinition()
    owner = Owner()
    reference = weakref.ref(owner)
    address = int(numbers.buffer.handle)
    graph.memcpy(address, int(buffer.handle), 4, dst_owner=owner, src_owner=buffer)
    outer.embed(graph)
    buffer.close()
    del graph, owner
    [node] = innermost(outer)
    node.update(dst=address + 4)
    assert is_collected(reference)
    assert memory.live
    node.destroy()
    assert settled(memory)

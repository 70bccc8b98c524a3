# SPDX-License-Identifier: Apache-2.0
"""Peers that crash, exhausted descriptors, freed memory, forks and threads during sharing."""

import gc
import os
import pickle
import resource as limits
import subprocess
import sys
from itertools import product

import pytest
from cuda.core import Buffer, DeviceMemoryResource, EventOptions
from cuda.core._memory._ipc import IPCAllocationHandle

from ...programs.forking import FORK
from ...threads import run_together
from .peers import PeerError, content_of, open_files

pytestmark = pytest.mark.filterwarnings("ignore:the start method:UserWarning")

EXPORT = """
from cuda.core import DeviceMemoryResource, EventOptions, host_launch
resource = DeviceMemoryResource(device, {"ipc_enabled": True})
buffer = resource.allocate(64, stream=stream)
buffer.fill(5, stream=stream)
stream.sync()
"""


@pytest.mark.parametrize("ending", ["kill", "end"])
def test_memory_stays_valid_after_the_exporter_ends(new_peer, stream, ending):
    exporter = new_peer()
    imported = exporter.run(EXPORT + "result = buffer")
    assert content_of(imported, stream) == b"\5" * 64
    getattr(exporter, ending)()
    assert content_of(imported, stream) == b"\5" * 64
    imported.fill(6, stream=stream)
    assert content_of(imported, stream) == b"\6" * 64
    resource = imported.memory_resource
    imported.close(stream)
    stream.sync()
    resource.close()


@pytest.mark.parametrize("ending", ["kill", "end"])
def test_an_importer_that_ends_affects_no_other(new_peer, buffer, stream, ending):
    importer = new_peer()
    importer.run("buffer.fill(8, stream=stream); stream.sync()", buffer=buffer)
    getattr(importer, ending)()
    assert content_of(buffer, stream) == b"\x08" * 1000
    another = new_peer()
    assert another.run("result = content_of(buffer, stream)", buffer=buffer) == b"\x08" * 1000
    another.run("buffer.close(stream); stream.sync(); del buffer")
    assert another.end() == 0


@pytest.mark.parametrize("first", ["exporter", "importer"])
@pytest.mark.parametrize("endings", list(product(["kill", "end"], repeat=2)))
def test_two_mutual_importers_can_end_in_any_order(new_peer, stream, first, endings):
    """Each peer imports a buffer of the other through this process, which checks the contents."""
    first_peer, second_peer = new_peer(), new_peer()
    before = open_files()
    from_one, from_other = (
        first_peer.run(EXPORT + "result = buffer"),
        second_peer.run(EXPORT + "result = buffer"),
    )
    first_peer.run("theirs.fill(1, stream=stream); stream.sync()", theirs=from_other)
    second_peer.run("theirs.fill(2, stream=stream); stream.sync()", theirs=from_one)
    order = (first_peer, second_peer) if first == "exporter" else (second_peer, first_peer)
    for each, ending in zip(order, endings, strict=True):
        getattr(each, ending)()
        assert content_of(from_one, stream) == b"\2" * 64
        assert content_of(from_other, stream) == b"\1" * 64
    for each in (from_one, from_other):
        resource = each.memory_resource
        each.close(stream)
        stream.sync()
        resource.close()
    del from_one, from_other, each, resource
    gc.collect()
    leaked = [name for name in open_files() if name not in before]
    assert not leaked


@pytest.mark.usefixtures("emulation")
def test_waiting_for_a_killed_process_is_an_error(new_peer, device):
    exporter = new_peer()
    source = """
import threading
from cuda.core import EventOptions, host_launch
gate = threading.Event()
host_launch(stream, gate.wait)
result = event = stream.record(options=EventOptions(ipc_enabled=True))
"""
    with exporter.run(source) as event, device.create_stream() as waiting:
        assert not event.is_done
        waiting.wait(event)
        exporter.kill()
        for wait in (event.sync, waiting.sync):
            with pytest.raises(Exception, match="CUDA_ERROR_EXTERNAL_DEVICE"):
                wait()
        waiting.sync()  # reported only once


def test_an_event_of_a_process_that_ended_is_not_opened(new_peer, device):
    from cuda.core import Event

    exporter = new_peer()
    source = """
from cuda.core import EventOptions
event = stream.record(options=EventOptions(ipc_enabled=True))
result = event.ipc_descriptor
"""
    descriptor = exporter.run(source)
    exporter.end()
    with pytest.raises(RuntimeError, match="Failed to open IPC event handle"):
        Event.from_ipc_descriptor(descriptor)


@pytest.mark.usefixtures("emulation")
def test_a_pickle_of_a_freed_buffer_is_refused(new_peer, resource, stream):
    importer = new_peer()
    buffer = resource.allocate(64, stream=stream)
    descriptor = buffer.ipc_descriptor
    importer.run("", resource=resource)
    buffer.close()
    stream.sync()
    source = """
from cuda.core import Buffer
Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
"""
    with pytest.raises(PeerError, match="the allocation was freed by the process that created it"):
        importer.run(source, descriptor=descriptor)
    with pytest.raises(Exception, match="CUDA_ERROR_INVALID_VALUE"):
        Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
    importer.run("resource.close(); del resource")
    assert importer.end() == 0


@pytest.fixture
def no_descriptors():
    """Open descriptors until only `count` are left for the process; close them at the end."""
    before = limits.getrlimit(limits.RLIMIT_NOFILE)
    descriptors = []

    def leave(count):
        limits.setrlimit(limits.RLIMIT_NOFILE, (min(256, before[0]), before[1]))
        while True:
            try:
                descriptors.append(os.open(os.devnull, os.O_RDONLY))
            except OSError:
                break
        for _ in range(count):
            os.close(descriptors.pop())

    yield leave
    for each in descriptors:
        os.close(each)
    limits.setrlimit(limits.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("emulation")
def test_an_exhausted_descriptor_table_is_reported(device, stream, no_descriptors):
    """The first call without a descriptor reports it, and everything works afterwards."""
    resource = DeviceMemoryResource(device, {"ipc_enabled": True})
    resource.allocation_handle.close()
    no_descriptors(0)
    text = "the process is out of file descriptors|Too many open files"
    for wrong in (
        lambda: DeviceMemoryResource(device, {"ipc_enabled": True}),
        lambda: resource.allocation_handle,
        lambda: stream.record(options=EventOptions(ipc_enabled=True)),
        lambda: DeviceMemoryResource.from_allocation_handle(device, 0),
    ):
        with pytest.raises(Exception, match=text):
            wrong()
    no_descriptors(8)
    with resource.allocate(8, stream=stream) as buffer:
        assert buffer.ipc_descriptor.size == 8
    resource.close()


def test_a_descriptor_that_was_closed_is_an_error(device, new_peer):
    resource = DeviceMemoryResource(device, {"ipc_enabled": True})
    copy = os.dup(int(resource.allocation_handle))
    os.close(copy)
    with pytest.raises(OSError, match="Bad file descriptor"):
        DeviceMemoryResource.from_allocation_handle(device, copy)
    with pytest.raises(OSError, match="Bad file descriptor"):
        DeviceMemoryResource.from_allocation_handle(device, IPCAllocationHandle._init(copy, None))
    resource.close()


def test_failed_imports_are_reported_in_the_importing_process(new_peer, device, stream):
    importer = new_peer()
    resource = DeviceMemoryResource(device, {"ipc_enabled": True})
    importer.run("import cuda.core._sharing")
    buffer = resource.allocate(8, stream=stream)
    plain = pickle.dumps(buffer)
    with pytest.raises(PeerError, match="was not found"):
        importer.run("import pickle; pickle.loads(plain)", plain=plain)
    buffer.close()
    resource.close()
    assert importer.end() == 0


FORKED = """
from cuda.core import Device, DeviceMemoryResource, EventOptions
device = Device(0)
device.set_current()
stream = device.create_stream()
resource = DeviceMemoryResource(device, {"ipc_enabled": True})
buffer = resource.allocate(64, stream=stream)
event = stream.record(options=EventOptions(ipc_enabled=True))
handle, descriptor = resource.allocation_handle, buffer.ipc_descriptor
def child():
    global buffer, event, handle
    assert (descriptor.size, handle.uuid) == (64, resource.uuid)
    buffer.close(); event.close(); handle.close(); resource.close()
    del buffer, event, handle
in_child(child)
buffer.fill(3, stream=stream)
content = bytearray(64)
buffer.copy_to(content, stream=stream)
stream.sync()
assert content == bytes([3]) * 64 and event.is_done and int(handle) >= 0
print("whole")
"""


def test_a_fork_during_sharing_does_not_affect_the_parent():
    program = FORK + FORKED
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300
    )
    assert done.stdout == "whole\n", done.stderr
    assert done.returncode == 0
    assert "Warning" not in done.stderr


def test_threads_import_and_close_the_same_memory(new_peer, device, stream):
    exporter = new_peer()
    imported = exporter.run(EXPORT + "result = buffer")
    resource, descriptor = imported.memory_resource, imported.ipc_descriptor

    def churn():
        device.set_current()
        with device.create_stream() as own:
            for _ in range(50):
                with Buffer.from_ipc_descriptor(resource, descriptor, stream=own) as duplicate:
                    assert duplicate.is_mapped
            own.sync()

    run_together(*[churn] * 4)
    imported.close(stream)
    stream.sync()
    run_together(*[churn] * 4)  # each can now be the first or the last import
    resource.close()
    assert exporter.end() == 0


@pytest.mark.usefixtures("emulation")
def test_closing_during_a_capture_is_deferred_to_its_end(new_peer, device, stream):
    exporter = new_peer()
    imported = exporter.run(EXPORT + "result = buffer")
    resource, descriptor = imported.memory_resource, imported.ipc_descriptor
    imported.close(stream)
    second = Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
    builder = stream.create_graph_builder().begin_building()
    second.close()
    builder.end_building().complete().close()
    builder.close()
    third = Buffer.from_ipc_descriptor(resource, descriptor, stream=stream)
    assert content_of(third, stream) == b"\5" * 64
    third.close()
    stream.sync()
    resource.close()
    assert exporter.end() == 0


def test_an_index_that_closes_the_resource_is_an_error(device):
    resource = DeviceMemoryResource(device, {"ipc_enabled": True})

    class Closing:
        def __index__(self):
            resource.close()
            return -1

    with pytest.raises(OSError, match="Bad file descriptor"):
        DeviceMemoryResource.from_allocation_handle(device, Closing())
    with pytest.raises(RuntimeError, match="has been closed"):
        _ = resource.allocation_handle

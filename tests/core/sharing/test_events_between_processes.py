# SPDX-License-Identifier: Apache-2.0
"""Events that another process waits for."""

import pickle
import threading

import pytest
from cuda.core import Event, EventOptions, host_launch
from cuda.core._event import IPCEventDescriptor

from .peers import PeerError, added, open_files

pytestmark = pytest.mark.filterwarnings("ignore:the start method:UserWarning")

SHARED = EventOptions(ipc_enabled=True)


@pytest.fixture
def blocked_event(device, stream):
    """An event after work that runs until the test ends it: (event, function to end it)."""
    gate = threading.Event()
    host_launch(stream, gate.wait)
    with stream.record(options=SHARED) as event:
        yield event, gate.set
        gate.set()
        stream.sync()


def test_a_completed_event_is_completed_in_another_process(peer, stream):
    with stream.record(options=SHARED) as event:
        stream.sync()
        assert event.is_ipc_enabled
        assert not event.is_timing_enabled
        source = """
event.sync()
result = (event.is_done, event.is_ipc_enabled, event.is_timing_enabled, event.is_blocking_sync,
          event.device, event.context)
event.close(); del event
"""
        assert peer.run(source, event=event) == (True, True, False, False, None, None)


def test_another_process_waits_until_it_completes(peer, blocked_event):
    event, release = blocked_event
    assert peer.run("result = event.is_done", event=event) is False
    peer.send("event.sync(); result = event.is_done")
    assert not peer.pipe.poll(0.2)
    release()
    assert peer.receive() is True
    peer.run("event.close(); del event")


def test_a_stream_of_another_process_waits(peer, blocked_event):
    event, release = blocked_event
    source = """
stream.wait(event)
later = stream.record()
result = later.is_done
"""
    assert peer.run(source, event=event) is False
    release()
    assert peer.run("later.sync(); result = later.is_done") is True
    peer.run("event.close(); later.close(); del event, later")


def test_an_event_closed_here_still_completes_there(peer, device, stream):
    gate = threading.Event()
    host_launch(stream, gate.wait)
    event = stream.record(options=SHARED)
    assert peer.run("result = event.is_done", event=event) is False
    gate.set()
    stream.sync()
    event.close()
    assert peer.run("event.sync(); result = event.is_done; event.close(); del event") is True


def test_a_blocking_event_stays_blocking(peer, stream):
    with stream.record(options={"ipc_enabled": True, "blocking_sync": True}) as event:
        stream.sync()
        source = "result = event.is_blocking_sync; event.sync(); event.close(); del event"
        assert peer.run(source, event=event) is True


def test_an_event_sent_back_wraps_the_original(peer, stream):
    with stream.record(options=SHARED) as event:
        stream.sync()
        back = peer.run("result = event", event=event)
        assert back == event
        assert back.device is not None
        back.close()
        assert event.is_done
        peer.run("result = None; event.close(); del event")


def test_a_descriptor_is_sufficient(peer, stream):
    with stream.record(options=SHARED) as event:
        descriptor = event.ipc_descriptor
        assert event.ipc_descriptor is descriptor
        unpickled = pickle.loads(pickle.dumps(descriptor))
        assert unpickled == descriptor
        assert hash(unpickled) == hash(descriptor)
        source = """
from cuda.core import Event
event = Event.from_ipc_descriptor(descriptor)
event.sync()
result = event.ipc_descriptor == descriptor
event.close(); del event
"""
        assert peer.run(source, descriptor=descriptor) is True


def test_no_descriptor_is_left_open(peer, stream):
    def once():
        with stream.record(options=SHARED) as event:
            peer.run("event.sync(); event.close(); del event", event=event)
        stream.sync()

    once()
    before, peer_files = open_files(), peer.run("result = open_files()")
    for _ in range(20):
        once()
    assert added(before, open_files()) == []
    assert added(peer_files, peer.run("result = open_files()")) == []


def test_it_cannot_be_recorded_again(peer, stream):
    with stream.record(options=SHARED) as event:
        with pytest.raises(TypeError, match="should not be re-recorded"):
            stream.record(event)
        with pytest.raises(PeerError, match="should not be re-recorded"):
            peer.run("stream.record(event)", event=event)
        peer.run("event.close(); del event")


class TestWrongCalls:
    def test_an_event_that_is_not_shared(self, stream):
        with stream.record() as event:
            with pytest.raises(RuntimeError, match="Event is not IPC-enabled"):
                _ = event.ipc_descriptor
            with pytest.raises(TypeError, match="create it with ipc_enabled=True"):
                pickle.dumps(event)

    def test_pickle_alone_is_refused(self, stream):
        with (
            stream.record(options=SHARED) as event,
            pytest.raises(TypeError, match="an argument of multiprocessing.Process"),
        ):
            pickle.dumps(event)

    def test_a_closed_event(self, stream):
        event = stream.record(options=SHARED)
        event.close()
        for wrong in (lambda: event.ipc_descriptor, lambda: pickle.dumps(event)):
            with pytest.raises(RuntimeError, match="Event has been closed"):
                wrong()

    def test_invalid_descriptors(self, device):
        with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
            IPCEventDescriptor()
        with pytest.raises(TypeError, match="'ipc_descriptor' has incorrect type"):
            Event.from_ipc_descriptor(5)
        with pytest.raises(TypeError, match="expected bytes, got str"):
            IPCEventDescriptor._init("x", True)
        short = IPCEventDescriptor._init(b"x", True)
        with pytest.raises(ValueError, match="reserved field is 1 bytes; expected at least 64"):
            Event.from_ipc_descriptor(short)
        garbage = IPCEventDescriptor._init(b"x" * 64, True)
        assert garbage != short
        with pytest.raises(RuntimeError, match="Failed to open IPC event handle"):
            Event.from_ipc_descriptor(garbage)

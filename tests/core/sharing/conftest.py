# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of sharing between processes."""

import pytest
from cuda.core import DeviceMemoryResource, PinnedMemoryResource

from .peers import Peer

KINDS = {
    "device": lambda device: DeviceMemoryResource(device, {"ipc_enabled": True}),
    "pinned": lambda device: PinnedMemoryResource({"ipc_enabled": True}),
}


@pytest.fixture(scope="module")
def peer():
    """A process for all tests of a file, which must close the objects that they open in it."""
    peer_process = Peer()
    yield peer_process
    assert peer_process.end() == 0


@pytest.fixture
def new_peer():
    """Create processes that a test may end in any way."""
    peers = []

    def make(method="spawn"):
        peers.append(Peer(method))
        return peers[-1]

    yield make
    for each in peers:
        if each.process.is_alive():
            each.end()


@pytest.fixture(params=KINDS)
def resource(request, device):
    """A resource that other processes can import, of each kind."""
    resource = KINDS[request.param](device)
    yield resource
    resource.close()


@pytest.fixture
def buffer(resource, stream):
    """A buffer of the resource with a thousand bytes of value 7."""
    with resource.allocate(1000, stream=stream) as buffer:
        buffer.fill(7, stream=stream)
        stream.sync()
        yield buffer

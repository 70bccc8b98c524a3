# SPDX-License-Identifier: Apache-2.0
"""What the tests of sharing between processes have in common."""

import pytest
from cuda.core import DeviceMemoryResource, PinnedMemoryResource

from .peers import Peer

KINDS = {
    "device": lambda device: DeviceMemoryResource(device, {"ipc_enabled": True}),
    "pinned": lambda device: PinnedMemoryResource({"ipc_enabled": True}),
}


@pytest.fixture(scope="module")
def peer():
    """A process that stays for all tests of a file, which close there what they open."""
    made = Peer()
    yield made
    assert made.end() == 0


@pytest.fixture
def new_peer():
    """Makes processes that a test may end as it likes."""
    made = []

    def make(method="spawn"):
        made.append(Peer(method))
        return made[-1]

    yield make
    for each in made:
        if each.process.is_alive():
            each.end()


@pytest.fixture(params=KINDS)
def resource(request, device):
    """A resource that other processes can import, of each kind."""
    made = KINDS[request.param](device)
    yield made
    made.close()


@pytest.fixture
def buffer(resource, stream):
    """A thousand bytes of 7 of it."""
    with resource.allocate(1000, stream=stream) as made:
        made.fill(7, stream=stream)
        stream.sync()
        yield made

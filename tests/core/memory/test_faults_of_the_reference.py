# SPDX-License-Identifier: Apache-2.0
"""Faults of the reference that must not occur here, where no test of the thing itself says so."""

import pytest
from cuda.core import Device, DeviceMemoryResource, ManagedMemoryResource, PinnedMemoryResource

from ...threads import run_together
from ..sharing.peers import Peer

MAKERS = {
    "current pool": lambda: DeviceMemoryResource(0),
    "own pool": lambda: DeviceMemoryResource(0, {}),
    "shared pool": lambda: DeviceMemoryResource(0, {"ipc_enabled": True}),
    "pinned": lambda: PinnedMemoryResource({}),
    "node of the host": lambda: PinnedMemoryResource({"numa_id": 0}),
    "managed": lambda: ManagedMemoryResource({}),
}


@pytest.mark.parametrize("mode", ["relaxed", "thread_local", "global"])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_resource_that_is_made_leaves_a_capture_whole(device, stream, make, mode):
    """The reference's constructor ended the capture, and its builder then crashed."""
    with device.allocate(16, stream=stream) as buffer:
        builder = stream.create_graph_builder().begin_building(mode)
        made = make()
        buffer.fill(5, stream=builder)
        if made.is_handle_owned:
            made.close()
        graph = builder.end_building().complete()
        graph.launch(stream)
        seen = bytearray(16)
        buffer.copy_to(seen, stream=stream)
        stream.sync()
        assert seen == b"\5" * 16
        graph.close()
        builder.close()


@pytest.mark.filterwarnings("ignore:the start method:UserWarning")
def test_pools_go_while_others_come_from_another_process(device):
    """A driver that destroys a pool while another thread imports one may end the process."""
    exporter = Peer("spawn")
    handle = exporter.run("""
from cuda.core import DeviceMemoryResource
resource = DeviceMemoryResource(device, {"ipc_enabled": True})
result = resource.allocation_handle
""")

    def come_and_go():
        Device(0).set_current()
        for _ in range(50):
            DeviceMemoryResource.from_allocation_handle(device, int(handle)).close()

    def make_and_destroy():
        Device(0).set_current()
        for _ in range(50):
            DeviceMemoryResource(device, {"ipc_enabled": True}).close()

    run_together(come_and_go, make_and_destroy, come_and_go, make_and_destroy)
    handle.close()
    assert exporter.end() == 0


def test_the_system_module_loads_its_enums_when_they_are_used(run_python):
    """The reference took 217 ms to import, for the module of NVML's enums."""
    run_python("""
import sys
import cuda.core.system
assert "cuda.bindings.nvml" not in sys.modules
""")

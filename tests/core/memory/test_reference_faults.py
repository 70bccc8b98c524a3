# SPDX-License-Identifier: Apache-2.0
"""Faults of the reference that must not occur here and that no other test covers."""

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
def test_constructing_a_resource_keeps_a_capture_valid(device, stream, make, mode):
    """The reference's constructor ended the capture, and its builder then crashed."""
    with device.allocate(16, stream=stream) as buffer:
        builder = stream.create_graph_builder().begin_building(mode)
        resource = make()
        buffer.fill(5, stream=builder)
        if resource.is_handle_owned:
            resource.close()
        graph = builder.end_building().complete()
        graph.launch(stream)
        content = bytearray(16)
        buffer.copy_to(content, stream=stream)
        stream.sync()
        assert content == b"\5" * 16
        graph.close()
        builder.close()


@pytest.mark.filterwarnings("ignore:the start method:UserWarning")
def test_pools_are_destroyed_while_others_are_imported(device):
    """A driver that destroys a pool while another thread imports one may crash."""
    exporter = Peer("spawn")
    handle = exporter.run("""
from cuda.core import DeviceMemoryResource
resource = DeviceMemoryResource(device, {"ipc_enabled": True})
result = resource.allocation_handle
""")

    def import_and_close():
        Device(0).set_current()
        for _ in range(50):
            DeviceMemoryResource.from_allocation_handle(device, int(handle)).close()

    def create_and_destroy():
        Device(0).set_current()
        for _ in range(50):
            DeviceMemoryResource(device, {"ipc_enabled": True}).close()

    run_together(import_and_close, create_and_destroy, import_and_close, create_and_destroy)
    handle.close()
    assert exporter.end() == 0


def test_the_system_module_loads_its_enums_on_access(run_python):
    """The reference took 217 ms to import, due to the module of NVML's enums."""
    run_python("""
import sys
import cuda.core.system
assert "cuda.bindings.nvml" not in sys.modules
""")

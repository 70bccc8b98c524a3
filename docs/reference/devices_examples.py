# SPDX-License-Identifier: Apache-2.0
"""Examples of the page on devices and contexts."""

from cuda.core import Device

device = Device()
device.set_current()

# example: Device
print(device.name, device.compute_capability, device.memory_info.free)
for each in Device.get_all_devices():
    print(each.device_id, each.uuid)

# example: Device.set_current
with Device(0) as first:  # restores the previous context at the end
    assert first.device_id == 0

# example: Device.create_stream
stream = device.create_stream()
priority = device.create_stream(options={"priority": -1})
assert stream.device == device

# example: Device.create_event
event = device.create_event()
stream.record(event)
event.sync()

# example: Device.allocate
buffer = device.allocate(1024, stream=stream)
assert buffer.size == 1024 and buffer.is_device_accessible
buffer.close()

# example: Device.sync
device.sync()  # waits for the work of all streams of the device

# example: Device.properties, _core.DeviceProperties
assert device.properties.warp_size == 32
print(device.properties.multiprocessor_count, device.properties.max_threads_per_block)

# example: Device.arch
from cuda.core import Program, ProgramOptions

options = ProgramOptions(arch=f"sm_{device.arch}")
code = Program('extern "C" __global__ void k() {}', "c++", options).compile("cubin")

# example: Device.create_graph_builder
builder = device.create_graph_builder().begin_building()
graph = builder.end_building().complete()
graph.launch(stream)

# example: Device.get_all_devices
names = [each.name for each in Device.get_all_devices()]

# example: Device.can_access_peer
others = [each for each in Device.get_all_devices() if each != device]
peers = [each for each in others if device.can_access_peer(each)]

# example: Device.memory_resource
from cuda.core import DeviceMemoryResource

device.memory_resource = DeviceMemoryResource(device)  # what device.allocate() uses

# example: Context
context = device.context
assert not context.is_closed and not context.is_green

# example: ContextOptions, DeviceResources, SMResource, SMResourceOptions
from cuda.core import ContextOptions, SMResourceOptions

resources = device.resources
if device.properties.multiprocessor_count >= 16:
    groups, rest = resources.sm.split(SMResourceOptions(count=8))
    print(groups[0].sm_count, rest.sm_count if rest else 0)
    part = device.create_context(ContextOptions(resources=[groups[0]]))
    part.close()

# example: WorkqueueResource, WorkqueueResourceOptions
from cuda.core import WorkqueueResourceOptions

queues = WorkqueueResourceOptions(sharing_scope="green_ctx_balanced")
assert queues.sharing_scope == "green_ctx_balanced"

# example: Host
from cuda.core import Host

assert Host(numa_id=0) is Host(numa_id=0)
assert Host().numa_id is None  # any memory of the host

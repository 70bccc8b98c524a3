# SPDX-License-Identifier: Apache-2.0
"""Objects of the classes of `cuda.core`, and arguments for their members."""

import ctypes
import functools

import numpy as np
from cuda.core import (
    Buffer,
    Device,
    DeviceMemoryResource,
    GraphMemoryResource,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    ManagedMemoryResource,
    ObjectCode,
    PinnedMemoryResource,
    PoolMemoryResource,
    Program,
    VirtualMemoryResource,
)
from cuda.core.graph import GraphDefinition
from cuda.core.texture import (
    MipmappedArrayOptions,
    OpaqueArrayOptions,
    ResourceDescriptor,
    TextureObjectOptions,
)
from cuda.core.utils import StridedMemoryView

PTX = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry store(.param .u64 out, .param .u32 value) { ret; }
"""
ARRAY = OpaqueArrayOptions((4, 3), "float32", 1, True)
MIPMAPPED_ARRAY = MipmappedArrayOptions((4, 4), "float32", 1, 2, True)
REGISTERED = {}  # name: function that creates an object of the class of that name


def creates(name):
    """Register a function of a `World` that creates an object of the class `name`."""

    def register(function):
        REGISTERED[name] = function
        return function

    return register


class World:
    """A device with a stream, memory and a kernel that calls use."""

    def __init__(self):
        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.buffer = self.device.allocate(64, stream=self.stream)
        self.pinned = LegacyPinnedMemoryResource().allocate(64)
        self.config = LaunchConfig(grid=1, block=1)
        self.code = ObjectCode.from_ptx(PTX)
        self.kernel = self.code.get_kernel("store")
        self.host = np.arange(8)
        self.memory = ctypes.create_string_buffer(64)

    @functools.cached_property
    def definition(self):
        return GraphDefinition()

    @functools.cached_property
    def arguments(self):
        """Plausible arguments by the names of parameters."""
        return {
            "stream": self.stream,
            "device": self.device,
            "device_id": 0,
            "peer": 0,
            "config": self.config,
            "kernel": self.kernel,
            "event": self.device.create_event(),
            "event_or_stream": self.stream,
            "src": self.buffer,
            "dst": self.pinned,
            "buffer": self.buffer,
            "buf": self.buffer,
            "target": self.buffer,
            "array": self.host,
            "obj": self.host,
            "other": self.pinned,
            "tensor": self.buffer,
            "view": self.buffer,
            "mr": LegacyPinnedMemoryResource(),
            "target_type": "ptx",
            "condition": self.definition.create_condition(),
            "child": GraphDefinition(),
            "fn": print,
            "shape": (2, 2),
            "key": 0,
            "slices": 0,
            "axis_order": (0,),
            "stride_order": "C",
            "location": self.device,
            "path": "/dev/null",
            "format": "float32",
            "name": "store",
            "module": PTX,
            "ptr": 0,
            "handle": 0,
            "options": None,
            "size": 64,
            "width": 8,
            "bits": 32,
            "operation": "add",
            "operations": [],
            "resource": None,
            "target_name": "store",
        }

    def create(self, name):
        return REGISTERED[name](self)


for resource in (PinnedMemoryResource, ManagedMemoryResource):
    creates(resource.__name__)(lambda world, resource=resource: resource({}))
for resource in (DeviceMemoryResource, PoolMemoryResource, VirtualMemoryResource):
    creates(resource.__name__)(lambda world, resource=resource: resource(world.device))
creates("LegacyPinnedMemoryResource")(lambda world: LegacyPinnedMemoryResource())
creates("GraphMemoryResource")(lambda world: GraphMemoryResource(world.device))
creates("_MemPoolAttributes")(lambda world: DeviceMemoryResource(world.device).attributes)
creates("GraphMemoryResourceAttributes")(lambda world: GraphMemoryResource(world.device).attributes)


@creates("_ShareablePool")
def create_pool(world):
    return DeviceMemoryResource(world.device, {})


creates("Stream")(lambda world: world.device.create_stream())
creates("Event")(lambda world: world.device.create_event())
creates("Context")(lambda world: world.stream.context)
creates("Device")(lambda world: world.device)
creates("DeviceProperties")(lambda world: world.device.properties)
creates("DeviceResources")(lambda world: world.device.resources)
creates("SMResource")(lambda world: world.device.resources.sm)
creates("WorkqueueResource")(lambda world: world.device.resources.workqueue)
creates("Buffer")(lambda world: world.device.allocate(64, stream=world.stream))
creates("ManagedBuffer")(lambda world: ManagedMemoryResource().allocate(64, stream=world.stream))


@creates("ForeignBuffer")
def wrap_memory(world):
    return Buffer.from_handle(ctypes.addressof(world.memory), 64, owner=world.memory)


creates("LaunchConfig")(lambda world: LaunchConfig(grid=1, block=1, cluster=1))
creates("ObjectCode")(lambda world: ObjectCode.from_ptx(PTX))
creates("Kernel")(lambda world: ObjectCode.from_ptx(PTX).get_kernel("store"))
creates("KernelOccupancy")(lambda world: world.kernel.occupancy)
creates("KernelAttributes")(lambda world: world.kernel.attributes)
creates("PreparedLaunch")(lambda world: world.kernel.prepare(world.config, world.buffer, 1))
creates("Program")(lambda world: Program("int x;", "c++"))
creates("PtxProgram")(lambda world: Program(PTX.decode(), "ptx"))
creates("Linker")(lambda world: Linker(ObjectCode.from_ptx(PTX)))
creates("GraphDefinition")(lambda world: GraphDefinition())
creates("GraphCondition")(lambda world: GraphDefinition().create_condition())
creates("GraphBuilder")(lambda world: world.device.create_graph_builder())
creates("Graph")(lambda world: GraphDefinition().instantiate())


@creates("GraphBuilderAtWork")
def begin_capture(world):
    return world.device.create_graph_builder().begin_building()


@creates("ExecutableKernelNode")
def create_executable_node(world):
    definition = GraphDefinition()
    node = definition.launch(world.config, world.kernel, world.buffer, 1)
    return definition.instantiate()[node]


NODES = {
    "KernelNode": lambda graph, world: graph.launch(world.config, world.kernel, world.buffer, 1),
    "MemsetNode": lambda graph, world: graph.memset(world.buffer, 1, 64),
    "MemcpyNode": lambda graph, world: graph.memcpy(world.buffer, world.pinned, 64),
    "AllocNode": lambda graph, world: graph.allocate(64),
    "FreeNode": lambda graph, world: graph.deallocate(graph.allocate(64).dptr),
    "EmptyNode": lambda graph, world: graph.empty(),
    "ChildGraphNode": lambda graph, world: graph.embed(GraphDefinition()),
    "EventRecordNode": lambda graph, world: graph.record(world.device.create_event()),
    "EventWaitNode": lambda graph, world: graph.wait(world.device.create_event()),
    "HostCallbackNode": lambda graph, world: graph.callback(print),
    "IfNode": lambda graph, world: graph.if_then(graph.create_condition()),
    "IfElseNode": lambda graph, world: graph.if_else(graph.create_condition()),
    "WhileNode": lambda graph, world: graph.while_loop(graph.create_condition()),
    "SwitchNode": lambda graph, world: graph.switch(graph.create_condition(), 2),
}
for name, add in NODES.items():
    creates(name)(lambda world, add=add: add(GraphDefinition(), world))

creates("StridedMemoryView")(lambda world: StridedMemoryView.from_any_interface(world.host, -1))
creates("_StridedLayout")(lambda world: create_view(world)._layout)
creates("OpaqueArray")(lambda world: world.device.create_opaque_array(ARRAY))
creates("MipmappedArray")(lambda world: world.device.create_mipmapped_array(MIPMAPPED_ARRAY))


@creates("DeviceView")
def create_view(world):
    return StridedMemoryView.from_buffer(world.buffer, (4, 4), dtype=np.float32)


@creates("ResourceDescriptor")
def describe_array(world):
    return ResourceDescriptor.from_opaque_array(world.device.create_opaque_array(ARRAY))


@creates("TextureObject")
def create_texture(world):
    return world.device.create_texture_object(
        resource=describe_array(world), options=TextureObjectOptions()
    )


@creates("SurfaceObject")
def create_surface(world):
    return world.device.create_surface_object(resource=describe_array(world))


@creates("TensorMapDescriptor")
def create_tensor_map(world):
    return create_view(world).as_tensor_map((4, 4))

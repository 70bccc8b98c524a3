# SPDX-License-Identifier: Apache-2.0
"""Mistakes that a type checker must find. In each line `E:` names the error."""

from cuda.core import (
    Buffer,
    Context,
    ContextOptions,
    Device,
    DeviceMemoryResource,
    Event,
    EventOptions,
    Kernel,
    LaunchConfig,
    MemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    Stream,
    StreamOptions,
    launch,
)
from cuda.core import Steam  # E: attr-defined


def mistakes(
    device: Device, stream: Stream, event: Event, kernel: Kernel, buffer: Buffer, code: ObjectCode
) -> None:
    Device("0")  # E: arg-type
    Device(0, 1)  # E: call-arg
    device.set_current("primary")  # E: arg-type
    device.name = "mine"  # E: misc
    device.properties.multiprocessors  # E: attr-defined
    device.create_stream(options=EventOptions())  # E: arg-type
    device.memory_resource = "pool"  # E: assignment
    device.allocate("1024", stream=stream)  # E: arg-type
    device.allocate(1024, stream=None)  # E: arg-type
    stream.record("event")  # E: arg-type
    stream.wait(None)  # E: arg-type
    stream.synchronize()  # E: attr-defined
    stream.launch(kernel)  # E: call-arg, arg-type
    event - 1.0  # E: operator
    event.sync(1)  # E: call-arg
    Event(1)  # E: arg-type
    Event()  # E: call-arg
    Buffer(0, 16)  # E: call-arg, arg-type
    Context()  # E: call-arg
    Kernel()  # E: call-arg
    ObjectCode(b"")  # E: arg-type
    Program(1, "c++")  # E: arg-type
    Program("source")  # E: call-arg
    Program("source", "c++").compile()  # E: call-arg
    Program("source", "c++").compile("ptx", logs=True)  # E: arg-type
    Program("source", "cpp")  # E: arg-type
    Program("source", "c++").compile("sass")  # E: arg-type
    ProgramOptions(optimize=True)  # E: call-arg
    ProgramOptions(max_register_count="64")  # E: arg-type
    StreamOptions(priority="high")  # E: arg-type
    LaunchConfig(grid="4", block=1)  # E: arg-type
    LaunchConfig(grids=4)  # E: call-arg
    LaunchConfig(grid=1, block=1).grid[0] = 2  # E: index
    launch(stream, kernel, LaunchConfig(grid=1, block=1))  # E: arg-type
    launch(None, {"grid": 1, "block": 1}, kernel)  # E: arg-type
    launch(stream)  # E: call-arg
    kernel.attributes.num_regs = 3  # E: misc, assignment
    kernel.prepare()  # E: call-arg
    code.get_kernel(1)  # E: arg-type
    buffer.handle = 0  # E: misc
    buffer.copy_to(buffer, "stream")  # E: call-overload
    buffer.copy_from(buffer, options=1)  # E: arg-type
    buffer.fill(1.5, stream=stream)  # E: arg-type
    buffer.size()  # E: operator
    MemoryResource().allocate(16, stream)  # E: call-arg
    DeviceMemoryResource()  # E: call-arg
    DeviceMemoryResource(0).release_threshold = "all"  # E: assignment
    ContextOptions(resources=[16])  # E: list-item

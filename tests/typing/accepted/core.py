# SPDX-License-Identifier: Apache-2.0
"""Typical code that a strict type checker accepts; it is checked, never run."""

import array
import ctypes
import io
from collections.abc import Sequence
from typing import Any, assert_type

import cuda.core
from cuda.bindings import driver, nvrtc
from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    Buffer,
    Context,
    CUDAError,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    Event,
    EventOptions,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    MemoryResource,
    NVRTCError,
    ObjectCode,
    OutOfMemoryError,
    Program,
    ProgramOptions,
    Stream,
    StreamOptions,
    host_launch,
    launch,
    recent_launches,
)
from cuda.core.graph import GraphBuilder
from cuda.core.typing import IsStreamType, ObjectCodeFormatType, SourceCodeType


def devices() -> str:
    device = Device()
    assert_type(device.set_current(), Context | None)
    assert_type(Device(1), Device)
    assert_type(Device.get_all_devices(), tuple[Device, ...])
    major, minor = device.compute_capability
    assert_type(major + minor, int)
    assert_type(device.properties.multiprocessor_count, int)
    assert_type(device.properties.cooperative_launch, bool)
    free, total = device.memory_info
    assert_type(device.memory_info.free, int)
    assert_type(device.can_access_peer(1), bool)
    device.memory_resource = LegacyPinnedMemoryResource()
    device.sync()
    return f"sm_{device.arch} {device.name} {free / total:.2f} {device.uuid}"


def streams_and_events(device: Device) -> float:
    stream = device.create_stream(options=StreamOptions(nonblocking=True, priority=-1))
    other = device.create_stream(options={"priority": 0})
    with device.create_stream() as scoped:
        assert_type(scoped, Stream)
    start = stream.record(options=EventOptions(timing_enabled=True))
    end = stream.record(options={"timing_enabled": True})
    assert_type(start, Event)
    assert_type(stream.record(end), Event)
    other.wait(end)
    other.wait(stream)
    stream.sync()
    assert_type(stream.is_done, bool)
    assert_type(stream.handle, driver.CUstream)
    assert_type(stream.__cuda_stream__(), tuple[int, int])
    assert_type(stream.device, Device)
    assert_type(Stream.from_handle(int(other.handle)), Stream)
    same = {stream: 1, other: 2}[stream]
    assert_type(same, int)
    assert_type(end - start, float)
    stream.close()
    Stream().close()
    return end - start


class ForeignStream:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 0


def foreign_streams(device: Device) -> IsStreamType:
    foreign = ForeignStream()
    device.create_stream(foreign).wait(foreign)
    return foreign


def compile_kernel(source: str, device: Device) -> Kernel:
    log = io.StringIO()
    options = ProgramOptions(
        std="c++17",
        arch=f"sm_{device.arch}",
        define_macro=[("N", "4"), "FAST"],
        include_path=["/usr/include"],
    )
    with Program(source, "c++", options) as program:
        code = program.compile("cubin", name_expressions=("scale<float>",), logs=log)
        assert_type(program.handle, nvrtc.nvrtcProgram | driver.CUlinkState | int)
    Program(source, SourceCodeType.CXX, {"std": "c++20"}).compile(ObjectCodeFormatType.PTX)
    assert_type(code, ObjectCode)
    assert_type(code.symbol_mapping, dict[str, str | bytes])
    kernel = code.get_kernel("scale<float>")
    assert_type(kernel.attributes.num_regs + 1, int)
    kernel.attributes.max_dynamic_shared_size_bytes = 65536
    assert_type(kernel.attributes[device].cache_mode_ca, bool)
    assert_type(kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0), int)
    size = kernel.occupancy.max_potential_block_size(lambda block: block * 4, 0)
    assert_type(size.max_block_size, int)
    assert_type([info.offset for info in kernel.arguments_info], list[int])
    ObjectCode.from_ptx(b"...", name="text")
    ObjectCode.from_cubin(memoryview(b"..."))
    ObjectCode.from_cubin("file.cubin", symbol_mapping={"f": "_Z1fv"}).get_global("table").close()
    return kernel


async def tasks(stream: Stream, event: Event) -> None:
    await stream
    await event
    with Device(1) as device:
        assert_type(device, Device)


def launches(stream: Stream, kernel: Kernel, buffers: Sequence[Buffer]) -> None:
    config = LaunchConfig(grid=(4, 2), block=256, shmem_size=1024)
    LaunchConfig(grid=4, cluster=2, block=[32, 4, 1], is_cooperative=True)
    config.grid = 8
    assert_type(config.grid, tuple[int, int, int])
    launch(stream, config, kernel, 1, 2.5, None, ctypes.c_int(3), *buffers)
    launch(stream, {"grid": 1, "block": 1}, kernel)
    stream.launch(config, kernel, *buffers)
    prepared = kernel.prepare(config, 1, *buffers)
    prepared[0] = 2
    prepared(stream)
    assert_type(len(prepared), int)
    stream.launch_host(lambda: None)
    host_launch(stream, ctypes.CFUNCTYPE(None, ctypes.c_void_p)(), user_data=b"bytes")
    for record in recent_launches():
        print(record.kernel, record.grid)


def memory(device: Device, stream: Stream) -> bytes:
    resource = DeviceMemoryResource(device, DeviceMemoryResourceOptions(max_size=1 << 20))
    DeviceMemoryResource(0, {"max_size": 0}).close()
    with resource.allocate(1024, stream=stream) as buffer:
        assert_type(buffer.handle, int)
        buffer.fill(0, stream=stream)
        buffer.fill(b"\1\2", stream=stream)
        copy = buffer.copy_to(stream=stream)
        assert_type(copy, Buffer)
        host = array.array("B", bytes(1024))
        assert_type(buffer.copy_to(host, stream=stream), "array.array[int]")
        buffer.copy_from(host, stream=stream)
        copy.close(stream)
    assert_type(resource.attributes.used_mem_high, int)
    resource.attributes.release_threshold = 0
    pinned = LegacyPinnedMemoryResource().allocate(16)
    view = memoryview(pinned)
    view[0] = 1
    assert_type(pinned.__dlpack_device__(), tuple[int, int])
    assert_type(device.allocate(16, stream=LEGACY_DEFAULT_STREAM), Buffer)
    return bytes(view)


class Recorder(MemoryResource):
    """A user-defined resource."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def allocate(self, size: object, *, stream: Stream | GraphBuilder | None) -> Buffer:
        self.sizes.append(int(str(size)))
        return Buffer.from_handle(0, 0, mr=self)

    def deallocate(
        self, ptr: object, size: object, *, stream: Stream | GraphBuilder | None
    ) -> None:
        self.sizes.pop()

    @property
    def device_id(self) -> int:
        return 0


def errors() -> int | None:
    try:
        Device(7)
    except OutOfMemoryError as error:
        return error.device_free
    except NVRTCError as error:
        print(error.name, error.where)
    except CUDAError as error:
        return error.code
    return None


def low_layer() -> int:
    error, count = driver.cuDeviceGetCount()
    if error is not driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(error.name)
    assert_type(count, int | Any)
    return count


print(cuda.core.__version__, cuda.core.typing.SourceCodeType.PTX)

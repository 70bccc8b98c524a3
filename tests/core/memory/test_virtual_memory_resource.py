# SPDX-License-Identifier: Apache-2.0
"""VirtualMemoryResource: memory that can grow, and is freed completely."""

import gc
import os
import weakref

import pytest
from cuda.bindings import driver
from cuda.core import (
    Buffer,
    CUDAError,
    MemoryResource,
    OutOfMemoryError,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
    emulation,
)

MIB = 1 << 20
CALLS = ["cuMemGetAllocationGranularity", "cuMemAddressReserve", "cuMemCreate", "cuMemMap",
         "cuMemSetAccess"]  # fmt: skip
ERRORS = ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"]


@pytest.fixture
def resource(device):
    if not device.properties.virtual_memory_management_supported:
        pytest.skip("the device has no virtual memory management")
    return VirtualMemoryResource(device)


@pytest.fixture
def unit(resource):
    """The granularity, to which sizes are rounded up."""
    with resource.allocate(1) as buffer:
        return buffer.size


def contents(buffer, stream, start=0, size=4):
    content = bytearray(size)
    with Buffer.from_handle(buffer.handle + start, size) as part:
        part.copy_to(content, stream=stream)
    stream.sync()
    return bytes(content)


def reserve_behind(buffer, unit):
    """Reserve the addresses behind a buffer, so that it must move to grow."""
    error, reserved = driver.cuMemAddressReserve(unit, 0, buffer.handle + buffer.size, 0)
    assert not error
    return lambda: driver.cuMemAddressFree(reserved, unit)


def reservations(emulation):
    return len([each for each in emulation.leaks() if "address" in each.kind])


class TestMemoryOfOthers:
    """Memory that other code mapped by driver calls."""

    @pytest.fixture
    def map_at(self, device, unit):
        """Map one granule, at a requested address if that is free; return address and size."""
        return lambda hint=0: self.map(unit, hint)

    def map(self, unit, hint):
        properties = driver.CUmemAllocationProp()
        properties.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        properties.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        properties.location.id = 0
        address = result_of(driver.cuMemAddressReserve(unit, 0, hint, 0))
        memory = result_of(driver.cuMemCreate(unit, properties, 0))
        result_of(driver.cuMemMap(address, unit, 0, memory, 0))
        result_of(driver.cuMemRelease(memory))
        return int(address), unit

    @pytest.mark.parametrize("is_behind", [False, True])
    def test_it_is_unmapped_and_its_addresses_are_freed(self, resource, map_at, is_behind):
        with resource.allocate(1) as buffer:
            address, size = map_at(buffer.handle + buffer.size if is_behind else 0)
            resource.deallocate(address, size)
            assert not buffer.is_closed
        invalid = driver.CUresult.CUDA_ERROR_INVALID_VALUE
        assert driver.cuMemUnmap(address, size) == (invalid,)
        assert driver.cuMemAddressFree(address, size) == (invalid,)


def result_of(result):
    error, *values = result
    assert error == driver.CUresult.CUDA_SUCCESS
    return values[0] if values else None


class TestAllocation:
    def test_sizes_are_rounded_up(self, resource, unit):
        for size in (1, unit - 1, unit, unit + 1):
            with resource.allocate(size) as buffer:
                assert buffer.size == -(-size // unit) * unit

    def test_the_memory_is_usable_like_any_other(self, device, resource, stream):
        with resource.allocate(100, stream=stream) as buffer:
            assert type(buffer) is Buffer
            assert isinstance(resource, MemoryResource)
            assert buffer.memory_resource is resource
            assert buffer.device_id == device.device_id
            assert buffer.is_device_accessible
            assert not buffer.is_host_accessible
            buffer.fill(9, stream=stream)
            assert contents(buffer, stream) == b"\x09" * 4
            assert contents(buffer, stream, buffer.size - 4) == b"\x09" * 4

    def test_physical_memory_is_freed(self, device, resource):
        """The reference leaks physical memory: 64 rounds of 64 MiB held 4 GiB.

        Other processes allocate on a GPU concurrently, so there the test allocates more than its
        memory.
        """
        total = device.memory_info.total
        size = 64 * MIB if emulation.is_active() else total // 8 // MIB * MIB
        rounds = min(64, total // size + 8)
        before = device.memory_info.free
        for _ in range(rounds):
            resource.allocate(size).close()
        if emulation.is_active():
            assert device.memory_info.free == before

    def test_an_alignment_is_respected(self, device):
        resource = VirtualMemoryResource(device, {"addr_align": 1 << 30})
        with resource.allocate(1) as buffer:
            assert buffer.handle % (1 << 30) == 0

    def test_a_hint_is_passed_to_the_driver(self, resource, device, stream):
        """A hint is not binding: an H200 ignored a free address."""
        with resource.allocate(1) as buffer:
            far = buffer.handle + (1 << 30)
        with VirtualMemoryResource(device, {"addr_hint": far}).allocate(1) as buffer:
            assert buffer.handle == far or not emulation.is_active()
            buffer.fill(3, stream=stream)
            assert contents(buffer, stream) == b"\3" * 4

    def test_zero_bytes_are_an_error_of_the_driver(self, resource):
        with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE"):
            resource.allocate(0)

    def test_an_oversized_request_is_out_of_memory_and_later_calls_work(self, resource):
        with pytest.raises(OutOfMemoryError):
            resource.allocate(1 << 45)
        resource.allocate(1).close()

    def test_an_invalid_size_and_an_invalid_stream_are_refused(self, resource):
        with pytest.raises(OverflowError):
            resource.allocate(-1)
        with pytest.raises(OverflowError, match="rounded up"):
            resource.allocate(2**64 - 1)
        with pytest.raises(TypeError):
            resource.allocate("x")
        with pytest.raises(TypeError, match="Stream or GraphBuilder expected, got int"):
            resource.allocate(1, stream=3)

    def test_closing_waits_for_the_stream(self, resource, stream):
        buffer = resource.allocate(1, stream=stream)
        done = []
        stream.launch_host(lambda: done.append(1))
        buffer.fill(1, stream=stream)
        buffer.close(stream)
        assert done == [1]

    @pytest.mark.parametrize("is_part", [True, False])
    def test_the_last_free_waits_for_a_stream_that_is_passed_later(self, resource, stream, is_part):
        buffer = resource.allocate(1)
        done = []
        if is_part:
            last = buffer.resize_view(0, 16)
            buffer.close()
        else:
            buffer.set_deallocation_stream(stream)
            last = buffer
        stream.launch_host(lambda: done.append(1))
        last.close(stream if is_part else None)
        assert done == [1]

    def test_freed_memory_is_not_freed_twice(self, resource):
        buffer = resource.allocate(1)
        at, size = buffer.handle, buffer.size
        buffer.close()
        buffer.close()
        with pytest.raises(CUDAError, match="cuMemUnmap"):
            resource.deallocate(at, size)

    def test_a_part_prevents_a_free_by_address(self, resource, stream):
        buffer = resource.allocate(1)
        at, size = buffer.handle, buffer.size
        part = buffer.resize_view(16, 16)
        buffer.close()
        with pytest.warns(RuntimeWarning, match="has no effect"):
            resource.deallocate(at, size)
        part.fill(1, stream=stream)
        part.close(stream)
        with pytest.raises(CUDAError, match="cuMemUnmap"):
            resource.deallocate(at, size)

    @pytest.mark.parametrize("offset", [-16, 16])
    def test_a_part_of_an_allocation_is_not_freed_by_address(self, resource, unit, offset):
        with resource.allocate(1) as buffer:
            resource.modify_allocation(buffer, 2 * unit)
            for at in (buffer.handle + unit, buffer.handle + offset):
                with pytest.raises(ValueError, match="cover a part of the allocation"):
                    resource.deallocate(at, unit)
            assert buffer.size == 2 * unit

    def test_it_is_freed_when_a_cycle_is_collected(self, resource, emulation):
        class Own(VirtualMemoryResource):
            pass

        own_resource = Own(0)
        own_resource.buffer = own_resource.allocate(1)
        reference = weakref.ref(own_resource)
        del own_resource
        gc.collect()
        assert reference() is None
        assert not [leak for leak in emulation.leaks() if leak.kind == "mapped memory"]

    def test_a_capture_continues(self, resource, stream):

        buffer = resource.allocate(1, stream=stream)
        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
        assert driver.cuStreamBeginCapture(stream.handle, mode)[0] == 0
        resource.allocate(1, stream=stream).close()
        buffer.close()
        error, graph = driver.cuStreamEndCapture(stream.handle)
        assert error == 0
        driver.cuGraphDestroy(graph)

    def test_a_forked_child_does_not_free_it(self, run_python):
        run_python("""
import os
from cuda.core import Device, VirtualMemoryResource
Device(0).set_current()
buffer = VirtualMemoryResource(0).allocate(1)
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
    buffer.close()
else:
    buffer.close()
    os._exit(0)
""")

    def test_no_context_is_required(self, run_python):
        run_python("""
from cuda.core import VirtualMemoryResource
buffer = VirtualMemoryResource(0).allocate(1)
buffer.close()
""")

    @pytest.mark.parametrize("error", ERRORS)
    @pytest.mark.parametrize("function", CALLS)
    def test_a_failed_allocation_is_undone(self, emulation, device, resource, function, error):
        before = device.memory_info.free
        with emulation.inject(function, error=error), pytest.raises(CUDAError, match=function):
            resource.allocate(1)
        assert device.memory_info.free == before
        assert not [each for each in emulation.leaks() if "address" in each.kind]
        resource.allocate(1).close()

    def test_a_failed_release_of_a_handle_is_repeated(self, emulation, device, resource):
        before = device.memory_info.free
        with emulation.inject("cuMemRelease", error="CUDA_ERROR_UNKNOWN"):
            resource.allocate(1).close()
        assert device.memory_info.free == before

    @pytest.mark.parametrize("function", ["cuMemUnmap", "cuMemAddressFree", "cuStreamSynchronize"])
    def test_a_failed_close_is_reported(self, emulation, resource, stream, function):
        """The failed call is repeated once, and nothing leaks."""
        addresses = reservations(emulation)
        buffer = resource.allocate(1, stream=stream)
        with (
            emulation.inject(function, error="CUDA_ERROR_UNKNOWN"),
            pytest.raises(CUDAError, match=function),
        ):
            buffer.close()
        assert buffer.is_closed
        assert reservations(emulation) == addresses


class TestGrowth:
    def test_it_grows_in_place(self, resource, unit, stream):
        """The driver must reserve the adjacent addresses, which an H200 does not always do."""
        with resource.allocate(1) as buffer:
            buffer.fill(1, stream=stream)
            at = buffer.handle
            assert resource.modify_allocation(buffer, unit + 1) is buffer
            assert buffer.size == 2 * unit
            assert buffer.handle == at or not emulation.is_active()
            at = buffer.handle
            assert resource.modify_allocation(buffer, 5 * unit) is buffer
            assert buffer.size == 5 * unit
            assert buffer.handle == at or not emulation.is_active()
            assert contents(buffer, stream, unit - 4) == b"\1" * 4
            buffer.fill(2, stream=stream)
            assert contents(buffer, stream, 5 * unit - 4) == b"\2" * 4

    def test_it_moves_if_necessary_and_keeps_its_contents(self, resource, unit, stream):
        with resource.allocate(1) as buffer:
            buffer.fill(7, stream=stream)
            at = buffer.handle
            free = reserve_behind(buffer, unit)
            assert resource.modify_allocation(buffer, 3 * unit) is buffer
            free()
            assert buffer.handle != at
            assert buffer.size == 3 * unit
            assert contents(buffer, stream, unit - 4) == b"\7" * 4
            resource.modify_allocation(buffer, 4 * unit)
            buffer.fill(8, stream=stream)
            assert contents(buffer, stream, 4 * unit - 4) == b"\x08" * 4

    def test_a_move_waits_for_the_context(self, resource, unit, emulation):
        with resource.allocate(1) as buffer:
            free = reserve_behind(buffer, unit)
            at = buffer.handle
            with (
                emulation.inject("cuCtxSynchronize", error="CUDA_ERROR_UNKNOWN"),
                pytest.raises(CUDAError, match=r"\[cuCtxSynchronize\]"),
            ):
                resource.modify_allocation(buffer, 3 * unit)
            free()
            assert (buffer.handle, buffer.size) == (at, unit)

    def test_a_move_requires_no_context(self, run_python):
        run_python("""
from cuda.bindings import driver
from cuda.core import VirtualMemoryResource
resource = VirtualMemoryResource(0)
with resource.allocate(1) as buffer:
    at, unit = buffer.handle, buffer.size
    error, reserved = driver.cuMemAddressReserve(unit, 0, at + unit, 0)
    assert not error
    resource.modify_allocation(buffer, 3 * unit)
    assert buffer.handle != at and buffer.size == 3 * unit
    assert driver.cuCtxGetCurrent()[1] == driver.CUcontext(0)
    driver.cuMemAddressFree(reserved, unit)
""")

    def test_all_extents_are_freed(self, device, resource, unit, emulation):
        before = device.memory_info.free
        buffer = resource.allocate(1)
        for factor in (2, 3):
            resource.modify_allocation(buffer, factor * unit)
        free = reserve_behind(buffer, unit)
        resource.modify_allocation(buffer, 6 * unit)
        free()
        assert device.memory_info.free == before - 6 * unit
        buffer.close()
        assert device.memory_info.free == before
        assert not [each for each in emulation.leaks() if "address" in each.kind]

    def test_a_smaller_size_changes_only_the_access(self, resource, unit):
        with resource.allocate(2 * unit) as buffer:
            assert resource.modify_allocation(buffer, 1) is buffer
            assert buffer.size == 2 * unit

    def test_options_apply_from_then_on(self, device, resource, unit):
        with resource.allocate(1) as buffer:
            resource.modify_allocation(buffer, 1, {"self_access": "r", "handle_type": None})
            assert resource.config.handle_type is None
            with pytest.raises(ValueError, match="Unknown access spec: 'x'"):
                resource.modify_allocation(buffer, 1, {"self_access": "x"})
            assert resource.config.self_access == "r"

    @pytest.mark.parametrize("error", ERRORS)
    @pytest.mark.parametrize("moves", [False, True])
    @pytest.mark.parametrize("nth", [1, 2])
    @pytest.mark.parametrize("function", CALLS[1:])
    def test_a_failure_keeps_the_buffer_unchanged(
        self, emulation, device, resource, unit, stream, function, nth, moves, error
    ):
        with resource.allocate(1) as buffer:
            buffer.fill(3, stream=stream)
            stream.sync()
            free = reserve_behind(buffer, unit) if moves else lambda: None
            before, known = device.memory_info.free, (buffer.handle, buffer.size)
            failed = False
            with emulation.inject(function, nth=nth, error=error, optional=True):
                try:
                    resource.modify_allocation(buffer, 2 * unit)
                except CUDAError as raised:
                    failed = True
                    assert function in str(raised)
            if failed:
                assert (buffer.handle, buffer.size) == known
                assert device.memory_info.free == before
            assert contents(buffer, stream) == b"\3" * 4
            resource.modify_allocation(buffer, 3 * unit)
            assert contents(buffer, stream) == b"\3" * 4
            free()

    @pytest.mark.parametrize("undo", ["cuMemUnmap", "cuMemAddressFree"])
    @pytest.mark.parametrize("moves", [False, True])
    def test_a_failed_growth_is_undone_by_the_next_call(
        self, emulation, device, resource, unit, moves, undo
    ):
        with resource.allocate(1) as buffer:
            free = reserve_behind(buffer, unit) if moves else lambda: None
            before, known = device.memory_info.free, (buffer.handle, buffer.size)
            addresses = reservations(emulation)
            # If it moves, the unsuitable addresses are freed first.
            nth = 2 if moves and undo == "cuMemAddressFree" else 1
            times = 4 if moves and undo == "cuMemUnmap" else 2  # each of its parts, twice
            with (
                emulation.inject("cuMemSetAccess", error="CUDA_ERROR_UNKNOWN"),
                emulation.inject(undo, nth=nth, times=times, error="CUDA_ERROR_NOT_READY"),
                pytest.raises(CUDAError, match=undo),
            ):
                resource.modify_allocation(buffer, 2 * unit)
            assert (buffer.handle, buffer.size) == known
            assert reservations(emulation) == addresses + 1
            resource.modify_allocation(buffer, 1)
            assert reservations(emulation) == addresses
            assert device.memory_info.free == before
            free()

    def test_a_failed_allocation_is_undone_by_the_next_call(
        self, emulation, device, resource, unit
    ):
        before, addresses = device.memory_info.free, reservations(emulation)
        with (
            emulation.inject("cuMemSetAccess", error="CUDA_ERROR_UNKNOWN"),
            emulation.inject("cuMemUnmap", times=2, error="CUDA_ERROR_NOT_READY"),
            pytest.raises(CUDAError, match="cuMemUnmap"),
        ):
            resource.allocate(1)
        assert reservations(emulation) == addresses + 1
        resource.allocate(1).close()
        assert (device.memory_info.free, reservations(emulation)) == (before, addresses)

    def test_an_allocation_that_cannot_be_undone_stays_listed(
        self, emulation, device, resource, unit
    ):
        """The second call fails to undo it as well, and the third call undoes it."""
        before, addresses = device.memory_info.free, reservations(emulation)
        with (
            emulation.inject("cuMemSetAccess", error="CUDA_ERROR_UNKNOWN"),
            emulation.inject("cuMemUnmap", times=4, error="CUDA_ERROR_NOT_READY"),
        ):
            with pytest.raises(CUDAError, match="cuMemUnmap"):
                resource.allocate(1)
            buffer = resource.allocate(1)
        assert reservations(emulation) == addresses + 2
        resource.allocate(1).close()
        assert reservations(emulation) == addresses + 1
        buffer.close()
        assert (device.memory_info.free, reservations(emulation)) == (before, addresses)

    def test_a_failed_free_can_be_repeated(self, emulation, device, resource):
        before, addresses = device.memory_info.free, reservations(emulation)
        buffer = resource.allocate(1)
        at, size = buffer.handle, buffer.size
        with (
            emulation.inject("cuMemUnmap", times=2, error="CUDA_ERROR_UNKNOWN"),
            pytest.raises(CUDAError, match="cuMemUnmap"),
        ):
            buffer.close()
        resource.deallocate(at, size)
        assert (device.memory_info.free, reservations(emulation)) == (before, addresses)

    def test_a_view_prevents_a_move(self, resource, unit):
        with resource.allocate(1) as buffer, buffer.resize_view(0, 16) as part:
            at = buffer.handle
            free = reserve_behind(buffer, unit)
            with pytest.raises(BufferError, match="other objects refer to it"):
                resource.modify_allocation(buffer, 2 * unit)
            free()
            assert (buffer.handle, buffer.size, part.handle) == (at, unit, at)
            try:
                resource.modify_allocation(buffer, 2 * unit)
            except BufferError:
                assert not emulation.is_active()  # its driver reserves other addresses
            else:
                assert buffer.size == 2 * unit
            assert part.handle == buffer.handle == at

    def test_invalid_calls_name_the_cause(self, device, resource, stream):
        with pytest.raises(TypeError, match="buf must be a Buffer, got int"):
            resource.modify_allocation(3, 1)
        with resource.allocate(1) as buffer:
            with pytest.raises(ValueError, match="not allocated by this resource"):
                VirtualMemoryResource(device).modify_allocation(buffer, 1)
            with pytest.raises(TypeError, match="VirtualMemoryResource options"):
                resource.modify_allocation(buffer, 1, 3)
            with pytest.raises(OutOfMemoryError):
                resource.modify_allocation(buffer, 1 << 45)
        with pytest.raises(RuntimeError, match="Buffer has been closed"):
            resource.modify_allocation(buffer, 1)


class TestOptions:
    def test_they_are_values_and_accept_texts_and_members(self):
        plain = VirtualMemoryResourceOptions("pinned", "device", "posix_fd", "recommended")
        assert plain == VirtualMemoryResourceOptions()

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            ({"allocation_type": "x"}, "Unsupported allocation_type: 'x'.*'managed'"),
            ({"location_type": "x"}, "Unsupported location_type: 'x'.*'host_numa_current'"),
            ({"handle_type": "x"}, "Unsupported handle_type: 'x'"),
            ({"granularity": "x"}, "Unsupported granularity: 'x'.*'minimum'"),
            ({"self_access": "x"}, "Unknown access spec: 'x'.*'rw'"),
            ({"peer_access": []}, "Unknown access spec: "),
        ],
    )
    def test_invalid_values_are_refused_at_construction_and_on_use(self, device, options, text):
        with pytest.raises(ValueError, match=text):
            VirtualMemoryResource(device, options)
        resource = VirtualMemoryResource(device)
        for name, value in options.items():
            setattr(resource.config, name, value)
        with pytest.raises(ValueError, match=text):
            resource.allocate(1)

    def test_features_missing_on_this_system_are_reported(self, device):
        with pytest.raises(NotImplementedError, match="win32"):
            VirtualMemoryResource(device, {"handle_type": "win32"})
        with pytest.raises(TypeError, match="VirtualMemoryResource options"):
            VirtualMemoryResource(device, 3)
        if not device.properties.gpu_direct_rdma_with_cuda_vmm_supported:
            with pytest.raises(RuntimeError, match="GPU Direct RDMA is not supported"):
                VirtualMemoryResource(device, {"gpu_direct_rdma": True})

    @pytest.mark.usefixtures("emulation")
    def test_managed_memory_is_refused_by_the_emulator(self, device):
        resource = VirtualMemoryResource(device, {"allocation_type": "managed"})
        with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_SUPPORTED"):
            resource.allocate(1)

    @pytest.mark.parametrize("location", ["host", "host_numa", "host_numa_current"])
    def test_host_memory_is_usable_by_the_host(self, device, stream, location):
        if not device.properties.host_virtual_memory_management_supported:
            pytest.skip("the device has no virtual memory management of host memory")
        resource = VirtualMemoryResource(device, {"location_type": location, "peers": [0]})
        assert (resource.device, resource.device_id) == (None, -1)
        assert resource.is_host_accessible
        assert not resource.is_device_accessible
        with resource.allocate(1) as buffer:
            memoryview(buffer).cast("B")[:4] = b"abcd"
            assert contents(buffer, stream) == b"abcd"
            resource.modify_allocation(buffer, 2 * buffer.size)
            assert bytes(memoryview(buffer)[:4]) == b"abcd"

    def test_the_location_is_stored(self, device, resource):
        resource.config.location_type = "host"
        with pytest.raises(ValueError, match="cannot change between device and host memory"):
            resource.allocate(1)

    def test_read_only_access_is_only_reading(self, device, stream, emulation):
        resource = VirtualMemoryResource(device, {"self_access": "r"})
        with resource.allocate(1) as buffer:
            assert len(contents(buffer, stream)) == 4

    def test_no_access_is_no_access(self, device, stream, emulation):
        resource = VirtualMemoryResource(device, {"self_access": None})
        with resource.allocate(1) as buffer, pytest.raises(CUDAError, match="INVALID_VALUE"):
            buffer.fill(1, stream=stream)

    def test_an_absent_peer_is_refused_and_nothing_leaks(self, device, emulation):
        before = device.memory_info.free
        with pytest.raises(ValueError, match="device_id must be within"):
            VirtualMemoryResource(device, {"peers": [99]}).allocate(1)
        assert device.memory_info.free == before

    @pytest.mark.parametrize("handle_type", [None, "posix_fd"])
    def test_memory_is_exportable_if_requested(self, device, emulation, handle_type):

        fd = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        with VirtualMemoryResource(device, {"handle_type": handle_type}).allocate(1) as buffer:
            error, memory = driver.cuMemRetainAllocationHandle(buffer.handle)
            assert not error
            error, descriptor = driver.cuMemExportToShareableHandle(memory, fd, 0)
            driver.cuMemRelease(memory)
            assert bool(error) is (handle_type is None)
            if not error:
                os.close(descriptor)

    def test_its_text_names_the_device(self, device, resource):
        assert repr(resource) == f"<VirtualMemoryResource device={device!r}>"


def test_a_peer_uses_the_memory_of_another_device(run_python):
    run_python(
        """
from cuda.core import Device, VirtualMemoryResource
first, second = Device.get_all_devices()
for each in (second, first):
    each.set_current()
with VirtualMemoryResource(first, {"peers": [1], "peer_access": "rw"}).allocate(1) as buffer:
    second.set_current()
    stream = second.create_stream()
    buffer.fill(5, stream=stream)
    stream.sync()
    first.set_current()
    content, own = bytearray(buffer.size), first.create_stream()
    buffer.copy_to(content, stream=own)
    own.sync()
    assert set(content) == {5}
""",
        HALFWARP_EMULATOR_DEVICES="2",
        HALFWARP_BACKEND="emulator",
    )

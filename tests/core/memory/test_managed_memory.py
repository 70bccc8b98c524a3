# SPDX-License-Identifier: Apache-2.0
"""ManagedMemoryResource and ManagedBuffer: locations, advice, prefetches, discards."""

import warnings

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    Buffer,
    CUDAError,
    DeviceMemoryResource,
    Host,
    ManagedBuffer,
    ManagedMemoryResource,
    ManagedMemoryResourceOptions,
    emulation,
)
from cuda.core.typing import ManagedMemoryLocationType

MEM_ATTACH_GLOBAL = driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value
NO_LOCATION, HOST_NUMA = 0, 3


@pytest.fixture
def resource(device):
    if not device.properties.concurrent_managed_access:
        pytest.skip("the device has no concurrent managed access")
    resource = ManagedMemoryResource({})
    yield resource
    resource.close()


@pytest.fixture
def buffer(resource, stream):
    with resource.allocate(1 << 16, stream=stream) as buffer:
        yield buffer


@pytest.fixture
def advisable(device):
    """Managed memory outside a pool: memory of a pool accepts no advice."""
    error, address = driver.cuMemAllocManaged(1 << 16, MEM_ATTACH_GLOBAL)
    assert not error
    with ManagedBuffer.from_handle(int(address), 1 << 16) as buffer:
        yield buffer
    assert driver.cuMemFree(address)[0] == 0


class TestResource:
    @pytest.mark.parametrize(
        ("options", "location", "device_id"),
        [
            ({}, None, -1),
            ({"preferred_location": 0}, ("device", 0), 0),
            ({"preferred_location": -1}, ("host", None), -1),
            ({"preferred_location": 0, "preferred_location_type": "device"}, ("device", 0), 0),
            ({"preferred_location_type": "host"}, ("host", None), -1),
            ({"preferred_location": 0, "preferred_location_type": "host_numa"},
             ("host_numa", 0), -1),
            ({"preferred_location_type": "host_numa"}, ("host_numa", 0), -1),
        ],
    )  # fmt: skip
    def test_it_reports_the_location_of_its_memory(self, device, options, location, device_id):
        resource = ManagedMemoryResource(options)
        assert resource.preferred_location == location
        if location:
            assert isinstance(resource.preferred_location[0], ManagedMemoryLocationType)
        assert resource.device_id == device_id
        assert resource.is_managed
        assert resource.is_device_accessible
        assert resource.is_host_accessible
        assert not resource.is_ipc_enabled
        resource.close()

    @pytest.mark.parametrize(
        ("options", "text"),
        [
            ({"preferred_location": -3}, "-1 for host, or None for no preference, got -3"),
            ({"preferred_location_type": "device"}, r"\(>= 0\).*'device', got None"),
            ({"preferred_location": -1, "preferred_location_type": "device"}, "got -1"),
            ({"preferred_location": 0, "preferred_location_type": "host"}, "must be None"),
            ({"preferred_location": -1, "preferred_location_type": "host_numa"}, "NUMA node ID"),
            ({"preferred_location_type": "moon"}, "'device', 'host' or 'host_numa'"),
            ({"preferred_location": 99}, "device_id must be within"),
        ],
    )
    def test_a_wrong_location_is_refused(self, device, options, text):
        with pytest.raises(ValueError, match=text):
            ManagedMemoryResource(options)

    def test_without_options_it_uses_the_current_pool(self, resource):
        first, second = ManagedMemoryResource(), ManagedMemoryResource()
        assert not first.is_handle_owned
        assert int(first.handle) == int(second.handle)
        assert resource.is_handle_owned

    def test_its_text_names_the_location(self, device):
        resource = ManagedMemoryResource(ManagedMemoryResourceOptions(0))
        assert repr(resource) == "<ManagedMemoryResource preferred_location=device:0>"
        resource.close()
        assert repr(resource).endswith(" closed>")
        assert repr(ManagedMemoryResource()) == "<ManagedMemoryResource>"

    def test_a_foreign_stream_object_is_refused(self, resource, stream):
        class Foreign:
            def __cuda_stream__(self):
                return stream.__cuda_stream__()

        with pytest.raises(TypeError, match="Only Stream is supported for managed memory"):
            resource.allocate(16, stream=Foreign())

    def test_a_capturing_stream_is_refused(self, resource, stream):
        from cuda.bindings import driver

        mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
        assert driver.cuStreamBeginCapture(stream.handle, mode)[0] == 0
        with pytest.raises(RuntimeError, match="capturing stream"):
            resource.allocate(16, stream=stream)
        error, graph = driver.cuStreamEndCapture(stream.handle)
        assert error == 0
        driver.cuGraphDestroy(graph)

    def test_a_system_without_a_managed_pool_is_reported_with_a_hint(self, emulation):
        with (
            emulation.inject("cuMemGetMemPool", error="CUDA_ERROR_NOT_SUPPORTED"),
            pytest.raises(RuntimeError, match="does not support managed allocations"),
        ):
            ManagedMemoryResource()

    def test_a_device_without_concurrent_access_warns_once(self, device, monkeypatch):
        from cuda.core import _located_memory

        class Has:
            managed_memory, concurrent_managed_access = True, False

        class Without:
            device_id, properties = 0, Has

        _located_memory._reset_concurrent_access_warning()
        with pytest.warns(UserWarning, match="concurrent managed memory access.*segfault"):
            _located_memory._warn_without_concurrent_access([Without])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            _located_memory._warn_without_concurrent_access([Without])
        _located_memory._reset_concurrent_access_warning()

    @pytest.mark.parametrize("error", ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"])
    @pytest.mark.parametrize("function", ["cuMemPoolCreate", "cuMemAllocFromPoolAsync"])
    def test_a_failed_call_loses_nothing(self, emulation, stream, function, error):
        with emulation.inject(function, error=error), pytest.raises(CUDAError, match=error):
            ManagedMemoryResource({}).allocate(16, stream=stream)
        with ManagedMemoryResource({}).allocate(16, stream=stream) as later:
            assert later.size == 16


class TestBuffer:
    def test_host_and_device_use_the_same_bytes(self, buffer, stream):
        stream.sync()
        np.frombuffer(buffer, np.uint8)[:] = 7
        buffer.fill(9, stream=stream)
        stream.sync()
        assert set(np.frombuffer(buffer, np.uint8)) == {9}
        assert buffer.__dlpack_device__() == (13, 0)
        assert isinstance(buffer, ManagedBuffer)

    def test_read_mostly_is_stored(self, advisable):
        assert advisable.read_mostly is False
        advisable.read_mostly = True
        assert advisable.read_mostly is True
        advisable.read_mostly = False
        assert advisable.read_mostly is False

    def test_read_mostly_is_a_bool(self, advisable):
        advisable.read_mostly = np.True_
        for wrong in ("no", 2, None, np.zeros(2)):
            with pytest.raises(TypeError, match="read_mostly must be a bool, got"):
                advisable.read_mostly = wrong
        assert advisable.read_mostly is True

    @pytest.mark.parametrize("location", [Host(), "device"])
    def test_the_preferred_location_is_stored(self, advisable, device, location):
        location = device if location == "device" else location
        assert advisable.preferred_location is None
        advisable.preferred_location = location
        assert advisable.preferred_location == location
        advisable.preferred_location = None
        assert advisable.preferred_location is None

    def test_a_preferred_host_node_is_as_the_driver_reports_it(self, advisable):
        """A CUDA 13.0 driver accepts the advice, but reports no location on an H200."""
        advisable.preferred_location = Host(0)
        attribute = driver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE
        error, kind = driver.cuMemRangeGetAttribute(4, attribute, advisable.handle, 1 << 16)
        assert not error
        assert kind == HOST_NUMA or (kind == NO_LOCATION and not emulation.is_active())
        assert advisable.preferred_location == (Host(0) if kind == HOST_NUMA else None)

    def test_failed_advice_changes_nothing(self, advisable, device, emulation):
        for name, value in (("read_mostly", True), ("preferred_location", device)):
            before = getattr(advisable, name)
            with (
                emulation.inject("cuMemAdvise", error="CUDA_ERROR_UNKNOWN"),
                pytest.raises(CUDAError, match="CUDA_ERROR_UNKNOWN"),
            ):
                setattr(advisable, name, value)
            assert getattr(advisable, name) == before
            setattr(advisable, name, value)
            assert getattr(advisable, name) == value

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    def test_prefetches_to_the_host_and_the_device_work_in_either_order(
        self, buffer, device, stream, order
    ):
        assert buffer.last_prefetch_location is None
        places = [device, Host()]
        for i in order:
            buffer.prefetch(places[i], stream=stream)
            assert buffer.last_prefetch_location == places[i]
        stream.sync()

    def test_a_prefetch_to_the_current_node_is_one_to_a_node(self, buffer, device, stream):
        node = device.properties.host_numa_id
        buffer.prefetch(Host.numa_current(), stream=stream)
        stream.sync()
        assert buffer.last_prefetch_location in (Host(max(node, 0)), Host.numa_current())

    def test_a_prefetch_preserves_the_bytes(self, buffer, device, stream):
        buffer.fill(5, stream=stream)
        buffer.prefetch(Host(), stream=stream)
        stream.sync()
        assert set(np.frombuffer(buffer, np.uint8)) == {5}

    def test_discarded_memory_can_be_written_again(self, buffer, device, stream):
        buffer.fill(5, stream=stream)
        buffer.discard(stream=stream)
        buffer.fill(6, stream=stream)
        buffer.discard_prefetch(device, stream=stream)
        buffer.fill(7, stream=stream)
        stream.sync()
        assert set(np.frombuffer(buffer, np.uint8)) == {7}
        assert buffer.last_prefetch_location == device

    def test_memory_with_an_owner_supports_the_advice(self, advisable):
        owner = object()
        other = ManagedBuffer.from_handle(advisable.handle, advisable.size, owner=owner)
        assert type(other) is ManagedBuffer
        other.read_mostly = True
        assert advisable.read_mostly
        other.close()

    def test_memory_of_a_pool_accepts_no_advice(self, buffer, device, emulation):
        """An H200 with a CUDA 13.0 driver behaves this way; later drivers may accept the advice."""
        for advise in (
            lambda: setattr(buffer, "read_mostly", True),
            lambda: setattr(buffer, "preferred_location", Host()),
            lambda: setattr(buffer, "preferred_location", device),
            lambda: buffer.accessed_by.add(device),
        ):
            with pytest.raises(CUDAError, match=r"(?s)CUDA_ERROR_NOT_SUPPORTED.*\[cuMemAdvise\]"):
                advise()
        buffer.preferred_location = Host(0)  # this one is accepted, but not stored
        assert (buffer.read_mostly, buffer.preferred_location) == (False, None)
        assert buffer.accessed_by == set()

    @pytest.mark.parametrize(
        ("use", "member"),
        [
            (lambda b, s: b.read_mostly, "read_mostly"),
            (lambda b, s: b.preferred_location, "preferred_location"),
            (lambda b, s: b.last_prefetch_location, "last_prefetch_location"),
            (lambda b, s: list(b.accessed_by), "accessed_by"),
            (lambda b, s: setattr(b, "read_mostly", True), "read_mostly"),
            (lambda b, s: setattr(b, "preferred_location", Host()), "preferred_location"),
            (lambda b, s: setattr(b, "accessed_by", [Host()]), "accessed_by"),
            (lambda b, s: b.accessed_by.add(Host()), "accessed_by"),
            (lambda b, s: b.prefetch(Host(), stream=s), "prefetch"),
            (lambda b, s: b.discard(stream=s), "discard"),
            (lambda b, s: b.discard_prefetch(Host(), stream=s), "discard_prefetch"),
        ],
    )
    def test_other_memory_is_refused_by_name(self, device, stream, use, member):
        with DeviceMemoryResource(device).allocate(64, stream=stream) as memory:
            other = ManagedBuffer.from_handle(memory.handle, 64)
            with pytest.raises(ValueError, match=f"^{member} requires a managed-memory allocation"):
                use(other, stream)
            other.close()
            with pytest.raises(RuntimeError, match="Buffer has been closed"):
                use(other, stream)

    @pytest.mark.parametrize("wrong", [3, "device", object()])
    def test_a_location_is_a_device_or_the_host(self, buffer, stream, wrong):
        text = "location must be a Device, Host, or None; got"
        with pytest.raises(TypeError, match=text):
            buffer.prefetch(wrong, stream=stream)
        with pytest.raises(TypeError, match=text):
            buffer.preferred_location = wrong
        with pytest.raises(ValueError, match="location is required"):
            buffer.prefetch(None, stream=stream)

    def test_a_stream_is_required(self, buffer):
        with pytest.raises(TypeError, match="stream is required and must not be None"):
            buffer.prefetch(Host(), stream=None)

    def test_the_class_cannot_be_called(self):
        with pytest.raises(RuntimeError, match="Buffer objects cannot be instantiated directly"):
            ManagedBuffer()

    def test_zero_bytes_are_an_error_of_the_driver(self, resource, stream):
        with (
            resource.allocate(0, stream=stream) as empty,
            pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE"),
        ):
            empty.prefetch(Host(), stream=stream)

    def test_advice_ends_with_the_memory(self, device):
        for _ in range(40):  # until the address is reused
            error, address = driver.cuMemAllocManaged(1 << 20, MEM_ATTACH_GLOBAL)
            assert not error
            with ManagedBuffer.from_handle(int(address), 1 << 20) as buffer:
                assert not buffer.read_mostly
                buffer.read_mostly = True
            assert driver.cuMemFree(address)[0] == 0


class TestAccessedBy:
    def test_it_is_a_live_set(self, advisable, device):
        live = advisable.accessed_by
        assert live == set()
        assert repr(live) == "AccessedBySetProxy(set())"
        live.add(device)
        advisable.accessed_by.add(Host())
        assert live == {device, Host()}
        assert len(live) == 2
        assert device in live
        assert 3 not in live
        assert type(live | {Host(1)}) is set
        live.discard(Host(0))  # a node is never in the set
        live.remove(device)
        assert list(live) == [Host()]
        live.clear()
        assert not live

    def test_assignment_applies_only_the_difference(self, advisable, device, emulation):
        advisable.accessed_by = [device]
        before = emulation.stats()["calls"]["cuMemAdvise"]
        advisable.accessed_by = [device, Host()]
        assert emulation.stats()["calls"]["cuMemAdvise"] == before + 1
        assert advisable.accessed_by == {device, Host()}

    @pytest.mark.parametrize("wrong", [3, Host(0), Host.numa_current()])
    def test_an_invalid_element_changes_nothing(self, advisable, device, wrong):
        advisable.accessed_by = [Host()]
        with pytest.raises((TypeError, ValueError), match="expected Device or Host|support"):
            advisable.accessed_by = [device, wrong]
        assert advisable.accessed_by == {Host()}

    def test_an_absent_element_cannot_be_removed(self, advisable, device):
        with pytest.raises(KeyError):
            advisable.accessed_by.remove(device)
        with pytest.raises(KeyError, match="empty"):
            advisable.accessed_by.pop()


def test_plain_buffers_have_no_advice():
    assert not hasattr(Buffer, "prefetch")

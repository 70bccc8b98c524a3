# SPDX-License-Identifier: Apache-2.0
"""The contract of a memory resource, run for each implementation, and special cases of each."""

import ctypes
import re
from itertools import pairwise

import pytest
from cuda.core import (
    Buffer,
    CUDAError,
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LegacyPinnedMemoryResource,
    MemoryResource,
)

from ..threads import run_together


def synchronous(device):
    from cuda.core._memory import _SynchronousMemoryResource

    return _SynchronousMemoryResource(device.device_id)


RESOURCES = {
    "current pool": lambda device: DeviceMemoryResource(device),
    "own pool": lambda device: DeviceMemoryResource(
        device.device_id, DeviceMemoryResourceOptions()
    ),
    "limited pool": lambda device: DeviceMemoryResource(device, {"max_size": 1 << 26}),
    "pinned": lambda device: LegacyPinnedMemoryResource(),
    "synchronous": synchronous,
}
ACCESS = {"pinned": (True, True)}


@pytest.fixture(params=RESOURCES, name="name")
def resource_name(request):
    return request.param


@pytest.fixture
def resource(name, device):
    return RESOURCES[name](device)


class TestContract:
    def test_allocates_usable_memory(self, resource, stream):
        with resource.allocate(1000, stream=stream) as buffer:
            assert buffer.size == 1000 and buffer.handle % 256 == 0
            assert buffer.memory_resource is resource
            buffer.fill(3, stream=stream)
            stream.sync()

    def test_live_allocations_do_not_overlap(self, resource, stream):
        buffers = [resource.allocate(n, stream=stream) for n in (1, 511, 512, 513, 4096)]
        ranges = sorted((b.handle, b.handle + b.size) for b in buffers)
        assert all(end <= start for (_, end), (start, _) in pairwise(ranges))
        for buffer in buffers:
            buffer.close()

    def test_zero_bytes_give_an_open_buffer_without_address(self, resource, stream):
        with resource.allocate(0, stream=stream) as buffer:
            assert (buffer.size, buffer.handle, buffer.is_closed) == (0, 0, False)

    def test_a_size_is_an_object_with_index(self, resource, stream):
        class Index:
            def __index__(self):
                return 48

        with resource.allocate(Index(), stream=stream) as buffer:
            assert buffer.size == Buffer.from_handle(buffer.handle, Index()).size == 48
        for wrong in ("48", None, b"4"):
            message = f"allocate(): size must be a whole number of bytes, got {wrong!r} ("
            with pytest.raises(TypeError, match=re.escape(message)):
                resource.allocate(wrong, stream=stream)

    @pytest.mark.parametrize(
        ("size", "text"),
        [
            (-1, r"allocate\(\): size in bytes must not be negative, got -1"),
            (1 << 64, r"allocate\(\): size is too large: 18446744073709551616 bytes"),
        ],
    )
    def test_sizes_out_of_range_overflow(self, resource, stream, size, text):
        with pytest.raises(OverflowError, match=text):
            resource.allocate(size, stream=stream)

    def test_a_whole_float_is_accepted_as_size_with_a_warning(self, resource, stream):
        with pytest.warns(DeprecationWarning, match=r"float \(128\.0\) is deprecated: use 128"):
            resource.allocate(128.0, stream=stream).close()
        with pytest.raises(TypeError, match="whole number of bytes, got 128.5"):
            resource.allocate(128.5, stream=stream)

    def test_deallocate_accepts_the_address_of_allocate(self, resource, stream):
        buffer = resource.allocate(64, stream=stream)
        view = Buffer.from_handle(buffer.handle, 64, mr=resource, stream=stream)
        assert view.handle == buffer.handle
        view.close()
        # `buffer` would free the memory a second time, so it is cleared
        buffer._clear()
        resource.deallocate(0, 0, stream=stream)

    def test_it_reports_who_can_access_its_memory(self, name, resource):
        expected = ACCESS.get(name, (True, False))
        assert (resource.is_device_accessible, resource.is_host_accessible) == expected
        assert resource.is_managed is False

    def test_it_lives_as_long_as_its_buffers(self, name, device, stream):
        buffer = RESOURCES[name](device).allocate(32, stream=stream)
        buffer.fill(1, stream=stream)
        buffer.close()

    def test_threads_can_allocate_concurrently(self, resource, device, stream):
        def work():
            Device(0).set_current()
            for _ in range(50):
                resource.allocate(128, stream=stream).close()

        run_together(*[work] * 4)

    def test_it_is_a_memory_resource(self, resource, device):
        assert isinstance(resource, MemoryResource)
        before = device.memory_resource
        device.memory_resource = resource
        assert device.memory_resource is resource
        device.memory_resource = before


class TestBaseClass:
    @pytest.mark.parametrize(
        "use",
        [
            lambda mr: mr.allocate(1, stream=None),
            lambda mr: mr.deallocate(1, 1, stream=None),
            lambda mr: mr.is_device_accessible,
            lambda mr: mr.is_host_accessible,
            lambda mr: mr.device_id,
        ],
    )
    def test_a_missing_method_of_a_subclass_is_a_type_error_on_use(self, use):
        with pytest.raises(
            TypeError, match=r"MemoryResource\.\w+ must be implemented by subclasses\."
        ):
            use(MemoryResource())

    def test_is_managed_is_optional(self):
        assert MemoryResource().is_managed is False

    def test_a_device_accepts_only_resources(self, device):
        with pytest.raises(TypeError, match="Expected type MemoryResource"):
            device.memory_resource = object()


class TestDevicePool:
    def test_resources_without_options_share_the_current_pool(self, device):
        first, second = DeviceMemoryResource(device), DeviceMemoryResource(0)
        assert int(first.handle) == int(second.handle) != 0
        assert first != second
        assert not first.is_handle_owned

    def test_options_create_a_separate_pool(self, device):
        own = DeviceMemoryResource(device, {})
        assert own.is_handle_owned
        assert int(own.handle) != int(DeviceMemoryResource(device).handle)
        own.close()
        assert own.is_closed and int(own.handle) == 0

    def test_a_closed_resource_refuses_to_allocate(self, device, stream):
        own = DeviceMemoryResource(device, {})
        attributes = own.attributes
        own.close()
        own.close()
        with pytest.raises(RuntimeError, match="DeviceMemoryResource has been closed"):
            own.allocate(1, stream=stream)
        with pytest.raises(RuntimeError, match="DeviceMemoryResource has been closed"):
            _ = own.attributes
        assert attributes.used_mem_current == 0
        assert own.device_id == 0 and own.uuid is None

    def test_the_current_pool_caches_freed_memory(self, device):
        assert DeviceMemoryResource(device).attributes.release_threshold == 2**64 - 1

    def test_attributes_reflect_use(self, device, stream):
        own = DeviceMemoryResource(device, {})
        attributes = own.attributes
        assert own.attributes is attributes
        with own.allocate(1 << 20, stream=stream):
            stream.sync()
            assert attributes.used_mem_current >= 1 << 20
            assert attributes.reserved_mem_current >= attributes.used_mem_current
        stream.sync()
        assert attributes.used_mem_current == 0
        assert attributes.used_mem_high >= 1 << 20
        attributes.reset_high_water_marks()
        assert attributes.used_mem_high == 0
        for name in ("used_mem_high", "reserved_mem_high"):
            setattr(attributes, name, 0)
            with pytest.raises(ValueError, match="can only be reset to 0, got 5"):
                setattr(attributes, name, 5)
        own.close()

    def test_attributes_of_no_pool_have_a_text(self, device):
        cls = type(DeviceMemoryResource(device).attributes)
        assert repr(cls.__new__(cls)) == "<_MemPoolAttributes>"

    def test_memory_without_a_pool_is_that_of_its_device(self, device):
        resource = synchronous(device)
        assert resource.device_id == device.device_id
        assert resource.is_device_accessible and not resource.is_host_accessible

    def test_attributes_print_in_alphabetical_order(self, device):
        text = repr(DeviceMemoryResource(device).attributes)
        names = [part.split("=")[0] for part in text[len("_MemPoolAttributes(") : -1].split(", ")]
        assert names == sorted(names) and len(names) == 8

    def test_thresholds_and_reuse_can_be_set(self, device):
        own = DeviceMemoryResource(device, {})
        own.release_threshold = 4096
        assert own.attributes.release_threshold == 4096
        own.attributes.release_threshold = 8192
        assert own.release_threshold == 8192
        own.reuse_allow_opportunistic = False
        assert own.attributes.reuse_allow_opportunistic is False
        with pytest.raises(AttributeError):
            own.attributes.used_mem_current = 1
        own.close()

    def test_trim_releases_free_memory(self, device, stream):
        own = DeviceMemoryResource(device, {})
        own.allocate(1 << 20, stream=stream).close()
        stream.sync()
        own.trim()
        assert own.attributes.reserved_mem_current == 0
        own.close()

    def test_the_limit_is_reported_as_out_of_memory(self, device, stream):
        own = DeviceMemoryResource(device, {"max_size": 1 << 25})
        with pytest.raises(MemoryError, match="CUDA_ERROR_OUT_OF_MEMORY") as caught:
            own.allocate(1 << 32, stream=stream)
        assert caught.value.requested == 1 << 32
        assert caught.value.used == 0
        own.allocate(1024, stream=stream).close()
        own.close()

    def test_out_of_memory_is_reported_although_queries_of_the_pool_fail(
        self, device, stream, emulation
    ):
        own = DeviceMemoryResource(device, {"max_size": 1 << 25})
        with (
            emulation.inject("cuMemPoolGetAttribute", error="CUDA_ERROR_UNKNOWN"),
            pytest.raises(MemoryError, match="4294967296 bytes requested") as caught,
        ):
            own.allocate(1 << 32, stream=stream)
        assert caught.value.reserved in (None, 0)
        own.close()

    @pytest.mark.parametrize("options", [3, "x", {"unknown": 1}])
    def test_invalid_options_are_type_errors(self, device, options):
        with pytest.raises(TypeError):
            DeviceMemoryResource(device, options)

    def test_the_deprecated_call_without_stream_warns(self, device):
        with pytest.warns(DeprecationWarning, match="stream"):
            device.memory_resource.allocate(16).close()

    def test_attribute_objects_cannot_be_constructed(self, device):
        with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
            type(DeviceMemoryResource(device).attributes)()


class TestLegacyPinned:
    def test_construction_requires_no_driver_and_it_has_no_device(self):
        resource = LegacyPinnedMemoryResource()
        with pytest.raises(RuntimeError, match="a pinned memory resource is not bound to any GPU"):
            _ = resource.device_id

    @pytest.mark.parametrize("keywords", [{}, {"stream": None}], ids=["left out", "None"])
    def test_stream_is_optional_and_may_be_none(self, device, keywords):
        buffer = LegacyPinnedMemoryResource().allocate(8, **keywords)
        assert (buffer.size, buffer.is_closed) == (8, False)
        ctypes.memset(buffer.handle, 7, 8)
        with memoryview(buffer) as view:
            assert view.tolist() == [7] * 8
        buffer.close()
        assert buffer.is_closed

    def test_another_type_is_refused_as_stream(self, stream):
        resource = LegacyPinnedMemoryResource()
        with pytest.raises(TypeError, match="Stream or GraphBuilder expected, got int"):
            resource.allocate(8, stream=3)
        stream.close()
        with pytest.raises(RuntimeError, match="Stream has been closed"):
            resource.allocate(8, stream=stream)

    def test_memory_is_freed_although_the_preceding_wait_fails(self, stream, emulation):
        buffer = LegacyPinnedMemoryResource().allocate(8)
        with (
            emulation.inject("cuStreamSynchronize", error="CUDA_ERROR_LAUNCH_FAILED"),
            pytest.raises(CUDAError),
        ):
            buffer.close(stream)
        assert "pinned memory" not in {leak.kind for leak in emulation.leaks()}

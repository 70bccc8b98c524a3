# SPDX-License-Identifier: Apache-2.0
"""PinnedMemoryResource: page-locked host memory from a pool."""

import gc
import weakref

import numpy as np
import pytest
from cuda.core import (
    CUDAError,
    MemoryResource,
    OutOfMemoryError,
    PinnedMemoryResource,
    PinnedMemoryResourceOptions,
)


@pytest.fixture
def resource(device):
    resource = PinnedMemoryResource({})
    yield resource
    resource.close()


def test_host_and_stream_use_the_same_bytes(device, stream, resource):
    with resource.allocate(64, stream=stream) as buffer, resource.allocate(64, stream=stream) as to:
        stream.sync()
        np.frombuffer(buffer, np.uint8)[:] = np.arange(64)
        buffer.copy_to(to, stream=stream)
        stream.sync()
        assert np.from_dlpack(to).view(np.uint8).tolist() == list(range(64))
        assert to.__dlpack_device__() == (3, 0)


def test_it_reports_the_location_of_its_memory(resource):
    assert isinstance(resource, MemoryResource)
    assert resource.device_id == -1
    assert resource.numa_id == -1
    assert resource.is_device_accessible
    assert resource.is_host_accessible
    assert not resource.is_managed
    assert not resource.is_ipc_enabled
    assert resource.uuid is None


def test_empty_options_create_an_owned_pool_and_none_does_not(device):
    with_options, without = PinnedMemoryResource({}), PinnedMemoryResource()
    assert with_options.is_handle_owned
    assert not without.is_handle_owned
    with_options.close()


def test_two_resources_of_the_current_pool_have_equal_handles_but_are_distinct(device):
    first, second = PinnedMemoryResource(), PinnedMemoryResource()
    assert int(first.handle) == int(second.handle)
    assert first != second


def test_a_pool_caches_freed_memory(resource):
    assert resource.release_threshold == 2**64 - 1


def test_a_node_is_stored(device):
    resource = PinnedMemoryResource(PinnedMemoryResourceOptions(numa_id=0))
    assert resource.numa_id == 0
    assert repr(resource) == "<PinnedMemoryResource numa_id=0>"
    resource.close()
    assert repr(resource) == "<PinnedMemoryResource numa_id=0 closed>"


def test_a_negative_node_is_refused():
    with pytest.raises(ValueError, match=r"numa_id must be >= 0, got -1"):
        PinnedMemoryResource({"numa_id": -1})


def test_a_limit_is_respected(device, stream):
    resource = PinnedMemoryResource({"max_size": 1 << 21})
    with pytest.raises(OutOfMemoryError) as caught:
        resource.allocate(1 << 30, stream=stream)
    assert caught.value.requested == 1 << 30
    assert caught.value.device_id is None
    assert "a memory pool without a device" in str(caught.value)
    resource.allocate(64, stream=stream).close()  # it remains usable
    resource.close()


def test_invalid_options_are_refused():
    with pytest.raises(TypeError, match="PinnedMemoryResource options"):
        PinnedMemoryResource(3)
    with pytest.raises(TypeError, match="nonsense"):
        PinnedMemoryResource({"nonsense": 1})


def test_memory_for_other_processes_is_on_a_single_node(device):
    for options in ({"ipc_enabled": True}, {"ipc_enabled": True, "numa_id": 0}):
        resource = PinnedMemoryResource(options)
        assert resource.is_ipc_enabled
        assert resource.numa_id >= 0
        resource.close()


def test_a_closed_resource_refuses_and_its_buffers_stay_usable(device, stream):
    resource = PinnedMemoryResource({})
    buffer = resource.allocate(16, stream=stream)
    attributes = resource.attributes
    resource.close()
    resource.close()
    with pytest.raises(RuntimeError, match="PinnedMemoryResource has been closed"):
        resource.allocate(16, stream=stream)
    assert resource.is_closed
    assert attributes.used_mem_current >= 16
    assert buffer.is_host_accessible
    buffer.close()


def test_zero_bytes_cause_no_driver_call(device, stream, resource):
    with resource.allocate(0, stream=stream) as buffer:
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)


def test_an_invalid_stream_is_refused(resource):
    with pytest.raises(TypeError, match="stream is required and must not be None"):
        resource.allocate(16, stream=None)


def test_a_device_without_access_is_named(emulation, stream, resource):
    unsupported = "CUDA_ERROR_NOT_SUPPORTED"
    with (
        emulation.inject("cuMemAllocFromPoolAsync", error=unsupported),
        pytest.raises(CUDAError, match=unsupported),
    ):
        resource.allocate(16, stream=stream)  # the device reports access: the error is unchanged


def test_it_supports_subclasses_and_weak_references(device, stream):
    class Own(PinnedMemoryResource):
        def allocate(self, size, *, stream):
            return super().allocate(2 * size, stream=stream)

    resource = Own({})
    reference = weakref.ref(resource)
    with resource.allocate(8, stream=stream) as buffer:
        assert buffer.size == 16
        assert buffer.memory_resource is resource
    del buffer, resource
    gc.collect()
    assert reference() is None


def test_construction_keeps_a_capture_valid(device, stream, emulation):
    from cuda.bindings import driver

    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    assert driver.cuStreamBeginCapture(stream.handle, mode)[0] == 0
    resource = PinnedMemoryResource({})
    with pytest.raises(RuntimeError, match="capturing stream"):
        resource.allocate(16, stream=stream)
    resource.close()
    error, graph = driver.cuStreamEndCapture(stream.handle)
    assert error == 0
    driver.cuGraphDestroy(graph)


@pytest.mark.parametrize("error", ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"])
@pytest.mark.parametrize(
    "function",
    ["cuMemPoolCreate", "cuMemPoolGetAttribute", "cuMemPoolSetAttribute",
     "cuMemAllocFromPoolAsync"],
)  # fmt: skip
def test_a_failed_call_loses_nothing(emulation, device, stream, function, error):
    resource = None
    with emulation.inject(function, error=error), pytest.raises(CUDAError, match=error):
        resource = PinnedMemoryResource({})
        resource.allocate(16, stream=stream)
    with PinnedMemoryResource({}).allocate(16, stream=stream) as buffer:
        assert buffer.size == 16

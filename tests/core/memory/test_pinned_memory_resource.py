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
    made = PinnedMemoryResource({})
    yield made
    made.close()


def test_the_host_and_a_stream_use_the_same_bytes(device, stream, resource):
    with resource.allocate(64, stream=stream) as buffer, resource.allocate(64, stream=stream) as to:
        stream.sync()
        np.frombuffer(buffer, np.uint8)[:] = np.arange(64)
        buffer.copy_to(to, stream=stream)
        stream.sync()
        assert np.from_dlpack(to).view(np.uint8).tolist() == list(range(64))
        assert to.__dlpack_device__() == (3, 0)


def test_it_says_where_its_memory_lies(resource):
    assert isinstance(resource, MemoryResource)
    assert resource.device_id == -1
    assert resource.numa_id == -1
    assert resource.is_device_accessible
    assert resource.is_host_accessible
    assert not resource.is_managed
    assert not resource.is_ipc_enabled
    assert resource.uuid is None


def test_empty_options_make_an_owned_pool_and_none_do_not(device):
    with_options, without = PinnedMemoryResource({}), PinnedMemoryResource()
    assert with_options.is_handle_owned
    assert not without.is_handle_owned
    with_options.close()


def test_two_over_the_current_pool_are_equal_in_handle_not_in_identity(device):
    one, other = PinnedMemoryResource(), PinnedMemoryResource()
    assert int(one.handle) == int(other.handle)
    assert one != other


def test_a_pool_keeps_freed_memory(resource):
    assert resource.release_threshold == 2**64 - 1


def test_a_node_is_kept_in_mind(device):
    made = PinnedMemoryResource(PinnedMemoryResourceOptions(numa_id=0))
    assert made.numa_id == 0
    assert repr(made) == "<PinnedMemoryResource numa_id=0>"
    made.close()
    assert repr(made) == "<PinnedMemoryResource numa_id=0 closed>"


def test_a_negative_node_is_refused():
    with pytest.raises(ValueError, match=r"numa_id must be >= 0, got -1"):
        PinnedMemoryResource({"numa_id": -1})


def test_a_limit_is_kept(device, stream):
    made = PinnedMemoryResource({"max_size": 1 << 21})
    with pytest.raises(OutOfMemoryError) as caught:
        made.allocate(1 << 30, stream=stream)
    assert caught.value.requested == 1 << 30
    assert caught.value.device_id is None
    assert "a memory pool without a device" in str(caught.value)
    made.allocate(64, stream=stream).close()  # rule 27: it remains usable
    made.close()


def test_wrong_options_are_refused():
    with pytest.raises(TypeError, match="PinnedMemoryResource options"):
        PinnedMemoryResource(3)
    with pytest.raises(TypeError, match="nonsense"):
        PinnedMemoryResource({"nonsense": 1})


def test_memory_for_other_processes_lies_on_a_node_of_its_own(device):
    for options in ({"ipc_enabled": True}, {"ipc_enabled": True, "numa_id": 0}):
        made = PinnedMemoryResource(options)
        assert made.is_ipc_enabled
        assert made.numa_id >= 0
        made.close()


def test_a_closed_one_refuses_and_its_buffers_live_on(device, stream):
    made = PinnedMemoryResource({})
    buffer = made.allocate(16, stream=stream)
    attributes = made.attributes
    made.close()
    made.close()
    with pytest.raises(RuntimeError, match="PinnedMemoryResource has been closed"):
        made.allocate(16, stream=stream)
    assert made.is_closed
    assert attributes.used_mem_current >= 16  # rule 13
    assert buffer.is_host_accessible
    buffer.close()


def test_no_bytes_are_no_driver_call(device, stream, resource):
    with resource.allocate(0, stream=stream) as buffer:
        assert (buffer.handle, buffer.size, buffer.is_closed) == (0, 0, False)


def test_a_stream_that_is_none_is_refused(resource):
    with pytest.raises(TypeError, match="stream is required and must not be None"):
        resource.allocate(16, stream=None)


def test_a_device_that_cannot_use_it_is_named(emulation, stream, resource):
    unsupported = "CUDA_ERROR_NOT_SUPPORTED"
    with (
        emulation.inject("cuMemAllocFromPoolAsync", error=unsupported),
        pytest.raises(CUDAError, match=unsupported),
    ):
        resource.allocate(16, stream=stream)  # the device says that it can: the error stays


def test_it_can_be_subclassed_and_referred_to_weakly(device, stream):
    class Own(PinnedMemoryResource):
        def allocate(self, size, *, stream):
            return super().allocate(2 * size, stream=stream)

    made = Own({})
    reference = weakref.ref(made)
    with made.allocate(8, stream=stream) as buffer:
        assert buffer.size == 16
        assert buffer.memory_resource is made
    del buffer, made
    gc.collect()
    assert reference() is None


def test_making_one_leaves_a_capture_whole(device, stream, emulation):
    from cuda.bindings import driver

    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL
    assert driver.cuStreamBeginCapture(stream.handle, mode)[0] == 0
    made = PinnedMemoryResource({})
    with pytest.raises(RuntimeError, match="capturing stream"):
        made.allocate(16, stream=stream)
    made.close()
    error, graph = driver.cuStreamEndCapture(stream.handle)
    assert error == 0
    driver.cuGraphDestroy(graph)


@pytest.mark.parametrize("error", ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"])
@pytest.mark.parametrize(
    "function",
    ["cuMemPoolCreate", "cuMemPoolGetAttribute", "cuMemPoolSetAttribute",
     "cuMemAllocFromPoolAsync"],
)  # fmt: skip
def test_a_call_that_fails_loses_nothing(emulation, device, stream, function, error):
    made = None
    with emulation.inject(function, error=error), pytest.raises(CUDAError, match=error):
        made = PinnedMemoryResource({})
        made.allocate(16, stream=stream)
    with PinnedMemoryResource({}).allocate(16, stream=stream) as buffer:
        assert buffer.size == 16

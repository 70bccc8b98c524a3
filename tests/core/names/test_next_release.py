# SPDX-License-Identifier: Apache-2.0
"""Behavior of NVIDIA's 1.3 that contradicts 1.2.2: it waits for `cuda.core.__version__`."""

import cuda.core
import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, LegacyPinnedMemoryResource, VirtualMemoryResource
from cuda.core._utils.version import follows_release
from cuda.core.graph import GraphBuilder


@pytest.fixture
def next_release(monkeypatch):
    monkeypatch.setattr(cuda.core, "__version__", "1.3.0")


def capture_that_fails(device):
    """Return a builder whose capture an allocation has invalidated."""
    builder = device.create_graph_builder().begin_building("global")
    assert driver.cuMemAlloc(4)[0] == driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
    return builder


@pytest.mark.parametrize(
    ("version", "follows"),
    [("1.2.2", False), ("1.3.0", True), ("1.3.0rc1", True), ("1.10.0", True), ("2.0.0", True)],
)
def test_versions_are_compared_by_number(monkeypatch, version, follows):
    monkeypatch.setattr(cuda.core, "__version__", version)
    assert follows_release(1, 3) is follows


class TestPinnedMemory:
    def test_no_device_owns_it_today(self):
        with pytest.raises(RuntimeError, match="not bound to any GPU"):
            _ = LegacyPinnedMemoryResource().device_id

    def test_its_device_is_minus_one(self, next_release):
        assert LegacyPinnedMemoryResource().device_id == -1


class TestEndOfACapture:
    def test_an_invalid_capture_is_a_runtime_error_today(self, device):
        builder = capture_that_fails(device)
        with pytest.raises(RuntimeError, match="has been invalidated"):
            builder.end_building()
        builder.close()

    def test_an_invalid_capture_raises_the_error_of_the_driver(self, device, next_release):
        builder = capture_that_fails(device)
        with pytest.raises(CUDAError, match="CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"):
            builder.end_building()
        assert not builder.is_building
        builder.close()

    def test_a_fork_cannot_end_it(self, device, next_release):
        builder = device.create_graph_builder().begin_building()
        first, fork = builder.split(2)
        with pytest.raises(RuntimeError, match="join"):
            fork.end_building()
        assert first.is_building and fork.is_building
        GraphBuilder.join(first, fork).end_building().close()

    def test_an_idle_builder_has_nothing_to_end(self, device, next_release):
        builder = device.create_graph_builder()
        with pytest.raises(RuntimeError, match="Graph builder is not building"):
            builder.end_building()
        builder.close()


def test_a_context_of_another_device_becomes_current_on_its_device(run_python, two_devices):
    code = """
import cuda.core
from cuda.core import Device
first, second = Device(0), Device(1)
second.set_current()
context = second.context
first.set_current()
before = first.context
try:
    first.set_current(context)
except RuntimeError as error:
    print("different from the target" in str(error))
cuda.core.__version__ = "1.3.0"
print(first.set_current(context) == before, Device().device_id, first.context == before)
"""
    assert run_python(code, **two_devices).split() == ["True"] * 2 + ["1", "True"]


class TestGrowingVirtualMemory:
    @pytest.fixture
    def resource(self, device):
        if not device.properties.virtual_memory_management_supported:
            pytest.skip("the device has no virtual memory management")
        return VirtualMemoryResource(device)

    @pytest.mark.parametrize("closed_first", [0, 1])
    def test_both_buffers_share_the_memory(self, resource, stream, next_release, closed_first):
        old = resource.allocate(1)
        new = resource.modify_allocation(old, old.size + 1)
        assert new is not old and not old.is_closed
        assert (new.handle != old.handle) and new.size == 2 * old.size
        old.fill(7, stream=stream)
        content = bytearray(new.size)
        new.fill(8, stream=stream)
        old.copy_to(memoryview(content)[: old.size], stream=stream)
        stream.sync()
        assert content.startswith(bytes([8]) * old.size)
        pair = [old, new]
        pair.pop(closed_first).close(stream)
        pair[0].fill(9, stream=stream)
        stream.sync()
        pair[0].close(stream)

    def test_a_failure_leaves_the_old_buffer(self, resource, next_release, emulation):
        addresses = [each for each in emulation.leaks() if "address" in each.kind]
        with resource.allocate(1) as old:
            with (
                emulation.inject("cuMemSetAccess", error="CUDA_ERROR_UNKNOWN"),
                pytest.raises(CUDAError, match="cuMemSetAccess"),
            ):
                resource.modify_allocation(old, old.size + 1)
            assert not old.is_closed
        assert [each for each in emulation.leaks() if "address" in each.kind] == addresses

    def test_a_size_that_is_not_larger_returns_the_buffer(self, resource, next_release):
        with resource.allocate(1) as buffer:
            assert resource.modify_allocation(buffer, 1) is buffer

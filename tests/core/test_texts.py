# SPDX-License-Identifier: Apache-2.0
"""Texts that programs match, and the repr of objects."""

import re
import warnings

import pytest
from cuda.core import (
    Buffer,
    Context,
    Device,
    DeviceMemoryResource,
    Event,
    Kernel,
    LaunchConfig,
    ObjectCode,
    Stream,
    launch,
)
from cuda.core._device import DeviceProperties
from cuda.core._module import KernelAttributes, KernelOccupancy
from cuda.core._utils.version import driver_version

# Class -> start of the text of cuda-core 1.2.2; programs compare only that part.
FACTORIES = {
    Buffer: "Buffer objects cannot be instantiated directly. Please use MemoryResource APIs.",
    Context: "Context objects cannot be instantiated directly. Please use Device or Stream APIs.",
    DeviceProperties: "DeviceProperties cannot be instantiated directly. Please use Device APIs.",
    Event: "Event objects cannot be instantiated directly. Please use Stream APIs (record).",
    Kernel: "Kernel objects cannot be instantiated directly. Please use ObjectCode APIs.",
    KernelAttributes: "KernelAttributes cannot be instantiated directly. Please use Kernel APIs.",
    KernelOccupancy: "KernelOccupancy cannot be instantiated directly. Please use Kernel APIs.",
    ObjectCode: "ObjectCode objects cannot be instantiated directly. Please use ObjectCode APIs "
    "(from_cubin, from_ptx) or Program APIs (compile).",
    Stream: "Stream objects cannot be instantiated directly. Please use Device APIs "
    "(create_stream) or other Stream APIs (from_handle).",
}


@pytest.mark.parametrize("cls", FACTORIES, ids=lambda cls: cls.__name__)
def test_a_class_without_constructor_names_its_factory(cls):
    with pytest.raises(RuntimeError) as caught:
        cls(1) if cls is Stream else cls()
    assert str(caught.value).startswith(FACTORIES[cls])


def test_the_warning_about_foreign_streams_begins_as_programs_filter_it(
    stream, store, pinned_block
):
    class Foreign:
        def __cuda_stream__(self):
            return 0, int(stream.handle)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        launch(Foreign(), LaunchConfig(grid=1, block=1), store, pinned_block, 1)
    stream.sync()
    assert str(caught[0].message).startswith(
        "Passing foreign stream objects to this function via the stream protocol is deprecated. "
        "Convert the object explicitly using Stream(obj) instead."
    )


def test_objects_describe_themselves(device, store):
    assert re.fullmatch(r"<Kernel handle=0x[0-9a-f]+ name='store'>", repr(store))
    assert repr(store.occupancy) == "<KernelOccupancy kernel='store'>"
    registers = int(store.attributes.num_regs)
    assert re.match(r"KernelAttributes\(max_threads_per_block=\d+, ", repr(store.attributes))
    assert f"num_regs={registers}," in repr(store.attributes)
    major = device.properties.compute_capability_major
    text = f"<DeviceProperties device=0 compute_capability_major={major}, "
    assert repr(device.properties).startswith(text)


def test_a_memory_resource_shows_its_device(device):
    own = DeviceMemoryResource(device, {})
    assert repr(own) == "<DeviceMemoryResource device=0>"
    own.close()
    assert repr(own) == "<DeviceMemoryResource device=0 closed>"


def test_ordinals_of_any_size_are_refused_with_their_value():
    with pytest.raises(ValueError, match=f"device_id must be >= 0, got {-(2**40)}"):
        Device(-(2**40))
    with pytest.raises(ValueError, match=r"device_id must be within \[0, \d+\), got"):
        Device(2**40)


def test_resources_of_a_device(device):
    resources = device.resources
    sm = resources.sm
    counts = f"sm_count={sm.sm_count} min_partition_size={sm.min_partition_size}"
    text = f"<SMResource {counts} coscheduled_alignment={sm.coscheduled_alignment}>"
    assert repr(resources) == "<DeviceResources of device 0>"
    assert repr(device.context.resources) == f"<DeviceResources of {device.context!r}>"
    assert repr(sm) == text
    if driver_version() < (13, 1):
        return
    (part,), _ = sm.split({"count": sm.min_partition_size}, dry_run=True)
    assert repr(part).endswith(" dry_run>")
    with pytest.raises(ValueError, match="has counts only: split without dry_run first"):
        part.split({"count": sm.min_partition_size})
    queues = resources.workqueue
    assert repr(queues) == (
        f"<WorkqueueResource sharing_scope={str(queues.sharing_scope)!r} "
        f"concurrency_limit={queues.concurrency_limit}>"
    )

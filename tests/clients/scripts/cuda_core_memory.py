# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's cuda-core: every kind of memory, a view on it, and the error of a failure."""

import numpy as np
from cuda.core import (
    Device,
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    PinnedMemoryResource,
)
from cuda.core.utils import StridedMemoryView

SIZE = 1024

device = Device()
device.set_current()
stream = device.create_stream()
host = LegacyPinnedMemoryResource().allocate(SIZE)
content = np.from_dlpack(host).view(np.uint8)


def filled(resource, value):
    """Return whether memory of the resource was filled and copied back."""
    buffer = resource.allocate(SIZE, stream=stream)
    if isinstance(resource, PinnedMemoryResource):  # a driver of CUDA 13.0 does not fill it
        stream.sync()
        np.from_dlpack(buffer).view(np.uint8)[:] = value
    else:
        buffer.fill(value, stream=stream)
    buffer.copy_to(host, stream=stream)
    view = StridedMemoryView.from_any_interface(buffer, stream_ptr=-1)
    assert (view.shape, view.ptr) == ((SIZE,), int(buffer.handle))
    buffer.close(stream)
    stream.sync()
    return np.all(content == value)


resources = [
    DeviceMemoryResource(device),
    PinnedMemoryResource(),
    ManagedMemoryResource(),
    device.memory_resource,
]
assert all(filled(resource, value) for value, resource in enumerate(resources, 1))

reason = ""
try:
    device.allocate(1 << 42, stream=stream)
except Exception as error:
    reason = str(error).partition(":")[0]
print(f"{len(resources)} kinds of memory; too much: {reason}")

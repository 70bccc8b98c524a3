# SPDX-License-Identifier: Apache-2.0
"""PyTorch: streams, events and tensors are exchanged in both directions, at both layers."""

import numpy as np
import torch
from axpy import CONFIG, N, checked, compile_for
from cuda.bindings import driver, runtime
from cuda.core import Buffer, Device, launch


def their_tensors_on_their_stream(kernel):
    theirs = torch.cuda.Stream()
    ours = device.create_stream(theirs)
    assert int(ours.handle) == theirs.cuda_stream
    with torch.cuda.stream(theirs):
        x = torch.arange(N, dtype=torch.float32, device="cuda")
        y = torch.ones(N, device="cuda")
        launch(ours, CONFIG, kernel, 2.0, x, y, N)
        launch(ours, CONFIG, kernel, 1.0, x.data_ptr(), y.data_ptr(), N)
        event = theirs.record_event()
    checked(driver.cuEventSynchronize(event.cuda_event))
    host = np.empty(N, np.float32)
    checked(driver.cuMemcpyDtoH(host.ctypes.data, y.data_ptr(), host.nbytes))
    return host


def our_memory_on_our_stream(kernel):
    ours = device.create_stream()
    x, y = (device.allocate(4 * N, stream=ours) for _ in range(2))
    with torch.cuda.stream(torch.cuda.ExternalStream(int(ours.handle))):
        through_dlpack = torch.from_dlpack(x).view(torch.float32)
        through_interface = torch.as_tensor(y, device="cuda").view(torch.float32)
        assert through_dlpack.data_ptr() == int(x.handle)
        assert through_interface.data_ptr() == int(y.handle)
        through_dlpack.copy_(torch.arange(N))
        through_interface.fill_(1.0)
        launch(ours, CONFIG, kernel, 3.0, x, y, N)
        copy = torch.empty(N, device="cuda")
        y.copy_to(copy, stream=ours)
        view = Buffer.from_handle(copy.data_ptr(), copy.nbytes, owner=copy)
        assert view.device_id == copy.device.index
        return copy.cpu().numpy()


def our_handles_with_their_tensors():
    stream = checked(runtime.cudaStreamCreate())
    with torch.cuda.stream(torch.cuda.ExternalStream(int(stream))):
        y = 1.0 + 3.0 * torch.arange(N, dtype=torch.float32, device="cuda")
    host = np.empty(N, np.float32)
    kind = runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost
    checked(runtime.cudaMemcpyAsync(host.ctypes.data, y.data_ptr(), host.nbytes, kind, stream))
    checked(runtime.cudaStreamSynchronize(stream))
    attributes = checked(runtime.cudaPointerGetAttributes(y.data_ptr()))
    assert attributes.device == y.device.index
    return host


device = Device()
device.set_current()
kernel = compile_for(device).get_kernel("axpy")
expected = 1.0 + 3.0 * np.arange(N)
assert np.array_equal(their_tensors_on_their_stream(kernel), expected)
assert np.array_equal(our_memory_on_our_stream(kernel), expected)
assert np.array_equal(our_handles_with_their_tensors(), expected)
print(f"PyTorch both ways, sum {expected.sum():.0f}")

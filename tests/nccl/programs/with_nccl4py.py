# SPDX-License-Identifier: Apache-2.0
"""nccl4py with buffers of cuda.core: two devices in each process."""

import api
import nccl.core as nccl
import numpy as np
from cuda.core import Device
from ranks import shared_id

N = 1000


class Floats:
    """A buffer with an element type, which `Buffer` does not have."""

    def __init__(self, buffer):
        interface = buffer.__cuda_array_interface__
        self.__cuda_array_interface__ = interface | {"shape": (N,), "typestr": "<f4"}


def main():
    process, processes = api.process_rank()
    total, identity = 2 * processes, nccl.UniqueId.from_bytes(bytes(shared_id()))
    devices = [Device(2 * process + i) for i in range(2)]
    communicators, parts = [], []
    with nccl.group():
        for device in devices:
            device.set_current()
            communicators.append(nccl.Communicator.init(total, device.device_id, identity))
    for device in devices:
        device.set_current()
        stream = device.create_stream()
        buffer = device.allocate(4 * N, stream=stream)
        buffer.copy_from(np.full(N, device.device_id + 1, np.float32), stream=stream)
        parts.append((stream, buffer))
    with nccl.group():
        for communicator, (stream, buffer) in zip(communicators, parts, strict=True):
            communicator.allreduce(Floats(buffer), Floats(buffer), nccl.SUM, stream=stream)
    for stream, buffer in parts:
        numbers = np.empty(N, np.float32)
        buffer.copy_to(numbers, stream=stream)
        stream.sync()
        assert (numbers == total * (total + 1) // 2).all(), numbers
    for communicator in communicators:
        communicator.destroy()
    print("equal")


if __name__ == "__main__":
    main()

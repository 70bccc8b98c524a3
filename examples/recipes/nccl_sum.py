# SPDX-License-Identifier: Apache-2.0
"""NCCL on streams and buffers of cuda.core: every device gets the sum over all devices.

One process uses all devices, with nccl4py (`python nccl_sum.py nccl`) or CuPy (`cupy`). The sum is
another operation in each stream, without a wait after the fill of its input. Prints the library and
the sum, or why there is nothing to do. `halfwarp emulate exec --devices 4 python nccl_sum.py` needs
no GPU.
"""

import sys
from importlib.util import find_spec

import numpy as np
from cuda.core import Device

N = 1000


class Part:
    """The objects of one device: a stream, its input to the sum, and the sum."""

    def __init__(self, device: Device):
        device.set_current()
        self.device, self.stream = device, device.create_stream()
        self.mine, self.sum = (device.allocate(4 * N, stream=self.stream) for _ in range(2))
        self.mine.copy_from(np.full(N, device.device_id + 1, np.float32), stream=self.stream)

    def result(self) -> np.ndarray:
        numbers = np.empty(N, np.float32)
        self.sum.copy_to(numbers, stream=self.stream)
        self.stream.sync()
        return numbers


class Floats:
    """A buffer with an element type, which `Buffer` does not have, for nccl4py."""

    def __init__(self, buffer):
        interface = buffer.__cuda_array_interface__
        self.__cuda_array_interface__ = interface | {"shape": (buffer.size // 4,), "typestr": "<f4"}


def with_nccl4py(parts: list[Part]) -> None:
    import nccl.core as nccl

    communicators = nccl.Communicator.init_all([part.device.device_id for part in parts])
    with nccl.group():
        for communicator, part in zip(communicators, parts, strict=True):
            mine, total = Floats(part.mine), Floats(part.sum)
            communicator.allreduce(mine, total, nccl.SUM, stream=part.stream)
    for part in parts:
        part.stream.sync()
    for communicator in communicators:
        communicator.destroy()


def with_cupy(parts: list[Part]) -> None:
    from cupy.cuda import nccl

    communicators = nccl.NcclCommunicator.initAll([part.device.device_id for part in parts])
    nccl.groupStart()
    for communicator, part in zip(communicators, parts, strict=True):
        part.device.set_current()
        addresses = int(part.mine.handle), int(part.sum.handle), N
        stream = int(part.stream.handle)
        communicator.allReduce(*addresses, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, stream)
    nccl.groupEnd()
    for part in parts:
        part.stream.sync()
    for communicator in communicators:
        communicator.destroy()


def main(*names: str) -> int:
    libraries = {"nccl": with_nccl4py, "cupy": with_cupy}
    available = [name for name in names or libraries if name in libraries and find_spec(name)]
    if not available:
        print("nothing to do: no nccl4py and no CuPy")
        return 0
    parts = [Part(device) for device in Device.get_all_devices()]
    libraries[available[0]](parts)
    expected = sum(part.device.device_id + 1 for part in parts)
    is_right = all((part.result() == expected).all() for part in parts)
    outcome = "correct" if is_right else "WRONG"
    print(f"{available[0]}: {len(parts)} devices, sum {expected}: {outcome}")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

# SPDX-License-Identifier: Apache-2.0
"""NCCL on our streams and buffers: every device gets the sum over all devices.

One process, all devices, with nccl4py (`python nccl_sum.py nccl`) or CuPy (`cupy`). The sum is one
more operation of each stream: no wait between it and what fills its input. Prints the library and
the sum, or why there is nothing to do: the emulator does not run NCCL, which is machine code.
"""

import sys
from importlib.util import find_spec

import numpy as np
from cuda.core import Device, emulation

N = 1000


class Part:
    """What one device has: a stream, what it gives to the sum, and the sum."""

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
    """A buffer with its type, which a `Buffer` has not, for nccl4py."""

    def __init__(self, buffer):
        facts = buffer.__cuda_array_interface__
        self.__cuda_array_interface__ = facts | {"shape": (buffer.size // 4,), "typestr": "<f4"}


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
        where = int(part.mine.handle), int(part.sum.handle), N
        stream = int(part.stream.handle)
        communicator.allReduce(*where, nccl.NCCL_FLOAT32, nccl.NCCL_SUM, stream)
    nccl.groupEnd()
    for part in parts:
        part.stream.sync()
    for communicator in communicators:
        communicator.destroy()


def main(*wanted: str) -> int:
    libraries = {"nccl": with_nccl4py, "cupy": with_cupy}
    found = [name for name in wanted or libraries if find_spec(name)]
    if emulation.is_active() or not found:
        print("nothing to do:", "the emulator has no NCCL" if found else "no nccl4py and no CuPy")
        return 0
    parts = [Part(device) for device in Device.get_all_devices()]
    libraries[found[0]](parts)
    expected = sum(part.device.device_id + 1 for part in parts)
    is_right = all((part.result() == expected).all() for part in parts)
    print(f"{found[0]}: {len(parts)} devices, sum {expected}: {'correct' if is_right else 'WRONG'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

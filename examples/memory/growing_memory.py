# SPDX-License-Identifier: Apache-2.0
"""A vector on the device that grows without being copied.

Each round asks for twice the memory, appends numbers behind those that are there, and leaves the
others where they are. Prints size and address of each round, and whether all numbers are there.
"""

import sys

import numpy as np
from cuda.core import Buffer, Device, VirtualMemoryResource


def main(rounds: int = 4, n: int = 1 << 19) -> int:
    device = Device()
    device.set_current()
    if not device.properties.virtual_memory_management_supported:
        print("this device has no virtual memory management")
        return 0
    stream = device.create_stream()
    resource = VirtualMemoryResource(device, {"handle_type": None})
    numbers = np.arange(n << (rounds - 1), dtype=np.int32)

    vector = resource.allocate(4 * n, stream=stream)
    used = 0
    for i in range(rounds):
        wanted = n << i
        resource.modify_allocation(vector, 4 * wanted)
        print(f"{vector.size >> 20} MiB at {vector.handle:#x}")
        part = Buffer.from_handle(vector.handle + 4 * used, 4 * (wanted - used))
        part.copy_from(numbers[used:wanted], stream=stream)
        used = wanted

    result = np.empty_like(numbers)
    Buffer.from_handle(vector.handle, result.nbytes).copy_to(result, stream=stream)
    stream.sync()
    correct = bool(np.array_equal(result, numbers))
    print(f"{used:,} numbers, {'correct' if correct else 'WRONG'}")
    vector.close()
    stream.close()
    return not correct


if __name__ == "__main__":
    sys.exit(main())

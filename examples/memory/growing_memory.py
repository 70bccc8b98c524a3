# SPDX-License-Identifier: Apache-2.0
"""A vector on the device that grows without copies.

Each round doubles the memory and appends numbers; the address of the existing numbers does not
change. Prints size and address in each round, and whether all numbers are correct.
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
        requested = n << i
        resource.modify_allocation(vector, 4 * requested)
        print(f"{vector.size >> 20} MiB at {vector.handle:#x}")
        part = Buffer.from_handle(vector.handle + 4 * used, 4 * (requested - used))
        part.copy_from(numbers[used:requested], stream=stream)
        used = requested

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

# SPDX-License-Identifier: Apache-2.0
"""Page-locked host memory that NumPy fills, copied to a device and back in stream order.

Two halves of one pinned buffer are copied to device memory in a single batch. Prints whether the
numbers copied back equal the original ones.
"""

import sys

import numpy as np
from cuda.core import Device, PinnedMemoryResource
from cuda.core.utils import copy_batch


def main(n: int = 1 << 16) -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    pinned = PinnedMemoryResource({"max_size": 64 << 20})

    sent, received = (pinned.allocate(8 * n, stream=stream) for _ in range(2))
    on_device = device.allocate(8 * n, stream=stream)
    stream.sync()
    numbers = np.frombuffer(sent, np.float64)
    numbers[:] = np.sqrt(np.arange(n))

    halves = [
        [each.resize_view(start, 4 * n) for start in (0, 4 * n)] for each in (sent, on_device)
    ]
    copy_batch(stream, *halves)
    on_device.copy_to(received, stream=stream)
    stream.sync()

    correct = bool(np.array_equal(numbers, np.frombuffer(received, np.float64)))
    print(f"{n:,} numbers there and back, {'correct' if correct else 'WRONG'}")
    del numbers
    for each in (*halves[0], *halves[1], sent, received, on_device):
        each.close()
    pinned.close()
    stream.close()
    return not correct


if __name__ == "__main__":
    sys.exit(main())

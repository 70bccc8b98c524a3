# SPDX-License-Identifier: Apache-2.0
"""A pool that splits large segments into blocks, and its report when memory runs out.

Ten rounds reuse the same blocks on two streams; then an allocation exceeds the pool's limit. Prints
the number of upstream allocations, the contents of the error, and the memory left in use.
"""

import sys

from cuda.core import Device, OutOfMemoryError, PoolMemoryResource

MIB = 1 << 20


def main() -> int:
    device = Device()
    device.set_current()
    device.memory_resource = pool = PoolMemoryResource(
        device, max_size=64 * MIB, track_allocations=True
    )
    streams = [device.create_stream() for _ in range(2)]
    for turn in range(10):
        for stream in streams:
            with device.allocate(3 * MIB, stream=stream) as buffer:
                buffer.fill(turn, stream=stream)
    seen = pool.statistics()
    print(f"{seen['allocation_count.total']} allocations, {seen['upstream_allocs']} upstream")

    large_buffer = device.allocate(40 * MIB, stream=streams[0])
    explained = False
    try:
        device.allocate(32 * MIB, stream=streams[1])
    except OutOfMemoryError as error:
        largest = error.largest_allocations[0]
        explained = largest.address == large_buffer.handle and "pool.py" in largest.traceback[-1]
        used = f"{error.used >> 20} of {error.limit >> 20} used"
        print(f"{error.requested >> 20} MiB requested, {used}")
        print(f"the largest has {largest.size >> 20} MiB:\n{largest.traceback[-1].rstrip()}")

    in_use = len(pool.report_leaks())
    large_buffer.close()
    trimmed = pool.trim()
    print(f"{in_use} in use, {trimmed >> 20} MiB freed: {'correct' if explained else 'WRONG'}")
    for stream in streams:
        stream.close()
    pool.close()
    return not explained


if __name__ == "__main__":
    sys.exit(main())

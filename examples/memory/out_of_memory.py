# SPDX-License-Identifier: Apache-2.0
"""Find the cause of an OutOfMemoryError in the live allocations and in the allocation log.

A cache never removes entries and exceeds a limit of 6 MiB. The program prints the sizes in the
error, the source line that allocated the most memory, and the peak in the log.
"""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from cuda.core import (
    Device,
    DeviceMemoryResource,
    LimitingMemoryResource,
    LoggingMemoryResource,
    OutOfMemoryError,
    TrackingMemoryResource,
)

MIB = 1 << 20


class Cache:
    """Retains every result. This is the mistake."""

    def __init__(self, resource, stream):
        self.resource, self.stream = resource, stream
        self.results = []

    def result(self, size):
        self.results.append(self.resource.allocate(size, stream=self.stream))
        return self.results[-1]


def work(resource, stream):
    cache = Cache(resource, stream)
    for size in range(64 << 10, 1 * MIB, 64 << 10):
        with resource.allocate(size, stream=stream) as scratch:
            scratch.fill(0, stream=stream)
            cache.result(size).copy_from(scratch, stream=stream)


def peak_of(log):
    in_use = peak = 0
    for line in log.read_text().splitlines()[1:]:
        _, _, action, _, size, _ = line.split(",")
        in_use += {"allocate": 1, "free": -1, "fail": 0}[action] * int(size)
        peak = max(peak, in_use)
    return peak


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    log = Path(tempfile.mkdtemp()) / "allocations.csv"
    limited = LimitingMemoryResource(DeviceMemoryResource(device), 6 * MIB)
    resource = LoggingMemoryResource(TrackingMemoryResource(limited), log)
    try:
        work(resource, stream)
    except OutOfMemoryError as error:
        print(f"{error.requested} bytes requested, {error.used} of {error.limit} in use")
        sizes = Counter()
        for record in error.largest_allocations:
            sizes[record.traceback[-1]] += record.size
        ((line, size),) = sizes.most_common(1)
        print(f"{size} bytes are from\n{line.rstrip()}")
    resource.close()
    print(f"peak in the log: {peak_of(log)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

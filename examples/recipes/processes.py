# SPDX-License-Identifier: Apache-2.0
"""A process per device, which writes to memory that the parent allocated.

The parent allocates a buffer on each device and sends it with an event that orders its use. A
worker writes to the buffer and sends an event back, which the parent's stream waits for. The
numbers themselves are not sent. Prints the work per device, and whether the result is correct.
"""

import multiprocessing
import sys

import numpy as np
from cuda.core import (
    Device,
    DeviceMemoryResource,
    EventOptions,
    LaunchConfig,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
extern "C" __global__ void add_index(int* x, int first, size_t n) {
    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n) x[i] += first + i;
}
"""
SHARED = EventOptions(ipc_enabled=True)


def serve(number: int, pipe) -> None:
    """Process each received (buffer, event, first) until None is received."""
    device = Device(number)
    device.set_current()
    stream = device.create_stream()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("add_index")
    while (task := pipe.recv()) is not None:
        buffer, ready, first = task
        stream.wait(ready)
        n = buffer.size // 4
        launch(stream, LaunchConfig(grid=(n + 255) // 256, block=256), kernel, buffer, first, n)
        done = stream.record(options=SHARED)  # alive until the parent received it
        pipe.send(done)
        buffer.close(stream)
    stream.sync()


class Worker:
    """The parent's view of a worker: its process, device and part of the numbers."""

    def __init__(self, device: Device, first: int, n: int):
        device.set_current()
        self.device, self.first, self.stream = device, first, device.create_stream()
        self.pool = DeviceMemoryResource(device, {"ipc_enabled": True})
        self.buffer = self.pool.allocate(4 * n, stream=self.stream)
        self.pipe, theirs = multiprocessing.Pipe()
        work = device.device_id, theirs
        self.process = multiprocessing.Process(target=serve, args=work, daemon=True)
        self.process.start()

    def begin(self) -> None:
        self.device.set_current()
        self.buffer.fill(0, stream=self.stream)
        self.ready = self.stream.record(options=SHARED)  # alive until the worker received it
        self.pipe.send((self.buffer, self.ready, self.first))

    def finish(self, numbers: np.ndarray) -> int:
        """Wait for the worker and return its exit code."""
        self.device.set_current()
        with self.pipe.recv() as done:
            self.stream.wait(done)
        self.buffer.copy_to(numbers, stream=self.stream)
        self.stream.sync()
        self.pipe.send(None)
        self.process.join()  # before the buffer is closed: the worker has closed its copy
        self.buffer.close()
        self.pool.close()
        return self.process.exitcode


def main(n: int = 100_000) -> int:
    multiprocessing.set_start_method("spawn")  # CUDA does not survive a fork
    devices = Device.get_all_devices()
    numbers = np.zeros(n, np.int32)
    parts = np.array_split(numbers, len(devices))
    firsts = np.cumsum([0, *(part.size for part in parts)]).tolist()
    workers = [
        Worker(device, first, part.size)
        for device, first, part in zip(devices, firsts, parts, strict=False)
    ]
    for worker in workers:
        worker.begin()
    codes = [worker.finish(part) for worker, part in zip(workers, parts, strict=True)]
    for device, part in zip(devices, parts, strict=True):
        print(f"device {device.device_id}: {part.size:,} numbers")
    is_right = not any(codes) and np.array_equal(numbers, np.arange(n))
    print("correct" if is_right else "WRONG")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())

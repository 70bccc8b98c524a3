# SPDX-License-Identifier: Apache-2.0
"""Two processes that write to the same memory alternately, ordered by interprocess events.

One process allocates a buffer and sends it to the other. Then each adds one to every number on its
own stream, after an event of the other. Prints the number of turns, and whether the sum is correct.
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
extern "C" __global__ void add_one(int* x, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}
"""
SHARED = EventOptions(ipc_enabled=True)


def play(pipe, buffer, n: int, rounds: int) -> None:
    """Add one after each received event, and send an event back."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin").get_kernel("add_one")
    config = LaunchConfig(grid=(n + 255) // 256, block=256)
    for _ in range(rounds):
        with pipe.recv() as turn:
            stream.wait(turn)
            launch(stream, config, kernel, buffer, n)
            mine = stream.record(options=SHARED)
        pipe.send(mine)
    pipe.recv()  # the other process has completed
    buffer.close(stream)
    stream.sync()


def main(n: int = 10_000, rounds: int = 5) -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    pool = DeviceMemoryResource(device, {"ipc_enabled": True})
    buffer = pool.allocate(4 * n, stream=stream)
    buffer.fill(0, stream=stream)

    context = multiprocessing.get_context("spawn")
    pipe, other = context.Pipe()
    player = context.Process(target=play, args=(other, buffer, n, rounds))
    player.start()
    for _ in range(rounds):
        with stream.record(options=SHARED) as turn:
            pipe.send(turn)
            with pipe.recv() as theirs:
                stream.wait(theirs)
        numbers = np.empty(n, np.int32)
        buffer.copy_to(numbers, stream=stream)
    stream.sync()
    pipe.send("done")
    player.join()
    buffer.close()
    pool.close()

    is_right = player.exitcode == 0 and (numbers == rounds).all()
    print(f"{rounds} turns on {n:,} numbers: {'correct' if is_right else 'WRONG'}")
    return 0 if is_right else 1


if __name__ == "__main__":
    multiprocessing.set_start_method("spawn")
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Heat in a rod, divided into four parts on all devices that read each other's edges.

Peer access lets a kernel read the memory of another device. Events order the steps, and the host
waits only at the end. With one device, all parts are on it. Prints the number of parts per device.
"""

import sys

import numpy as np
from cuda.core import (
    Device,
    DeviceMemoryResource,
    LaunchConfig,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
extern "C" __global__ void step(const double* left, const double* mine, const double* right,
                                double* next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double before = i > 0 ? mine[i - 1] : left ? left[n - 1] : mine[0];
    double after = i < n - 1 ? mine[i + 1] : right ? right[0] : mine[n - 1];
    next[i] = mine[i] + 0.25 * (before - 2 * mine[i] + after);
}
"""


class Slab:
    """A part of the rod: its device, stream and kernel, and two alternating buffers."""

    def __init__(self, device, devices, part):
        device.set_current()
        self.device, self.n = device, part.size
        self.stream = device.create_stream()
        self.memory = DeviceMemoryResource(device)
        self.memory.peer_accessible_by = [d.device_id for d in devices if d != device]
        self.buffers = [self.memory.allocate(part.nbytes, stream=self.stream) for _ in range(2)]
        self.buffers[0].copy_from(part, stream=self.stream)
        options = ProgramOptions(arch=f"sm_{device.arch}")
        self.kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("step")
        self.done = self.stream.record()

    def step(self, turn, left, right):
        """Make one step after the previous step of the neighbors, which read this part's edges
        and write the edges that it reads."""
        for neighbor in filter(None, (left, right)):
            self.stream.wait(neighbor.done)
        edges = [each.buffers[turn] if each else 0 for each in (left, right)]
        config = LaunchConfig(grid=(self.n + 255) // 256, block=256)
        mine, following = self.buffers[turn], self.buffers[1 - turn]
        self.device.set_current()
        launch(self.stream, config, self.kernel, edges[0], mine, edges[1], following, self.n)


def on_host(rod, steps):
    for _ in range(steps):
        padded = np.pad(rod, 1, mode="edge")
        rod = rod + 0.25 * (padded[:-2] - 2 * rod + padded[2:])
    return rod


def main(n: int = 1000, steps: int = 20) -> int:
    first, *remaining_devices = Device.get_all_devices()
    devices = [
        first,
        *(d for d in remaining_devices if d.can_access_peer(first) and first.can_access_peer(d)),
    ]
    rod = np.zeros((4, n))
    rod[1, -1] = rod[2, 0] = 1000.0  # in the middle
    slabs = [Slab(devices[i * len(devices) // 4], devices, part) for i, part in enumerate(rod)]
    for step in range(steps):
        for i, slab in enumerate(slabs):
            slab.step(step % 2, slabs[i - 1] if i else None, slabs[i + 1] if i < 3 else None)
        for slab in slabs:
            slab.done = slab.stream.record()
    for slab, part in zip(slabs, rod, strict=True):
        slab.buffers[steps % 2].copy_to(part, stream=slab.stream)
    for slab in slabs:
        slab.stream.sync()
    expected = np.zeros(4 * n)
    expected[2 * n - 1] = expected[2 * n] = 1000
    off = abs(rod.ravel() - on_host(expected, steps)).max()
    for device in devices:
        count = sum(slab.device == device for slab in slabs)
        print(f"device {device.device_id}: {count} of 4 parts")
    print(f"{steps} steps, off by {off:.1e}: {'correct' if off < 1e-9 else 'WRONG'}")
    return 0 if off < 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())

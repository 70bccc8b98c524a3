# SPDX-License-Identifier: Apache-2.0
"""A kernel that is launched while its code and all other wrappers of it are destroyed."""

from cuda.core import LaunchConfig, launch
from harness import device, race, store_kernel

ONE = LaunchConfig(grid=1, block=1)

stream = device.create_stream()
memory = device.allocate(64, stream=stream)


class Loaded:
    """A kernel that can be closed: afterwards, only running calls hold references to it."""

    def __init__(self):
        self.refs = store_kernel()

    def close(self):
        self.refs = None


def kernel_of(loaded):
    refs = loaded.refs
    if refs is None:
        raise RuntimeError("the kernel has been closed")
    return refs[0]


USES = [
    lambda loaded: launch(stream, ONE, kernel_of(loaded), memory, 1),
    lambda loaded: kernel_of(loaded).prepare(ONE, memory, 2)(stream),
    lambda loaded: kernel_of(loaded).attributes.num_regs,
    lambda loaded: kernel_of(loaded).occupancy.max_active_blocks_per_multiprocessor(32, 0),
]

race(Loaded, USES, rounds=20)

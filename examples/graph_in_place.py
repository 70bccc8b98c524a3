# SPDX-License-Identifier: Apache-2.0
"""A step of a training loop, captured once and launched often.

Captures a step (scale, then add) into a graph, launches it ten times, updates one argument of the
executable graph in place, and launches it ten more times. Prints the graph, and whether the sums
are correct.
"""

import sys

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = """
extern "C" __global__ void scale(float* x, float factor, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= factor;
}
extern "C" __global__ void add(float* x, float value, size_t n) {
    size_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += value;
}
"""


def main(n: int = 1000) -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    module = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    scale, add = module.get_kernel("scale"), module.get_kernel("add")
    buffer = LegacyPinnedMemoryResource().allocate(4 * n)
    x = np.from_dlpack(buffer).view(np.float32)
    x[:] = 0
    config = LaunchConfig(grid=(n + 255) // 256, block=256)

    builder = device.create_graph_builder().begin_building()
    launch(builder, config, scale, buffer, 0.5, n)
    launch(builder, config, add, buffer, 1.0, n)
    definition = builder.end_building().graph_definition
    print(definition.tree())

    graph = builder.complete()
    for _ in range(10):
        graph.launch(stream)
    stream.sync()
    expected = 2 - 2.0**-9
    correct = bool(np.all(x == np.float32(expected)))

    (last,) = [node for node in definition.nodes() if not node.succ]
    graph[last].update(config=config, kernel=add, args=(buffer, 2.0, n))
    for _ in range(10):
        graph.launch(stream)
    stream.sync()
    for _ in range(10):
        expected = expected / 2 + 2
    correct = correct and bool(np.allclose(x, expected))
    print(f"20 launches of {len(definition.nodes())} nodes: {'correct' if correct else 'WRONG'}")
    graph.close()
    builder.close()
    stream.close()
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""A solver whose loop runs on the device: a graph with a while node.

Solves the heat equation on a rod with ends fixed at 0 and 1, by Jacobi's method. One launch runs as
many steps as needed: the body of the while node makes two steps, then sets the condition to whether
the last step still changed anything. The host only waits.
"""

import sys

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions
from cuda.core.graph import GraphDefinition

SOURCE = """
extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle,
                                                   unsigned int value);

extern "C" __global__ void step(const float* from, float* to, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) to[i] = 0.5f * (from[i - 1] + from[i + 1]);
}

extern "C" __global__ void ask(const float* last, const float* before, int n, float tolerance,
                               int* turns, cudaGraphConditionalHandle goes_on) {
    float change = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        change = fmaxf(change, fabsf(last[i] - before[i]));
    }
    const bool is_changing = __syncthreads_or(change > tolerance);
    if (threadIdx.x == 0) {
        *turns += 1;
        cudaGraphSetConditional(goes_on, is_changing);
    }
}
"""


def build(kernels, first, second, turns, n: int, tolerance: float) -> GraphDefinition:
    """Create a graph with a while node whose body makes two steps and sets the condition."""
    step, ask = kernels
    graph = GraphDefinition()
    goes_on = graph.create_condition(1)  # true at the start of each launch
    body = graph.while_loop(goes_on).body
    config = LaunchConfig(grid=(n + 127) // 128, block=128)
    (
        body.launch(config, step, first, second, n)
        .launch(config, step, second, first, n)
        .launch(LaunchConfig(grid=1, block=128), ask, first, second, n, tolerance, turns, goes_on)
    )
    print(graph.tree())
    return graph


def main(n: int = 24, tolerance: float = 1e-5) -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    module = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("ptx")
    kernels = module.get_kernel("step"), module.get_kernel("ask")
    memory = LegacyPinnedMemoryResource()
    buffers = memory.allocate(4 * n), memory.allocate(4 * n), memory.allocate(4)
    first, second = (np.from_dlpack(each).view(np.float32) for each in buffers[:2])
    first[:] = second[:] = np.linspace(0, 1, n) > 0.99  # 0, and 1 at the end
    turns = np.from_dlpack(buffers[2]).view(np.int32)
    turns[0] = 0

    graph = build(kernels, *buffers, n, tolerance).instantiate()
    graph.launch(stream)
    stream.sync()
    error = float(np.max(np.abs(first - np.linspace(0, 1, n))))
    correct = turns[0] > 10 and error < 0.01
    print(f"{2 * turns[0]} steps in one launch, off by {error:.4f}: {'ok' if correct else 'WRONG'}")
    graph.close()
    stream.close()
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's cuda-core: a captured graph with a fork, a host call and a condition."""

import ctypes

from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.graph import GraphBuilder

SOURCE = """
extern "C" __global__ void add(int* p, int n) { atomicAdd(p, n); }
"""

device = Device()
device.set_current()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", lineinfo=True)
kernel = Program(SOURCE, code_type="c++", options=options).compile("cubin").get_kernel("add")
stream = device.create_stream()
buffer = LegacyPinnedMemoryResource().allocate(4)
counter = ctypes.c_int.from_address(int(buffer.handle))
counter.value = 0
calls = []

config = LaunchConfig(grid=1, block=1)
builder = device.create_graph_builder().begin_building()
launch(builder, config, kernel, buffer, 1)
first, second = builder.split(2)
launch(first, config, kernel, buffer, 10)
launch(second, config, kernel, buffer, 100)
builder = GraphBuilder.join(first, second)
builder.callback(lambda: calls.append(counter.value))
condition = builder.create_condition(default_value=1)
body = builder.if_then(condition).begin_building()
launch(body, config, kernel, buffer, 1000)
body.end_building()
graph = builder.end_building().complete()

for _ in range(3):
    graph.launch(stream)
stream.sync()
assert calls == [111, 1222, 2333], calls
assert counter.value == 3333, counter.value
print(f"graph launched 3 times, counter {counter.value}")

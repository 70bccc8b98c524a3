# SPDX-License-Identifier: Apache-2.0
"""Drawing a graph: captured work of two branches, as a text tree, as SVG and as DOT.

A notebook shows the picture directly, drawn by Graphviz if `dot` is installed. This example writes
it to files in a temporary folder, and prints the tree.
"""

import sys
import tempfile
from pathlib import Path

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.graph import GraphBuilder, GraphDefinition

SOURCE = """
extern "C" __global__ void scale(float* x, float factor) { x[threadIdx.x] *= factor; }
extern "C" __global__ void add(float* x, const float* y) { x[threadIdx.x] += y[threadIdx.x]; }
"""


def capture(device, stream) -> GraphDefinition:
    """Capture a fill and a scaling of two buffers in separate branches, then an addition."""
    module = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    scale, add = module.get_kernel("scale"), module.get_kernel("add")
    config = LaunchConfig(grid=1, block=32)
    x, y = (device.allocate(128, stream=stream) for _ in range(2))
    stream.sync()
    left, right = device.create_graph_builder().begin_building().split(2)
    for branch, buffer in ((left, x), (right, y)):
        buffer.fill(0, stream=branch)
        launch(branch, config, scale, buffer, 0.5)
    joined = GraphBuilder.join(left, right)
    launch(joined, config, add, x, y)
    return joined.end_building().graph_definition


def main() -> int:
    device = Device()
    device.set_current()
    stream = device.create_stream()
    graph = capture(device, stream)
    print(graph.tree())
    folder = Path(tempfile.mkdtemp(prefix="graph-"))
    picture, dot_file = folder / "graph.svg", folder / "graph.dot"
    picture.write_text(graph._repr_svg_())
    graph.debug_dot_print(dot_file, {"verbose": True})
    correct = "scale" in picture.read_text() and dot_file.read_text().startswith("digraph")
    print(f"{len(graph.nodes())} nodes, {len(graph.edges())} edges, in {folder}")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())

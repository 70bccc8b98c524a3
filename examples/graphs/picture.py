# SPDX-License-Identifier: Apache-2.0
"""A graph drawn: captured work of two branches, as a tree of text, as SVG and as DOT.

A notebook shows the picture by itself, drawn by Graphviz where `dot` is installed. Here it goes to
files in a temporary folder, and the tree to the terminal.
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
    """Fills two buffers, scales each in a branch of its own, and adds one to the other."""
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
    picture, described = folder / "graph.svg", folder / "graph.dot"
    picture.write_text(graph._repr_svg_())
    graph.debug_dot_print(described, {"verbose": True})
    correct = "scale" in picture.read_text() and described.read_text().startswith("digraph")
    print(f"{len(graph.nodes())} nodes, {len(graph.edges())} edges, in {folder}")
    return 0 if correct else 1


if __name__ == "__main__":
    sys.exit(main())

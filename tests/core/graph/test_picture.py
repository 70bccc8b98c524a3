# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs: DOT, SVG with and without Graphviz, and a text tree."""

import xml.etree.ElementTree as xml

import pytest
from cuda.bindings import driver
from cuda.core.graph import GraphDefinition, GraphNode, picture

from .conftest import ONE


@pytest.fixture
def drawn(graph, add, numbers):
    """A fill, two launches after it, and a callback after both."""
    first = graph.memset(numbers.buffer, 0, 64)
    branches = [first.launch(ONE, add, numbers.buffer, each) for each in (1, 2)]
    join = branches[0].callback(print)
    join.pred |= {branches[1]}
    return graph


def test_the_tree_has_a_line_for_each_node(drawn):
    assert drawn.tree().split("\n") == [
        "0: memset 64 of 1 B = 0",
        "1: add <<<1, 1>>>  after 0",
        "2: add <<<1, 1>>>  after 0",
        "3: host call print()  after 1, 2",
    ]
    assert GraphDefinition().tree() == "(no nodes)"


def test_a_kind_without_a_class_has_the_name_of_its_type(graph, numbers):
    operation = driver.CUstreamBatchMemOpParams()
    operation.writeValue.operation = driver.CUstreamBatchMemOpType.CU_STREAM_MEM_OP_BARRIER
    params = driver.CUDA_BATCH_MEM_OP_NODE_PARAMS()
    params.ctx, params.count, params.paramArray = driver.cuCtxGetCurrent()[1], 1, [operation]
    handle = driver.CUgraph(int(graph.handle))
    status, _ = driver.cuGraphAddBatchMemOpNode(handle, [], 0, params)
    assert status == driver.CUresult.CUDA_SUCCESS
    (node,) = graph.nodes()
    assert type(node) is GraphNode
    assert node.type == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
    assert graph.tree() == "0: batch mem op"
    with pytest.raises(TypeError, match="GraphNode does not support executable updates"):
        graph.instantiate()[node]
    node.destroy()
    assert not graph.nodes()


def test_bodies_are_part_of_the_tree(graph, drawn):
    outer = GraphDefinition()
    outer.embed(drawn)
    lines = outer.tree().split("\n")
    assert lines[:3] == ["0: graph", "   graph:", "      0: memset 64 of 1 B = 0"]


def test_dot_names_kernels_and_shapes(drawn):
    text = picture.dot(drawn)
    assert text.startswith("digraph {") and text.count("->") == 4
    assert 'label="add\\n&lt;&lt;&lt;1, 1&gt;&gt;&gt;"' in text


@pytest.mark.parametrize("has_graphviz", [True, False])
def test_the_picture_is_svg(drawn, has_graphviz, monkeypatch):
    if has_graphviz and not picture.shutil.which("dot"):
        pytest.skip("Graphviz is not installed")
    if not has_graphviz:
        monkeypatch.setenv("PATH", "")
    root = xml.fromstring(drawn._repr_svg_())
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    text = "".join(root.itertext())
    assert "add" in text and "host call" in text and "memset" in text


def test_a_destroyed_graph_has_no_picture(graph):
    node = graph.embed(GraphDefinition())
    child = node.child_graph
    node.destroy()
    assert child._repr_svg_() is None


def test_ipython_shows_the_tree(drawn):
    class Printer:
        def text(self, text):
            self.output = text

    printer = Printer()
    drawn._repr_pretty_(printer, False)
    assert printer.output == f"{drawn!r}\n{drawn.tree()}"

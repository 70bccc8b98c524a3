# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs: DOT, SVG with and without Graphviz, and a text tree."""

import sys
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


SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def without_graphviz(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("without_graphviz")
def test_rows_of_boxes_are_joined_by_arrows(drawn):
    """A letter is 7 wide, a line 16 high; margins are 12, gaps 28."""
    root = xml.fromstring(drawn._repr_svg_())
    assert (root.get("width"), root.get("height")) == ("240", "222")
    background, *rectangles = root.findall(f"{SVG}rect")
    assert (background.get("width"), background.get("height")) == ("100%", "100%")
    boxes = [[each.get(name) for name in ("x", "y", "width", "height")] for each in rectangles]
    assert [" ".join(box) for box in boxes] == [
        "12 12 107 42",
        "12 82 86 42",
        "126 82 86 42",
        "12 152 79 42",
    ]
    lines = [(each.get("x"), each.get("y"), each.text) for each in root.iter(f"{SVG}tspan")]
    assert lines == [
        ("20", "29", "memset"),
        ("20", "45", "64 of 1 B = 0"),
        ("20", "99", "add"),
        ("20", "115", "<<<1, 1>>>"),
        ("134", "99", "add"),
        ("134", "115", "<<<1, 1>>>"),
        ("20", "169", "host call"),
        ("20", "185", "print()"),
    ]
    assert {each.get("d") for each in root.findall(f"{SVG}path")} == {
        "M65 54L55 82M51 75L55 82L59 75",
        "M65 54L169 82M165 75L169 82L173 75",
        "M55 124L51 152M47 145L51 152L55 145",
        "M169 124L51 152M47 145L51 152L55 145",
    }


@pytest.mark.usefixtures("without_graphviz")
def test_boxes_of_one_row_have_their_own_heights(graph, add, numbers):
    graph.join()
    graph.launch(ONE, add, numbers.buffer, 1)
    graph.join()
    root = xml.fromstring(graph._repr_svg_())
    assert (root.get("width"), root.get("height")) == ("284", "82")
    assert [each.get("height") for each in root.findall(f"{SVG}rect")] == ["100%", "26", "42", "26"]


@pytest.mark.usefixtures("without_graphviz")
def test_an_empty_graph_has_an_empty_picture(graph):
    root = xml.fromstring(graph._repr_svg_())
    assert (root.get("width"), root.get("height"), len(root)) == ("0", "12", 1)


@pytest.mark.parametrize(("status", "is_drawn"), [(0, True), (1, False)])
def test_graphviz_draws_unless_it_fails(drawn, monkeypatch, tmp_path, status, is_drawn):
    program = tmp_path / "dot"
    program.write_text(
        f"#!{sys.executable}\nimport sys\n"
        "print('<?xml?>', '<svg>', *sys.argv[1:], len(sys.stdin.read()), '</svg>')\n"
        f"sys.exit({status})\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    expected = f"<svg> -Tsvg {len(picture.dot(drawn))} </svg>\n"
    assert (picture.svg(drawn) == expected) is is_drawn
    assert picture.svg(drawn).startswith("<svg")


def test_dot_has_a_cluster_for_each_body(drawn):
    outer = GraphDefinition()
    outer.embed(drawn)
    lines = picture.dot(outer).split("\n")
    assert lines[2:6] == [
        '  n0 [label="graph"];',
        "  subgraph cluster_n0_0 {",
        '    label="graph of n0";',
        '    n1 [label="memset\\n64 of 1 B = 0"];',
    ]
    assert lines[-7:] == [
        "    n1 -> n2;",
        "    n1 -> n3;",
        "    n2 -> n4;",
        "    n3 -> n4;",
        "  }",
        "}",
        "",
    ]


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

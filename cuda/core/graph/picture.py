# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs: DOT, SVG, and a text tree.

Graphviz's ``dot`` draws the picture if it is installed. Otherwise the nodes are drawn in layers,
each node below its dependencies.
"""

import shutil
import subprocess
from html import escape
from itertools import count

from cuda.core._graph import ChildGraphNode, IfElseNode, IfNode, WhileNode

LINE, GAP, MARGIN, LETTER = 16, 28, 12, 7  # in pixels


def dot(definition):
    """Return the graph as DOT with the labels of this package. Host only.

    Parameters
    ----------
    definition : GraphDefinition

    Returns
    -------
    str
    """
    lines = ["digraph {", '  node [shape=box, fontname="monospace", fontsize=10];']
    _write_dot(definition, lines, "  ", count())
    return "\n".join([*lines, "}", ""])


def _write_dot(definition, lines, indent, numbers):
    names = {}
    for node in _in_order(definition):
        names[node] = f"n{next(numbers)}"
        label = escape(node._label()).replace("\n", "\\n").replace('"', "'")
        lines.append(f'{indent}{names[node]} [label="{label}"];')
        for index, subgraph in enumerate(_subgraphs(node)):
            lines.append(f"{indent}subgraph cluster_{names[node]}_{index} {{")
            lines.append(f'{indent}  label="{_subgraph_name(node, index)} of {names[node]}";')
            _write_dot(subgraph, lines, indent + "  ", numbers)
            lines.append(f"{indent}}}")
    for first, second in sorted(definition.edges(), key=lambda e: (names[e[0]], names[e[1]])):
        lines.append(f"{indent}{names[first]} -> {names[second]};")


def _subgraphs(node):
    """Return the definitions of the child graph or bodies of a node."""
    if hasattr(node, "child_graph"):
        return (node.child_graph,)
    return getattr(node, "branches", ())


def _subgraph_name(node, index):
    labels = _SUBGRAPH_NAMES.get(type(node))
    return labels[index] if labels else f"branch {index}"


_SUBGRAPH_NAMES = {
    ChildGraphNode: ("graph",),
    IfNode: ("then",),
    IfElseNode: ("then", "else"),
    WhileNode: ("body",),
}


def _layers(definition):
    """Return lists of nodes; the dependencies of a node are in earlier lists."""
    before = {node: set() for node in definition.nodes()}
    for first, second in definition.edges():
        before[second].add(first)
    layers = []
    while before:
        ready = [node for node, dependencies in before.items() if not dependencies]
        if not ready:  # a definition may contain a cycle until it is instantiated
            ready = list(before)
        ready.sort(key=lambda node: node._local_number())
        layers.append(ready)
        for node in ready:
            del before[node]
        for dependencies in before.values():
            dependencies.difference_update(ready)
    return layers


def _in_order(definition):
    return [node for layer in _layers(definition) for node in layer]


def tree(definition):
    """Return the graph as text: a line per node with its dependencies, bodies indented. Host only.

    Parameters
    ----------
    definition : GraphDefinition

    Returns
    -------
    str
    """
    lines = []
    _write_tree(definition, lines, "")
    return "\n".join(lines) or "(no nodes)"


def _write_tree(definition, lines, indent):
    numbers = {node: index for index, node in enumerate(_in_order(definition))}
    for node, number in numbers.items():
        dependencies = sorted(numbers[each] for each in node.pred)
        suffix = f"  after {', '.join(map(str, dependencies))}" if dependencies else ""
        lines.append(f"{indent}{number}: {node._label().replace(chr(10), ' ')}{suffix}")
        for index, subgraph in enumerate(_subgraphs(node)):
            lines.append(f"{indent}   {_subgraph_name(node, index)}:")
            _write_tree(subgraph, lines, indent + "      ")


def svg(definition):
    """Return the graph as SVG, drawn by Graphviz if it is installed. Host only.

    Parameters
    ----------
    definition : GraphDefinition

    Returns
    -------
    str
    """
    program = shutil.which("dot")
    if program is not None:
        drawn = subprocess.run(
            [program, "-Tsvg"], input=dot(definition), capture_output=True, text=True, timeout=60
        )
        if drawn.returncode == 0:
            return drawn.stdout[drawn.stdout.index("<svg") :]
    return _layered_svg(definition)


def _layered_svg(definition):
    """Draw each layer as a row of boxes; the label of a node includes its subgraphs as text."""
    rectangles, top, width = {}, MARGIN, 0
    for layer in _layers(definition):
        x, height = MARGIN, 0
        for node in layer:
            lines = _label_lines(node)
            wide, high = max(map(len, lines)) * LETTER + 16, len(lines) * LINE + 10
            rectangles[node] = (x, top, wide, high, lines)
            x, height = x + wide + GAP, max(height, high)
        top, width = top + height + GAP, max(width, x)
    lines = [_arrow(rectangles[a], rectangles[b]) for a, b in definition.edges() if a in rectangles]
    boxes = [_box(*rectangle) for rectangle in rectangles.values()]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" '
        'font-family="monospace" font-size="11">'
    )
    ground = '<rect width="100%" height="100%" fill="white"/>'  # the page may have a dark theme
    return "\n".join([head, ground, *lines, *boxes, "</svg>"])


def _label_lines(node):
    lines = node._label().split("\n")
    for index, subgraph in enumerate(_subgraphs(node)):
        lines.append(f"{_subgraph_name(node, index)}:")
        lines += ["  " + line for line in tree(subgraph).split("\n")]
    return lines


def _arrow(first, second):
    x1, y1 = first[0] + first[2] // 2, first[1] + first[3]
    x2, y2 = second[0] + second[2] // 2, second[1]
    tip = f"M{x2 - 4} {y2 - 7}L{x2} {y2}L{x2 + 4} {y2 - 7}"
    return f'<path d="M{x1} {y1}L{x2} {y2}{tip}" stroke="black" fill="none"/>'


def _box(x, y, width, height, lines):
    texts = "".join(
        f'<tspan x="{x + 8}" y="{y + 4 + LINE * (index + 1) - 3}">{escape(line)}</tspan>'
        for index, line in enumerate(lines)
    )
    rectangle = (
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="white" stroke="black"/>'
    )
    return f'{rectangle}<text xml:space="preserve">{texts}</text>'

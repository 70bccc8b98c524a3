# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs: DOT, SVG, and a text tree.

Graphviz's ``dot`` draws the picture where it is installed; else the nodes are put into layers, each
below all that it depends on.
"""

import shutil
import subprocess
from html import escape
from itertools import count

LINE, GAP, MARGIN, LETTER = 16, 28, 12, 7  # in pixels


def dot(definition):
    """The graph in the language of Graphviz, with the labels of this package. Host only.

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
        for place, part in enumerate(_parts(node)):
            lines.append(f"{indent}subgraph cluster_{names[node]}_{place} {{")
            lines.append(f'{indent}  label="{_part_name(node, place)} of {names[node]}";')
            _write_dot(part, lines, indent + "  ", numbers)
            lines.append(f"{indent}}}")
    for first, second in sorted(definition.edges(), key=lambda e: (names[e[0]], names[e[1]])):
        lines.append(f"{indent}{names[first]} -> {names[second]};")


def _parts(node):
    """The graphs that belong to a node."""
    if hasattr(node, "child_graph"):
        return (node.child_graph,)
    return getattr(node, "branches", ())


def _part_name(node, place):
    kind = type(node).__name__
    if kind == "IfElseNode":
        return ("then", "else")[place]
    return {"ChildGraphNode": "graph", "IfNode": "then", "WhileNode": "body"}.get(
        kind, f"branch {place}"
    )


def _layers(definition):
    """The nodes in lists, each node behind all that it depends on."""
    before = {node: set() for node in definition.nodes()}
    for first, second in definition.edges():
        before[second].add(first)
    layers = []
    while before:
        ready = [node for node, waits in before.items() if not waits]
        if not ready:  # a cycle, which a definition may have until it is instantiated
            ready = list(before)
        ready.sort(key=lambda node: node._local_number())
        layers.append(ready)
        for node in ready:
            del before[node]
        for waits in before.values():
            waits.difference_update(ready)
    return layers


def _in_order(definition):
    return [node for layer in _layers(definition) for node in layer]


def tree(definition):
    """The graph as lines of text: each node with what it depends on, bodies indented. Host only.

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
    numbers = {node: place for place, node in enumerate(_in_order(definition))}
    for node, number in numbers.items():
        after = sorted(numbers[each] for each in node.pred)
        behind = f"  after {', '.join(map(str, after))}" if after else ""
        lines.append(f"{indent}{number}: {node._label().replace(chr(10), ' ')}{behind}")
        for place, part in enumerate(_parts(node)):
            lines.append(f"{indent}   {_part_name(node, place)}:")
            _write_tree(part, lines, indent + "      ")


def svg(definition):
    """The graph as a picture, drawn by Graphviz if it is there. Host only.

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
    """Rows of boxes, one below the other; what belongs to a node stands in its label."""
    places, top, width = {}, MARGIN, 0
    for layer in _layers(definition):
        left, height = MARGIN, 0
        for node in layer:
            lines = _label_lines(node)
            wide, high = max(map(len, lines)) * LETTER + 16, len(lines) * LINE + 10
            places[node] = (left, top, wide, high, lines)
            left, height = left + wide + GAP, max(height, high)
        top, width = top + height + GAP, max(width, left)
    lines = [_arrow(places[a], places[b]) for a, b in definition.edges() if a in places]
    boxes = [_box(*place) for place in places.values()]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" '
        'font-family="monospace" font-size="11">'
    )
    ground = '<rect width="100%" height="100%" fill="white"/>'  # pages may be dark
    return "\n".join([head, ground, *lines, *boxes, "</svg>"])


def _label_lines(node):
    lines = node._label().split("\n")
    for place, part in enumerate(_parts(node)):
        lines.append(f"{_part_name(node, place)}:")
        lines += ["  " + line for line in tree(part).split("\n")]
    return lines


def _arrow(first, second):
    x1, y1 = first[0] + first[2] // 2, first[1] + first[3]
    x2, y2 = second[0] + second[2] // 2, second[1]
    tip = f"M{x2 - 4} {y2 - 7}L{x2} {y2}L{x2 + 4} {y2 - 7}"
    return f'<path d="M{x1} {y1}L{x2} {y2}{tip}" stroke="black" fill="none"/>'


def _box(left, top, width, height, lines):
    texts = "".join(
        f'<tspan x="{left + 8}" y="{top + 4 + LINE * (place + 1) - 3}">{escape(line)}</tspan>'
        for place, line in enumerate(lines)
    )
    rectangle = (
        f'<rect x="{left}" y="{top}" width="{width}" height="{height}" '
        'fill="white" stroke="black"/>'
    )
    return f'{rectangle}<text xml:space="preserve">{texts}</text>'

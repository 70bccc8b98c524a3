# SPDX-License-Identifier: Apache-2.0
"""The page for contributors names files of the tree."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/guide/contributing.rst").read_text()


def test_the_named_files_exist():
    paths = re.findall(r"``((?:cpp|cuda|generator|tests)/[\w/.]+)``", PAGE)
    assert len(paths) > 25
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_each_kind_of_graph_node_is_defined_once():
    """A function that selects by the type of a node would be one more file for each kind."""
    folder = ROOT / "cpp/emulator/api/graph"
    kinds = (folder / "node_kinds.hpp").read_text()
    rows = set(re.findall(r"&(\w+_kind)\b", kinds))
    nodes = [path.read_text() for path in (folder / "nodes").glob("*.cpp")]
    assert {name for text in nodes for name in re.findall(r"node_kind (\w+)\{", text)} == rows
    shared = [*folder.glob("*.cpp"), *(ROOT / "cpp/emulator/graph").glob("*.cpp")]
    assert not [path for path in shared if "case CU_GRAPH_NODE_TYPE" in path.read_text()]

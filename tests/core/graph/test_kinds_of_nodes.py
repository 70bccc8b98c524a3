# SPDX-License-Identifier: Apache-2.0
"""Texts of every kind of node: its repr, its line in a tree, and its rows in a DOT file."""

import re

import pytest
from cuda.bindings import driver
from cuda.core import emulation
from cuda.core.graph import GraphDefinition

Flag = driver.CUgraphDebugDot_flags


class Kinds:
    """A graph with a node of every kind."""

    def __init__(self, device, graph, numbers):
        at = int(numbers.buffer.handle)
        self.graph, self.event, self.child = graph, device.create_event(), GraphDefinition()
        self.child.memset(at, 1, 4)
        self.conditions = [graph.create_condition(0) for _ in range(4)]
        self.fill = graph.memset(at, 3, 2, 5, 6)
        self.copy = graph.memcpy(at, at + 32, 16)
        self.allocation = graph.allocate(48)
        self.free = self.allocation.deallocate(self.allocation.dptr)
        self.record, self.wait = graph.record(self.event), graph.wait(self.event)
        self.call = graph.callback(print)
        self.embedded = graph.embed(self.child)
        self.branch = graph.if_then(self.conditions[0])
        self.alternative = graph.if_else(self.conditions[1])
        self.loop = graph.while_loop(self.conditions[2])
        self.choice = graph.switch(self.conditions[3], 3)
        self.joint = graph.join(self.fill, self.copy)
        self.names = {
            "AT+32": at + 32, "AT": at, "MEMORY": int(self.allocation.dptr),
            "EVENT": int(self.event.handle), "CHILD": int(self.embedded.child_graph.handle),
            **{f"CONDITION{i}": int(each) for i, each in enumerate(self.conditions)},
        }  # fmt: skip

    def named(self, text):
        """Replace addresses and handles, which differ between processes, by names."""
        text = re.sub(r"handle=0x[0-9a-f]+ ?", "", text)
        for name, number in self.names.items():
            text = re.sub(f"(?i)0x0*{number:x}\\b", name, text)
        return text


@pytest.fixture
def kinds(device, graph, numbers):
    return Kinds(device, graph, numbers)


# attribute, repr without its handle, line of a tree
TEXTS = [
    ("fill", "<MemsetNode dptr=AT value=3>", "memset 2 x 5 of 1 B = 3"),
    ("copy", "<MemcpyNode dst=AT(H) src=AT+32(H) size=16>", "memcpy H to H 16 B"),
    ("allocation", "<AllocNode dptr=MEMORY size=48>", "allocate 48 B"),
    ("free", "<FreeNode dptr=MEMORY>", "free MEMORY"),
    ("record", "<EventRecordNode event=EVENT>", "record event EVENT"),
    ("wait", "<EventWaitNode event=EVENT>", "wait for event EVENT"),
    ("call", "<HostCallbackNode callback=print>", "host call print()"),
    ("embedded", "<ChildGraphNode child=CHILD>", "graph"),
    ("branch", "<IfNode condition=CONDITION0>", "if"),
    ("alternative", "<IfElseNode condition=CONDITION1>", "if"),
    ("loop", "<WhileNode condition=CONDITION2>", "while"),
    ("choice", "<SwitchNode condition=CONDITION3>", "switch"),
    ("joint", "<EmptyNode >", "Empty"),
]


def test_the_repr_and_the_tree_name_what_a_node_does(kinds):
    lines = [line.partition(": ")[2] for line in kinds.graph.tree().split("\n")]
    for name, text, label in TEXTS:
        node = getattr(kinds, name)
        assert kinds.named(repr(node)) == text
        assert kinds.named(node._label().replace("\n", " ")) == label
        assert any(kinds.named(line).startswith(label) for line in lines), label


def test_a_node_that_the_definition_finds_again_is_of_the_same_kind(kinds):
    listed = {node.local_id: node for node in kinds.graph.nodes()}
    for name, *_ in TEXTS:
        node = getattr(kinds, name)
        assert type(listed[node.local_id]) is type(node)
        assert repr(listed[node.local_id]) == repr(node)


ROWS = {
    "MEMSET": "dptr=AT pitch=6 value=3 elementSize=1 width,height=2,5",
    "MEMCPY": "src=DEVICE AT+32 dst=DEVICE AT WidthInBytes,Height,Depth=16,1,1 "
    "srcPitch,srcHeight=16,1 dstPitch,dstHeight=16,1",
    "MEM_ALLOC": "dptr=MEMORY bytesize=48",
    "MEM_FREE": "dptr=MEMORY",
    "EVENT_RECORD": "event=EVENT",
    "EVENT_WAIT": "event=EVENT",
    "CONDITIONAL 0": "handle=CONDITION0 type=IF size=1",
    "CONDITIONAL 1": "handle=CONDITION1 type=IF size=2",
    "CONDITIONAL 2": "handle=CONDITION2 type=WHILE size=1",
    "CONDITIONAL 3": "handle=CONDITION3 type=SWITCH size=3",
}
SELECTED = {
    "MEMCPY_NODE_PARAMS": ["MEMCPY"],
    "MEMSET_NODE_PARAMS": ["MEMSET"],
    "EVENT_NODE_PARAMS": ["EVENT_RECORD", "EVENT_WAIT"],
    "MEM_ALLOC_NODE_PARAMS": ["MEM_ALLOC"],
    "MEM_FREE_NODE_PARAMS": ["MEM_FREE"],
    "CONDITIONAL_NODE_PARAMS": [name for name in ROWS if name.startswith("CONDITIONAL")],
    "VERBOSE": list(ROWS),
    "KERNEL_NODE_PARAMS": [],
}


def rows_of(kinds, path, flag):
    """Return the rows of each kind of node that a DOT file has."""
    number = Flag[f"CU_GRAPH_DEBUG_DOT_FLAGS_{flag}"]
    graph = driver.CUgraph(int(kinds.graph.handle))
    assert driver.cuGraphDebugDotPrint(graph, bytes(path), number)[0] == 0
    text = path.read_text().partition("subgraph cluster_")[2].partition("subgraph cluster_")[0]
    rows, conditions = {}, 0
    for kind, record in re.findall(r'label="\{(\w+)\n(.*?)\}"\];', text, re.S):
        pairs = [row.split(" | ") for row in re.findall(r"\{(.*?)\}", record)]
        fields = [f"{k}={kinds.named(v)}" for k, v in pairs if k not in ("ID", "node handle")]
        name = kind
        if kind == "CONDITIONAL":
            name, conditions = f"{kind} {conditions}", conditions + 1
        rows[name] = " ".join(fields)
    return {name: row for name, row in rows.items() if row}


@pytest.mark.parametrize("flag", SELECTED)
def test_a_flag_selects_the_rows_of_a_kind(kinds, tmp_path, flag):
    if not emulation.is_active():
        pytest.skip("each driver has rows of its own")
    rows = rows_of(kinds, tmp_path / "graph.dot", flag)
    call = rows.pop("HOST", None)
    assert (call is not None) == (flag == "VERBOSE")
    if call is not None:
        assert re.fullmatch(r"fn=0x[0-9A-F]{16} userData=0x[0-9A-F]{16}", call)
    assert rows == {name: ROWS[name] for name in SELECTED[flag]}

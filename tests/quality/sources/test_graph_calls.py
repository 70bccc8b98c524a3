# SPDX-License-Identifier: Apache-2.0
"""Driver calls on graphs hold the graph's lock, since drivers do not synchronize them."""

import re

# A function, and the calls in it that name no lock.
FUNCTION = re.compile(r"^ *(?:def|cdef|cpdef)\b[^=\n]*?(\w+)\(", re.M)
UNLOCKED = re.compile(r"\b(?:try_)?call\(\s*driver\.(cuGraph\w+)")
# `node_of` calls these functions with the lock held.
INSPECTORS = re.compile(r"inspect_\w+_node|inspect_node")
# An id never changes, and the borrowed handle keeps the executable graph alive.
WITHOUT_LOCK = {"cuGraphExecGetId"}


def unlocked_calls(text):
    """Return pairs of a function of a source and a graph call in it without the lock."""
    starts = [(match.start(), match[1]) for match in FUNCTION.finditer(text)]
    for match in UNLOCKED.finditer(text):
        function = max((each for each in starts if each[0] < match.start()), default=(0, ""))[1]
        if match[1] not in WITHOUT_LOCK and not INSPECTORS.fullmatch(function):
            yield function, match[1]


def test_graph_calls_hold_the_lock(root):
    sources = [*(root / "cuda/core/graph").rglob("*.pyx")]
    assert len(sources) > 15
    calls = {each.name: list(unlocked_calls(each.read_text("utf-8"))) for each in sources}
    assert not any(calls.values()), f"use call_alone: {calls}"


def test_a_call_without_the_lock_is_found():
    text = """
    def type(self):
        call(driver.cuGraphNodeGetType, self.raw, &kind)

    cdef GraphNode inspect_free_node(CUgraphNode raw):
        call(driver.cuGraphMemFreeNodeGetParams, raw, &node.address)
    """
    assert list(unlocked_calls(text)) == [("type", "cuGraphNodeGetType")]

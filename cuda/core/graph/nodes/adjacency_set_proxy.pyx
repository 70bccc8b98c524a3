# SPDX-License-Identifier: Apache-2.0
# The nodes before and behind a node, as sets that follow the graph.

from collections.abc import MutableSet


cdef object make_adjacent(GraphNode node, bint behind):
    made = AdjacencySetProxy.__new__(AdjacencySetProxy)
    made._node, made._behind = node, behind
    return made


cdef list adjacent(GraphNode node, bint behind):
    """The nodes as they are now; none of a node that is gone."""
    cdef neighbors found
    if not is_live(node):
        return []
    if node.raw is NULL:
        return roots_of(node.state) if behind else []
    found = neighbors_of(node.state.lock.get()[0], node.raw, behind)
    return [node_of(node.state, found.nodes[i]) for i in range(found.nodes.size())]


cdef list roots_of(_GraphState graph):
    cdef vector[CUgraphNode] found
    cdef size_t count = 0
    call_alone(graph.lock, driver.cuGraphGetRootNodes, graph.raw, NULL, &count)
    found.resize(count)
    if count:
        call_alone(graph.lock, driver.cuGraphGetRootNodes, graph.raw, found.data(), &count)
    return [node_of(graph, found[i]) for i in range(min(count, found.size()))]


cdef list checked_nodes(GraphNode node, object given):
    """Distinct nodes of the same graph; an error before anything is changed."""
    found = [node_of_graph(node.state, each) for each in given]
    for each in found:
        if (<GraphNode>each).raw is NULL:
            raise ValueError("The virtual graph entry node cannot be used in an edge")
    return list({(<GraphNode>each).identity: each for each in found}.values())


cdef int change_edges(GraphNode node, bint behind, list others, bint adds) except -1:
    """One driver call for all of them, none for none."""
    cdef vector[CUgraphNode] sources, targets
    if not others:
        return 0
    if node.raw is NULL:
        raise ValueError("The virtual graph entry node cannot be used in an edge")
    for each in others:
        sources.push_back(node.raw if behind else (<GraphNode>each).raw)
        targets.push_back((<GraphNode>each).raw if behind else node.raw)
    if adds:
        call_alone(node.state.lock, driver.cuGraphAddDependencies, node.state.raw, sources.data(),
                   targets.data(), NULL, sources.size())
    else:
        call_alone(node.state.lock, driver.cuGraphRemoveDependencies, node.state.raw,
                   sources.data(), targets.data(), NULL, sources.size())
    return 0


cdef int assign_adjacent(GraphNode node, bint behind, object given) except -1:
    node.check_usable()
    wanted = checked_nodes(node, given)
    before = set(adjacent(node, behind))
    added = [each for each in wanted if each not in before]
    removed = list(before.difference(wanted))
    change_edges(node, behind, removed, False)
    try:
        change_edges(node, behind, added, True)
    except BaseException:
        change_edges(node, behind, removed, True)  # as it was
        raise
    return 0


class AdjacencySetProxy(MutableSet):
    """The nodes before or behind a node: a set that follows the graph.

    Changes of several nodes at once are one call to the driver. Operators give plain sets.
    """

    __slots__ = ("_node", "_behind")

    def __init__(self):
        raise RuntimeError("the neighbors of a node come from GraphNode.pred and GraphNode.succ")

    @classmethod
    def _from_iterable(cls, nodes):
        return set(nodes)

    def __contains__(self, node):
        return isinstance(node, GraphNode) and node in adjacent(self._node, self._behind)

    def __iter__(self):
        return iter(adjacent(self._node, self._behind))

    def __len__(self):
        return len(adjacent(self._node, self._behind))

    def add(self, value):
        """Add an edge; nothing happens where it is there. Host only."""
        self.update((value,))

    def discard(self, value):
        """Remove an edge, if it is there. Host only."""
        if not isinstance(value, GraphNode):
            raise TypeError(f"expected GraphNode, got {qualified_name(value)}")
        self -= (value,)

    def remove(self, value):
        """Remove an edge. Host only.

        Raises
        ------
        KeyError
            If it is not there.
        """
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def clear(self):
        """Remove all of the edges, with one call. Host only."""
        change_edges(self._node, self._behind, adjacent(self._node, self._behind), False)

    def update(self, *others):
        """Add the edges to all nodes of some iterables, with one call. Host only."""
        cdef GraphNode node = self._node
        node.check_usable()
        wanted = checked_nodes(node, [each for nodes in others for each in nodes])
        present = set(adjacent(node, self._behind))
        change_edges(node, self._behind, [each for each in wanted if each not in present], True)

    def __ior__(self, others):
        self.update(others)
        return self

    def __isub__(self, others):
        nodes = set(others)
        for each in nodes:
            if not isinstance(each, GraphNode):
                raise TypeError(f"expected GraphNode, got {qualified_name(each)}")
        present = adjacent(self._node, self._behind)
        change_edges(self._node, self._behind, [each for each in present if each in nodes], False)
        return self

    def __iand__(self, others):
        wanted = set(others)
        self -= [each for each in self if each not in wanted]
        return self

    def __ixor__(self, others):
        present, given = set(self), set(others)
        assign_adjacent(self._node, self._behind, present ^ given)
        return self

    def edge_data(self, node):
        """The kind of the edge to a node: ``(from_port, to_port, type)``, all 0 for a plain one.

        Host only.

        See Also
        --------
        cuGraphGetEdges : the driver function.
        """
        data = edge_data_of(self._node, self._behind, node)
        if data is None:
            raise KeyError(node)
        return data

    def __repr__(self):
        return "{" + ", ".join([repr(each) for each in self]) + "}"


AdjacencySetProxy.__module__ = "cuda.core.graph"


cdef object edge_data_of(GraphNode node, bint behind, object other):
    cdef neighbors found
    cdef size_t i
    node.check_usable()
    if node.raw is NULL or not isinstance(other, GraphNode):
        return None
    found = neighbors_of(node.state.lock.get()[0], node.raw, behind)
    for i in range(found.nodes.size()):
        if found.nodes[i] == (<GraphNode>other).raw:
            return found.edges[i].from_port, found.edges[i].to_port, found.edges[i].type
    return None

# SPDX-License-Identifier: Apache-2.0
# AdjacencySetProxy: live sets of the predecessors and successors of a node.

from collections.abc import MutableSet


cdef object make_adjacent(GraphNode node, bint successors):
    adjacent_set = AdjacencySetProxy.__new__(AdjacencySetProxy)
    adjacent_set._node, adjacent_set._successors = node, successors
    return adjacent_set


cdef list adjacent(GraphNode node, bint successors):
    """Query the current neighbors of a node; a destroyed node has none."""
    cdef neighbors links
    cdef graph_hold _hold
    if node.state is None:
        return []
    _hold = graph_hold(node.state.lock)
    if not is_live(node):
        return []
    if node.raw is NULL:
        return roots_of(node.state) if successors else []
    links = neighbors_of(node.state.lock.get()[0], node.raw, successors)
    return [node_of(node.state, links.nodes[i]) for i in range(links.nodes.size())]


cdef list roots_of(_GraphState graph):
    cdef vector[CUgraphNode] roots
    cdef size_t count
    call_alone(graph.lock, driver.cuGraphGetRootNodes, graph.raw, NULL, &count)
    roots.resize(count)
    if count:
        call_alone(graph.lock, driver.cuGraphGetRootNodes, graph.raw, roots.data(), &count)
    return [node_of(graph, roots[i]) for i in range(min(count, roots.size()))]


cdef list checked_nodes(GraphNode node, object values):
    """Return the distinct nodes of an argument; raise unless all belong to the node's graph."""
    nodes = [require_node(node.state, each) for each in values]
    for each in nodes:
        if (<GraphNode>each).raw is NULL:
            raise ValueError("The virtual graph entry node cannot be used in an edge")
    return list({(<GraphNode>each).identity: each for each in nodes}.values())


cdef void change_edges(GraphNode node, bint successors, list neighbor_nodes, bint adds) except *:
    """Add or remove the edges to all nodes in one driver call; do nothing without nodes."""
    cdef vector[CUgraphNode] sources, targets
    cdef graph_hold _hold
    if not neighbor_nodes:
        return
    if node.raw is NULL:
        raise ValueError("The virtual graph entry node cannot be used in an edge")
    _hold = graph_hold(node.state.lock)
    node.check_usable()
    for each in neighbor_nodes:
        (<GraphNode>each).check_usable()
        sources.push_back(node.raw if successors else (<GraphNode>each).raw)
        targets.push_back((<GraphNode>each).raw if successors else node.raw)
    if adds:
        call_alone(node.state.lock, driver.cuGraphAddDependencies, node.state.raw, sources.data(),
                   targets.data(), NULL, sources.size())
    else:
        call_alone(node.state.lock, driver.cuGraphRemoveDependencies, node.state.raw,
                   sources.data(), targets.data(), NULL, sources.size())


cdef int assign_adjacent(GraphNode node, bint successors, object values) except -1:
    cdef graph_hold _hold
    node.check_usable()
    nodes = checked_nodes(node, values)
    _hold = graph_hold(node.state.lock)
    current = set(adjacent(node, successors))
    added = [each for each in nodes if each not in current]
    removed = list(current.difference(nodes))
    change_edges(node, successors, removed, False)
    try:
        change_edges(node, successors, added, True)
    except BaseException:
        change_edges(node, successors, removed, True)  # restore the previous edges
        raise


class AdjacencySetProxy(MutableSet):
    """Predecessors or successors of a node, as a live set.

    Changing several nodes at once is one driver call. Operators return plain sets.
    """

    __slots__ = ("_node", "_successors")

    def __init__(self):
        raise RuntimeError("AdjacencySetProxy objects cannot be instantiated directly: use "
                           "GraphNode.pred and GraphNode.succ")

    @classmethod
    def _from_iterable(cls, nodes):
        return set(nodes)

    def __contains__(self, node):
        return isinstance(node, GraphNode) and node in adjacent(self._node, self._successors)

    def __iter__(self):
        return iter(adjacent(self._node, self._successors))

    def __len__(self):
        return len(adjacent(self._node, self._successors))

    def add(self, value):
        """Add an edge; does nothing if the edge exists. Host only."""
        self.update((value,))

    def discard(self, value):
        """Remove an edge, if it exists. Host only."""
        if not isinstance(value, GraphNode):
            raise TypeError(f"expected GraphNode, got {qualified_name(value)}")
        self -= (value,)

    def remove(self, value):
        """Remove an edge. Host only.

        Raises
        ------
        KeyError
            If the edge does not exist.
        """
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def clear(self):
        """Remove all edges in one driver call. Host only."""
        change_edges(self._node, self._successors, adjacent(self._node, self._successors), False)

    def update(self, *others):
        """Add edges to all nodes of the iterables in one driver call. Host only."""
        cdef GraphNode node = self._node
        node.check_usable()
        added = checked_nodes(node, [each for iterable in others for each in iterable])
        present = set(adjacent(node, self._successors))
        change_edges(node, self._successors, [each for each in added if each not in present], True)

    def __ior__(self, other):
        self.update(other)
        return self

    def __isub__(self, other):
        nodes = set(other)
        for each in nodes:
            if not isinstance(each, GraphNode):
                raise TypeError(f"expected GraphNode, got {qualified_name(each)}")
        present = adjacent(self._node, self._successors)
        change_edges(self._node, self._successors, [each for each in present if each in nodes],
                     False)
        return self

    def __iand__(self, other):
        common = set(other)
        self -= [each for each in self if each not in common]
        return self

    def __ixor__(self, other):
        present, nodes = set(self), set(other)
        assign_adjacent(self._node, self._successors, present ^ nodes)
        return self

    def edge_data(self, node):
        """Return the data of the edge to a node: ``(from_port, to_port, type)``, 0 by default.

        Host only.

        See Also
        --------
        cuGraphGetEdges : the driver function.
        """
        data = edge_data_of(self._node, self._successors, node)
        if data is None:
            raise KeyError(node)
        return data

    def __repr__(self):
        return "{" + ", ".join([repr(each) for each in self]) + "}"


AdjacencySetProxy.__module__ = "cuda.core.graph"


cdef object edge_data_of(GraphNode node, bint successors, object other):
    cdef neighbors links
    cdef size_t i
    cdef graph_hold _hold
    node.check_usable()
    if node.raw is NULL or not isinstance(other, GraphNode):
        return None
    _hold = graph_hold(node.state.lock)
    node.check_usable()
    links = neighbors_of(node.state.lock.get()[0], node.raw, successors)
    for i in range(links.nodes.size()):
        if links.nodes[i] == (<GraphNode>other).raw:
            return links.edges[i].from_port, links.edges[i].to_port, links.edges[i].type
    return None

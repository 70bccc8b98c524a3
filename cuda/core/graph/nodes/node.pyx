# SPDX-License-Identifier: Apache-2.0
# GraphNode: a node of a graph, one object for each as long as anybody holds it.

from cpython.exc cimport PyErr_Clear
from cpython.ref cimport Py_DECREF


# no_gc_clear: `known` has the address of the object until it goes.
@cython.no_gc_clear
cdef class GraphNode(_NodeMaker):
    """A node of a graph: something that is done, after the nodes that it depends on.

    It comes from the methods of `GraphDefinition` and of other nodes. As long as an object for a
    node is held, every way to that node gives the same object. It keeps its graph alive.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(f"{type(self).__name__} objects cannot be instantiated directly: nodes "
                           "come from the methods of GraphDefinition and GraphNode")

    def __dealloc__(self):
        if self.known is not None:
            self.known.wrapper.clear(<PyObject*>self)

    cdef int check_usable(self) except -1:
        if self.state is None:
            raise RuntimeError(f"{type(self).__name__} was not initialized")
        self.state.lock.get().wait()
        if self.is_destroyed:
            raise RuntimeError("GraphNode has been destroyed")
        if not self.state.is_valid:
            raise RuntimeError("GraphNode belongs to an invalid GraphDefinition")
        return 0

    @property
    def type(self):
        """The kind of the node as `cuda.bindings.driver.CUgraphNodeType`; None once it is gone."""
        cdef CUgraphNodeType found
        if not is_live(self) or self.raw is NULL:
            return None
        call(driver.cuGraphNodeGetType, self.raw, &found)
        return enum_member("cuda.bindings.driver", "CUgraphNodeType", <int>found)

    @property
    def graph(self):
        """The `GraphDefinition` that the node is a part of. Host only."""
        return wrap_graph(self.state)

    @property
    def handle(self):
        """The node as `cuda.bindings.driver.CUgraphNode`; None once it is gone. Host only."""
        if not is_live(self) or self.raw is NULL:
            return None
        return as_bindings("CUgraphNode", self.raw)

    @property
    def is_valid(self):
        """Whether the node is still in its graph. Host only."""
        return is_live(self)

    @property
    def id(self):
        """The number of the node in its graph, the same in clones and executables of the graph.

        Host only.

        See Also
        --------
        cuGraphNodeGetLocalId : the driver function.
        """
        cdef unsigned found = 0
        self.check_usable()
        call(driver.cuGraphNodeGetLocalId, self.raw, &found)
        return found

    @property
    def pred(self):
        """The nodes that this one depends on: a set that follows the graph, and may be assigned."""
        return make_adjacent(self, False)

    @pred.setter
    def pred(self, nodes):
        assign_adjacent(self, False, nodes)

    @property
    def succ(self):
        """The nodes that depend on this one: a set that follows the graph, and may be assigned."""
        return make_adjacent(self, True)

    @succ.setter
    def succ(self, nodes):
        assign_adjacent(self, True, nodes)

    def join(self, *nodes):
        """Add an empty node behind this one and others.

        Host only.

        Parameters
        ----------
        *nodes : GraphNode
            Of the same graph.

        Returns
        -------
        EmptyNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return join_nodes(self, nodes)

    def destroy(self):
        """Take the node out of its graph, with its edges and all that it kept alive.

        Host only. Executables that were made before are not changed. Once more is harmless.

        Raises
        ------
        CUDAError
            If the driver refuses, as for allocations; the node stays then.

        See Also
        --------
        cuGraphDestroyNode : the driver function.
        """
        if self.state is not None:
            self.state.lock.get().wait()
        if is_live(self) and self.raw is not NULL:
            destroy_node(self)

    def __eq__(self, other):
        if not isinstance(other, GraphNode):
            return NotImplemented
        cdef GraphNode node = <GraphNode>other
        if self.is_destroyed and node.is_destroyed:
            return True
        return (self.identity == node.identity and self.is_destroyed == node.is_destroyed
                and (self.identity != 0 or self.state is node.state))

    def __hash__(self):
        return hash(self.identity)

    def __repr__(self):
        if self.state is not None and self.identity == 0 and type(self) is GraphNode:
            return "<GraphNode entry>"
        handle = f"0x{self.identity if is_live(self) else 0:x}"
        details = self._details()
        return f"<{type(self).__name__} handle={handle}{' ' + details if details else ''}>"

    def _details(self):
        """What the representation says beside the handle. Host only."""
        return ""

    def _local_number(self):
        """What pictures sort by: the number in the graph, the handle with an older driver."""
        cdef unsigned found = 0
        if try_call(driver.cuGraphNodeGetLocalId, self.raw, &found) == CUDA_SUCCESS:
            return found
        PyErr_Clear()  # set where the driver is older than the function
        return self.identity

    def _label(self):
        """What a picture of the graph says of the node. Host only."""
        return type(self).__name__.removesuffix("Node")


cdef inline bint is_live(GraphNode node) noexcept:
    return node.state is not None and not node.is_destroyed and node.state.is_valid


cdef int destroy_node(GraphNode node) except -1:
    cdef _GraphState graph = node.state
    cdef vector[CUgraph] parts = parts_of_node(node)
    cdef size_t i
    call_alone(graph.lock, driver.cuGraphDestroyNode, node.raw)
    node.is_destroyed = True
    nodes = nodes_by_address(graph)
    if nodes.get(node.identity) is node.known:
        del nodes[node.identity]
    for i in range(parts.size()):
        end_part(graph, parts[i])
    return release_kept(graph, node.known)


cdef vector[CUgraph] parts_of_node(GraphNode node):
    """The graphs that belong to a node: they go with it."""
    cdef vector[CUgraph] parts
    if isinstance(node, ChildGraphNode):
        parts.push_back((<ChildGraphNode>node).child.raw)
    elif isinstance(node, ConditionalNode):
        for body in (<ConditionalNode>node).bodies:
            parts.push_back((<_GraphState>body).raw)
    return parts


cdef GraphNode node_of_graph(_GraphState graph, object given):
    """What an argument says, if it is a node of that graph which is still there."""
    if not isinstance(given, GraphNode):
        raise TypeError(f"expected GraphNode, got {qualified_name(given)}")
    cdef GraphNode node = <GraphNode>given
    node.check_usable()
    if node.state is not graph:
        raise ValueError("Graph nodes must belong to the same GraphDefinition")
    return node


cdef GraphNode node_of(_GraphState graph, CUgraphNode raw):
    """The object for a node: the one that there is, or one that is made of what the driver says."""
    cdef _NodeState state
    cdef GraphNode node
    cdef PyObject* found
    with cython.critical_section(graph):
        state = state_of_node(graph, raw)
        found = state.wrapper.get()
        if found is not NULL:
            node = <GraphNode>found
            Py_DECREF(node)
        else:
            node = inspect_node(graph, raw, state)
            node.state, node.raw, node.identity = graph, raw, <uintptr_t>raw
            stand_for(node, state)
    return node


cdef GraphNode inspect_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    """An object of the right class, with all that can be asked of the driver."""
    cdef CUgraphNodeType kind
    call(driver.cuGraphNodeGetType, raw, &kind)
    if kind == CU_GRAPH_NODE_TYPE_KERNEL:
        return inspect_kernel_node(raw)
    if kind == CU_GRAPH_NODE_TYPE_MEMSET:
        return inspect_memset_node(raw)
    if kind == CU_GRAPH_NODE_TYPE_MEMCPY:
        return inspect_memcpy_node(raw)
    if kind == CU_GRAPH_NODE_TYPE_HOST:
        return inspect_host_node(raw)
    if kind == CU_GRAPH_NODE_TYPE_GRAPH:
        return inspect_child_node(graph, raw)
    if kind == CU_GRAPH_NODE_TYPE_EMPTY:
        return EmptyNode.__new__(EmptyNode)
    if kind == CU_GRAPH_NODE_TYPE_EVENT_RECORD or kind == CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return inspect_event_node(graph, raw, kind)
    if kind == CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return inspect_alloc_node(raw)
    if kind == CU_GRAPH_NODE_TYPE_MEM_FREE:
        return inspect_free_node(raw)
    if kind == CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return inspect_conditional_node(graph, raw, state)
    return GraphNode.__new__(GraphNode)


@cython.final
cdef class EmptyNode(GraphNode):
    """A node that does nothing but join those that it depends on."""

# SPDX-License-Identifier: Apache-2.0
# GraphNode: a node of a graph. Each node has at most one live wrapper.

from cpython.ref cimport Py_DECREF


# no_gc_clear: `node_state` holds the address of the object until the object is destroyed.
@cython.no_gc_clear
cdef class GraphNode(_NodeFactory):
    """A node of a graph: an operation that runs after the nodes that it depends on.

    The methods of `GraphDefinition` and of other nodes create nodes. While the object of a node is
    alive, all methods and properties return this same object. A node retains its graph.
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError(f"{type(self).__name__} objects cannot be instantiated directly: use "
                           "the methods of GraphDefinition and GraphNode")

    def __dealloc__(self):
        if self.node_state is not None:
            self.node_state.wrapper.clear(<PyObject*>self)

    cdef int check_usable(self) except -1:
        if self.state is None:
            raise_uninitialized(self)
        self.state.lock.get().wait()
        if self.is_destroyed:
            raise RuntimeError("GraphNode has been destroyed")
        if not self.state.is_valid:
            raise RuntimeError("GraphNode belongs to an invalid GraphDefinition")

    @property
    def type(self):
        """Type of the node as `cuda.bindings.driver.CUgraphNodeType`; None once destroyed."""
        cdef CUgraphNodeType kind
        cdef graph_hold _hold
        if self.state is None or self.raw is NULL:
            return None
        _hold = graph_hold(self.state.lock)
        if not is_live(self):
            return None
        call_alone(self.state.lock, driver.cuGraphNodeGetType, self.raw, &kind)
        return enum_member("cuda.bindings.driver", "CUgraphNodeType", <int>kind)

    @property
    def graph(self):
        """The `GraphDefinition` that contains the node. Host only."""
        return wrap_graph(self.state)

    @property
    def handle(self):
        """The node as `cuda.bindings.driver.CUgraphNode`; None once destroyed. Host only."""
        if not is_live(self) or self.raw is NULL:
            return None
        return as_bindings("CUgraphNode", self.raw)

    @property
    def is_valid(self):
        """Whether the node is still in its graph. Host only."""
        return is_live(self)

    @property
    def id(self):
        """Id of the node in its graph; clones and executable graphs use the same id.

        Host only.

        See Also
        --------
        cuGraphNodeGetLocalId : the driver function.
        """
        cdef unsigned number
        cdef graph_hold hold
        self.hold_usable(hold)
        call_alone(self.state.lock, driver.cuGraphNodeGetLocalId, self.raw, &number)
        return number

    @property
    def local_id(self):
        """The `id` of the node. Host only."""
        return self.id

    @property
    def tools_id(self):
        """Id of the node that profilers use, unique among all nodes. Host only.

        See Also
        --------
        cuGraphNodeGetToolsId : the driver function.
        """
        cdef unsigned long long number
        cdef graph_hold hold
        self.hold_usable(hold)
        call_alone(self.state.lock, driver.cuGraphNodeGetToolsId, self.raw, &number)
        return number

    @property
    def pred(self):
        """Nodes that this node depends on: a live set, which may be assigned."""
        return make_adjacent(self, False)

    @pred.setter
    def pred(self, nodes):
        assign_adjacent(self, False, nodes)

    @property
    def succ(self):
        """Nodes that depend on this node: a live set, which may be assigned."""
        return make_adjacent(self, True)

    @succ.setter
    def succ(self, nodes):
        assign_adjacent(self, True, nodes)

    def join(self, *nodes):
        """Add an empty node that depends on this node and others.

        Host only.

        Parameters
        ----------
        *nodes : GraphNode
            Nodes of the same graph.

        Returns
        -------
        EmptyNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return join_nodes(self, nodes)

    def destroy(self):
        """Remove the node and its edges from the graph, and release the objects that it retains.

        Host only. Does not change existing executable graphs. Does nothing if the node has been
        destroyed.

        Raises
        ------
        CUDAError
            If the driver rejects the call, as for allocation nodes. The node stays unchanged.

        See Also
        --------
        cuGraphDestroyNode : the driver function.
        """
        if self.state is not None and self.raw is not NULL:
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
        # Entry nodes have no handle: two graphs' entry nodes differ by the graph.
        return hash(self.identity) if self.identity != 0 else hash(<uintptr_t><void*>self.state)

    def __repr__(self):
        if self.state is None:
            return f"<{type(self).__name__}>"
        if self.identity == 0 and type(self) is GraphNode:
            return "<GraphNode entry>"
        handle = f"0x{self.identity if is_live(self) else 0:x}"
        details = self._details()
        return f"<{type(self).__name__} handle={handle}{' ' + details if details else ''}>"

    cdef tuple owned_graphs(self):
        """Return the _GraphStates of the graphs that are destroyed with the node."""
        return ()

    def _details(self):
        """Return the part of the representation after the handle. Host only."""
        return ""

    def _local_number(self):
        """Return the sort key in pictures: the local id, or the handle if the driver has no ids."""
        cdef unsigned number = 0
        cdef graph_hold hold
        self.hold_usable(hold)
        return number if read_local_id(self.state, self.raw, &number) else self.identity

    def _label(self):
        """Return the label of the node in pictures of the graph. Host only."""
        name = getattr(self.type, "name", "node")
        return name.removeprefix("CU_GRAPH_NODE_TYPE_").replace("_", " ").lower()


cdef inline bint is_live(GraphNode node) noexcept:
    return node.state is not None and not node.is_destroyed and node.state.is_valid


cdef int destroy_node(GraphNode node) except -1:
    cdef _GraphState graph = node.state
    cdef graph_hold _hold = graph_hold(graph.lock)
    if not is_live(node):
        return 0
    subgraphs = node.owned_graphs()
    call_alone(graph.lock, driver.cuGraphDestroyNode, node.raw)
    node.is_destroyed = True
    nodes = nodes_by_address(graph)
    if nodes.get(node.identity) is node.node_state:
        del nodes[node.identity]
    for subgraph in subgraphs:
        invalidate_subgraph(graph, (<_GraphState>subgraph).raw)
    node.node_state.creation = None
    return release_node_objects(graph, node.node_state)


cdef GraphNode require_node(_GraphState graph, object value):
    """Return an argument as a live node of `graph`, or raise."""
    if not isinstance(value, GraphNode):
        raise TypeError(f"expected GraphNode, got {qualified_name(value)}")
    cdef GraphNode node = <GraphNode>value
    node.check_usable()
    if node.state is not graph:
        raise ValueError("Graph nodes must belong to the same GraphDefinition")
    return node


cdef GraphNode node_of(_GraphState graph, CUgraphNode raw):
    """Return the live wrapper of a node, or create one from the driver's description."""
    cdef _NodeState state
    cdef GraphNode node
    cdef PyObject* wrapper
    cdef graph_hold _hold = graph_hold(graph.lock)
    state = state_of_node(graph, raw)
    wrapper = state.wrapper.get()
    if wrapper is not NULL:
        node = <GraphNode>wrapper
        Py_DECREF(node)
    else:
        node = inspect_node(graph, raw, state)
        node.state, node.raw, node.identity = graph, raw, <uintptr_t>raw
        set_wrapper(node, state)
    return node


# Creates the wrapper of a node from the driver's description. The caller holds the graph's lock.
ctypedef GraphNode (*node_inspector)(_GraphState graph, CUgraphNode raw, _NodeState state)

cdef node_inspector INSPECTORS[64]  # by CUgraphNodeType; NULL: the type has no class of its own
cdef dict VIEW_OF_CLASS = {}        # node class: its class for executable graphs


cdef int add_kind(CUgraphNodeType kind, object node_class, node_inspector inspect,
                  object view_class) except -1:
    INSPECTORS[<int>kind] = inspect
    VIEW_OF_CLASS[node_class] = view_class


cdef GraphNode inspect_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    """Create the wrapper for the type of a node, and fill it with values of the driver."""
    cdef CUgraphNodeType kind
    call(driver.cuGraphNodeGetType, raw, &kind)
    if <size_t>kind >= sizeof(INSPECTORS) // sizeof(INSPECTORS[0]) or INSPECTORS[<int>kind] is NULL:
        return GraphNode.__new__(GraphNode)
    return INSPECTORS[<int>kind](graph, raw, state)


@cython.final
cdef class EmptyNode(GraphNode):
    """A node without work that joins its dependencies."""

    def _label(self):
        return "Empty"


cdef GraphNode inspect_empty_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    return EmptyNode.__new__(EmptyNode)


cdef object join_nodes(_NodeFactory factory, tuple nodes):
    """Add an empty node that depends on `nodes`, and on `factory` if it is a node."""
    cdef vector[CUgraphNode] dependencies
    cdef CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_EMPTY)
    cdef _NodeState state
    cdef GraphNode node
    cdef graph_hold _hold
    factory.check_usable()
    _hold = graph_hold(factory.state.lock)
    if factory.raw is not NULL:
        dependencies.push_back(factory.raw)
    for each in nodes:
        node = require_node(factory.state, each)
        if node.raw is not NULL:
            dependencies.push_back(node.raw)
    node = EmptyNode.__new__(EmptyNode)
    state = new_state_for(node)
    factory.check_usable()
    call_alone(factory.state.lock, driver.cuGraphAddNode, &state.raw, factory.state.raw,
               dependencies.data(), NULL, dependencies.size(), &params)
    register_node(node, factory.state, state)
    return node

# SPDX-License-Identifier: Apache-2.0
# GraphDefinition: a graph that is built node by node.


@cython.final
cdef class GraphDefinition(_NodeFactory):
    """A graph that is built node by node, from which executable graphs are instantiated.

    ``GraphDefinition()`` creates an empty graph. `GraphBuilder.graph_definition`, child graph nodes
    and conditional nodes return their own. A graph lives as long as any object of it, of its child
    graphs and bodies, or of its nodes. Calls of several threads on one graph are serialized.
    """

    def __init__(self):
        if self.state is not None:
            raise RuntimeError("GraphDefinition is initialized already")
        initialize_driver()
        self.state = new_graph_state()
        self.identity = <uintptr_t>self.state.raw

    cdef int check_usable(self) except -1:
        if self.state is None:
            raise_uninitialized(self)
        self.state.lock.get().wait()
        return check_valid(self.state)

    def empty(self):
        """Add a node that does nothing and depends on nothing.

        Host only.

        Returns
        -------
        EmptyNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return join_nodes(self, ())

    def join(self, *nodes):
        """Add an empty node that depends on other nodes.

        Host only.

        Parameters
        ----------
        *nodes : GraphNode
            Nodes of this graph.

        Returns
        -------
        EmptyNode

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return join_nodes(self, nodes)

    def create_condition(self, default_value=None):
        """Create a condition for conditional nodes of this graph.

        Host only. Needs a current context.

        Parameters
        ----------
        default_value : int, optional
            Value assigned at each launch; None retains the value from the last launch.

        Returns
        -------
        GraphCondition

        See Also
        --------
        cuGraphConditionalHandleCreate : the driver function.
        """
        self.check_usable()
        return create_condition_in(self.state, self.state.raw, default_value)

    def instantiate(self, options=None):
        """Create an executable graph from the current nodes and edges.

        Host only.

        Parameters
        ----------
        options : GraphCompleteOptions or dict, optional

        Returns
        -------
        Graph

        Raises
        ------
        RuntimeError
            If the graph cannot be instantiated, for instance because of a cycle.

        See Also
        --------
        cuGraphInstantiateWithParams : the driver function.
        """
        self.check_usable()
        return instantiate_graph(self.state, options)

    def debug_dot_print(self, path, options=None):
        """Write the driver's DOT description of the graph to a file.

        Host only.

        Parameters
        ----------
        path : str or path
            Path of the file, which is overwritten.
        options : GraphDebugPrintOptions or dict, optional
            Details to write.

        Raises
        ------
        TypeError
            If `options` has another type.

        See Also
        --------
        cuGraphDebugDotPrint : the driver function.
        """
        self.check_usable()
        print_dot(self.state, path, options)

    def nodes(self):
        """Return all nodes as a set. Host only.

        See Also
        --------
        cuGraphGetNodes : the driver function.
        """
        self.check_usable()
        return set(nodes_of(self.state))

    def edges(self):
        """Return all edges as a set of pairs: a node, and a node that depends on it. Host only.

        See Also
        --------
        cuGraphGetEdges : the driver function.
        """
        self.check_usable()
        return {(first, second) for first, second, _ in edges_of(self.state)}

    def edges_with_data(self):
        """Return all edges with their data: ``{(first, second): (from_port, to_port, type)}``.

        Host only. The data of a default edge, which waits for the whole node, are 0.

        See Also
        --------
        cuGraphGetEdges : the driver function.
        """
        self.check_usable()
        return {(first, second): data for first, second, data in edges_of(self.state)}

    def add_edge(self, first, second, *, from_port=0, to_port=0, type=0):
        """Make a node depend on another node.

        Host only.

        Parameters
        ----------
        first, second : GraphNode
            `second` waits for `first`.
        from_port, to_port, type : int, optional
            The part of `first` to wait for, as in ``CUgraphEdgeData``; 0 means the whole node.

        See Also
        --------
        cuGraphAddDependencies : the driver function.
        """
        self.check_usable()
        add_edge(self.state, first, second, from_port, to_port, type)

    @property
    def _entry(self):
        """Virtual node before all nodes. Host only."""
        cdef GraphNode entry = GraphNode.__new__(GraphNode)
        entry.state = self.state
        return entry

    @property
    def handle(self):
        """The graph as `cuda.bindings.driver.CUgraph`; 0 once destroyed. Host only."""
        return as_bindings("CUgraph", self.state.raw if self.is_valid else NULL)

    @property
    def id(self):
        """Id of the graph, unique among all graphs. Host only.

        See Also
        --------
        cuGraphGetId : the driver function.
        """
        cdef unsigned number
        cdef graph_hold hold
        self.hold_usable(hold)
        call_alone(self.state.lock, driver.cuGraphGetId, self.state.raw, &number)
        return number

    @property
    def is_valid(self):
        """Whether the graph exists; a child graph or body is destroyed with its node. Host only."""
        return self.state is not None and self.state.is_valid

    def tree(self):
        """Return the graph as text: a line per node with its dependencies. Host only.

        Returns
        -------
        str
        """
        return import_module("cuda.core.graph.picture").tree(self)

    def _repr_pretty_(self, printer, cycle):
        """Print the representation that IPython shows on a terminal. Host only."""
        printer.text(repr(self) + ("\n" + self.tree() if self.is_valid else ""))

    def _repr_svg_(self):
        """Return the picture that a notebook shows. Host only."""
        if not self.is_valid:
            return None
        return import_module("cuda.core.graph.picture").svg(self)

    def __eq__(self, other):
        if not isinstance(other, GraphDefinition):
            return NotImplemented
        return self.identity == (<GraphDefinition>other).identity

    def __hash__(self):
        return hash(self.identity)

    def __repr__(self):
        return f"<GraphDefinition handle=0x{self.identity if self.is_valid else 0:x}>"


cdef list nodes_of(_GraphState graph):
    cdef vector[CUgraphNode] nodes
    cdef size_t count
    cdef graph_hold _hold  # another thread may destroy a node before its object exists
    _hold = graph_hold(graph.lock)
    check_valid(graph)
    call_alone(graph.lock, driver.cuGraphGetNodes, graph.raw, NULL, &count)
    nodes.resize(count)
    if count:
        call_alone(graph.lock, driver.cuGraphGetNodes, graph.raw, nodes.data(), &count)
    return [node_of(graph, nodes[i]) for i in range(min(count, nodes.size()))]


cdef list edges_of(_GraphState graph):
    """Return triples: two nodes and the data of the edge between them."""
    cdef vector[CUgraphNode] sources, targets
    cdef vector[CUgraphEdgeData] data
    cdef size_t count
    cdef graph_hold _hold = graph_hold(graph.lock)
    check_valid(graph)
    call_alone(graph.lock, driver.cuGraphGetEdges, graph.raw, NULL, NULL, NULL, &count)
    sources.resize(count)
    targets.resize(count)
    data.resize(count)
    if count:
        call_alone(graph.lock, driver.cuGraphGetEdges, graph.raw, sources.data(), targets.data(),
                   data.data(), &count)
    return [(node_of(graph, sources[i]), node_of(graph, targets[i]),
             (data[i].from_port, data[i].to_port, data[i].type))
            for i in range(min(count, sources.size()))]


cdef int add_edge(_GraphState graph, object first, object second, unsigned char from_port,
                  unsigned char to_port, unsigned char kind) except -1:
    cdef CUgraphEdgeData data
    cdef graph_hold _hold = graph_hold(graph.lock)
    cdef GraphNode source = require_node(graph, first)
    cdef GraphNode target = require_node(graph, second)
    if source.raw is NULL or target.raw is NULL:
        raise ValueError("The virtual graph entry node cannot be used in an edge")
    memset(&data, 0, sizeof(data))
    data.from_port, data.to_port, data.type = from_port, to_port, kind
    call_alone(graph.lock, driver.cuGraphAddDependencies, graph.raw, &source.raw, &target.raw,
               &data, <size_t>1)


cdef int print_dot(_GraphState graph, object path, object options) except -1:
    cls = import_module("cuda.core.graph.options").GraphDebugPrintOptions
    options = as_options(options, cls, "the options of debug_dot_print()")
    cdef unsigned flags = 0 if options is None else options._to_flags()
    cdef bytes name = os.fsencode(path)
    reject_nul(os.fsdecode(name), "the path of the file")
    cdef const char* file = name
    cdef graph_handle _owner  # keeps the graph alive during the call
    cdef graph_hold _hold = graph_hold(graph.lock)
    check_valid(graph)
    _owner = graph.owner
    try:
        with nogil:
            call_alone(graph.lock, driver.cuGraphDebugDotPrint, graph.raw, file, flags)
    except CUDAError as error:
        folder = os.path.dirname(os.path.abspath(name))
        if not os.path.isdir(folder):
            explain_error(error, f"cannot write {os.fsdecode(name)!r}: the folder "
                                 f"{os.fsdecode(folder)!r} does not exist")
        raise

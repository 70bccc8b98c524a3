# SPDX-License-Identifier: Apache-2.0
# State shared by all wrappers of one graph: handle, lock, nodes and retained objects.

from cpython.exc cimport PyErr_Clear
from cpython.list cimport PyList_GET_ITEM

# Limit of objects in one list: destroying a node copies the list.
cdef Py_ssize_t LIST_CAPACITY = 96


# no_gc: the driver holds references too, so the collector could never find these in a dead cycle.

@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class _RetainedObjects:
    pass


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class _NodeState:
    pass


# no_gc_clear: a builder in the same cycle still invalidates the graph when it is destroyed.
@cython.final
@cython.no_gc_clear
cdef class _GraphState:
    def __cinit__(self):
        self.added, self.nodes, self.subgraphs = [], {}, {}
        self.lock = make_graph_lock()


cdef _GraphState new_graph_state():
    cdef _GraphState state = _GraphState.__new__(_GraphState)
    state.owner = create_graph()
    state.raw = state.owner.raw()
    state.is_valid = True
    return state


cdef _GraphState subgraph_of(_GraphState graph, CUgraph raw):
    """Return the state of a child graph or conditional body; each call returns the same object."""
    cdef graph_hold _hold = graph_hold(graph.lock)
    cdef _GraphState subgraph = graph.subgraphs.get(<uintptr_t>raw)
    if subgraph is None:
        subgraph = _GraphState.__new__(_GraphState)
        subgraph.owner, subgraph.raw, subgraph.is_valid = graph.owner, raw, graph.is_valid
        subgraph.lock = graph.lock
        graph.subgraphs[<uintptr_t>raw] = subgraph
    return subgraph


cdef int invalidate_subgraphs(_GraphState graph) except -1:
    """Invalidate all child graphs and bodies of a destroyed graph."""
    for subgraph in list(graph.subgraphs.values()):
        invalidate_graph(<_GraphState>subgraph)
    graph.subgraphs.clear()


cdef int invalidate_graph(_GraphState graph) except -1:
    graph.is_valid = False
    graph.owner.reset()
    graph.added.clear()
    graph.nodes.clear()
    graph.origins = None
    graph.open_list = None
    return invalidate_subgraphs(graph)


cdef int invalidate_subgraph(_GraphState graph, CUgraph raw) except -1:
    subgraph = graph.subgraphs.pop(<uintptr_t>raw, None)
    if subgraph is not None:
        invalidate_graph(<_GraphState>subgraph)


cdef int check_valid(_GraphState graph) except -1:
    if not graph.is_valid:
        raise RuntimeError("GraphDefinition is no longer valid")


cdef int set_graph_owner(_GraphState graph, const graph_handle& owner) except -1:
    """Set the owner of a graph and its subgraphs once their capture has ended."""
    graph.owner = owner
    for subgraph in graph.subgraphs.values():
        set_graph_owner(<_GraphState>subgraph, owner)


cdef int close_retained_list(_GraphState graph) except -1:
    """Close the open list: clones and executable graphs created now must not retain new objects."""
    graph.open_list = None
    if graph.subgraphs:
        for subgraph in list(graph.subgraphs.values()):
            close_retained_list(<_GraphState>subgraph)


cdef _RetainedObjects new_retained_list(_GraphState graph, list objects):
    cdef _RetainedObjects retained = _RetainedObjects.__new__(_RetainedObjects)
    retained.objects = objects
    retained.native = retain_list(graph, objects)
    return retained


cdef CUuserObject retain_list(_GraphState graph, list objects) except NULL:
    return retain_in_graph(graph.lock.get(), graph.raw, make_host_call(objects), release_host_call)


cdef _RetainedObjects acquire_retained_list(_GraphState graph):
    """Return the list that a new node appends its objects to, starting at index `first`.

    The list belongs to the caller until it is released, so no other thread appends to it. Acquire
    it before creating the node, since this call may fail.
    """
    cdef graph_hold _hold = graph_hold(graph.lock)
    cdef _RetainedObjects retained = graph.open_list
    graph.open_list = None
    if retained is None:
        retained = new_retained_list(graph, [])
    retained.first = len(retained.objects)
    retained.users += 1
    return retained


cdef _RetainedObjects retain_launch_operands(_GraphState graph, object kernel, tuple operands):
    """Return a list with a kernel and its argument owners; finding owners may run user code."""
    cdef _RetainedObjects retained = acquire_retained_list(graph)
    cdef list objects = retained.objects
    try:
        add_launch_operands(objects, kernel, operands)
    except BaseException:
        return_retained_list(graph, retained)
        raise
    if retained.objects is not objects:  # user code destroyed another node of the list
        objects = objects[retained.first:]
        return_retained_list(graph, retained)
        retained = new_retained_list(graph, objects)
        retained.users = 1
    return retained


cdef int add_launch_operands(list refs, object kernel, tuple operands) except -1:
    """Add a kernel and its arguments: the memory of a Buffer, and also the Buffer itself."""
    refs.append(kernel)
    return add_operands(refs, operands, True)


cdef int return_retained_list(_GraphState graph, _RetainedObjects retained) except -1:
    """Return a list without adding a node: the driver refused the node."""
    del retained.objects[retained.first:]
    retained.users -= 1
    graph.open_list = retained


cdef int assign_retained(_GraphState graph, _NodeState state, _RetainedObjects retained) except -1:
    """Assign the objects from index `first` on to the node."""
    state.first, state.count = retained.first, len(retained.objects) - retained.first
    state.retained = retained


cdef int release_node_objects(_GraphState graph, _NodeState state) except -1:
    """Release the objects of a node; executable graphs instantiated earlier still retain them."""
    cdef _RetainedObjects retained = state.retained
    cdef CUuserObject previous, replacement = NULL
    cdef list remaining = None
    cdef graph_hold _hold
    if retained is None or not graph.is_valid:
        return 0
    _hold = graph_hold(graph.lock)
    previous = retained.native
    while retained.users > 1:
        # Clones share the list itself, so the other nodes get a copy of it.
        previous = retained.native
        remaining = list(retained.objects)
        remaining[state.first:state.first + state.count] = [None] * state.count
        replacement = retain_list(graph, remaining)
        if previous == retained.native and len(remaining) == len(retained.objects):
            break
        release_user_object(graph, replacement)  # a collection ran user code that changed it
        previous = retained.native
        replacement = NULL
        remaining = None
    state.retained, retained.native, retained.objects = None, replacement, remaining
    retained.users -= 1
    if graph.open_list is retained:
        graph.open_list = None
    return release_user_object(graph, previous)


cdef int release_user_object(_GraphState graph, CUuserObject native) except -1:
    call_alone(graph.lock, driver.cuGraphReleaseUserObject, graph.raw, native, 1)


cdef int set_node(GraphNode node, CUgraphNodeParams* params, list refs) except -1:
    """Set the node's parameters; release its previous objects and retain `refs`."""
    cdef _GraphState graph = node.state
    cdef _NodeState state = node.node_state
    cdef _RetainedObjects retained = None
    cdef bint is_retained
    cdef graph_hold _hold = graph_hold(graph.lock)
    is_retained = retains_same(state, refs)
    if refs and not is_retained:
        # A separate list, so that the next change of the node need not copy other nodes' objects.
        retained = new_retained_list(graph, refs)
        retained.users = 1
    try:
        node.check_usable()
        call_alone(graph.lock, driver.cuGraphNodeSetParams, node.raw, params)
    except BaseException:
        if retained is not None:
            release_user_object(graph, retained.native)
        raise
    if is_retained and retains_same(state, refs):
        return 0
    release_node_objects(graph, state)
    if retained is not None:
        assign_retained(graph, state, retained)


cdef bint retains_same(_NodeState state, list refs) except -1:
    """Return whether the node retains exactly `refs`: most updates change numbers only."""
    cdef _RetainedObjects retained = state.retained
    cdef list objects
    cdef Py_ssize_t i
    if retained is None or state.count != len(refs):
        return False
    objects = retained.objects
    with cython.critical_section(objects):  # the comparison of borrowed references is faster
        if len(objects) < state.first + state.count:
            return False
        for i in range(state.count):
            if PyList_GET_ITEM(objects, state.first + i) != PyList_GET_ITEM(refs, i):
                return False
    return True


cdef dict nodes_by_address(_GraphState graph):
    """Return the index of the graph's nodes, updated with the nodes added since the last call."""
    cdef _NodeState state
    cdef graph_hold _hold = graph_hold(graph.lock)
    if graph.added:
        for each in graph.added:
            state = <_NodeState>each
            graph.nodes[<uintptr_t>state.raw] = state
        graph.added.clear()
    return graph.nodes


cdef _NodeState state_of_node(_GraphState graph, CUgraphNode raw):
    cdef dict nodes = nodes_by_address(graph)
    cdef _NodeState state = nodes.get(<uintptr_t>raw)
    if state is None:
        state = state_from_origin(graph, raw)
        state.raw = raw
        nodes[<uintptr_t>raw] = state
    return state


cdef _NodeState state_from_origin(_GraphState graph, CUgraphNode raw):
    """Return the state of a node without one, with the references of the node that it copies."""
    cdef unsigned number
    cdef _NodeState state = None
    if graph.origins and read_local_id(graph, raw, &number):
        state = graph.origins.pop(number, None)
    return _NodeState.__new__(_NodeState) if state is None else state


cdef bint read_local_id(_GraphState graph, CUgraphNode raw, unsigned* number) except -1:
    """Query the id that a node shares with its copies; return False if the driver has no ids."""
    cdef CUresult code = try_call_alone(graph.lock.get()[0], driver.cuGraphNodeGetLocalId, raw,
                                        number)
    if code != CUDA_SUCCESS:
        PyErr_Clear()  # an older driver lacks the function
    return code == CUDA_SUCCESS


cdef dict node_origins(_GraphState graph):
    """Return the states of a copy of the graph by local id, for nodes that retain anything.

    A copy shares the user objects of the graph, with references of its own. Its nodes release them
    one by one. Without ids, the copy releases all of them when it is destroyed.
    """
    cdef dict origins = {}
    cdef dict lists = {}
    cdef unsigned number
    cdef _NodeState state
    for state in list(nodes_by_address(graph).values()):
        if state.retained is None and not isinstance(state.creation, (_GraphState, dict)):
            continue
        if not read_local_id(graph, state.raw, &number):
            return None
        origins[number] = copy_node_state(state, lists)
    if graph.origins:
        for number, state in graph.origins.items():
            origins[number] = copy_node_state(state, lists)
    return origins or None


cdef _NodeState copy_node_state(_NodeState state, dict lists):
    """Return the state of a copied node; `lists` maps the id of a list to the copy's list."""
    cdef _NodeState copy = _NodeState.__new__(_NodeState)
    cdef _RetainedObjects shared
    if state.retained is not None:
        shared = lists.get(id(state.retained))
        if shared is None:
            shared = lists[id(state.retained)] = _RetainedObjects.__new__(_RetainedObjects)
            shared.objects, shared.native = state.retained.objects, state.retained.native
        shared.users += 1
        copy.retained, copy.first, copy.count = shared, state.first, state.count
    if isinstance(state.creation, _GraphState):
        copy.creation = node_origins(<_GraphState>state.creation)
    elif isinstance(state.creation, dict):
        copy.creation = {number: copy_node_state(nested, lists)
                         for number, nested in state.creation.items()}
    elif isinstance(state.creation, tuple) and len(state.creation) == 2:  # a memcpy node
        copy.creation = state.creation
    return copy


cdef _NodeState add_node(GraphNode node, _NodeFactory factory, CUgraphNodeParams* params,
                         list refs):
    """Add a node that retains `refs`, and make `node` its wrapper."""
    cdef _RetainedObjects retained = None
    factory.check_usable()
    if refs:
        retained = acquire_retained_list(factory.state)
        retained.objects.extend(refs)
    return add_node_with(node, factory, params, retained)


cdef _NodeState add_node_with(GraphNode node, _NodeFactory factory, CUgraphNodeParams* params,
                              _RetainedObjects retained):
    cdef _GraphState graph = factory.state
    cdef _NodeState state = new_state_for(node)
    cdef graph_hold _hold = graph_hold(graph.lock)
    try:
        factory.check_usable()  # a collection may have run user code
        call_alone(graph.lock, driver.cuGraphAddNode, &state.raw, graph.raw, &factory.raw, NULL,
                   <size_t>(factory.raw is not NULL), params)
    except BaseException:
        if retained is not None:
            return_retained_list(graph, retained)
        raise
    if retained is not None:
        assign_retained(graph, state, retained)
        if len(retained.objects) < LIST_CAPACITY:
            graph.open_list = retained
    register_node(node, graph, state)
    return state


cdef CUgraphNodeParams params_of(CUgraphNodeType kind) noexcept:
    cdef CUgraphNodeParams params
    memset(&params, 0, sizeof(params))
    params.type = kind
    return params


cdef _NodeState new_state_for(GraphNode node):
    cdef _NodeState state = _NodeState.__new__(_NodeState)
    set_wrapper(node, state)
    return state


cdef inline int set_wrapper(GraphNode node, _NodeState state) except -1:
    state.wrapper.set(node)
    node.node_state = state


cdef int register_node(GraphNode node, _GraphState graph, _NodeState state) except -1:
    """Set the handle of the wrapper of a new node and add the node to its graph.

    The caller holds the lock of the graph.
    """
    node.state, node.raw, node.identity = graph, state.raw, <uintptr_t>state.raw
    graph.added.append(state)


cdef size_t count_from(object value, str name) except? 0:
    """Convert a number of elements, rows or branches."""
    number = integer_or_none(value)
    if number is None:
        raise TypeError(f"{name} must be an int, got {qualified_name(value)}")
    if number < 0:
        raise OverflowError(f"{name} must not be negative, got {number}")
    if number > <size_t>SIZE_MAX:
        raise OverflowError(f"{name} must be at most {<size_t>SIZE_MAX}, got {number}")
    return number


cdef GraphDefinition wrap_graph(_GraphState state):
    cdef GraphDefinition definition = GraphDefinition.__new__(GraphDefinition)
    definition.state = state
    definition.identity = 0 if state is None else <uintptr_t>state.raw
    return definition


cdef int release_after_event(Event last_launch, object refs) except -1:
    if last_launch is not None:
        retain_until_complete(last_launch, refs)

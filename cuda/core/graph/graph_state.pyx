# SPDX-License-Identifier: Apache-2.0
# What all wrappers of one graph share: the graph itself, its nodes, and what it keeps alive.

# In one list of kept objects; a node that goes costs copying that many references.
cdef Py_ssize_t ROOM = 64


# The collector need not look into the next two: what the driver holds too is in no cycle for it.

@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class _KeptObjects:
    pass


@cython.final
@cython.no_gc
@cython.freelist(64)
cdef class _NodeState:
    pass


# no_gc_clear: a builder in the same cycle ends the graph when it goes.
@cython.final
@cython.no_gc_clear
cdef class _GraphState:
    def __cinit__(self):
        self.added, self.nodes, self.parts = [], {}, {}
        self.lock = make_graph_lock()


cdef _GraphState new_graph_state():
    cdef _GraphState state = _GraphState.__new__(_GraphState)
    state.top = create_graph()
    state.raw = state.top.raw()
    state.is_valid = True
    return state


cdef _GraphState part_of(_GraphState whole, CUgraph raw):
    """The state of a graph that belongs to a node of another one; the same at each call."""
    cdef _GraphState part
    with cython.critical_section(whole):
        part = whole.parts.get(<uintptr_t>raw)
        if part is None:
            part = _GraphState.__new__(_GraphState)
            part.top, part.raw, part.is_valid = whole.top, raw, whole.is_valid
            part.lock = whole.lock
            whole.parts[<uintptr_t>raw] = part
    return part


cdef int end_parts(_GraphState whole) except -1:
    """All that belongs to a graph that is gone is gone."""
    for part in list(whole.parts.values()):
        end_graph(<_GraphState>part)
    whole.parts.clear()
    return 0


cdef int end_graph(_GraphState gone) except -1:
    gone.is_valid = False
    gone.top.reset()
    gone.added.clear()
    gone.nodes.clear()
    gone.kept = None
    return end_parts(gone)


cdef int end_part(_GraphState whole, CUgraph raw) except -1:
    part = whole.parts.pop(<uintptr_t>raw, None)
    return 0 if part is None else end_graph(<_GraphState>part)


cdef int begin_graph(_GraphState self, const graph_handle& top) except -1:
    """The capture that the graph and its bodies were made in has ended."""
    self.top = top
    for part in self.parts.values():
        begin_graph(<_GraphState>part, top)
    return 0


cdef int seal(_GraphState self) except -1:
    """What is kept from here on is not kept by executables and clones that are made now."""
    self.kept = None
    for part in list(self.parts.values()):
        seal(<_GraphState>part)
    return 0


cdef _KeptObjects new_room(_GraphState graph, list objects):
    cdef _KeptObjects room = _KeptObjects.__new__(_KeptObjects)
    room.objects = objects
    room.native = hold(graph, objects)
    return room


cdef CUuserObject hold(_GraphState graph, list objects) except NULL:
    return retain_in_graph(graph.lock.get(), graph.raw, make_host_call(objects), release_host_call)


cdef _KeptObjects take_room(_GraphState graph):
    """Where what a new node uses is put, behind `first`: nobody else puts anything there meanwhile.

    Before the node is made, since it may fail.
    """
    cdef _KeptObjects room
    with cython.critical_section(graph):
        room, graph.kept = graph.kept, None
    if room is None:
        room = new_room(graph, [])
    room.first = len(room.objects)
    room.users += 1
    return room


cdef _KeptObjects room_with(_GraphState graph, object kernel, tuple operands):
    """Room with a kernel and what keeps its arguments alive, which may run code of Python."""
    cdef _KeptObjects room = take_room(graph)
    cdef list objects = room.objects
    try:
        objects.append(kernel)
        add_operands(objects, operands)
    except BaseException:
        give_room_back(graph, room)
        raise
    if room.objects is not objects:  # another node of the list went meanwhile
        objects = objects[room.first:]
        give_room_back(graph, room)
        room = new_room(graph, objects)
        room.users = 1
    return room


cdef int give_room_back(_GraphState graph, _KeptObjects room) except -1:
    """Without a node: the driver refused it."""
    del room.objects[room.first:]
    room.users -= 1
    graph.kept = room
    return 0


cdef int settle(_GraphState graph, _NodeState state, _KeptObjects room) except -1:
    """What lies behind `first` is the node's."""
    state.first, state.count = room.first, len(room.objects) - room.first
    state.among = room
    return 0


cdef int release_kept(_GraphState graph, _NodeState state) except -1:
    """Let go of what a node used; executables that were made before keep it."""
    cdef _KeptObjects among = state.among
    cdef CUuserObject gone, new
    cdef list rest
    if among is None or not graph.is_valid:
        return 0
    with cython.critical_section(graph):
        gone = among.native
        new = NULL
        rest = None
        while among.users > 1:
            # The list itself is shared with all clones, so the rest gets a list of its own.
            gone = among.native
            rest = list(among.objects)
            rest[state.first:state.first + state.count] = [None] * state.count
            new = hold(graph, rest)
            if gone == among.native and len(rest) == len(among.objects):
                break
            release_room(graph, new)  # the collector ran meanwhile, and something of the user
            gone = among.native
            new = NULL
            rest = None
        state.among, among.native, among.objects = None, new, rest
        among.users -= 1
        if graph.kept is among and among.users == 0:
            graph.kept = None
    return release_room(graph, gone)


cdef int release_room(_GraphState graph, CUuserObject room) except -1:
    call_alone(graph.lock, driver.cuGraphReleaseUserObject, graph.raw, room, 1)
    return 0


cdef int set_node(GraphNode node, CUgraphNodeParams* how, list kept) except -1:
    """Give a node other parameters; what it used before goes, and it keeps other objects."""
    cdef _GraphState graph = node.state
    cdef _NodeState state = node.known
    cdef _KeptObjects room = None
    cdef bint is_kept = keeps_already(state, kept)
    if kept and not is_kept:
        # Of its own, so that the next change of the node need not copy what others keep.
        room = new_room(graph, kept)
        room.users = 1
        node.check_usable()
    try:
        call_alone(graph.lock, driver.cuGraphNodeSetParams, node.raw, how)
    except BaseException:
        if room is not None:
            release_room(graph, room.native)
        raise
    if is_kept and keeps_already(state, kept):
        return 0
    release_kept(graph, state)
    if room is not None:
        settle(graph, state, room)
    return 0


cdef bint keeps_already(_NodeState state, list kept) except -1:
    """Whether these are the objects: as a rule, numbers alone change."""
    cdef _KeptObjects among = state.among
    cdef Py_ssize_t i
    if among is None or state.count != len(kept):
        return False
    for i in range(state.count):
        if among.objects[state.first + i] is not kept[i]:
            return False
    return True


cdef dict nodes_by_address(_GraphState graph):
    """All that is known of the graph's nodes: an index that is made when it is first needed."""
    cdef _NodeState state
    with cython.critical_section(graph):
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
        state = _NodeState.__new__(_NodeState)
        state.raw = raw
        nodes[<uintptr_t>raw] = state
    return state

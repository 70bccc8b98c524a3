# SPDX-License-Identifier: Apache-2.0
# What all wrappers of one graph share: the graph itself, its nodes, and what it keeps alive.

# In one list of kept objects; a replaced one costs copying that many references.
ROOM = 32


@cython.final
cdef class _KeptObjects:
    pass


@cython.final
@cython.freelist(64)
cdef class _NodeState:
    pass


@cython.final
cdef class _GraphState:
    def __cinit__(self):
        self.nodes, self.parts = {}, {}


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


cdef _KeptObjects room_to_keep(_GraphState graph):
    """Where what a new node uses can be put; made before the node, since it may fail."""
    cdef _KeptObjects room = graph.kept
    if room is None or len(room.objects) >= ROOM:
        room = _KeptObjects.__new__(_KeptObjects)
        room.objects = []
        room.native = keep_in_graph(graph.raw, room.objects)
        graph.kept = room
    return room


cdef int release_kept(_GraphState graph, _NodeState state) except -1:
    """Let go of what a node used; executables that were made before keep it."""
    cdef _KeptObjects among = state.among
    cdef CUuserObject before
    kept, state.kept, state.among = state.kept, None, None
    if among is None or not graph.is_valid:
        return 0
    # The list itself is shared with all clones, so the rest gets a list of its own.
    rest = [each for each in among.objects if each is not kept]
    before = among.native
    among.native = keep_in_graph(graph.raw, rest) if rest else NULL
    among.objects = rest
    if graph.kept is among and not rest:
        graph.kept = None
    call(driver.cuGraphReleaseUserObject, graph.raw, before, 1)
    return 0


cdef int replace_kept(_GraphState graph, _NodeState state, object kept,
                      _KeptObjects room) except -1:
    release_kept(graph, state)
    if kept:
        # Where the release emptied the list that had room, that list is the graph's no more.
        if room.native is NULL:
            room = room_to_keep(graph)
        room.objects.append(kept)
        state.kept, state.among = kept, room
    return 0


cdef _NodeState state_of_node(_GraphState graph, CUgraphNode raw):
    cdef _NodeState state = graph.nodes.get(<uintptr_t>raw)
    if state is None:
        state = _NodeState.__new__(_NodeState)
        graph.nodes[<uintptr_t>raw] = state
    return state

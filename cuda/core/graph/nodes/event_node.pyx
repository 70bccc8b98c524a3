# SPDX-License-Identifier: Apache-2.0
# Nodes that record events and wait for them.

from weakref import WeakValueDictionary

# Events in graphs by their address, as long as a graph keeps them: a node tells the address only.
cdef object events_in_graphs = WeakValueDictionary()


cdef class _EventNode(GraphNode):
    """What records an event or waits for one."""

    cdef Event kept  # shares the event with what the user gave

    @property
    def event(self):
        """An `Event` for the same event, with the same options. Host only."""
        return share_event(self.kept)

    def update(self, event):
        """Change the event.

        Host only. Executables that were made before are not changed.

        Parameters
        ----------
        event : Event

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        update_event_node(self, event)

    def _details(self):
        return f"event=0x{self.kept.identity:x}"


@cython.final
cdef class EventRecordNode(_EventNode):
    """A node that records an event."""

    def _label(self):
        return f"record event\n0x{self.kept.identity:x}"


@cython.final
cdef class EventWaitNode(_EventNode):
    """A node that waits for an event."""

    def _label(self):
        return f"wait for event\n0x{self.kept.identity:x}"


cdef Event event_to_keep(object given):
    if not isinstance(given, Event):
        raise TypeError(f"event must be an Event, got {qualified_name(given)}")
    (<Event>given).native.check_open(given)
    cdef Event kept = share_event(<Event>given)
    events_in_graphs[kept.identity] = kept
    return kept


cdef CUgraphNodeParams event_parameters(CUgraphNodeType kind, Event event) except *:
    cdef CUgraphNodeParams how
    cdef borrowed_event native = event.native.borrow_open(event)
    memset(&how, 0, sizeof(how))
    how.type = kind
    if kind == CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        how.eventRecord.event = native.raw()
    else:
        how.eventWait.event = native.raw()
    return how


cdef CUgraphNodeType kind_of_event_node(_EventNode node) noexcept:
    if isinstance(node, EventRecordNode):
        return CU_GRAPH_NODE_TYPE_EVENT_RECORD
    return CU_GRAPH_NODE_TYPE_WAIT_EVENT


cdef _EventNode add_event_node(_NodeMaker after, object cls, CUgraphNodeType kind, object event):
    cdef CUgraphNodeParams how
    cdef _EventNode node = cls.__new__(cls)
    after.check_usable()
    node.kept = event_to_keep(event)
    how = event_parameters(kind, node.kept)
    add_node(node, after, &how, [node.kept])
    return node


cdef int update_event_node(_EventNode node, object event) except -1:
    cdef CUgraphNodeParams how
    node.check_usable()
    cdef Event kept = event_to_keep(event)
    how = event_parameters(kind_of_event_node(node), kept)
    set_node(node, &how, [kept])
    node.kept = kept
    return 0


cdef GraphNode inspect_event_node(_GraphState graph, CUgraphNode raw, CUgraphNodeType kind):
    cdef CUevent found = NULL
    cdef _EventNode node
    cdef event_handle native
    if kind == CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        node = EventRecordNode.__new__(EventRecordNode)
        call(driver.cuGraphEventRecordNodeGetEvent, raw, &found)
    else:
        node = EventWaitNode.__new__(EventWaitNode)
        call(driver.cuGraphEventWaitNodeGetEvent, raw, &found)
    node.kept = events_in_graphs.get(<uintptr_t>found)
    if node.kept is None:  # of somebody else: it stays his
        native = borrow_event(found)
        node.kept = wrap_event(Event, native)
    return node

# SPDX-License-Identifier: Apache-2.0
# Nodes that record events and wait for them.

from weakref import WeakValueDictionary

# Events of nodes by address, while a graph retains them: the driver reports only the address.
cdef object events_in_graphs = WeakValueDictionary()


cdef class _EventNode(GraphNode):
    """Base class of nodes that record an event or wait for one."""

    cdef Event shared_event  # shares the driver event with the caller's Event

    @property
    def event(self):
        """A new `Event` of the same driver event, with the same options. Host only."""
        return share_event(<Event>require_set(self, self.shared_event))

    def update(self, event):
        """Set the event.

        Host only. Does not change executable graphs that exist already.

        Parameters
        ----------
        event : Event

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        update_event_node(self, event)

    def _details(self):
        return f"event=0x{self.shared_event.identity:x}"


@cython.final
cdef class EventRecordNode(_EventNode):
    """A node that records an event."""

    def _label(self):
        return f"record event\n0x{self.shared_event.identity:x}"


@cython.final
cdef class EventWaitNode(_EventNode):
    """A node that waits for an event."""

    def _label(self):
        return f"wait for event\n0x{self.shared_event.identity:x}"


cdef Event share_graph_event(object event_arg):
    if not isinstance(event_arg, Event):
        raise TypeError(f"event must be an Event, got {qualified_name(event_arg)}")
    (<Event>event_arg).native.check_open(event_arg)
    cdef Event shared = share_event(<Event>event_arg)
    events_in_graphs[shared.identity] = shared
    return shared


cdef CUgraphNodeParams event_parameters(_EventNode node, Event event) except *:
    cdef bint is_record = isinstance(node, EventRecordNode)
    cdef CUgraphNodeParams params = params_of(
        CU_GRAPH_NODE_TYPE_EVENT_RECORD if is_record else CU_GRAPH_NODE_TYPE_WAIT_EVENT)
    cdef borrowed_event native = event.native.borrow_open(event)
    params.eventRecord.event = native.raw()  # the same member as in eventWait
    return params


cdef _EventNode add_event_node(_NodeFactory factory, _EventNode node, object event):
    cdef CUgraphNodeParams params
    factory.check_usable()
    node.shared_event = share_graph_event(event)
    params = event_parameters(node, node.shared_event)
    add_node(node, factory, &params, [node.shared_event])
    return node


cdef int update_event_node(_EventNode node, object event) except -1:
    cdef CUgraphNodeParams params
    node.check_usable()
    cdef Event shared = share_graph_event(event)
    cdef graph_hold _hold
    params = event_parameters(node, shared)
    _hold = graph_hold(node.state.lock)
    set_node(node, &params, [shared])
    node.shared_event = shared


cdef GraphNode inspect_record_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef CUevent event = NULL
    call(driver.cuGraphEventRecordNodeGetEvent, raw, &event)
    return wrap_event_node(EventRecordNode.__new__(EventRecordNode), event)


cdef GraphNode inspect_wait_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef CUevent event = NULL
    call(driver.cuGraphEventWaitNodeGetEvent, raw, &event)
    return wrap_event_node(EventWaitNode.__new__(EventWaitNode), event)


cdef _EventNode wrap_event_node(_EventNode node, CUevent event):
    cdef event_handle native
    node.shared_event = events_in_graphs.get(<uintptr_t>event)
    if node.shared_event is None:  # an event of another library is borrowed
        native = borrow_event(event)
        node.shared_event = wrap_event(Event, native)
    return node


cdef class _ExecutableEventNode(ExecutableGraphNode):
    """Base class of event nodes in an executable graph."""

    def update(self, event):
        """Set the event for later launches of the graph.

        Host only.

        Parameters
        ----------
        event : Event

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams params
        check_view(self)
        shared = share_graph_event(event)
        params = event_parameters(<_EventNode>self.node, shared)
        set_in_executable(self, &params, [shared])


@cython.final
cdef class ExecutableEventRecordNode(_ExecutableEventNode):
    """An event record in an executable graph."""


@cython.final
cdef class ExecutableEventWaitNode(_ExecutableEventNode):
    """An event wait in an executable graph."""

# SPDX-License-Identifier: Apache-2.0
# GraphBuilder: a graph out of what a stream is given.

from cuda.bindings.cydriver cimport (
    CU_STREAM_CAPTURE_MODE_GLOBAL,
    CU_STREAM_CAPTURE_MODE_RELAXED,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    CUstreamCaptureMode,
)

import weakref

# Where a builder stands.
cdef enum:
    NOT_STARTED
    CAPTURING
    ENDED
    CLOSED

# What a builder captures.
cdef enum:
    PRIMARY      # the whole
    FORKED       # a branch beside it, that is joined again
    BODY         # the body of a conditional node

cdef dict CAPTURE_MODES = {
    None: <int>CU_STREAM_CAPTURE_MODE_RELAXED,
    "relaxed": <int>CU_STREAM_CAPTURE_MODE_RELAXED,
    "thread_local": <int>CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    "global": <int>CU_STREAM_CAPTURE_MODE_GLOBAL,
}


# no_gc_clear: ending the capture needs the stream and the builder that this one is a part of.
@cython.final
@cython.no_gc_clear
cdef class GraphBuilder:
    """Builds a graph by capture: what its stream is given becomes nodes instead of being done.

    It comes from `Device.create_graph_builder` and `Stream.create_graph_builder`. Wherever a stream
    is taken a builder can be given, and stands for the stream that it captures on. The graph keeps
    what is recorded through this package: memory of Buffers, kernels, events. Dropping a builder in
    the middle ends the capture and leaves the stream usable.
    """

    cdef held_stream native     # of `on`: open until the builder is closed
    cdef Stream on
    cdef int stage, kind
    cdef bint owns_stream
    cdef bint counts            # whether it is one of captures_under_way
    cdef _GraphState graph      # what is built; of a forked builder None
    cdef GraphBuilder origin    # of a forked builder and of a body: where it comes from, else None
    cdef object branches        # a WeakSet of the bodies' builders, made with the first
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        raise NotImplementedError(
            "directly creating a GraphBuilder object can be ambiguous. Please either call "
            "Device.create_graph_builder() or stream.create_graph_builder()")

    def __dealloc__(self):
        if self.stage == CLOSED:
            return
        if not is_finalizing():
            end_quietly(self)
        elif self.stage == CAPTURING:
            # The streams go next, and a driver that destroys two of one capture ends the process.
            end_capture_quietly(self)

    @staticmethod
    def _init(stream):
        """A builder that captures on a stream. Host only."""
        return make_builder(accept_stream(stream), False)

    def close(self):
        """End a capture that is under way, drop what was recorded, and give up all else.

        Host only. The stream of `Stream.create_graph_builder` stays usable. Closing twice is
        harmless.

        See Also
        --------
        cuStreamEndCapture : the driver function.
        """
        if self.stage != CLOSED:
            close_builder(self)

    @property
    def is_closed(self):
        """Whether `close` was called, or the builder was joined to another one. Host only."""
        return self.stage == CLOSED

    @property
    def stream(self):
        """The `Stream` that is captured. Host only."""
        check_builder_open(self)
        return self.on

    def __cuda_stream__(self):
        """The protocol that libraries share: ``(0, address)``. Host only."""
        check_builder_open(self)
        return 0, self.on.identity

    @property
    def is_join_required(self):
        """Whether the builder comes from `split` and must be joined before the end. Host only."""
        return self.kind == FORKED

    @property
    def is_building(self):
        """Whether the stream is being captured.

        Host only.

        Raises
        ------
        RuntimeError
            If a call broke the capture; the text names it if it went through this package.

        See Also
        --------
        cuStreamGetCaptureInfo : the driver function.
        """
        check_builder_open(self)
        return is_capturing_now(self)

    def begin_building(self, mode="relaxed", *, retain_operands=True):
        """Begin to capture.

        Host only.

        Parameters
        ----------
        mode : str
            What breaks the capture beside calls on the stream: ``"relaxed"`` nothing,
            ``"thread_local"`` allocations and the like of this thread, ``"global"`` of any thread.
        retain_operands : bool, optional
            Whether the graph keeps memory, kernels and events that are recorded.

        Returns
        -------
        GraphBuilder
            This one.

        Raises
        ------
        RuntimeError
            If it has begun before.
        ValueError
            For another mode.

        See Also
        --------
        cuStreamBeginCapture, cuStreamBeginCaptureToGraph : the driver functions.
        """
        check_builder_open(self)
        if self.stage == CAPTURING:
            raise RuntimeError("Graph builder is already building.")
        if self.stage == ENDED:
            raise RuntimeError("Cannot resume building after building has ended.")
        if mode is not None and not isinstance(mode, str):
            raise TypeError(f"Argument 'mode' has incorrect type (expected str, got "
                            f"{qualified_name(mode)})")
        if mode not in CAPTURE_MODES:
            raise ValueError(f"Unsupported build mode: {mode}; use 'relaxed', 'thread_local' or "
                             "'global'")
        begin_capture(self, CAPTURE_MODES[mode], retain_operands)
        return self

    def end_building(self):
        """End the capture.

        Host only.

        Returns
        -------
        GraphBuilder
            This one, from which `complete` makes a `Graph`.

        Raises
        ------
        RuntimeError
            If nothing is being captured, or a call broke the capture.
        CUDAError
            If builders from `split` were not joined.

        See Also
        --------
        cuStreamEndCapture : the driver function.
        """
        check_builder_open(self)
        if not is_capturing_now(self):
            raise RuntimeError("Graph builder is not building.")
        end_capture(self)
        return self

    def complete(self, options=None):
        """Make an executable of what was built. Each call makes another one.

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
            If `end_building` was not called, or the graph cannot be run.

        See Also
        --------
        cuGraphInstantiateWithParams : the driver function.
        """
        check_ended(self, "Graph has not finished building.")
        return instantiate_graph(self.graph, options)

    @property
    def graph_definition(self):
        """The `GraphDefinition` of what is built: changes of it show in later `complete` calls.

        Host only.

        Raises
        ------
        RuntimeError
            Before and during the capture, and on builders from `split`.
        """
        check_builder_open(self)
        if self.kind == FORKED:
            raise RuntimeError("graph_definition is unavailable on forked graph builders; access "
                               "it through the primary builder instead.")
        if self.stage == CAPTURING:
            raise RuntimeError("graph_definition is unavailable while capture is in progress; call "
                               "end_building() first.")
        if self.stage == NOT_STARTED and self.kind == PRIMARY:
            raise RuntimeError("graph_definition is unavailable before begin_building() on a "
                               "primary builder; no graph has been created yet.")
        return wrap_graph(self.graph)

    def debug_dot_print(self, path, options=None):
        """Write what was built as DOT to a file.

        Host only.

        Parameters
        ----------
        path : str or path
        options : GraphDebugPrintOptions or dict, optional

        See Also
        --------
        cuGraphDebugDotPrint : the driver function.
        """
        check_ended(self, "Graph has not finished building.")
        print_dot(self.graph, path, options)

    def debug_print(self, path=None, options=None):
        """Deprecated spelling of `debug_dot_print`; without a path, returns the text."""
        warn_deprecated("GraphBuilder.debug_print()", "GraphBuilder.debug_dot_print()")
        if path is not None:
            return self.debug_dot_print(path, options)
        tempfile = import_module("tempfile")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.dot")
            self.debug_dot_print(path, options)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def split(self, count):
        """Fork the capture: the branches are independent until `join`.

        Host only.

        Parameters
        ----------
        count : int
            How many branches, 2 at least.

        Returns
        -------
        tuple of GraphBuilder
            This one and ``count - 1`` new ones, each with a stream of its own.

        Raises
        ------
        ValueError
            If `count` is less than 2.

        See Also
        --------
        cuEventRecord, cuStreamWaitEvent : the driver functions.
        """
        check_builder_open(self)
        if not PyIndex_Check(count):
            raise TypeError(f"Argument 'count' has incorrect type (expected int, got "
                            f"{qualified_name(count)})")
        number = PyNumber_Index(count)
        if number < 2:
            raise ValueError(f"Invalid split count: expecting >= 2, got {number}")
        if not is_capturing_now(self):
            raise RuntimeError("Graph builder must be building before it can be split.")
        return split_builder(self, number)

    @staticmethod
    def join(*graph_builders):
        """Join branches again: what comes after waits for all of them.

        Host only. All builders but the one that is returned are closed.

        Parameters
        ----------
        *graph_builders : GraphBuilder
            Two at least.

        Returns
        -------
        GraphBuilder
            The first that does not come from `split`, else the first.

        See Also
        --------
        cuEventRecord, cuStreamWaitEvent : the driver functions.
        """
        for each in graph_builders:
            if not isinstance(each, GraphBuilder):
                raise TypeError("All arguments must be GraphBuilder instances")
        if len(graph_builders) < 2:
            raise ValueError("Must join with at least two graph builders")
        return join_builders(graph_builders)

    def create_condition(self, default_value=None):
        """Make a condition for conditional nodes of this graph.

        Host only.

        Parameters
        ----------
        default_value : int, optional
            Assigned at each launch; None leaves what the last launch left.

        Returns
        -------
        GraphCondition
            To be given to kernels, which set it with ``cudaGraphSetConditional``.

        See Also
        --------
        cuGraphConditionalHandleCreate : the driver function.
        """
        cdef capture_info found
        if not find_active_capture(self, &found):
            raise RuntimeError("Cannot create a condition when graph is not being built")
        return create_condition_in(found.graph, default_value)

    def create_conditional_handle(self, default_value=None):
        """Deprecated: `create_condition`. The bare handle of a condition."""
        warn_deprecated("GraphBuilder.create_conditional_handle()",
                        "GraphBuilder.create_condition()")
        condition = self.create_condition(default_value)
        return as_bindings("CUgraphConditionalHandle",
                           <void*><uintptr_t>(<GraphCondition>condition).native)

    def if_then(self, condition):
        """Add a node whose body runs if a condition is not 0.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
            From `create_condition`.

        Returns
        -------
        GraphBuilder
            Of the body: begin and end it like any other, before this one ends.

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_bodies(self, IfNode, condition, 1)[0]

    def if_else(self, condition):
        """Add a node with two bodies: for a condition that is not 0, and for 0.

        Host only.

        Parameters
        ----------
        condition : GraphCondition

        Returns
        -------
        tuple of GraphBuilder

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_bodies(self, IfElseNode, condition, 2)

    def while_loop(self, condition):
        """Add a node whose body runs while a condition is not 0.

        Host only.

        Parameters
        ----------
        condition : GraphCondition

        Returns
        -------
        GraphBuilder
            Of the body.

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_bodies(self, WhileNode, condition, 1)[0]

    def switch(self, condition, count):
        """Add a node with several bodies, of which the one runs whose number the condition is.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
        count : int

        Returns
        -------
        tuple of GraphBuilder

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_bodies(self, SwitchNode, condition, count_from(count, "count"))

    def embed(self, child):
        """Add a node that runs a copy of what another builder has built.

        Host only.

        Parameters
        ----------
        child : GraphBuilder
            It must have ended, and stays usable.

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        check_builder_open(self)
        embed_builder(self, child)

    def callback(self, fn, *, user_data=None):
        """Add a node that calls a function on the host.

        Host only. The function must not call CUDA.

        Parameters
        ----------
        fn : callable or ctypes function
            As for `GraphDefinition.callback`.
        user_data : int or bytes-like, optional
            For a ctypes function only.

        See Also
        --------
        cuLaunchHostFunc : the driver function.
        """
        check_builder_open(self)
        capture_callback(self, fn, user_data)

    def if_cond(self, condition):
        """Deprecated spelling of `if_then`."""
        warn_deprecated("GraphBuilder.if_cond()", "GraphBuilder.if_then()")
        return self.if_then(condition)

    def add_child(self, child):
        """Deprecated spelling of `embed`."""
        warn_deprecated("GraphBuilder.add_child()", "GraphBuilder.embed()")
        self.embed(child)

    def __enter__(self):
        check_builder_open(self)
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __reduce__(self):
        raise TypeError("a GraphBuilder cannot be pickled: it belongs to this process")

    def __repr__(self):
        state = ("not started", "capturing", "ended", "closed")[self.stage]
        handle = 0 if self.on is None else self.on.identity
        return f"<GraphBuilder {state} stream=0x{handle:x}>"


cdef int check_builder_open(GraphBuilder self) except -1:
    if self.on is None or self.stage == CLOSED:
        raise RuntimeError("GraphBuilder has been closed")
    return 0


cdef int check_ended(GraphBuilder self, str text) except -1:
    check_builder_open(self)
    if self.stage != ENDED or self.kind == FORKED:
        raise RuntimeError(text)
    return 0


cdef Stream stream_of_open_builder(object given):
    check_builder_open(<GraphBuilder>given)
    return (<GraphBuilder>given).on


cdef GraphBuilder make_builder(Stream stream, bint owns_stream):
    cdef GraphBuilder made = GraphBuilder.__new__(GraphBuilder)
    made.native.hold(made, stream.native.share_open(stream))
    made.on, made.owns_stream = stream, owns_stream
    made.stage, made.kind = NOT_STARTED, PRIMARY
    return made


cdef GraphBuilder make_branch(GraphBuilder origin, int kind):
    """A builder on a new stream of the same context."""
    cdef borrowed_stream stream = origin.native.borrow_open(origin)
    cdef context_handle context = context_of_stream(stream)
    cdef GraphBuilder made = make_builder(create_stream_in(Stream, context, None), True)
    made.origin, made.kind = origin, kind
    return made


cdef int broken_capture() except -1:
    what = what_broke_the_capture()
    raise RuntimeError(
        "Build process encountered an error and has been invalidated. Build process must now be "
        "ended: call close()" + (f". {what}" if what else ""))


cdef bint is_capturing_now(GraphBuilder self) except -1:
    cdef capture_info found
    if self.stage != CAPTURING:
        return False
    cdef borrowed_stream stream = self.native.borrow_open(self)
    check(find_capture(stream, found), "cuStreamGetCaptureInfo")
    if found.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED:
        broken_capture()
    return found.status == CU_STREAM_CAPTURE_STATUS_ACTIVE


cdef bint find_active_capture(GraphBuilder self, capture_info* found) except -1:
    check_builder_open(self)
    if self.stage != CAPTURING:
        return False
    cdef borrowed_stream stream = self.native.borrow_open(self)
    check(find_capture(stream, found[0]), "cuStreamGetCaptureInfo")
    if found.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED:
        broken_capture()
    return found.status == CU_STREAM_CAPTURE_STATUS_ACTIVE


cdef int begin_capture(GraphBuilder self, int mode, bint retain_operands) except -1:
    cdef capture_info found
    cdef CUresult code
    cdef borrowed_stream stream = self.native.borrow_open(self)
    if captures_under_way() == 0:
        forget_capture_error()
    if self.kind == BODY:
        if not self.graph.is_valid:
            raise RuntimeError("GraphDefinition is no longer valid: the builder that this body "
                               "belongs to was closed")
        call(driver.cuStreamBeginCaptureToGraph, stream.raw(), self.graph.raw, NULL, NULL,
             <size_t>0, <CUstreamCaptureMode>mode)
    else:
        call(driver.cuStreamBeginCapture, stream.raw(), <CUstreamCaptureMode>mode)
    self.stage = CAPTURING
    count_builder(self, retain_operands)
    if self.kind == PRIMARY:
        code = find_capture(stream, found)
        if code != CUDA_SUCCESS:  # without its graph it is no capture that the builder could end
            end_capture_quietly(self)
            count_builder(self, False)
            self.stage = NOT_STARTED
            check(code, "cuStreamGetCaptureInfo")
        self.graph = _GraphState.__new__(_GraphState)
        self.graph.raw, self.graph.is_valid = found.graph, True
    return 0


cdef int count_builder(GraphBuilder self, bint counts) except -1:
    if counts != self.counts:
        count_builder_captures(1 if counts else -1)
        self.counts = counts
    return 0


cdef int end_capture(GraphBuilder self) except -1:
    cdef CUgraph built = NULL
    cdef CUresult code
    cdef borrowed_stream stream = self.native.borrow_open(self)
    cdef graph_handle top
    with nogil:
        code = try_call(driver.cuStreamEndCapture, stream.raw(), &built)
    if code != CUDA_SUCCESS:
        error = driver_error(code, "cuStreamEndCapture")
        what = what_broke_the_capture()
        if what and not what.startswith("cuStreamEndCapture"):
            error.add_note(f"What broke the capture: {what}")
        raise error
    count_builder(self, False)
    self.stage = ENDED
    if self.kind == PRIMARY:
        top = own_graph(built)
        self.graph.raw = built
        begin_graph(self.graph, top)
    return 0


cdef int close_builder(GraphBuilder self) except -1:
    """The bodies first: what they capture into goes with the graph."""
    if self.branches is not None:
        for each in list(self.branches):
            if (<GraphBuilder>each).stage != CLOSED and self.stage == CAPTURING:
                close_builder(<GraphBuilder>each)
    end_quietly(self)
    self.native.close(self)
    if self.owns_stream:
        self.on.close()
    self.origin = self.branches = self.graph = None
    return 0


cdef int end_quietly(GraphBuilder self) except -1:
    """End a capture, whatever state it is in, and drop what it recorded."""
    cdef bint was_capturing = self.stage == CAPTURING
    self.stage = CLOSED
    count_builder(self, False)
    if was_capturing and self.kind != FORKED:
        end_capture_quietly(self)
        if self.kind == PRIMARY:
            end_graph(self.graph)
    return 0


cdef int end_capture_quietly(GraphBuilder self) except -1:
    cdef borrowed_stream stream
    if self.kind == FORKED:
        return 0
    stream = self.native.borrow(self)
    if stream.is_open():
        if self.kind == BODY:
            leave_capture(stream)
        else:
            abandon_capture(stream)
    return 0


cdef tuple split_builder(GraphBuilder self, object count):
    cdef GraphBuilder made
    builders = [self]
    try:
        while len(builders) < count:
            made = make_branch(self, FORKED)
            builders.append(made)
            order_streams(made.on, self.on)
            made.stage = CAPTURING
    except BaseException:
        for each in builders[1:]:
            close_builder(<GraphBuilder>each)
        raise
    return tuple(builders)


cdef GraphBuilder join_builders(tuple builders):
    cdef GraphBuilder root = None
    for each in builders:
        check_builder_open(<GraphBuilder>each)
        if root is None and (<GraphBuilder>each).kind != FORKED:
            root = <GraphBuilder>each
    root = <GraphBuilder>builders[0] if root is None else root
    others = [each for each in builders if each is not root]
    for each in others:
        order_streams(root.on, (<GraphBuilder>each).on)
    for each in others:
        close_builder(<GraphBuilder>each)
    return root


cdef tuple add_bodies(GraphBuilder self, object cls, object given, size_t count):
    cdef capture_info found
    cdef CUgraphNodeParams how
    cdef CUgraphNode made = NULL
    cdef size_t i
    cdef GraphCondition condition = condition_from(given)
    if not find_active_capture(self, &found):
        raise RuntimeError("Cannot add conditional node when not actively capturing")
    cdef borrowed_stream stream = self.native.borrow_open(self)
    how = conditional_parameters(cls, condition, count)
    call_alone(root_of(self).graph.lock, driver.cuGraphAddNode, &made, found.graph, found.last,
               found.edges, found.count, &how)
    check(continue_after(stream, made), "cuStreamUpdateCaptureDependencies")
    whole = root_of(self).graph
    bodies = tuple([part_of(whole, how.conditional.phGraph_out[i]) for i in range(count)])
    state_of_node(whole, made).made_as = (cls, condition, bodies)
    return tuple([make_body(self, body) for body in bodies])


cdef GraphBuilder root_of(GraphBuilder self):
    """The builder whose graph a branch captures into."""
    while self.kind == FORKED:
        self = self.origin
    return self


cdef GraphBuilder make_body(GraphBuilder origin, _GraphState body):
    cdef GraphBuilder made = make_branch(origin, BODY)
    cdef GraphBuilder whole = root_of(origin)
    made.graph = body
    if whole.branches is None:
        whole.branches = weakref.WeakSet()
    whole.branches.add(made)
    return made


cdef int embed_builder(GraphBuilder self, object given) except -1:
    cdef capture_info found
    cdef CUgraphNodeParams how
    cdef CUgraphNode made = NULL
    cdef GraphBuilder child
    if not isinstance(given, GraphBuilder):
        raise TypeError(f"child must be a GraphBuilder, got {qualified_name(given)}")
    child = <GraphBuilder>given
    check_builder_open(child)
    if child.stage != ENDED:
        raise ValueError("Child graph has not finished building.")
    if not find_active_capture(self, &found):
        raise ValueError("Parent graph is not being built.")
    cdef borrowed_stream stream = self.native.borrow_open(self)
    seal(child.graph)
    how = child_parameters(child.graph)
    call_alone(root_of(self).graph.lock, driver.cuGraphAddNode, &made, found.graph, found.last,
               found.edges, found.count, &how)
    check(continue_after(stream, made), "cuStreamUpdateCaptureDependencies")
    return 0


cdef int capture_callback(GraphBuilder self, object fn, object user_data) except -1:
    cdef capture_info found
    held = hold_call(fn, user_data)
    if not find_active_capture(self, &found):
        raise RuntimeError("Cannot add callback when graph is not being built")
    cdef borrowed_stream stream = self.native.borrow_open(self)
    keep_in_graph(found.graph, held)
    with nogil:
        call(driver.cuLaunchHostFunc, stream.raw(), run_graph_call, held.native)
    return 0


def _create_graph_builder(Stream stream not None, bint owns_stream):
    """What `Device.create_graph_builder` and `Stream.create_graph_builder` do. Host only."""
    return make_builder(stream, owns_stream)


register_graph_builder(GraphBuilder, stream_of_open_builder)

# SPDX-License-Identifier: Apache-2.0
# GraphBuilder: builds a graph by stream capture.

from cuda.bindings.cydriver cimport (
    CU_STREAM_CAPTURE_MODE_GLOBAL,
    CU_STREAM_CAPTURE_MODE_RELAXED,
    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
)

import weakref

# Stage of a builder.
cdef enum:
    NOT_STARTED
    CAPTURING
    ENDED
    CLOSED

# Part of the graph that a builder captures.
cdef enum:
    PRIMARY      # the whole graph
    FORKED       # a branch, which is joined later
    BODY         # the body of a conditional node

cdef dict CAPTURE_MODES = {
    "relaxed": <int>CU_STREAM_CAPTURE_MODE_RELAXED,
    "thread_local": <int>CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    "global": <int>CU_STREAM_CAPTURE_MODE_GLOBAL,
}


# no_gc_clear: ending the capture needs the stream and the builder of the enclosing graph.
@cython.final
@cython.no_gc_clear
cdef class GraphBuilder:
    """Builds a graph by capture: work submitted to its stream becomes nodes and is not executed.

    `Device.create_graph_builder` and `Stream.create_graph_builder` create builders. Every parameter
    for a stream accepts a builder, which stands for the stream that it captures. The graph retains
    the operands recorded through this package: memory of Buffers, kernels, events. Destroying a
    builder during a capture ends the capture and leaves the stream usable.
    """

    cdef held_stream native     # handle of `captured_stream`, open until the builder is closed
    cdef Stream captured_stream
    cdef int stage, kind
    cdef bint owns_stream
    cdef bint is_counted        # whether captures_under_way counts this builder
    cdef _GraphState graph      # the graph being built; None for a forked builder
    cdef GraphBuilder origin    # parent of a forked builder or of a body, else None
    cdef object bodies          # a WeakSet of the builders of bodies, or None
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
            # The streams are destroyed next; destroying two streams of one capture crashes the
            # driver.
            end_capture_quietly(self)

    @staticmethod
    def _init(stream):
        """Create a builder that captures a stream. Host only."""
        return make_builder(accept_stream(stream), False)

    def close(self):
        """End a pending capture, discard its nodes and release all resources.

        Host only. A stream passed to `Stream.create_graph_builder` stays usable. Closing twice is
        harmless.

        See Also
        --------
        cuStreamEndCapture : the driver function.
        """
        if self.stage != CLOSED:
            close_builder(self)

    @property
    def is_closed(self):
        """Whether `close` was called, or the builder was joined to another builder. Host only."""
        return self.stage == CLOSED

    @property
    def stream(self):
        """The `Stream` that the builder captures. Host only."""
        check_builder_open(self)
        return self.captured_stream

    def __cuda_stream__(self):
        """Implement the CUDA stream protocol: return ``(0, address)``. Host only."""
        check_builder_open(self)
        return 0, self.captured_stream.identity

    @property
    def is_join_required(self):
        """Whether the builder is from `split` and must be joined before the end. Host only."""
        return self.kind == FORKED

    @property
    def is_building(self):
        """Whether the stream is being captured.

        Host only.

        Raises
        ------
        RuntimeError
            If a call invalidated the capture; the message names a call made through this package.

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
            Unsafe calls, such as allocations, that invalidate the capture: ``"relaxed"`` none,
            ``"thread_local"`` calls of this thread, ``"global"`` calls of any thread.
        retain_operands : bool, optional
            Whether the graph retains the memory, kernels and events that are recorded.

        Returns
        -------
        GraphBuilder
            This builder.

        Raises
        ------
        RuntimeError
            If the capture has begun already.
        ValueError
            If `mode` is none of these.

        See Also
        --------
        cuStreamBeginCapture, cuStreamBeginCaptureToGraph : the driver functions.
        """
        check_builder_open(self)
        if self.stage == CAPTURING:
            raise RuntimeError("Graph builder is already building.")
        if self.stage == ENDED:
            raise RuntimeError("Cannot resume building after building has ended. Create another "
                               "builder.")
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
            This builder; call `complete` to create a `Graph`.

        Raises
        ------
        RuntimeError
            If no capture is pending, or a call invalidated the capture.
        CUDAError
            If builders from `split` were not joined.

        See Also
        --------
        cuStreamEndCapture : the driver function.
        """
        check_builder_open(self)
        follows = import_module("cuda.core._utils.version").follows_release(1, 3)
        if follows and self.kind == FORKED:
            raise RuntimeError("end_building() is for the primary builder: pass builders from "
                               "split() to GraphBuilder.join()")
        if not (self.stage == CAPTURING if follows else is_capturing_now(self)):
            raise not_building(self)
        end_capture(self)
        return self

    def complete(self, options=None):
        """Create an executable graph from the captured graph. Each call creates a new one.

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
            If `end_building` was not called, or the graph cannot be instantiated.

        See Also
        --------
        cuGraphInstantiateWithParams : the driver function.
        """
        check_ended(self)
        return instantiate_graph(self.graph, options)

    @property
    def graph_definition(self):
        """The `GraphDefinition` of the captured graph; its changes affect later `complete` calls.

        Host only.

        Raises
        ------
        RuntimeError
            Before and during the capture, and for builders from `split`.
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
        """Write the driver's DOT description of the captured graph to a file.

        Host only.

        Parameters
        ----------
        path : str or path
        options : GraphDebugPrintOptions or dict, optional

        See Also
        --------
        cuGraphDebugDotPrint : the driver function.
        """
        check_ended(self)
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
        """Fork the capture into branches that are independent until `join`.

        Host only.

        Parameters
        ----------
        count : int
            Number of branches, at least 2.

        Returns
        -------
        tuple of GraphBuilder
            This builder and ``count - 1`` new builders, each with its own stream.

        Raises
        ------
        ValueError
            If `count` is less than 2.

        See Also
        --------
        cuEventRecord, cuStreamWaitEvent : the driver functions.
        """
        check_builder_open(self)
        number = integer_or_none(count)
        if number is None:
            raise TypeError(f"Argument 'count' has incorrect type (expected int, got "
                            f"{qualified_name(count)})")
        if number < 2:
            raise ValueError(f"Invalid split count: expecting >= 2, got {number}")
        if not is_capturing_now(self):
            raise RuntimeError("Graph builder must be building before it can be split.")
        return split_builder(self, number)

    @staticmethod
    def join(*graph_builders):
        """Join branches: later work depends on all of them.

        Host only. Closes all builders except the returned one.

        Parameters
        ----------
        *graph_builders : GraphBuilder
            At least two builders.

        Returns
        -------
        GraphBuilder
            The first builder that is not from `split`, or the first builder.

        See Also
        --------
        cuEventRecord, cuStreamWaitEvent : the driver functions.
        """
        for number, each in enumerate(graph_builders, 1):
            if not isinstance(each, GraphBuilder):
                raise TypeError("All arguments must be GraphBuilder instances; argument "
                                f"{number} is a {type(each).__name__}")
        if len(graph_builders) < 2:
            raise ValueError("Must join with at least two graph builders")
        return join_builders(graph_builders)

    def create_condition(self, default_value=None):
        """Create a condition for conditional nodes of this graph.

        Host only.

        Parameters
        ----------
        default_value : int, optional
            Value assigned at each launch; None retains the value from the last launch.

        Returns
        -------
        GraphCondition
            An argument for kernels, which set it with ``cudaGraphSetConditional``.

        See Also
        --------
        cuGraphConditionalHandleCreate : the driver function.
        """
        cdef capture_info capture
        if not find_active_capture(self, &capture):
            raise RuntimeError("Cannot create a condition when graph is not being built")
        return create_condition_in(root_of(self).graph, capture.graph, default_value)

    def create_conditional_handle(self, default_value=None):
        """Deprecated: use `create_condition`. Return the driver handle of a condition."""
        warn_deprecated("GraphBuilder.create_conditional_handle()",
                        "GraphBuilder.create_condition()")
        condition = self.create_condition(default_value)
        return as_bindings("CUgraphConditionalHandle",
                           <void*><uintptr_t>(<GraphCondition>condition).native.get(condition))

    def if_then(self, condition):
        """Add a node whose body runs if a condition is not 0.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
            A condition from `create_condition`.

        Returns
        -------
        GraphBuilder
            Builder of the body; begin and end it before this builder ends.

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_bodies(self, IfNode, condition, 1)[0]

    def if_else(self, condition):
        """Add a node with two bodies: the first runs if a condition is not 0, the second if it is.

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
            Builder of the body.

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_bodies(self, WhileNode, condition, 1)[0]

    def switch(self, condition, count):
        """Add a node with several bodies; the condition is the index of the body that runs.

        Host only.

        Parameters
        ----------
        condition : GraphCondition
        count : int
            Number of bodies.

        Returns
        -------
        tuple of GraphBuilder

        See Also
        --------
        cuGraphAddNode : the driver function.
        """
        return add_bodies(self, SwitchNode, condition, count_from(count, "count"))

    def embed(self, child):
        """Add a node that runs a copy of another builder's graph.

        Host only.

        Parameters
        ----------
        child : GraphBuilder
            A builder whose capture has ended; it stays usable.

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
            Function, as for `GraphDefinition.callback`.
        user_data : int or bytes-like, optional
            Argument of a ctypes function, as for `GraphDefinition.callback`.

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

    def _repr_html_(self):
        """Return the table that a notebook shows. Host only."""
        return import_module("cuda.core._utils.display").builder_html(self)

    def __repr__(self):
        state = ("not started", "capturing", "ended", "closed")[self.stage]
        handle = 0 if self.captured_stream is None else self.captured_stream.identity
        return f"<GraphBuilder {state} stream=0x{handle:x}>"


cdef int check_builder_open(GraphBuilder self) except -1:
    if self.captured_stream is None or self.stage == CLOSED:
        raise RuntimeError("GraphBuilder has been closed")


cdef Stream stream_of_open_builder(object builder):
    check_builder_open(<GraphBuilder>builder)
    return (<GraphBuilder>builder).captured_stream


cdef Stream stream_of_capturing_builder(object builder):
    """Return the stream for a launch, which would run at once unless it is captured."""
    return stream_that_captures(<GraphBuilder>builder, "kernel")


cdef Stream stream_that_captures(GraphBuilder self, str launched):
    check_builder_open(self)
    if self.stage == CAPTURING and is_being_captured(self.native.borrow_open(self)):
        return self.captured_stream
    if self.stage == NOT_STARTED:
        state, remedy = "has not begun", "call begin_building() first"
    else:
        state, remedy = "has ended", "launch the graph that complete() returns"
    raise RuntimeError(f"launch on a GraphBuilder whose capture {state}: the {launched} would run "
                       f"at once, outside of the graph; {remedy}, or pass builder.stream to run it")


cdef GraphBuilder make_builder(Stream stream, bint owns_stream):
    cdef GraphBuilder builder = GraphBuilder.__new__(GraphBuilder)
    builder.native.hold(builder, stream.native.share_open(stream))
    builder.captured_stream, builder.owns_stream = stream, owns_stream
    builder.stage, builder.kind = NOT_STARTED, PRIMARY
    return builder


cdef GraphBuilder make_branch(GraphBuilder origin, int kind):
    """Create a builder on a new stream of the same context."""
    cdef borrowed_stream stream = origin.native.borrow_open(origin)
    cdef context_handle context = context_of_stream(stream)
    cdef GraphBuilder branch = make_builder(create_stream_in(Stream, context, None), True)
    branch.origin, branch.kind = origin, kind
    return branch


cdef tuple split_builder(GraphBuilder self, object count):
    cdef GraphBuilder branch
    builders = [self]
    try:
        while len(builders) < count:
            branch = make_branch(self, FORKED)
            builders.append(branch)
            order_streams(branch.captured_stream, self.captured_stream)
            branch.stage = CAPTURING
    except BaseException:
        for each in builders[1:]:
            close_builder(<GraphBuilder>each)
        raise
    return tuple(builders)


cdef GraphBuilder join_builders(tuple builders):
    cdef GraphBuilder root
    for each in builders:
        check_builder_open(<GraphBuilder>each)
    origins = [each for each in builders if (<GraphBuilder>each).kind != FORKED]
    root = <GraphBuilder>(origins or builders)[0]
    branches = [each for each in builders if each is not root]
    for each in branches:
        order_streams(root.captured_stream, (<GraphBuilder>each).captured_stream)
    for each in branches:
        close_builder(<GraphBuilder>each)
    return root


cdef tuple add_bodies(GraphBuilder self, object cls, object condition_arg, size_t count):
    cdef capture_info capture
    cdef CUgraphNodeParams params
    cdef CUgraphNode node = NULL
    cdef size_t i
    cdef GraphCondition condition = condition_from(condition_arg)
    if not find_active_capture(self, &capture):
        raise RuntimeError("Cannot add conditional node when not actively capturing")
    cdef borrowed_stream stream = self.native.borrow_open(self)
    params = conditional_parameters(cls, condition, count)
    call_alone(root_of(self).graph.lock, driver.cuGraphAddNode, &node, capture.graph, capture.last,
               capture.edges, capture.count, &params)
    check(continue_after(stream, node), "cuStreamUpdateCaptureDependencies")
    root = root_of(self).graph
    bodies = tuple([subgraph_of(root, params.conditional.phGraph_out[i]) for i in range(count)])
    state_of_node(root, node).creation = (cls, condition, bodies)
    return tuple([make_body(self, body) for body in bodies])


cdef GraphBuilder root_of(GraphBuilder self):
    """Return the builder whose graph a branch captures."""
    while self.kind == FORKED:
        self = self.origin
    return self


cdef GraphBuilder make_body(GraphBuilder origin, _GraphState body):
    cdef GraphBuilder builder = make_branch(origin, BODY)
    cdef GraphBuilder root = root_of(origin)
    builder.graph = body
    if root.bodies is None:
        root.bodies = weakref.WeakSet()
    root.bodies.add(builder)
    return builder


cdef int embed_builder(GraphBuilder self, object child_arg) except -1:
    cdef capture_info capture
    cdef CUgraphNodeParams params
    cdef CUgraphNode node = NULL
    cdef GraphBuilder child
    if not isinstance(child_arg, GraphBuilder):
        raise TypeError(f"child must be a GraphBuilder, got {qualified_name(child_arg)}")
    child = <GraphBuilder>child_arg
    check_builder_open(child)
    if child.stage != ENDED:
        raise ValueError("Child graph has not finished building. Call end_building() of the child "
                         "first.")
    if not find_active_capture(self, &capture):
        raise ValueError("Parent graph is not being built.")
    cdef borrowed_stream stream = self.native.borrow_open(self)
    close_retained_list(child.graph)
    params = child_parameters(child.graph)
    call_alone(root_of(self).graph.lock, driver.cuGraphAddNode, &node, capture.graph, capture.last,
               capture.edges, capture.count, &params)
    check(continue_after(stream, node), "cuStreamUpdateCaptureDependencies")


cdef int capture_callback(GraphBuilder self, object fn, object user_data) except -1:
    cdef capture_info capture
    owner = own_host_call(fn, user_data)
    if not find_active_capture(self, &capture):
        raise RuntimeError("Cannot add callback when graph is not being built")
    cdef borrowed_stream stream = self.native.borrow_open(self)
    retain_object_in_graph(capture.graph, owner)
    with nogil:
        call(driver.cuLaunchHostFunc, stream.raw(), run_graph_call, owner.native)


def _create_graph_builder(Stream stream not None, bint owns_stream):
    """Implement `Device.create_graph_builder` and `Stream.create_graph_builder`. Host only."""
    return make_builder(stream, owns_stream)


register_graph_builder(GraphBuilder, stream_of_open_builder, stream_of_capturing_builder)

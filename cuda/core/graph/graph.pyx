# SPDX-License-Identifier: Apache-2.0
# Graph: what is launched.

from cpython.weakref cimport PyWeakref_NewRef

from cuda.bindings.cydriver cimport (
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
    CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
    CUDA_GRAPH_INSTANTIATE_SUCCESS,
)

cdef object update_error_class = None


cdef object update_error():
    """The class of what a failed update raises: programs of 0.x expect RuntimeError."""
    global update_error_class
    if update_error_class is None:
        update_error_class = type("GraphUpdateError", (CUDAError, RuntimeError), {
            "__module__": "cuda.core.graph",
            "__doc__": "An executable cannot take over what it was to be updated from."})
    return update_error_class


# no_gc: what the driver holds too is in no circle for the collector, and nothing clears what a
# launch under way still needs.
@cython.final
@cython.no_gc
cdef class Graph:
    """A graph that can be launched, again and again.

    It comes from `GraphBuilder.complete` and `GraphDefinition.instantiate`, keeps all that it uses,
    and depends on neither of them afterwards. Launches of one graph never overlap. It may be closed
    while it runs.
    """

    cdef held_graph_exec native
    cdef graph_lock lock        # launches and changes come one at a time
    cdef uintptr_t identity
    cdef object source          # a weak reference to the state of what it was made from
    cdef dict changed           # address of a node: what its change through a view keeps
    cdef Event reached          # of the last launch since something was changed so, or None
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        raise RuntimeError("directly constructing a Graph instance is not supported: use "
                           "GraphBuilder.complete() or GraphDefinition.instantiate()")

    def __dealloc__(self):
        if self.changed and not is_finalizing():
            release_changes(self)

    def close(self):
        """Destroy the executable; a launch that is under way goes on.

        Host only. Closing twice is harmless.

        See Also
        --------
        cuGraphExecDestroy : the driver function.
        """
        self.native.close(self)
        release_changes(self)

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """The executable as `cuda.bindings.driver.CUgraphExec`; 0 when closed. Host only."""
        return as_bindings("CUgraphExec",
                           <void*>self.identity if self.native.is_open(self) else NULL)

    @property
    def id(self):
        """The number of the executable among all that the driver made. Host only.

        See Also
        --------
        cuGraphExecGetId : the driver function.
        """
        cdef unsigned found = 0
        cdef borrowed_graph_exec native = self.native.borrow_open(self)
        call(driver.cuGraphExecGetId, native.raw(), &found)
        return found

    def launch(self, stream):
        """Run the graph.

        Stream-ordered. A stream that is being captured takes no launches: what was built becomes a
        part of a capture by `GraphBuilder.embed`.

        Parameters
        ----------
        stream : Stream or GraphBuilder
            The earlier work of which comes before the graph.

        Raises
        ------
        RuntimeError
            If the graph or the stream is closed.
        CUDAError
            If the driver refuses the launch, for instance because the stream is being captured, or
            memory that the last launch has allocated is still in use.

        See Also
        --------
        cuGraphLaunch : the driver function.
        """
        cdef Stream order = stream if type(stream) is Stream else accept_stream(stream)
        cdef borrowed_graph_exec native = self.native.borrow_open(self)
        cdef borrowed_stream on = order.native.borrow_open(order)
        with nogil:
            call_alone(self.lock, driver.cuGraphLaunch, native.raw(), on.raw())
        if self.changed:  # what a change through a view keeps must outlive this launch
            self.reached = order.record()

    def upload(self, stream):
        """Bring to the device what a launch needs there, so that the first one finds it.

        Stream-ordered.

        Parameters
        ----------
        stream : Stream or GraphBuilder

        See Also
        --------
        cuGraphUpload : the driver function.
        """
        cdef Stream order = accept_stream(stream)
        cdef borrowed_graph_exec native = self.native.borrow_open(self)
        cdef borrowed_stream on = order.native.borrow_open(order)
        with nogil:
            call_alone(self.lock, driver.cuGraphUpload, native.raw(), on.raw())

    def update(self, source):
        """Take the parameters of a graph of the same topology over, and what it keeps.

        Host only. Later launches are changed; a failed update changes nothing.

        Parameters
        ----------
        source : GraphBuilder or GraphDefinition
            The builder must have ended.

        Raises
        ------
        CUDAError
            If the topology differs; the text names the driver's result and the node.

        See Also
        --------
        cuGraphExecUpdate : the driver function.
        """
        update_graph(self, source_of_update(source))

    def __getitem__(self, node):
        return executable_view(self, node)

    def __enter__(self):
        self.native.check_open(self)
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __reduce__(self):
        raise TypeError("a Graph cannot be pickled: it belongs to this process")

    def __repr__(self):
        return f"<Graph handle=0x{self.identity if self.native.is_open(self) else 0:x}>"


cdef int release_changes(Graph self) except -1:
    changed, self.changed = self.changed, None
    if changed:
        release_after(self.reached, tuple(changed.values()))
    return 0


cdef int release_after(Event reached, object kept) except -1:
    if reached is not None:
        retain_until_complete(reached, kept)
    return 0


cdef Graph instantiate_graph(_GraphState graph, object options):
    cdef CUDA_GRAPH_INSTANTIATE_PARAMS how
    cdef Graph made = Graph.__new__(Graph)
    cdef graph_exec_handle native
    cdef graph_handle _top
    cdef Stream upload = None
    cdef borrowed_stream on
    memset(&how, 0, sizeof(how))
    if options is not None:
        options = as_options(options, import_module("cuda.core.graph.options").GraphCompleteOptions,
                             "graph options")
        if options.auto_free_on_launch:
            how.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
        if options.device_launch:
            how.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
        if options.use_node_priority:
            how.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
        if options.upload_stream is not None:
            upload = accept_stream(options.upload_stream)
            on = upload.native.borrow_open(upload)
            how.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
            how.hUploadStream = on.raw()
    seal(graph)
    graph.lock.get().wait()
    if not graph.is_valid:  # reading the options may have ended it
        raise RuntimeError("GraphDefinition is no longer valid")
    _top = graph.top  # stays for the time of the call
    try:
        native = instantiate(graph.lock.get()[0], graph.raw, how)
    except CUDAError as error:
        if <int>how.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS:
            raise
        why = INSTANTIATE_ERRORS.get(<int>how.result_out, NO_REASON)
        raise RuntimeError(f"{why} ({error})") from error
    made.identity = <uintptr_t>native.raw()
    made.native.hold(made, native.take())
    made.source = PyWeakref_NewRef(graph, None)
    return made


cdef str NO_REASON = "Instantiation failed for an unexpected reason"
cdef dict INSTANTIATE_ERRORS = {
    2: "Instantiation failed because of an invalid structure, such as cycles",
    3: "Instantiation for device launch failed because of an unsupported operation",
    4: "Instantiation for device launch failed because the nodes belong to different contexts",
    5: "One or more conditional handles are not associated with conditional builders.",
}


cdef _GraphState source_of_update(object given):
    cdef GraphBuilder builder
    if isinstance(given, GraphBuilder):
        builder = <GraphBuilder>given
        check_builder_open(builder)
        if builder.stage != ENDED:
            raise ValueError("Graph has not finished building.")
        return builder.graph
    if isinstance(given, GraphDefinition):
        (<GraphDefinition>given).check_usable()
        return (<GraphDefinition>given).state
    raise TypeError(f"expected GraphBuilder or GraphDefinition, got {qualified_name(given)}")


cdef int update_graph(Graph self, _GraphState source) except -1:
    cdef CUgraphExecUpdateResultInfo answer
    cdef CUresult code
    cdef borrowed_graph_exec native = self.native.borrow_open(self)
    cdef graph_handle _top
    memset(&answer, 0, sizeof(answer))
    seal(source)
    self.lock.wait()
    source.lock.get().wait()
    if not source.is_valid:
        raise RuntimeError("GraphDefinition is no longer valid")
    _top = source.top  # stays for the time of the call
    code = update_executable(self.lock, source.lock.get()[0], native.raw(), source.raw, answer)
    if code != CUDA_SUCCESS:
        if <int>answer.result == 0:
            check(code, "cuGraphExecUpdate")
        raise failed_update(code, <int>answer.result, source, answer.errorNode)
    self.source = PyWeakref_NewRef(source, None)
    return release_changes(self)


cdef object failed_update(CUresult code, int result, _GraphState source, CUgraphNode where):
    error = driver_error(code, "cuGraphExecUpdate")
    member = enum_member("cuda.bindings.driver", "CUgraphExecUpdateResult", result)
    name = member.name if member is not None else str(result)
    why = f": {member.__doc__}" if member is not None and member.__doc__ else ""
    node = f" at {node_of(source, where)!r}" if where is not NULL else ""
    return update_error()(f"Graph update failed: {name}{node}{why} ({error})", code=error.code,
                          name=error.name, where=error.where)

# SPDX-License-Identifier: Apache-2.0
# Graph: an executable graph.

from cuda.bindings.cydriver cimport (
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH,
    CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY,
    CUDA_GRAPH_INSTANTIATE_SUCCESS,
)


class GraphUpdateError(CUDAError, RuntimeError):
    """An executable graph cannot be updated from another graph.

    Programs for 0.x catch RuntimeError.
    """


GraphUpdateError.__module__ = "cuda.core.graph"  # its public module, which pickling uses too


# no_gc: the driver holds references too, so the collector could never find this object in a dead
# cycle, and it must not clear operands that a pending launch uses.
@cython.final
@cython.no_gc
cdef class Graph:
    """An executable graph, which can be launched repeatedly.

    `GraphBuilder.complete` and `GraphDefinition.instantiate` create executable graphs. A graph
    retains all objects that it uses and does not depend on its builder or definition. Launches of
    one graph never overlap. A graph may be closed while a launch is pending.
    """

    cdef held_graph_exec native
    cdef shared_graph_lock lock  # serializes launches and updates
    cdef uintptr_t identity
    cdef object source          # weak reference to the _GraphState that it was created from
    cdef dict updated_operands  # node address: operands set through an ExecutableGraphNode
    cdef Event last_launch      # recorded after the last launch that used updated_operands, or None
    cdef object __weakref__

    def __cinit__(self):
        self.lock = make_graph_lock()

    def __init__(self, *args, **kwargs):
        raise RuntimeError("directly constructing a Graph instance is not supported: use "
                           "GraphBuilder.complete() or GraphDefinition.instantiate()")

    def __dealloc__(self):
        if self.updated_operands and not is_finalizing():
            release_updated_operands(self)

    def close(self):
        """Destroy the executable graph; a pending launch completes.

        Host only. Closing twice is harmless.

        See Also
        --------
        cuGraphExecDestroy : the driver function.
        """
        self.native.close(self)
        release_updated_operands(self)

    @property
    def is_closed(self):
        """Whether `close` was called. Host only."""
        return not self.native.is_open(self)

    @property
    def handle(self):
        """The executable graph as `cuda.bindings.driver.CUgraphExec`; 0 if closed. Host only."""
        return as_bindings("CUgraphExec",
                           <void*>self.identity if self.native.is_open(self) else NULL)

    @property
    def id(self):
        """Id of the executable graph, unique among all executable graphs. Host only.

        See Also
        --------
        cuGraphExecGetId : the driver function.
        """
        cdef unsigned number
        cdef borrowed_graph_exec native = self.native.borrow_open(self)
        call(driver.cuGraphExecGetId, native.raw(), &number)
        return number

    def launch(self, stream):
        """Launch the graph.

        Stream-ordered. A stream that is being captured rejects launches: use `GraphBuilder.embed`
        to add a graph to a capture.

        Parameters
        ----------
        stream : Stream
            The stream that orders the launch.

        Raises
        ------
        RuntimeError
            If the graph or the stream is closed, or `stream` is a GraphBuilder that captures
            nothing.
        CUDAError
            If the driver refuses the launch, for instance because the stream is being captured, or
            memory allocated by the last launch is still in use.

        See Also
        --------
        cuGraphLaunch : the driver function.
        """
        cdef Stream target = stream if type(stream) is Stream else stream_of_graph_launch(stream)
        cdef borrowed_graph_exec native = self.native.borrow_open(self)
        cdef borrowed_stream native_stream = target.native.borrow_open(target)
        check(launch_executable(self.lock.get()[0], native.raw(), native_stream.raw()),
              "cuGraphLaunch")
        if self.updated_operands:  # the operands must outlive this launch
            self.last_launch = target.record()

    def upload(self, stream):
        """Upload the graph to the device, so that the first launch need not.

        Stream-ordered.

        Parameters
        ----------
        stream : Stream or GraphBuilder

        See Also
        --------
        cuGraphUpload : the driver function.
        """
        cdef Stream target = accept_stream(stream)
        cdef borrowed_graph_exec native = self.native.borrow_open(self)
        cdef borrowed_stream native_stream = target.native.borrow_open(target)
        with nogil:
            call_alone(self.lock, driver.cuGraphUpload, native.raw(), native_stream.raw())

    def update(self, source):
        """Set the parameters of all nodes from a graph of the same topology.

        Host only. Affects later launches, which retain the objects of `source`. A failed update
        changes nothing.

        Parameters
        ----------
        source : GraphBuilder or GraphDefinition
            A definition, or a builder whose capture has ended.

        Raises
        ------
        CUDAError
            If the topology differs; the message names the driver's result and the node.

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

    def _repr_html_(self):
        """Return the table that a notebook shows. Host only."""
        return import_module("cuda.core._utils.display").graph_html(self)

    def __repr__(self):
        return f"<Graph handle=0x{self.identity if self.native.is_open(self) else 0:x}>"


cdef Stream stream_of_graph_launch(object stream_arg):
    if isinstance(stream_arg, GraphBuilder):
        return stream_that_captures(<GraphBuilder>stream_arg, "graph")
    return accept_stream(stream_arg)


cdef int release_updated_operands(Graph self) except -1:
    updated_operands, self.updated_operands = self.updated_operands, None
    if updated_operands:
        release_after_event(self.last_launch, tuple(updated_operands.values()))


cdef Graph instantiate_graph(_GraphState source, object options):
    cdef CUDA_GRAPH_INSTANTIATE_PARAMS params
    cdef Graph graph = Graph.__new__(Graph)
    cdef graph_exec_handle native
    cdef graph_handle _owner
    cdef Stream upload = None
    cdef borrowed_stream native_stream
    cdef graph_hold _hold
    memset(&params, 0, sizeof(params))
    if options is not None:
        options = as_options(options, import_module("cuda.core.graph.options").GraphCompleteOptions,
                             "graph options")
        if options.auto_free_on_launch:
            params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH
        if options.device_launch:
            params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH
        if options.use_node_priority:
            params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY
        if options.upload_stream is not None:
            upload = accept_stream(options.upload_stream)
            native_stream = upload.native.borrow_open(upload)
            params.flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD
            params.hUploadStream = native_stream.raw()
    _hold = graph_hold(source.lock)
    close_retained_list(source)
    check_valid(source)  # reading the options may run user code
    _owner = source.owner  # keeps the graph alive during the call
    try:
        native = instantiate(source.lock.get()[0], source.raw, params)
    except CUDAError as error:
        if <int>params.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS:
            raise
        reason = INSTANTIATE_ERRORS.get(<int>params.result_out, NO_REASON)
        raise RuntimeError(f"{reason} ({error})") from error
    graph.identity = <uintptr_t>native.raw()
    graph.native.hold(graph, native.take())
    graph.source = PyWeakref_NewRef(source, None)
    return graph


cdef str NO_REASON = "Instantiation failed for an unexpected reason"
cdef dict INSTANTIATE_ERRORS = {
    2: "Instantiation failed because of an invalid structure, such as cycles",
    3: "Instantiation for device launch failed because of an unsupported operation",
    4: "Instantiation for device launch failed because the nodes belong to different contexts",
    5: "One or more conditional handles are not associated with conditional builders.",
}


cdef _GraphState source_of_update(object source):
    cdef GraphBuilder builder
    if isinstance(source, GraphBuilder):
        builder = <GraphBuilder>source
        check_builder_open(builder)
        if builder.stage != ENDED:
            raise ValueError("Graph has not finished building. Call end_building() first.")
        return builder.graph
    if isinstance(source, GraphDefinition):
        (<GraphDefinition>source).check_usable()
        return (<GraphDefinition>source).state
    raise TypeError(f"expected GraphBuilder or GraphDefinition, got {qualified_name(source)}")


cdef int update_graph(Graph self, _GraphState source) except -1:
    cdef CUgraphExecUpdateResultInfo info
    cdef CUresult code
    cdef borrowed_graph_exec native = self.native.borrow_open(self)
    cdef graph_handle _owner
    cdef graph_hold _hold, _source_hold
    memset(&info, 0, sizeof(info))
    _hold = graph_hold(self.lock)
    _source_hold = graph_hold(source.lock)
    close_retained_list(source)
    check_valid(source)
    _owner = source.owner  # keeps the graph alive during the call
    code = update_executable(self.lock.get()[0], source.lock.get()[0], native.raw(), source.raw,
                             info)
    if code != CUDA_SUCCESS:
        if <int>info.result == 0:
            check(code, "cuGraphExecUpdate")
        raise failed_update(code, <int>info.result, source, info.errorNode)
    self.source = PyWeakref_NewRef(source, None)
    return release_updated_operands(self)


cdef object failed_update(CUresult code, int result, _GraphState source, CUgraphNode error_node):
    error = driver_error(code, "cuGraphExecUpdate")
    member = enum_member("cuda.bindings.driver", "CUgraphExecUpdateResult", result)
    name = member.name if member is not None else str(result)
    reason = f": {member.__doc__}" if member is not None and member.__doc__ else ""
    node = f" at {node_of(source, error_node)!r}" if error_node is not NULL else ""
    return GraphUpdateError(f"Graph update failed: {name}{node}{reason} ({error})", code=error.code,
                            name=error.name, where=error.where)

# SPDX-License-Identifier: Apache-2.0
# HostCallbackNode: a call of a host function, and the owner of such calls.


@cython.final
cdef class _HostCallOwner:
    """Owner of a host function and its data; graphs that call the function retain it."""

    cdef host_call* native

    def __dealloc__(self):
        if self.native is not NULL:
            discard(self.native)


cdef _HostCallOwner own_host_call(object fn, object user_data):
    cdef _HostCallOwner owner = _HostCallOwner.__new__(_HostCallOwner)
    owner.native = prepare_host_call(fn, user_data)
    return owner


@cython.final
cdef class HostCallbackNode(GraphNode):
    """A node that calls a function on the host."""

    cdef object function      # the Python callable; None for a C function
    cdef uintptr_t native     # address of the C function; 0 for a Python callable

    @property
    def callback(self):
        """The Python callable; None for a C function. Host only."""
        return self.function

    @property
    def callback_fn(self):
        """Deprecated spelling of `callback`."""
        warn_deprecated("HostCallbackNode.callback_fn", "HostCallbackNode.callback")
        return self.function

    def update(self, fn, *, user_data=None):
        """Set the function.

        Host only. Does not change executable graphs that exist already.

        Parameters
        ----------
        fn : callable or ctypes function
        user_data : int or bytes-like, optional
            Argument of a ctypes function, as for `GraphNode.callback`.

        See Also
        --------
        cuGraphNodeSetParams : the driver function.
        """
        update_host_node(self, fn, user_data)

    def _details(self):
        if self.function is None:
            return f"cfunc=0x{self.native:x}"
        return f"callback={name_of_function(self.function)}"

    def _label(self):
        if self.function is None:
            return f"host call\n0x{self.native:x}"
        return f"host call\n{name_of_function(self.function)}()"


cdef str name_of_function(object function):
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


cdef int set_callback(HostCallbackNode node, host_call* callback) except -1:
    node.native = <uintptr_t>callback.native
    node.function = <object>callback.function if callback.native is NULL else None


cdef CUgraphNodeParams host_parameters(_HostCallOwner owner) except *:
    cdef CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_HOST)
    params.host.fn, params.host.userData = run_graph_call, owner.native
    return params


cdef HostCallbackNode add_host_node(_NodeFactory factory, object fn, object user_data):
    cdef CUgraphNodeParams params
    cdef HostCallbackNode node = HostCallbackNode.__new__(HostCallbackNode)
    factory.check_usable()
    owner = own_host_call(fn, user_data)
    factory.check_usable()
    set_callback(node, owner.native)
    params = host_parameters(owner)
    add_node(node, factory, &params, [owner])
    return node


cdef int update_host_node(HostCallbackNode node, object fn, object user_data) except -1:
    cdef CUgraphNodeParams params
    node.check_usable()
    cdef graph_hold _hold
    owner = own_host_call(fn, user_data)
    params = host_parameters(owner)
    _hold = graph_hold(node.state.lock)
    set_node(node, &params, [owner])
    set_callback(node, owner.native)


cdef GraphNode inspect_host_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef CUDA_HOST_NODE_PARAMS params
    cdef HostCallbackNode node = HostCallbackNode.__new__(HostCallbackNode)
    call(driver.cuGraphHostNodeGetParams, raw, &params)
    node.native = <uintptr_t>params.fn
    if params.fn is <void*>run_graph_call:
        set_callback(node, <host_call*>params.userData)
    return node


@cython.final
cdef class ExecutableHostCallbackNode(ExecutableGraphNode):
    """A host function call in an executable graph."""

    def update(self, fn, *, user_data=None):
        """Set the function for later launches of the graph.

        Host only.

        Parameters
        ----------
        fn : callable or ctypes function
        user_data : int or bytes-like, optional
            Argument of a ctypes function, as for `GraphDefinition.callback`.

        See Also
        --------
        cuGraphExecNodeSetParams : the driver function.
        """
        cdef CUgraphNodeParams params
        check_view(self)
        held = own_host_call(fn, user_data)
        params = host_parameters(held)
        set_in_executable(self, &params, [held])

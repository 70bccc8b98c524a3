# SPDX-License-Identifier: Apache-2.0
# HostCallbackNode: a function on the host; and how graphs keep such functions.


@cython.final
cdef class _HeldCall:
    """A function that graphs call, with its data, as long as one of them needs it."""

    cdef host_call* native

    def __dealloc__(self):
        if self.native is not NULL:
            discard(self.native)


cdef _HeldCall hold_call(object fn, object user_data):
    cdef _HeldCall made = _HeldCall.__new__(_HeldCall)
    made.native = prepare_host_call(fn, user_data)
    return made


@cython.final
cdef class HostCallbackNode(GraphNode):
    """A node that calls a function on the host."""

    cdef object function      # a Python callable, else None
    cdef uintptr_t native     # the address of a C function, else 0

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
        """Change the function.

        Host only. Executables that were made before are not changed.

        Parameters
        ----------
        fn : callable or ctypes function
        user_data : int or bytes-like, optional
            As for `GraphNode.callback`.

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


cdef int describe_call(HostCallbackNode node, host_call* made) except -1:
    node.native = <uintptr_t>made.native
    node.function = <object>made.function if made.native is NULL else None
    return 0


cdef CUgraphNodeParams host_parameters(_HeldCall held) except *:
    cdef CUgraphNodeParams how
    memset(&how, 0, sizeof(how))
    how.type = CU_GRAPH_NODE_TYPE_HOST
    how.host.fn, how.host.userData = run_graph_call, held.native
    return how


cdef HostCallbackNode add_host_node(_NodeMaker after, object fn, object user_data):
    cdef CUgraphNodeParams how
    cdef HostCallbackNode node = HostCallbackNode.__new__(HostCallbackNode)
    after.check_usable()
    held = hold_call(fn, user_data)
    after.check_usable()
    describe_call(node, held.native)
    how = host_parameters(held)
    add_node(node, after, &how, [held])
    return node


cdef int update_host_node(HostCallbackNode node, object fn, object user_data) except -1:
    cdef CUgraphNodeParams how
    node.check_usable()
    held = hold_call(fn, user_data)
    node.check_usable()
    how = host_parameters(held)
    set_node(node, &how, [held])
    describe_call(node, held.native)
    return 0


cdef GraphNode inspect_host_node(CUgraphNode raw):
    cdef CUDA_HOST_NODE_PARAMS found
    cdef HostCallbackNode node = HostCallbackNode.__new__(HostCallbackNode)
    call(driver.cuGraphHostNodeGetParams, raw, &found)
    node.native = <uintptr_t>found.fn
    if found.fn is <void*>run_graph_call:
        describe_call(node, <host_call*>found.userData)
    return node

# SPDX-License-Identifier: Apache-2.0
# GraphCondition: the value that a conditional node tests.


@cython.final
cdef class GraphCondition:
    """A value that kernels set with ``cudaGraphSetConditional`` and conditional nodes test.

    `GraphDefinition.create_condition` and `GraphBuilder.create_condition` create conditions. A
    kernel receives the condition as an argument.
    """

    cdef initialized[CUgraphConditionalHandle] native
    cdef object graph      # weak reference to the _GraphState of its graph; None if unknown
    cdef graph_watch rest  # of that graph
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        raise RuntimeError("GraphCondition objects cannot be instantiated directly; use "
                           "GraphBuilder.create_condition() or GraphDefinition.create_condition()")

    @property
    def handle(self):
        """The condition as an int, the form that kernels receive. Host only."""
        return self.native.get(self)

    def __cuda_kernel_arg__(self):
        return self.native.get(self)

    def __int__(self):
        return self.native.get(self)

    def __eq__(self, other):
        if not isinstance(other, GraphCondition):
            return NotImplemented
        return self.native.value_or_null() == (<GraphCondition>other).native.value_or_null()

    def __hash__(self):
        return hash(self.native.value_or_null())

    def __repr__(self):
        return f"<GraphCondition handle=0x{self.native.value_or_null():x}>"


cdef GraphCondition wrap_condition(CUgraphConditionalHandle native):
    cdef GraphCondition condition = GraphCondition.__new__(GraphCondition)
    condition.native.set(native)
    return condition


cdef GraphCondition create_condition_in(_GraphState graph, CUgraph raw, object default_value):
    cdef CUgraphConditionalHandle handle
    cdef unsigned value = 0, flags = 0
    cdef graph_hold _hold
    if default_value is not None:
        value = int_option("default_value of a condition", default_value, 0, UINT_MAX)
        flags = 1  # CU_GRAPH_COND_ASSIGN_DEFAULT
    _hold = graph_hold(graph.lock)
    check_valid(graph)  # converting the value may run user code
    call_alone(graph.lock, driver.cuGraphConditionalHandleCreate, &handle, raw,
               raw_current_context(), value, flags)
    cdef GraphCondition condition = wrap_condition(handle)
    condition.graph = PyWeakref_NewRef(graph, None)
    condition.rest.follow(graph.lock)
    return condition


cdef CUgraphConditionalHandle usable_handle(GraphCondition condition) except? 0:
    """Return the handle, unless the graph was destroyed, which destroys its conditions."""
    handle = condition.native.get(condition)
    if condition.graph is None:
        return handle
    graph = condition.graph()  # None: only bodies of the graph may be left
    is_destroyed = condition.rest.is_gone()
    if graph is not None:
        is_destroyed = not (<_GraphState>graph).is_valid
    if is_destroyed:
        raise RuntimeError("the graph of this GraphCondition was destroyed, and the condition "
                           "with it: create the condition in the graph that tests it")
    return handle


cdef GraphCondition condition_from(object value):
    """Convert an argument to a condition; older programs pass the driver handle."""
    if isinstance(value, GraphCondition):
        return <GraphCondition>value
    if (cls := bindings_class_of(value, ("driver.CUgraphConditionalHandle",))) is not None:
        return wrap_condition(cls.__int__(value))
    raise TypeError(f"Argument 'condition' has incorrect type (expected GraphCondition, got "
                    f"{qualified_name(value)}): create it with GraphBuilder.create_condition() "
                    "or GraphDefinition.create_condition()")

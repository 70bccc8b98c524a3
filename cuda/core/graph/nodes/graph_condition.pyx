# SPDX-License-Identifier: Apache-2.0
# GraphCondition: the value that a conditional node tests.


@cython.final
cdef class GraphCondition:
    """A number that kernels of a graph set with ``cudaGraphSetConditional``, and nodes look at.

    It comes from `GraphDefinition.create_condition` or `GraphBuilder.create_condition`, and goes
    to the kernels as an argument.
    """

    cdef CUgraphConditionalHandle native
    cdef object __weakref__

    def __init__(self, *args, **kwargs):
        raise RuntimeError("GraphCondition objects cannot be instantiated directly; use "
                           "GraphBuilder.create_condition() or GraphDefinition.create_condition()")

    @property
    def handle(self):
        """The condition as an int, as kernels get it. Host only."""
        return self.native

    def __cuda_kernel_arg__(self):
        return self.native

    def __int__(self):
        return self.native

    def __eq__(self, other):
        if not isinstance(other, GraphCondition):
            return NotImplemented
        return self.native == (<GraphCondition>other).native

    def __hash__(self):
        return hash(self.native)

    def __repr__(self):
        return f"<GraphCondition handle=0x{self.native:x}>"


cdef GraphCondition wrap_condition(CUgraphConditionalHandle native):
    cdef GraphCondition made = GraphCondition.__new__(GraphCondition)
    made.native = native
    return made


cdef GraphCondition create_condition_in(CUgraph graph, object default_value):
    cdef CUgraphConditionalHandle made = 0
    cdef unsigned value = 0, flags = 0
    if default_value is not None:
        value, flags = default_value, 1  # CU_GRAPH_COND_ASSIGN_DEFAULT
    call(driver.cuGraphConditionalHandleCreate, &made, graph, raw_current_context(), value, flags)
    return wrap_condition(made)


cdef GraphCondition condition_from(object given):
    """The condition that an argument is; older programs have its bare handle."""
    if isinstance(given, GraphCondition):
        return <GraphCondition>given
    if type(given).__name__ == "CUgraphConditionalHandle":
        return wrap_condition(int(given))
    raise TypeError(f"Argument 'condition' has incorrect type (expected GraphCondition, got "
                    f"{qualified_name(given)}): it comes from GraphBuilder.create_condition() or "
                    "GraphDefinition.create_condition()")

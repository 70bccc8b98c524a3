# SPDX-License-Identifier: Apache-2.0
# Nodes whose bodies run depending on a GraphCondition.


cdef class ConditionalNode(GraphNode):
    """A node whose bodies run depending on a condition."""

    cdef GraphCondition tested_condition
    cdef tuple bodies        # the _GraphState of each body

    @property
    def condition(self):
        """The `GraphCondition`; None if an older driver does not report it. Host only."""
        return self.tested_condition

    @property
    def cond_type(self):
        """Kind: ``"if"``, ``"while"``, ``"switch"``; None if an older driver does not report it."""
        kind = KIND_OF.get(type(self))
        if kind is None:
            return None
        return import_module("cuda.core.typing").GraphConditionalType(kind)

    cdef object body_at(self, int index):
        return wrap_graph(<_GraphState>require_set(self, self.bodies)[index])

    @property
    def branches(self):
        """The `GraphDefinition` of each body, in order. Host only."""
        return tuple([wrap_graph(<_GraphState>each) for each in require_set(self, self.bodies)])

    cdef tuple owned_graphs(self):
        return self.bodies

    def _details(self):
        condition = self.tested_condition
        return f"condition=0x{0 if condition is None else int(condition):x}"

    def _label(self):
        return KIND_OF.get(type(self)) or "conditional"


@cython.final
cdef class IfNode(ConditionalNode):
    """A node whose body runs if the condition is not 0."""

    @property
    def then(self):
        """The `GraphDefinition` of the body. Host only."""
        return self.body_at(0)


@cython.final
cdef class IfElseNode(ConditionalNode):
    """A node with two bodies: the first runs if the condition is not 0, the second if it is."""

    @property
    def then(self):
        """The `GraphDefinition` of the body that runs if the condition is not 0. Host only."""
        return self.body_at(0)

    @property
    def else_(self):
        """The `GraphDefinition` of the body that runs if the condition is 0. Host only."""
        return self.body_at(1)


@cython.final
cdef class WhileNode(ConditionalNode):
    """A node whose body runs while the condition is not 0."""

    @property
    def body(self):
        """The `GraphDefinition` of the body. Host only."""
        return self.body_at(0)


@cython.final
cdef class SwitchNode(ConditionalNode):
    """A node with several bodies; the condition is the index of the body that runs."""


cdef dict KIND_OF = {IfNode: "if", IfElseNode: "if", WhileNode: "while", SwitchNode: "switch"}


cdef CUgraphNodeParams conditional_parameters(object cls, GraphCondition condition,
                                              size_t count) except *:
    cdef CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_CONDITIONAL)
    if count > <unsigned>UINT_MAX:  # the driver would create fewer bodies than the caller reads
        raise OverflowError(f"count, the number of bodies, must be at most {<unsigned>UINT_MAX}, "
                            f"got {count}")
    params.conditional.handle = usable_handle(condition)
    params.conditional.size = count
    params.conditional.ctx = raw_current_context()
    kind = KIND_OF[cls]
    if kind == "if":
        params.conditional.type = CU_GRAPH_COND_TYPE_IF
    elif kind == "while":
        params.conditional.type = CU_GRAPH_COND_TYPE_WHILE
    else:
        params.conditional.type = CU_GRAPH_COND_TYPE_SWITCH
    return params


cdef ConditionalNode add_conditional_node(_NodeFactory factory, object cls, object condition_arg,
                                          size_t count):
    cdef CUgraphNodeParams params
    cdef ConditionalNode node = cls.__new__(cls)
    cdef size_t i
    cdef graph_hold _hold
    node.tested_condition = condition_from(condition_arg)
    factory.check_usable()
    _hold = graph_hold(factory.state.lock)
    params = conditional_parameters(cls, node.tested_condition, count)
    state = add_node(node, factory, &params, None)
    node.bodies = tuple([subgraph_of(factory.state, params.conditional.phGraph_out[i])
                         for i in range(count)])
    state.creation = (cls, node.tested_condition, node.bodies)
    return node


cdef GraphNode inspect_conditional_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef CUgraphNodeParams params = params_of(CU_GRAPH_NODE_TYPE_CONDITIONAL)
    cdef ConditionalNode node
    cdef size_t i
    if isinstance(state.creation, tuple):
        cls, condition, bodies = state.creation
        node = cls.__new__(cls)
        node.tested_condition, node.bodies = condition, bodies
        return node
    if (not driver_has_node_params()
            or try_call(driver.cuGraphNodeGetParams, raw, &params) != CUDA_SUCCESS
            or params.conditional.phGraph_out is NULL):
        node = ConditionalNode.__new__(ConditionalNode)
        node.bodies = ()
        return node
    if params.conditional.type == CU_GRAPH_COND_TYPE_WHILE:
        cls = WhileNode
    elif params.conditional.type == CU_GRAPH_COND_TYPE_SWITCH:
        cls = SwitchNode
    else:
        cls = IfNode if params.conditional.size == 1 else IfElseNode
    node = cls.__new__(cls)
    node.tested_condition = wrap_condition(params.conditional.handle)
    node.bodies = tuple([subgraph_of(graph, params.conditional.phGraph_out[i])
                         for i in range(params.conditional.size)])
    return node


cdef bint driver_has_node_params() except -1:
    cdef int version
    call(driver.cuDriverGetVersion, &version)
    return version >= 13020

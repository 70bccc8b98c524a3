# SPDX-License-Identifier: Apache-2.0
# Nodes whose bodies run depending on a GraphCondition.


cdef class ConditionalNode(GraphNode):
    """A node whose bodies run as a condition says."""

    cdef GraphCondition asked
    cdef tuple bodies        # of _GraphState

    @property
    def condition(self):
        """The `GraphCondition`; None where an older driver does not tell. Host only."""
        return self.asked

    @property
    def cond_type(self):
        """``"if"``, ``"while"`` or ``"switch"``; None where an older driver does not tell."""
        kind = KIND_OF.get(type(self))
        if kind is None:
            return None
        return import_module("cuda.core.typing").GraphConditionalType(kind)

    @property
    def branches(self):
        """The `GraphDefinition` of each body, in order. Host only."""
        return tuple([wrap_graph(<_GraphState>each) for each in self.bodies])

    def _details(self):
        return f"condition=0x{0 if self.asked is None else self.asked.native:x}"

    def _label(self):
        return KIND_OF.get(type(self)) or "conditional"


@cython.final
cdef class IfNode(ConditionalNode):
    """A node whose body runs if the condition is not 0."""

    @property
    def then(self):
        """The `GraphDefinition` of the body. Host only."""
        return wrap_graph(<_GraphState>self.bodies[0])


@cython.final
cdef class IfElseNode(ConditionalNode):
    """A node with one body for a condition that is not 0, and one for 0."""

    @property
    def then(self):
        """The `GraphDefinition` of the body for a condition that is not 0. Host only."""
        return wrap_graph(<_GraphState>self.bodies[0])

    @property
    def else_(self):
        """The `GraphDefinition` of the body for 0. Host only."""
        return wrap_graph(<_GraphState>self.bodies[1])


@cython.final
cdef class WhileNode(ConditionalNode):
    """A node whose body runs while the condition is not 0."""

    @property
    def body(self):
        """The `GraphDefinition` of the body. Host only."""
        return wrap_graph(<_GraphState>self.bodies[0])


@cython.final
cdef class SwitchNode(ConditionalNode):
    """A node of whose bodies the one runs whose number the condition is."""


cdef dict KIND_OF = {IfNode: "if", IfElseNode: "if", WhileNode: "while", SwitchNode: "switch"}


cdef CUgraphNodeParams conditional_parameters(object cls, GraphCondition condition,
                                              unsigned count) except *:
    cdef CUgraphNodeParams how
    memset(&how, 0, sizeof(how))
    how.type = CU_GRAPH_NODE_TYPE_CONDITIONAL
    how.conditional.handle, how.conditional.size = condition.native, count
    how.conditional.ctx = raw_current_context()
    kind = KIND_OF[cls]
    if kind == "if":
        how.conditional.type = CU_GRAPH_COND_TYPE_IF
    elif kind == "while":
        how.conditional.type = CU_GRAPH_COND_TYPE_WHILE
    else:
        how.conditional.type = CU_GRAPH_COND_TYPE_SWITCH
    return how


cdef ConditionalNode add_conditional_node(_NodeMaker after, object cls, object given,
                                          size_t count):
    cdef CUgraphNodeParams how
    cdef ConditionalNode node = cls.__new__(cls)
    cdef size_t i
    node.asked = condition_from(given)
    after.check_usable()
    how = conditional_parameters(cls, node.asked, count)
    state = add_node(node, after, &how, None)
    node.bodies = tuple([part_of(after.state, how.conditional.phGraph_out[i])
                         for i in range(count)])
    state.made_as = (cls, node.asked, node.bodies)
    return node


cdef GraphNode inspect_conditional_node(_GraphState graph, CUgraphNode raw, _NodeState state):
    cdef CUgraphNodeParams found
    cdef ConditionalNode node
    cdef size_t i
    if isinstance(state.made_as, tuple):
        cls, condition, bodies = state.made_as
        node = cls.__new__(cls)
        node.asked, node.bodies = condition, bodies
        return node
    memset(&found, 0, sizeof(found))
    if (not driver_has_node_params()
            or try_call(driver.cuGraphNodeGetParams, raw, &found) != CUDA_SUCCESS
            or found.conditional.phGraph_out is NULL):
        node = ConditionalNode.__new__(ConditionalNode)
        node.bodies = ()
        return node
    if found.conditional.type == CU_GRAPH_COND_TYPE_WHILE:
        cls = WhileNode
    elif found.conditional.type == CU_GRAPH_COND_TYPE_SWITCH:
        cls = SwitchNode
    else:
        cls = IfNode if found.conditional.size == 1 else IfElseNode
    node = cls.__new__(cls)
    node.asked = wrap_condition(found.conditional.handle)
    node.bodies = tuple([part_of(graph, found.conditional.phGraph_out[i])
                         for i in range(found.conditional.size)])
    return node


cdef bint driver_has_node_params() except -1:
    cdef int version = 0
    call(driver.cuDriverGetVersion, &version)
    return version >= 13020

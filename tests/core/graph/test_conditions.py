# SPDX-License-Identifier: Apache-2.0
"""Conditions, and conditional nodes with their bodies."""

import gc

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, launch
from cuda.core.graph import (
    GraphCondition,
    GraphDefinition,
    IfElseNode,
    IfNode,
    SwitchNode,
    WhileNode,
)

from .conftest import ONE

# Decrements a number, and sets the condition while the number is not zero.
COUNT_DOWN = """
    .reg .u64 %rd<3>;
    .reg .u32 %r<3>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [condition];
    ld.global.u32 %r1, [%rd1];
    sub.u32 %r1, %r1, 1;
    st.global.u32 [%rd1], %r1;
    setp.ne.u32 %p1, %r1, 0;
    selp.u32 %r2, 1, 0, %p1;
    {
    .param .b64 param0;
    st.param.b64 [param0], %rd2;
    .param .b32 param1;
    st.param.b32 [param1], %r2;
    call.uni cudaGraphSetConditional, (param0, param1);
    }
"""
DECLARATION = """
.extern .func cudaGraphSetConditional (.param .b64 param0, .param .b32 param1);
"""


@pytest.fixture
def count_down(load_kernel):
    parameters = ".param .u64 out, .param .u64 condition"
    return load_kernel(parameters, COUNT_DOWN, name="count_down", module=DECLARATION)


@pytest.mark.parametrize("base", [object, int])
def test_a_condition_is_not_recognized_by_the_name_of_its_class(graph, base):
    liar = type("CUgraphConditionalHandle", (base,), {"__int__": lambda self: 5})
    with pytest.raises(TypeError, match="expected GraphCondition, got "):
        graph.if_then(liar())


def test_a_condition_of_a_destroyed_graph_is_refused(graph, device):
    builder = device.create_graph_builder().begin_building()
    unfinished = builder.create_condition()
    builder.close()
    for condition in (GraphDefinition().create_condition(), unfinished):
        assert condition.handle
        for add in (graph.if_then, graph.while_loop, lambda it: graph.switch(it, 2)):
            with pytest.raises(RuntimeError, match="^the graph of this GraphCondition was destr"):
                add(condition)
        with device.create_graph_builder().begin_building() as other:
            with pytest.raises(RuntimeError, match="^the graph of this GraphCondition was destr"):
                other.if_then(condition)
            other.end_building()


def test_a_body_alone_retains_the_conditions_of_its_graph(device):
    graph = GraphDefinition()
    condition = graph.create_condition()
    body = graph.if_then(graph.create_condition()).then
    del graph
    gc.collect()
    assert body.if_then(condition).condition == condition


def test_a_handle_of_the_driver_is_a_condition(graph):
    handle = driver.CUgraphConditionalHandle(graph.create_condition(1).handle)
    assert int(graph.if_then(handle).condition) == int(handle)


def run(source, stream):
    make = source.instantiate if isinstance(source, GraphDefinition) else source.complete
    with make() as graph:
        graph.launch(stream)
        stream.sync()


class TestDefinition:
    @pytest.mark.parametrize(("value", "runs"), [(0, 0), (1, 1)])
    def test_if(self, graph, add, numbers, stream, value, runs):
        node = graph.if_then(graph.create_condition(value))
        node.then.launch(ONE, add, numbers.buffer, 1)
        assert type(node) is IfNode and node.cond_type == "if" and len(node.branches) == 1
        run(graph, stream)
        assert numbers[0] == runs

    @pytest.mark.parametrize(("value", "sum_of"), [(0, 10), (1, 1)])
    def test_if_else(self, graph, add, numbers, stream, value, sum_of):
        node = graph.if_else(graph.create_condition(value))
        node.then.launch(ONE, add, numbers.buffer, 1)
        node.else_.launch(ONE, add, numbers.buffer, 10)
        assert type(node) is IfElseNode
        run(graph, stream)
        assert numbers[0] == sum_of

    @pytest.mark.parametrize("value", range(4))
    def test_switch(self, graph, add, numbers, stream, value):
        node = graph.switch(graph.create_condition(value), 3)
        for place, body in enumerate(node.branches):
            body.launch(ONE, add, numbers.buffer, 10**place)
        assert type(node) is SwitchNode and node.cond_type == "switch"
        run(graph, stream)
        assert numbers[0] == (10**value if value < 3 else 0)

    def test_numbers_of_bodies_beyond_the_parameter_of_the_driver(self, graph, device):
        builder = device.create_graph_builder().begin_building()
        for owner in (graph, builder):
            condition = owner.create_condition()
            for count in (2**32, 2**32 + 2):
                with pytest.raises(OverflowError, match=f"at most 4294967295, got {count}"):
                    owner.switch(condition, count)
        builder.close()
        assert graph.nodes() == set()

    def test_bodies_that_fill_the_memory_are_refused(self, graph, emulation):
        with pytest.raises(CUDAError, match=r"OUT_OF_MEMORY[\s\S]*1,048,576 bodies"):
            graph.switch(graph.create_condition(), 2**31)

    def test_while(self, graph, count_down, numbers, stream):
        condition = graph.create_condition(1)
        node = graph.while_loop(condition)
        node.body.launch(ONE, count_down, numbers.buffer, condition)
        numbers.values[0] = 7
        assert type(node) is WhileNode and node.cond_type == "while"
        run(graph, stream)
        assert numbers[0] == 0

    def test_the_condition_is_the_argument(self, graph):
        condition = graph.create_condition()
        node = graph.if_then(condition)
        assert node.condition == condition and hash(node.condition) == hash(condition)
        assert repr(condition) == f"<GraphCondition handle=0x{condition.handle:x}>"
        del node
        gc.collect()
        (node,) = graph.nodes()
        assert type(node) is IfNode and node.condition == condition

    def test_a_condition_of_another_graph_is_an_error_of_the_driver(self, graph):
        other = GraphDefinition()
        with pytest.raises((CUDAError, RuntimeError)):  # at instantiation at the latest
            graph.if_then(other.create_condition())
            graph.instantiate()

    def test_bodies_allocate_where_the_driver_allows_it(self, graph, stream):
        body = graph.if_then(graph.create_condition(1)).then
        try:
            allocated = body.allocate(64)
            allocated.memset(allocated.dptr, 7, 64).deallocate(allocated.dptr)
            run(graph, stream)
        except (CUDAError, RuntimeError) as error:
            assert "CUDA_ERROR_" in str(error)
            assert graph.empty() in graph.nodes()  # the graph can still be changed

    def test_bodies_are_destroyed_with_the_node(self, graph):
        node = graph.if_then(graph.create_condition())
        body = node.then
        inner = body.if_then(body.create_condition()).then if hasattr(body, "if_then") else body
        node.destroy()
        assert not body.is_valid and not inner.is_valid

    def test_bodies_retain_their_operands(self, graph, numbers, stream, load_kernel):
        from .conftest import ADD

        node = graph.if_then(graph.create_condition(1))
        kernel = load_kernel(".param .u64 out, .param .u32 value", ADD, name="add")
        node.then.launch(ONE, kernel, numbers.buffer, 2)
        del kernel
        gc.collect()
        run(graph, stream)
        assert numbers[0] == 2

    @pytest.mark.parametrize("wrong", [None, 3, "x"])
    def test_invalid_conditions(self, graph, wrong):
        for call in (graph.if_then, graph.if_else, graph.while_loop):
            with pytest.raises(TypeError, match=r"create_condition\(\)"):
                call(wrong)
        with pytest.raises(RuntimeError, match="cannot be instantiated directly"):
            GraphCondition()


class TestBuilder:
    @pytest.fixture
    def builder(self, device):
        with device.create_graph_builder() as builder:
            yield builder.begin_building()

    def test_if(self, builder, add, numbers, stream):
        body = builder.if_then(builder.create_condition(1))
        body.begin_building()
        launch(body, ONE, add, numbers.buffer, 1)
        body.end_building()
        launch(builder, ONE, add, numbers.buffer, 10)
        builder.end_building()
        run(builder, stream)
        assert numbers[0] == 11
        body.close()

    def test_while(self, builder, count_down, numbers, stream):
        condition = builder.create_condition(1)
        body = builder.while_loop(condition).begin_building()
        launch(body, ONE, count_down, numbers.buffer, condition)
        body.end_building()
        builder.end_building()
        numbers.values[0] = 5
        run(builder, stream)
        assert numbers[0] == 0
        body.close()

    @pytest.mark.parametrize("value", [0, 1])
    def test_if_else_and_switch(self, builder, add, numbers, stream, value):
        bodies = builder.if_else(builder.create_condition(value))
        switch = builder.switch(builder.create_condition(value), 2)
        for place, body in enumerate((*bodies, *switch)):
            body.begin_building()
            launch(body, ONE, add, numbers.buffer, 10**place)
            body.end_building()
        builder.end_building()
        run(builder, stream)
        assert numbers[0] == (10 if value == 0 else 1) + (100 if value == 0 else 1000)
        for body in (*bodies, *switch):
            body.close()

    def test_nested_bodies(self, builder, add, numbers, stream):
        outer = builder.if_then(builder.create_condition(1)).begin_building()
        inner = outer.if_then(outer.create_condition(1)).begin_building()
        launch(inner, ONE, add, numbers.buffer, 3)
        inner.end_building()
        outer.end_building()
        builder.end_building()
        run(builder, stream)
        assert numbers[0] == 3
        inner.close()
        outer.close()

    def test_a_body_can_be_built_through_its_definition(self, builder, add, numbers, stream):
        body = builder.if_then(builder.create_condition(1))
        body.graph_definition.launch(ONE, add, numbers.buffer, 4)
        builder.end_building()
        run(builder, stream)
        assert numbers[0] == 4
        body.close()

    def test_the_builder_can_be_closed_while_a_body_captures(self, builder, add, numbers):
        body = builder.if_then(builder.create_condition(1)).begin_building()
        launch(body, ONE, add, numbers.buffer, 1)
        builder.close()
        assert body.is_closed and builder.is_closed

    def test_bodies_of_a_closed_builder_are_closed(self, builder):
        body = builder.if_then(builder.create_condition(1))
        definition = body.graph_definition
        builder.close()
        assert not definition.is_valid
        with pytest.raises(RuntimeError):
            body.begin_building()

    def test_outside_a_capture(self, device):
        builder = device.create_graph_builder()
        condition = GraphDefinition().create_condition()
        with pytest.raises(RuntimeError, match="when not actively capturing"):
            builder.if_then(condition)
        builder.close()

    def test_dropped_bodies_end_their_capture(self, builder, add, numbers, stream):
        body = builder.if_then(builder.create_condition(1)).begin_building()
        launch(body, ONE, add, numbers.buffer, 1)
        del body
        gc.collect()
        builder.end_building()
        run(builder, stream)
        assert numbers[0] == 1


def test_a_condition_without_a_default_keeps_its_value(graph, add, numbers, stream, count_down):
    condition = graph.create_condition()
    first = graph.launch(ONE, count_down, numbers.buffer, condition)
    first.if_then(condition).then.launch(ONE, add, numbers.buffer, 100)
    numbers.values[0] = 2
    run(graph, stream)
    assert numbers[0] == 101

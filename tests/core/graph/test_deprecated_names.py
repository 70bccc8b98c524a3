# SPDX-License-Identifier: Apache-2.0
"""Deprecated spellings behave like the new names, and their warnings name the replacement."""

import dataclasses

import pytest
from cuda.bindings import driver
from cuda.core import EventOptions, launch
from cuda.core.graph import GraphCompleteOptions, GraphDebugPrintOptions

from tests.core.graph.conftest import ONE


def test_events_of_a_definition(graph, device):
    event = device.create_event(EventOptions())
    with pytest.warns(DeprecationWarning, match=r"record_event\(\).*record\(\)"):
        recorded = graph.record_event(event)
    with pytest.warns(DeprecationWarning, match=r"wait_event\(\).*wait\(\)"):
        waiting = recorded.wait_event(event)
    assert (recorded.event, waiting.event) == (event, event)
    assert {*recorded.succ} == {waiting}


@pytest.mark.parametrize("name", ["GraphDef", "Condition"])
def test_an_old_class_warns_once_where_it_is_imported(name):
    codes = [f"from cuda.core.graph import {name}", f"import cuda.core.graph as g; g.{name}"]
    if name == "GraphDef":
        codes += ["from cuda.core import GraphDef", "import cuda.core; cuda.core.GraphDef"]
    for code in codes:
        with pytest.warns(
            DeprecationWarning, match=rf"graph\.{name} is deprecated: use "
        ) as caught:
            exec(compile(code, "a client", "exec"), {"__name__": "client"})
        assert [each.filename for each in caught] == ["a client"]


def test_a_condition_of_a_definition(graph):
    condition = graph.create_condition(default_value=1)
    with pytest.warns(DeprecationWarning, match=r"if_cond\(\).*if_then\(\)"):
        node = graph.if_cond(condition)
    assert type(node) is type(graph.if_then(graph.create_condition()))
    assert node.condition == condition


def test_a_condition_of_a_builder(device, add, numbers):
    builder = device.create_graph_builder().begin_building()
    condition = builder.create_condition(default_value=1)
    with pytest.warns(DeprecationWarning, match=r"GraphBuilder.if_cond\(\)"):
        body = builder.if_cond(condition)
    body.begin_building()
    launch(body, ONE, add, numbers.buffer, 3)
    body.end_building()
    stream = device.create_stream()
    executable = builder.end_building().complete()
    executable.launch(stream)
    stream.sync()
    assert numbers[0] == 3
    for each in (executable, builder):
        each.close()


def test_the_bare_handle_of_a_condition(device):
    builder = device.create_graph_builder().begin_building()
    with pytest.warns(DeprecationWarning, match="create_condition"):
        handle = builder.create_conditional_handle()
    assert isinstance(handle, driver.CUgraphConditionalHandle) and int(handle)
    builder.end_building().close()


def test_a_child_of_a_builder(device, captured, numbers):
    builder = device.create_graph_builder().begin_building()
    with pytest.warns(DeprecationWarning, match=r"add_child\(\).*embed\(\)"):
        builder.add_child(captured)
    stream = device.create_stream()
    executable = builder.end_building().complete()
    executable.launch(stream)
    stream.sync()
    assert numbers[0] == 1
    for each in (executable, builder):
        each.close()


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(GraphDebugPrintOptions)])
def test_each_option_of_a_dot_file_is_a_flag_of_the_driver(name):
    flag = GraphDebugPrintOptions(**{name: True})._to_flags()
    assert flag == driver.CUgraphDebugDot_flags[f"CU_GRAPH_DEBUG_DOT_FLAGS_{name.upper()}"]
    both = GraphDebugPrintOptions(**{name: True, "verbose": True})._to_flags()
    assert both == flag | driver.CUgraphDebugDot_flags.CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE


def test_options_of_a_dot_file_select_its_content(captured, tmp_path):
    plain, full = tmp_path / "plain.dot", tmp_path / "full.dot"
    captured.debug_dot_print(plain, GraphDebugPrintOptions())
    captured.debug_dot_print(full, GraphDebugPrintOptions(kernel_node_params=True))
    assert len(full.read_text()) > len(plain.read_text())


def test_options_of_complete_are_distinguished(captured):
    executable = captured.complete(GraphCompleteOptions(auto_free_on_launch=True))
    executable.close()
    with pytest.raises(Exception, match=r"device_launch|INVALID|NOT_SUPPORTED"):
        captured.complete(GraphCompleteOptions(auto_free_on_launch=True, device_launch=True))

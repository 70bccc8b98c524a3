# SPDX-License-Identifier: Apache-2.0
"""The private modules of graphs and of memory that existing code imports from."""

import cuda.core
import pytest


def test_graph_classes_are_found_in_their_old_modules():
    import cuda.core.graph._graph_builder as builder
    import cuda.core.graph._graph_definition as definition
    import cuda.core.graph._graph_node as node
    import cuda.core.graph._subclasses as subclasses

    assert subclasses.KernelNode is cuda.core.graph.KernelNode
    assert node.GraphNode is cuda.core.graph.GraphNode
    assert builder.GraphBuilder is cuda.core.graph.GraphBuilder
    assert definition.GraphDefinition is cuda.core.graph.GraphDefinition


def test_memory_functions_are_found_in_their_old_modules():
    from cuda.core import utils
    from cuda.core._memory import _copy_enums, _copy_ops, _managed_memory_ops

    assert _copy_ops.copy_batch is utils.copy_batch
    assert _copy_enums.CopyOptions is utils.CopyOptions
    assert _managed_memory_ops.prefetch_batch is utils.prefetch_batch


def test_the_oldest_name_of_a_definition_is_found_and_warns():
    with pytest.warns(DeprecationWarning, match="GraphDefinition"):
        from cuda.core import GraphDef
    assert GraphDef is cuda.core.graph.GraphDefinition

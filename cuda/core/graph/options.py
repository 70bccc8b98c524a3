# SPDX-License-Identifier: Apache-2.0
"""Options of graphs: instantiation, DOT output and allocation nodes."""

from dataclasses import dataclass, fields
from importlib import import_module


@dataclass
class GraphCompleteOptions:
    """Options of `GraphBuilder.complete` and `GraphDefinition.instantiate`.

    Attributes
    ----------
    auto_free_on_launch : bool
        Whether a launch frees memory that the previous launch left allocated.
    upload_stream : Stream, optional
        Stream on which the executable graph is uploaded to the device during the call.
    device_launch : bool
        Whether kernels may launch the graph; excludes `auto_free_on_launch`.
    use_node_priority : bool
        Whether the priorities of the nodes replace the priority of the launch stream.
    """

    auto_free_on_launch: bool = False
    upload_stream: "Stream | None" = None  # noqa: F821
    device_launch: bool = False
    use_node_priority: bool = False


@dataclass
class GraphDebugPrintOptions:
    """Options of `debug_dot_print`: the details that it writes.

    Attributes
    ----------
    verbose : bool
        All details below.
    runtime_types : bool
        Structures of the runtime API instead of the driver API.
    kernel_node_params, memcpy_node_params, memset_node_params, host_node_params, \
event_node_params, ext_semas_signal_node_params, ext_semas_wait_node_params, \
mem_alloc_node_params, mem_free_node_params, batch_mem_op_node_params, \
conditional_node_params : bool
        Parameters of nodes of that kind.
    kernel_node_attributes : bool
        Attributes of kernel nodes.
    handles : bool
        Handles of nodes and graphs.
    extra_topo_info : bool
        Data of edges.
    """

    verbose: bool = False
    runtime_types: bool = False
    kernel_node_params: bool = False
    memcpy_node_params: bool = False
    memset_node_params: bool = False
    host_node_params: bool = False
    event_node_params: bool = False
    ext_semas_signal_node_params: bool = False
    ext_semas_wait_node_params: bool = False
    kernel_node_attributes: bool = False
    handles: bool = False
    mem_alloc_node_params: bool = False
    mem_free_node_params: bool = False
    batch_mem_op_node_params: bool = False
    extra_topo_info: bool = False
    conditional_node_params: bool = False

    def _to_flags(self):
        """Return the driver's flags. Host only."""
        flags = import_module("cuda.bindings.driver").CUgraphDebugDot_flags
        names = [each.name for each in fields(self) if getattr(self, each.name)]
        return sum(int(flags[f"CU_GRAPH_DEBUG_DOT_FLAGS_{name.upper()}"]) for name in names)


@dataclass
class GraphAllocOptions:
    """Deprecated form of the keywords of ``allocate``.

    Attributes
    ----------
    device : Device or int, optional
    memory_type : str, optional
    peer_access : list of Device or int, optional
    """

    device: "Device | int | None" = None  # noqa: F821
    memory_type: str | None = None
    peer_access: list | None = None

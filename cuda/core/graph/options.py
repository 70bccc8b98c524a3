# SPDX-License-Identifier: Apache-2.0
"""Options of graphs: how they are instantiated, and how much is written of them."""

from dataclasses import dataclass, fields
from importlib import import_module


@dataclass
class GraphCompleteOptions:
    """How a graph becomes an executable.

    Attributes
    ----------
    auto_free_on_launch : bool
        Whether a launch frees memory that the one before has left allocated.
    upload_stream : Stream, optional
        Where the executable is uploaded to the device at once.
    device_launch : bool
        Whether kernels may launch it; not together with `auto_free_on_launch`.
    use_node_priority : bool
        Whether the priorities of the nodes count instead of that of the stream.
    """

    auto_free_on_launch: bool = False
    upload_stream: "Stream | None" = None  # noqa: F821
    device_launch: bool = False
    use_node_priority: bool = False


@dataclass
class GraphDebugPrintOptions:
    """What `debug_dot_print` writes of the nodes.

    Attributes
    ----------
    verbose : bool
        All that follows.
    runtime_types : bool
        Structures of the runtime in place of those of the driver.
    kernel_node_params, memcpy_node_params, memset_node_params, host_node_params, \
event_node_params, ext_semas_signal_node_params, ext_semas_wait_node_params, \
mem_alloc_node_params, mem_free_node_params, batch_mem_op_node_params, \
conditional_node_params : bool
        The parameters of nodes of that kind.
    kernel_node_attributes : bool
        The attributes of kernel nodes.
    handles : bool
        The handles of nodes and graphs.
    extra_topo_info : bool
        The data of edges.
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
        """The flags of the driver. Host only."""
        flags = import_module("cuda.bindings.driver").CUgraphDebugDot_flags
        names = [each.name for each in fields(self) if getattr(self, each.name)]
        return sum(int(flags[f"CU_GRAPH_DEBUG_DOT_FLAGS_{name.upper()}"]) for name in names)


@dataclass
class GraphAllocOptions:
    """An older way to give the keywords of ``allocate``.

    Attributes
    ----------
    device : Device or int, optional
    memory_type : str, optional
    peer_access : list of Device or int, optional
    """

    device: "Device | int | None" = None  # noqa: F821
    memory_type: str | None = None
    peer_access: list | None = None

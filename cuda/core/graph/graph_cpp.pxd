# SPDX-License-Identifier: Apache-2.0
# Declarations of node parameters, kernel node construction and graph queries in C++.

from cuda.bindings.cydriver cimport (
    CU_GRAPH_COND_TYPE_IF,
    CU_GRAPH_COND_TYPE_SWITCH,
    CU_GRAPH_COND_TYPE_WHILE,
    CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC,
    CU_MEMORYTYPE_ARRAY,
    CU_MEMORYTYPE_DEVICE,
    CU_MEMORYTYPE_HOST,
    CU_MEMORYTYPE_UNIFIED,
    CUDA_HOST_NODE_PARAMS,
    CUDA_KERNEL_NODE_PARAMS,
    CUDA_MEM_ALLOC_NODE_PARAMS,
    CUDA_MEMCPY3D,
    CUDA_MEMSET_NODE_PARAMS,
    CUgraphConditionalHandle,
    CUgraphExecUpdateResultInfo,
    CUgraphNodeParams,
    CUgraphNodeType,
    CUmemAccessDesc,
)


cdef extern from "python/launch/kernel_node.hpp" namespace "halfwarp::python":
    cppclass packed_launch:
        packed_launch() noexcept
        int prepare(object config, object kernel, object arguments) except -1
        CUgraphNodeParams parameters() noexcept
        const config_fields& config() noexcept
        bint has_attributes() noexcept
    CUresult set_attributes(graph_lock&, CUgraphNode, const config_fields&) noexcept


cdef extern from "core/graph/graph.hpp" namespace "halfwarp::core":
    CUresult launch_executable(graph_lock&, CUgraphExec, CUstream) noexcept
    CUresult update_executable(graph_lock&, graph_lock&, CUgraphExec, CUgraph,
                               CUgraphExecUpdateResultInfo&) noexcept


cdef extern from "core/graph/neighbors.hpp" namespace "halfwarp::core" nogil:
    cppclass neighbors:
        vector[CUgraphNode] nodes
        vector[CUgraphEdgeData] edges
    neighbors neighbors_of(graph_lock&, CUgraphNode, bint successors) except +translate_exception

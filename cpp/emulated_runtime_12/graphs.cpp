// SPDX-License-Identifier: Apache-2.0
// Graphs and captures: CUDA 12 has the functions of CUDA 13, with the data of edges, by other
// names.
#include "emulated_runtime_12/later.hpp"

// The exported names.
asm(".irp name, "
    "cudaGraphAddDependencies, cudaGraphAddDependencies_v2, cudaGraphRemoveDependencies, "
    "cudaGraphRemoveDependencies_v2, cudaGraphAddNode, cudaGraphAddNode_v2, "
    "cudaGraphGetEdges, cudaGraphGetEdges_v2, cudaGraphNodeGetDependencies, "
    "cudaGraphNodeGetDependencies_v2, cudaGraphNodeGetDependentNodes, "
    "cudaGraphNodeGetDependentNodes_v2, cudaStreamGetCaptureInfo, "
    "cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v3, "
    "cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_v2, "
    "cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo_v2_ptsz, "
    "cudaStreamGetCaptureInfo_v3_ptsz, cudaStreamUpdateCaptureDependencies_ptsz, "
    "cudaStreamUpdateCaptureDependencies_v2_ptsz"
    "\n.globl \\name\n.type \\name, %function\n.set \\name, earlier_\\name\n.endr");

#pragma GCC visibility push(default)

extern "C" {

cudaError_t earlier_cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                             const cudaGraphNode_t* to, size_t count) {
  return later_cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

cudaError_t earlier_cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                const cudaGraphNode_t* to,
                                                const cudaGraphEdgeData* edges, size_t count) {
  return later_cudaGraphAddDependencies(graph, from, to, edges, count);
}

cudaError_t earlier_cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                const cudaGraphNode_t* to, size_t count) {
  return later_cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}

cudaError_t earlier_cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                   const cudaGraphNode_t* to,
                                                   const cudaGraphEdgeData* edges, size_t count) {
  return later_cudaGraphRemoveDependencies(graph, from, to, edges, count);
}

cudaError_t earlier_cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     cudaGraphNodeParams* parameters) {
  return later_cudaGraphAddNode(node, graph, dependencies, nullptr, count, parameters);
}

cudaError_t earlier_cudaGraphAddNode_v2(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies,
                                        const cudaGraphEdgeData* edges, size_t count,
                                        cudaGraphNodeParams* parameters) {
  return later_cudaGraphAddNode(node, graph, dependencies, edges, count, parameters);
}

cudaError_t earlier_cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                      size_t* count) {
  return later_cudaGraphGetEdges(graph, from, to, nullptr, count);
}

cudaError_t earlier_cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t* from,
                                         cudaGraphNode_t* to, cudaGraphEdgeData* edges,
                                         size_t* count) {
  return later_cudaGraphGetEdges(graph, from, to, edges, count);
}

cudaError_t earlier_cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                 size_t* count) {
  return later_cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}

cudaError_t earlier_cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                    cudaGraphEdgeData* edges, size_t* count) {
  return later_cudaGraphNodeGetDependencies(node, nodes, edges, count);
}

cudaError_t earlier_cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                   size_t* count) {
  return later_cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}

cudaError_t earlier_cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                      cudaGraphEdgeData* edges, size_t* count) {
  return later_cudaGraphNodeGetDependentNodes(node, nodes, edges, count);
}

cudaError_t earlier_cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                             unsigned long long* id) {
  return later_cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t earlier_cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
                                                cudaStreamCaptureStatus* status,
                                                unsigned long long* id, cudaGraph_t* graph,
                                                const cudaGraphNode_t** nodes, size_t* count) {
  return later_cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count);
}

cudaError_t earlier_cudaStreamGetCaptureInfo_v3(cudaStream_t stream,
                                                cudaStreamCaptureStatus* status,
                                                unsigned long long* id, cudaGraph_t* graph,
                                                const cudaGraphNode_t** nodes,
                                                const cudaGraphEdgeData** edges, size_t* count) {
  return later_cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, edges, count);
}

cudaError_t earlier_cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                        size_t count, unsigned flags) {
  return later_cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}

cudaError_t earlier_cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream,
                                                           cudaGraphNode_t* nodes,
                                                           const cudaGraphEdgeData* edges,
                                                           size_t count, unsigned flags) {
  return later_cudaStreamUpdateCaptureDependencies(stream, nodes, edges, count, flags);
}

cudaError_t earlier_cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream,
                                                  cudaStreamCaptureStatus* status,
                                                  unsigned long long* id) {
  return later_cudaStreamGetCaptureInfo_ptsz(stream, status, id, nullptr, nullptr, nullptr,
                                             nullptr);
}

cudaError_t earlier_cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream,
                                                     cudaStreamCaptureStatus* status,
                                                     unsigned long long* id, cudaGraph_t* graph,
                                                     const cudaGraphNode_t** nodes, size_t* count) {
  return later_cudaStreamGetCaptureInfo_ptsz(stream, status, id, graph, nodes, nullptr, count);
}

cudaError_t earlier_cudaStreamGetCaptureInfo_v3_ptsz(cudaStream_t stream,
                                                     cudaStreamCaptureStatus* status,
                                                     unsigned long long* id, cudaGraph_t* graph,
                                                     const cudaGraphNode_t** nodes,
                                                     const cudaGraphEdgeData** edges,
                                                     size_t* count) {
  return later_cudaStreamGetCaptureInfo_ptsz(stream, status, id, graph, nodes, edges, count);
}

cudaError_t earlier_cudaStreamUpdateCaptureDependencies_ptsz(cudaStream_t stream,
                                                             cudaGraphNode_t* nodes, size_t count,
                                                             unsigned flags) {
  return later_cudaStreamUpdateCaptureDependencies_ptsz(stream, nodes, nullptr, count, flags);
}

cudaError_t earlier_cudaStreamUpdateCaptureDependencies_v2_ptsz(cudaStream_t stream,
                                                                cudaGraphNode_t* nodes,
                                                                const cudaGraphEdgeData* edges,
                                                                size_t count, unsigned flags) {
  return later_cudaStreamUpdateCaptureDependencies_ptsz(stream, nodes, edges, count, flags);
}

}  // extern "C"

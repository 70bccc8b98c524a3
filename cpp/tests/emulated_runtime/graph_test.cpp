// SPDX-License-Identifier: Apache-2.0
// Graph nodes: conversion of parameters to and from the driver.
#include <utility>

#include "emulated_runtime/recording_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class graph_test : public runtime_test {
 protected:
  cudaError_t add(cudaGraphNodeParams* parameters) {
    cudaGraphNode_t node = nullptr;
    return cudaGraphAddNode(&node, nullptr, nullptr, nullptr, 0, parameters);
  }
};

void* arguments[1] = {};

cudaKernelNodeParams launch() {
  cudaKernelNodeParams result{};
  result.func = a_kernel();
  result.gridDim = {7, 8, 9};
  result.blockDim = {32, 2, 1};
  result.sharedMemBytes = 48;
  result.kernelParams = arguments;
  return result;
}

TEST_F(graph_test, a_kernel_is_passed_by_its_handle) {
  const cudaKernelNodeParams parameters = launch();
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddKernelNode(&node, nullptr, nullptr, 0, &parameters), cudaSuccess);
  EXPECT_EQ(recorded.kernel_node.kern, a_kernel());
  EXPECT_EQ(recorded.kernel_node.func, nullptr);
  EXPECT_EQ(recorded.kernel_node.gridDimZ, 9u);
  EXPECT_EQ(recorded.kernel_node.blockDimX, 32u);
  cudaKernelNodeParams params{};
  EXPECT_EQ(cudaGraphKernelNodeGetParams(node, &params), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(params.func, nullptr);
}

TEST_F(graph_test, another_handle_is_passed_as_a_function) {
  cudaKernelNodeParams parameters = launch();
  parameters.func = a_function();
  cudaGraphAddKernelNode(nullptr, nullptr, nullptr, 0, &parameters);
  EXPECT_EQ(recorded.kernel_node.func, a_function());
  EXPECT_EQ(recorded.kernel_node.kern, nullptr);
}

TEST_F(graph_test, a_node_without_a_kernel_is_refused) {
  cudaKernelNodeParams parameters = launch();
  parameters.func = nullptr;
  EXPECT_EQ(cudaGraphAddKernelNode(nullptr, nullptr, nullptr, 0, &parameters),
            cudaErrorInvalidDeviceFunction);
}

TEST_F(graph_test, a_copy_of_one_row_is_for_the_current_context) {
  void* const target = reinterpret_cast<void*>(0x1000);
  void* const source = reinterpret_cast<void*>(0x2000);
  cudaGraphNode_t node = nullptr;
  EXPECT_EQ(cudaGraphAddMemcpyNode1D(&node, nullptr, nullptr, 0, target, source, 100,
                                     cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(recorded.node_context, primary_of(0));
  EXPECT_EQ(recorded.copy.WidthInBytes, 100u);
  for (const auto& [pitch, height] : {std::pair{recorded.copy.srcPitch, recorded.copy.srcHeight},
                                      {recorded.copy.dstPitch, recorded.copy.dstHeight}}) {
    EXPECT_EQ(pitch, 100u);
    EXPECT_EQ(height, 1u);
  }
  EXPECT_EQ(recorded.copy.Height, 1u);
  EXPECT_EQ(recorded.copy.Depth, 1u);
  cudaMemcpy3DParms params{};
  EXPECT_EQ(cudaGraphMemcpyNodeGetParams(node, &params), cudaSuccess);
  EXPECT_EQ(params.kind, cudaMemcpyHostToDevice);
  EXPECT_EQ(params.srcPtr.ptr, source);
  EXPECT_EQ(params.dstPtr.ptr, target);
  EXPECT_EQ(params.extent.width, 100u);
}

TEST_F(graph_test, a_node_of_any_type_may_be_a_kernel) {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeKernel;
  parameters.kernel.func = a_kernel();
  parameters.kernel.gridDim = {7, 8, 9};
  parameters.kernel.blockDim = {32, 2, 1};
  EXPECT_EQ(add(&parameters), cudaSuccess);
  EXPECT_EQ(recorded.node.kernel.kern, a_kernel());
  EXPECT_EQ(recorded.node.kernel.ctx, primary_of(0));
  cudaGraphNodeParams params{};
  EXPECT_EQ(cudaGraphNodeGetParams(nullptr, &params), cudaSuccess);
  EXPECT_EQ(params.kernel.func, static_cast<void*>(a_kernel()));
  EXPECT_EQ(params.kernel.functionType, cudaKernelFunctionTypeKernel);
  EXPECT_EQ(params.kernel.gridDim.z, 9u);
  EXPECT_EQ(params.kernel.ctx, nullptr);
}

TEST_F(graph_test, a_fill_node_has_the_same_fields) {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeMemset;
  parameters.memset.dst = reinterpret_cast<void*>(0x1000);
  parameters.memset.value = 5;
  parameters.memset.elementSize = 4;
  parameters.memset.width = 10;
  parameters.memset.height = 1;
  EXPECT_EQ(add(&parameters), cudaSuccess);
  EXPECT_EQ(recorded.node.memset.dst, 0x1000u);
  EXPECT_EQ(recorded.node.memset.width, 10u);
  EXPECT_EQ(recorded.node.memset.ctx, primary_of(0));
  EXPECT_EQ(parameters.memset.ctx, nullptr);
}

TEST_F(graph_test, a_conditional_node_is_for_the_current_context) {
  cudaGraphNodeParams parameters{}, params{};
  parameters.type = cudaGraphNodeTypeConditional;
  EXPECT_EQ(add(&parameters), cudaSuccess);
  EXPECT_EQ(recorded.node.conditional.ctx, primary_of(0));
  EXPECT_EQ(parameters.conditional.ctx, nullptr);
  EXPECT_EQ(cudaGraphNodeGetParams(nullptr, &params), cudaSuccess);
  EXPECT_EQ(params.conditional.ctx, nullptr);
}

TEST_F(graph_test, values_of_the_driver_are_returned) {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeMemAlloc;
  parameters.alloc.bytesize = 64;
  EXPECT_EQ(add(&parameters), cudaSuccess);
  EXPECT_EQ(parameters.alloc.dptr, reinterpret_cast<void*>(0x1234));
}

TEST_F(graph_test, an_execution_context_is_refused) {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeMemset;
  parameters.memset.ctx = reinterpret_cast<cudaExecutionContext_t>(0x9);
  EXPECT_EQ(add(&parameters), cudaErrorNotSupported);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing

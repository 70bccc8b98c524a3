// SPDX-License-Identifier: Apache-2.0
// How copies of rows and slices reach the driver.
#include <tuple>

#include "emulated_runtime/noting_driver.hpp"

namespace halfwarp::emulated_runtime::testing {
namespace {

class copy_test : public runtime_test {};

void* const target = reinterpret_cast<void*>(0x1000);
void* const source = reinterpret_cast<void*>(0x2000);
const auto array = reinterpret_cast<cudaArray_t>(0x77);

struct direction {
  cudaMemcpyKind kind;
  CUmemorytype from, to;
};

constexpr direction directions[] = {
    {cudaMemcpyHostToHost, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
    {cudaMemcpyHostToDevice, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
    {cudaMemcpyDeviceToHost, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
    {cudaMemcpyDeviceToDevice, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
    {cudaMemcpyDefault, CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
};

TEST_F(copy_test, a_kind_says_what_each_end_is) {
  for (const auto& each : directions) {
    EXPECT_EQ(cudaMemcpy2D(target, 64, source, 32, 20, 3, each.kind), cudaSuccess);
    EXPECT_EQ(noted.copy.srcMemoryType, each.from);
    EXPECT_EQ(noted.copy.dstMemoryType, each.to);
  }
}

TEST_F(copy_test, rows_are_one_slice) {
  cudaMemcpy2DAsync(target, 64, source, 32, 20, 3, cudaMemcpyDefault, nullptr);
  EXPECT_EQ(noted.copy.dstDevice, reinterpret_cast<CUdeviceptr>(target));
  EXPECT_EQ(noted.copy.srcDevice, reinterpret_cast<CUdeviceptr>(source));
  EXPECT_EQ(noted.copy.dstPitch, 64u);
  EXPECT_EQ(noted.copy.srcPitch, 32u);
  EXPECT_EQ(noted.copy.WidthInBytes, 20u);
  EXPECT_EQ(noted.copy.Height, 3u);
  EXPECT_EQ(noted.copy.Depth, 1u);
}

TEST_F(copy_test, offsets_into_an_array_by_rows_are_in_bytes) {
  cudaMemcpy2DToArray(array, 12, 2, source, 32, 20, 3, cudaMemcpyHostToDevice);
  EXPECT_EQ(noted.copy.dstMemoryType, CU_MEMORYTYPE_ARRAY);
  EXPECT_EQ(noted.copy.dstArray, reinterpret_cast<CUarray>(array));
  EXPECT_EQ(noted.copy.dstXInBytes, 12u);
  EXPECT_EQ(noted.copy.dstY, 2u);
}

cudaMemcpy3DParms slices() {
  cudaMemcpy3DParms made{};
  made.srcPtr = {source, 128, 100, 10};
  made.srcPos = {4, 2, 1};
  made.dstArray = array;
  made.dstPos = {3, 5, 6};
  made.extent = {8, 4, 2};
  made.kind = cudaMemcpyHostToDevice;
  return made;
}

TEST_F(copy_test, widths_are_in_elements_where_an_array_takes_part) {
  const cudaMemcpy3DParms parameters = slices();
  noted.array = {64, 64, 64, CU_AD_FORMAT_FLOAT, 2, 0};
  EXPECT_EQ(cudaMemcpy3D(&parameters), cudaSuccess);
  EXPECT_EQ(noted.copy.WidthInBytes, 64u);
  EXPECT_EQ(noted.copy.dstXInBytes, 24u);
  EXPECT_EQ(noted.copy.srcXInBytes, 4u);  // of memory, an element is a byte
  EXPECT_EQ(noted.copy.srcHeight, 10u);
  EXPECT_EQ(noted.copy.dstZ, 6u);
}

TEST_F(copy_test, two_sources_are_refused) {
  cudaMemcpy3DParms parameters = slices();
  parameters.srcArray = array;
  EXPECT_EQ(cudaMemcpy3D(&parameters), cudaErrorInvalidValue);
}

TEST_F(copy_test, a_kind_that_does_not_exist_is_refused) {
  cudaMemcpy3DParms parameters = slices();
  parameters.kind = static_cast<cudaMemcpyKind>(9);
  EXPECT_EQ(cudaMemcpy3D(&parameters), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy2D(target, 64, source, 32, 20, 3, parameters.kind),
            cudaErrorInvalidMemcpyDirection);
}

TEST_F(copy_test, rows_that_overlap_are_refused) {
  EXPECT_EQ(cudaMemcpy2D(target, 16, source, 32, 20, 3, cudaMemcpyDefault),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(target, 16, source, 32, 20, 1, cudaMemcpyDefault), cudaSuccess);
}

TEST_F(copy_test, nothing_is_copied_without_asking_the_driver) {
  noted.answer = CUDA_ERROR_UNKNOWN;
  EXPECT_EQ(cudaMemcpy2D(target, 64, source, 32, 0, 3, cudaMemcpyDefault), cudaSuccess);
}

TEST_F(copy_test, bytes_in_a_row_go_on_in_the_next_row_of_an_array) {
  noted.array = {8, 16, 0, CU_AD_FORMAT_SIGNED_INT32, 1, 0};  // rows of 32 bytes
  EXPECT_EQ(cudaMemcpyToArray(array, 20, 3, source, 12 + 64 + 5, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(noted.copies.size(), 3u);
  const auto& [first, whole, last] = std::tie(noted.copies[0], noted.copies[1], noted.copies[2]);
  EXPECT_EQ(first.dstXInBytes, 20u);
  EXPECT_EQ(first.WidthInBytes, 12u);
  EXPECT_EQ(whole.dstY, 4u);
  EXPECT_EQ(whole.WidthInBytes, 32u);
  EXPECT_EQ(whole.Height, 2u);
  EXPECT_EQ(whole.srcHost, static_cast<char*>(source) + 12);
  EXPECT_EQ(last.dstY, 6u);
  EXPECT_EQ(last.WidthInBytes, 5u);
  EXPECT_EQ(last.srcHost, static_cast<char*>(source) + 76);
}

TEST_F(copy_test, whole_rows_of_an_array_are_one_copy) {
  noted.array = {8, 16, 0, CU_AD_FORMAT_SIGNED_INT32, 1, 0};
  EXPECT_EQ(cudaMemcpyFromArray(target, array, 0, 2, 96, cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(noted.copies.size(), 1u);
  EXPECT_EQ(noted.copy.Height, 3u);
  EXPECT_EQ(noted.copy.srcY, 2u);
  EXPECT_EQ(cudaMemcpyFromArray(target, array, 32, 2, 96, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
}

TEST_F(copy_test, peers_are_named_by_their_primary_contexts) {
  cudaMemcpy3DPeerParms parameters{};
  parameters.srcPtr = {source, 64, 64, 1};
  parameters.dstPtr = {target, 64, 64, 1};
  parameters.srcDevice = 1;
  parameters.extent = {64, 1, 1};
  EXPECT_EQ(cudaMemcpy3DPeer(&parameters), cudaSuccess);
  EXPECT_EQ(noted.peer_copy.srcContext, primary_of(1));
  EXPECT_EQ(noted.peer_copy.dstContext, primary_of(0));
  EXPECT_EQ(noted.peer_copy.WidthInBytes, 64u);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing

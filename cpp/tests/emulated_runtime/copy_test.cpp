// SPDX-License-Identifier: Apache-2.0
// The driver parameters of copies of rows and slices.
#include <algorithm>
#include <tuple>

#include "emulated_runtime/recording_driver.hpp"

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

TEST_F(copy_test, a_kind_determines_both_memory_types) {
  for (const auto& each : directions) {
    EXPECT_EQ(cudaMemcpy2D(target, 64, source, 32, 20, 3, each.kind), cudaSuccess);
    EXPECT_EQ(recorded.copy.srcMemoryType, each.from);
    EXPECT_EQ(recorded.copy.dstMemoryType, each.to);
  }
}

TEST_F(copy_test, rows_are_one_slice) {
  cudaMemcpy2DAsync(target, 64, source, 32, 20, 3, cudaMemcpyDefault, nullptr);
  EXPECT_EQ(recorded.copy.dstDevice, reinterpret_cast<CUdeviceptr>(target));
  EXPECT_EQ(recorded.copy.srcDevice, reinterpret_cast<CUdeviceptr>(source));
  EXPECT_EQ(recorded.copy.dstPitch, 64u);
  EXPECT_EQ(recorded.copy.srcPitch, 32u);
  EXPECT_EQ(recorded.copy.WidthInBytes, 20u);
  EXPECT_EQ(recorded.copy.Height, 3u);
  EXPECT_EQ(recorded.copy.Depth, 1u);
}

TEST_F(copy_test, offsets_into_an_array_by_rows_are_in_bytes) {
  cudaMemcpy2DToArray(array, 12, 2, source, 32, 20, 3, cudaMemcpyHostToDevice);
  EXPECT_EQ(recorded.copy.dstMemoryType, CU_MEMORYTYPE_ARRAY);
  EXPECT_EQ(recorded.copy.dstArray, reinterpret_cast<CUarray>(array));
  EXPECT_EQ(recorded.copy.dstXInBytes, 12u);
  EXPECT_EQ(recorded.copy.dstY, 2u);
}

cudaMemcpy3DParms slices() {
  cudaMemcpy3DParms result{};
  result.srcPtr = {source, 128, 100, 10};
  result.srcPos = {4, 2, 1};
  result.dstArray = array;
  result.dstPos = {3, 5, 6};
  result.extent = {8, 4, 2};
  result.kind = cudaMemcpyHostToDevice;
  return result;
}

TEST_F(copy_test, widths_are_in_elements_where_an_array_takes_part) {
  const cudaMemcpy3DParms parameters = slices();
  recorded.array = {64, 64, 64, CU_AD_FORMAT_FLOAT, 2, 0};
  EXPECT_EQ(cudaMemcpy3D(&parameters), cudaSuccess);
  EXPECT_EQ(recorded.copy.WidthInBytes, 64u);
  EXPECT_EQ(recorded.copy.dstXInBytes, 24u);
  EXPECT_EQ(recorded.copy.srcXInBytes, 4u);  // an element of memory is a byte
  EXPECT_EQ(recorded.copy.srcHeight, 10u);
  EXPECT_EQ(recorded.copy.dstZ, 6u);
}

TEST_F(copy_test, every_field_has_its_place) {
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = {source, 128, 100, 10};
  parameters.srcPos = {4, 2, 1};
  parameters.dstPtr = {target, 256, 200, 20};
  parameters.dstPos = {3, 5, 6};
  parameters.extent = {8, 9, 7};
  parameters.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpy3D(&parameters), cudaSuccess);
  const CUDA_MEMCPY3D& copy = recorded.copy;
  EXPECT_EQ(copy.srcHost, source);
  EXPECT_EQ(copy.dstDevice, reinterpret_cast<CUdeviceptr>(target));
  const std::size_t numbers[] = {
      copy.srcXInBytes,  copy.srcY,   copy.srcZ, copy.srcPitch, copy.srcHeight,
      copy.dstXInBytes,  copy.dstY,   copy.dstZ, copy.dstPitch, copy.dstHeight,
      copy.WidthInBytes, copy.Height, copy.Depth};
  const std::size_t expected[] = {4, 2, 1, 128, 10, 3, 5, 6, 256, 20, 8, 9, 7};
  EXPECT_TRUE(std::ranges::equal(numbers, expected));
  cudaMemcpy3DParms back{};
  EXPECT_EQ(cudaGraphMemcpyNodeGetParams(nullptr, &back), cudaSuccess);
  EXPECT_EQ(back.kind, cudaMemcpyHostToDevice);
  const std::size_t read[] = {
      back.srcPos.x,     back.srcPos.y,      back.srcPos.z,    back.srcPtr.pitch, back.srcPtr.ysize,
      back.dstPos.x,     back.dstPos.y,      back.dstPos.z,    back.dstPtr.pitch, back.dstPtr.ysize,
      back.extent.width, back.extent.height, back.extent.depth};
  EXPECT_TRUE(std::ranges::equal(read, expected));
  EXPECT_EQ(back.srcPtr.xsize, 8u);
  EXPECT_EQ(back.dstPtr.xsize, 8u);
}

TEST_F(copy_test, each_kind_is_read_back) {
  for (const auto& each : directions) {
    recorded.copy = {};
    recorded.copy.srcMemoryType = each.from;
    recorded.copy.dstMemoryType = each.to;
    cudaMemcpy3DParms back{};
    EXPECT_EQ(cudaGraphMemcpyNodeGetParams(nullptr, &back), cudaSuccess);
    EXPECT_EQ(back.kind, each.kind);
  }
}

TEST_F(copy_test, positions_in_arrays_are_read_back_in_elements) {
  recorded.array = {64, 64, 64, CU_AD_FORMAT_FLOAT, 2, 0};
  for (const bool is_source : {true, false}) {
    cudaMemcpy3DParms parameters{}, back{};
    (is_source ? parameters.srcArray : parameters.dstArray) = array;
    (is_source ? parameters.dstPtr : parameters.srcPtr) = {source, 128, 100, 10};
    parameters.srcPos = {4, 2, 1};
    parameters.dstPos = {3, 5, 6};
    parameters.extent = {8, 9, 7};
    parameters.kind = cudaMemcpyDeviceToDevice;
    EXPECT_EQ(cudaMemcpy3DAsync(&parameters, nullptr), cudaSuccess);
    EXPECT_EQ(recorded.copy.srcXInBytes, is_source ? 32u : 4u);
    EXPECT_EQ(recorded.copy.dstXInBytes, is_source ? 3u : 24u);
    EXPECT_EQ(cudaGraphMemcpyNodeGetParams(nullptr, &back), cudaSuccess);
    EXPECT_EQ(back.srcArray, parameters.srcArray);
    EXPECT_EQ(back.dstArray, parameters.dstArray);
    EXPECT_EQ(back.srcPtr.ptr, parameters.srcPtr.ptr);
    EXPECT_EQ(back.dstPtr.ptr, parameters.dstPtr.ptr);
    EXPECT_EQ(back.srcPos.x, 4u);
    EXPECT_EQ(back.dstPos.x, 3u);
    EXPECT_EQ(back.extent.width, 8u);
  }
}

TEST_F(copy_test, an_empty_slice_does_not_call_the_driver) {
  recorded.answer = CUDA_ERROR_UNKNOWN;
  cudaMemcpy3DParms parameters = slices();
  recorded.array = {64, 64, 64, CU_AD_FORMAT_FLOAT, 1, 0};
  for (const auto& empty : {cudaExtent{0, 4, 2}, {8, 0, 2}, {8, 4, 0}}) {
    parameters.extent = empty;
    EXPECT_EQ(cudaMemcpy3D(&parameters), cudaSuccess);
  }
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy3DPeer(nullptr), cudaErrorInvalidValue);
}

TEST_F(copy_test, each_end_of_overlapping_rows_is_checked) {
  constexpr auto kind = cudaMemcpyDefault;
  EXPECT_EQ(cudaMemcpy2D(target, 20, source, 20, 20, 3, kind), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(target, 20, source, 19, 20, 2, kind), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(target, 19, source, 20, 20, 2, kind), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy2D(target, 20, source, 20, 20, 0, kind), cudaSuccess);
  for (const int wrong : {-1, 5}) {
    EXPECT_EQ(cudaMemcpy2D(target, 20, source, 20, 20, 3, static_cast<cudaMemcpyKind>(wrong)),
              cudaErrorInvalidMemcpyDirection);
  }
}

TEST_F(copy_test, two_targets_are_refused) {
  cudaMemcpy3DParms parameters = slices();
  parameters.dstPtr = {target, 64, 64, 1};
  EXPECT_EQ(cudaMemcpy3D(&parameters), cudaErrorInvalidValue);
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

TEST_F(copy_test, an_empty_copy_does_not_call_the_driver) {
  recorded.answer = CUDA_ERROR_UNKNOWN;
  EXPECT_EQ(cudaMemcpy2D(target, 64, source, 32, 0, 3, cudaMemcpyDefault), cudaSuccess);
}

TEST_F(copy_test, contiguous_bytes_continue_in_the_next_row_of_an_array) {
  recorded.array = {8, 16, 0, CU_AD_FORMAT_SIGNED_INT32, 1, 0};  // rows of 32 bytes
  EXPECT_EQ(cudaMemcpyToArray(array, 20, 3, source, 12 + 64 + 5, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(recorded.copies.size(), 3u);
  const auto& [first, whole, last] =
      std::tie(recorded.copies[0], recorded.copies[1], recorded.copies[2]);
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
  recorded.array = {8, 16, 0, CU_AD_FORMAT_SIGNED_INT32, 1, 0};
  EXPECT_EQ(cudaMemcpyFromArray(target, array, 0, 2, 96, cudaMemcpyDeviceToHost), cudaSuccess);
  ASSERT_EQ(recorded.copies.size(), 1u);
  EXPECT_EQ(recorded.copy.Height, 3u);
  EXPECT_EQ(recorded.copy.srcY, 2u);
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
  EXPECT_EQ(recorded.peer_copy.srcContext, primary_of(1));
  EXPECT_EQ(recorded.peer_copy.dstContext, primary_of(0));
  EXPECT_EQ(recorded.peer_copy.WidthInBytes, 64u);
}

}  // namespace
}  // namespace halfwarp::emulated_runtime::testing

// SPDX-License-Identifier: Apache-2.0
// Tests of scale(). They do not mention the emulator.
#include "scale.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

class Scale : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, bytes()), cudaSuccess);
    numbers_ = static_cast<float*>(memory);
  }
  void TearDown() override { EXPECT_EQ(cudaFree(numbers_), cudaSuccess); }
  size_t bytes() const { return GetParam() * sizeof(float); }

  float* numbers_ = nullptr;
};

TEST_P(Scale, MultipliesEachNumber) {
  std::vector<float> values(GetParam(), 2);
  cudaMemcpy(numbers_, values.data(), bytes(), cudaMemcpyHostToDevice);
  ASSERT_EQ(scale(numbers_, static_cast<int>(values.size()), 3, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(values.data(), numbers_, bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(values, std::vector<float>(GetParam(), 6));
}

INSTANTIATE_TEST_SUITE_P(Counts, Scale, testing::Values(1, 127, 1000));

TEST(ScaleErrors, AnEmptyGridIsRefused) {
  EXPECT_EQ(scale(nullptr, 0, 1, nullptr), cudaErrorInvalidConfiguration);
}

}  // namespace

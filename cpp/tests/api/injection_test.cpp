// SPDX-License-Identifier: Apache-2.0
// Fault rules: their syntax and the calls that they match.
#include "emulator/observation/injection.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace halfwarp::emulator {
namespace {

std::uint64_t arm(injection& rules, std::string_view text) {
  std::string problem;
  const auto id = rules.arm(text, problem);
  EXPECT_EQ(problem, "") << text;
  return id;
}

TEST(patterns, stars_stand_for_anything) {
  EXPECT_TRUE(matches("cuMemAlloc", "cuMemAlloc"));
  EXPECT_FALSE(matches("cuMemAlloc", "cuMemAllocAsync"));
  EXPECT_TRUE(matches("cuMem*", "cuMemAllocAsync"));
  EXPECT_TRUE(matches("*Async", "cuMemAllocAsync"));
  EXPECT_TRUE(matches("cu*Alloc*", "cuMemAllocAsync"));
  EXPECT_TRUE(matches("*", ""));
  EXPECT_FALSE(matches("cu*Free*", "cuMemAllocAsync"));
}

TEST(codes, are_read_by_name_and_number) {
  EXPECT_EQ(parse_code("CUDA_ERROR_OUT_OF_MEMORY"), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(parse_code("801"), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(parse_code("0"), std::nullopt);
  EXPECT_EQ(parse_code("CUDA_SUCCESS"), std::nullopt);
  EXPECT_EQ(parse_code("12345"), std::nullopt);
}

TEST(rules, end_at_the_last_colon_and_times_sign) {
  std::string problem;
  const auto rules = parse_rules("launch@a::b<x=1>:2x3=700!,cuMemcpyx:4x1=1", problem);
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[0].pattern, "a::b<x=1>");
  EXPECT_EQ(rules[0].first, 2u);
  EXPECT_EQ(rules[0].times, 3u);
  EXPECT_EQ(rules[0].target, injection_target::launch);
  EXPECT_EQ(rules[1].pattern, "cuMemcpyx");
  EXPECT_EQ(rules[1].first, 4u);
  EXPECT_EQ(rules[1].times, 1u);
  EXPECT_EQ(rules[1].target, injection_target::call);
}

TEST(rules, match_the_nth_call_and_the_following_ones) {
  injection rules;
  arm(rules, "cuMemAlloc:3x2=CUDA_ERROR_OUT_OF_MEMORY");
  std::vector<bool> hit;
  for (int i = 0; i < 6; ++i) {
    EXPECT_FALSE(rules.on_call("cuMemFree", true));
    hit.push_back(rules.on_call("cuMemAlloc", true).has_value());
  }
  EXPECT_EQ(hit, (std::vector<bool>{false, false, true, true, false, false}));
}

TEST(rules, any_counts_calls_that_can_fail) {
  injection rules;
  arm(rules, "any:2=801");
  EXPECT_FALSE(rules.on_call("cuInit", true));
  EXPECT_FALSE(rules.on_call("cuGetErrorName", false));
  EXPECT_EQ(rules.on_call("cuMemAlloc", true), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(rules, for_launches_are_separate_and_may_be_sticky) {
  injection rules;
  arm(rules, "launch@saxpy:1=700!,launch@scale*:1=719");
  EXPECT_FALSE(rules.on_call("saxpy", true));
  const auto sticky = rules.on_launch("saxpy");
  ASSERT_TRUE(sticky);
  EXPECT_EQ(sticky->code, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_TRUE(sticky->is_sticky);
  const auto once = rules.on_launch("scale_all");
  ASSERT_TRUE(once);
  EXPECT_FALSE(once->is_sticky);
  EXPECT_FALSE(rules.on_launch("saxpy"));
}

TEST(rules, for_delays_name_a_stream) {
  injection rules;
  arm(rules, "delay@3=25");
  EXPECT_EQ(rules.delay_of(3), 25u);
  EXPECT_EQ(rules.delay_of(4), 0u);
}

TEST(rules, report_how_often_they_fired_when_removed) {
  injection rules;
  const auto id = arm(rules, "cuInit:2=1");
  rules.on_call("cuInit", true);
  rules.on_call("cuInit", true);
  rules.on_call("cuInit", true);
  EXPECT_TRUE(rules.is_armed());
  std::uint64_t seen = 0;
  EXPECT_EQ(rules.disarm(id, seen), 1u);
  EXPECT_EQ(seen, 3u);
  EXPECT_FALSE(rules.is_armed());
}

class malformed : public testing::TestWithParam<const char*> {};

TEST_P(malformed, is_refused_as_a_whole) {
  injection rules;
  std::string problem;
  EXPECT_EQ(rules.arm(std::string{"cuInit:1=1,"} + GetParam(), problem), 0u);
  EXPECT_NE(problem.find(GetParam()), std::string::npos);
  EXPECT_FALSE(rules.is_armed());
}

INSTANTIATE_TEST_SUITE_P(all, malformed,
                         testing::Values("cuMemAlloc", "cuMemAlloc=2", "cuMemAlloc:0=2", ":1=2",
                                         "f:1x0=2", "f:1=", "f:1=0", "delay@=5", "delay@1=x",
                                         "f:1=-1", "f:1=1!", "launch@:1=2", "launch@k:1=!", "f:x=1",
                                         "f:1x2x3=1", "f:=1", "delay@1", "f:1 =1", "=1", "any=1"));

}  // namespace
}  // namespace halfwarp::emulator

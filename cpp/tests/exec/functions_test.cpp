// SPDX-License-Identifier: Apache-2.0
// Functions of arguments of f32 in double precision, against the C library in long double.
#include "emulator/exec/lanes/functions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace halfwarp::tests {
namespace {

namespace lanes = emulator::exec::baseline;

// Compares relative errors with a few units of 2^-53, for arguments in both signs or in one.
template <class Function, class Exact>
void compare(double low, double high, bool has_signs, Exact&& exact) {
  std::mt19937 generator{1};
  std::uniform_real_distribution<double> exponent{std::log2(low), std::log2(high)};
  for (int i = 0; i < 20'000; ++i) {
    const double magnitude = static_cast<float>(std::exp2(exponent(generator)));
    const double a = has_signs && i % 2 ? -magnitude : magnitude;
    const long double expected = exact(static_cast<long double>(a));
    const long double error = std::abs(Function::of(a) - expected);
    ASSERT_LE(error, 0x1p-51L * std::abs(expected)) << a;
  }
}

TEST(functions, are_exact_to_a_few_units) {
  compare<lanes::power_of_two>(0x1p-30, 150, true, [](long double a) { return std::exp2(a); });
  compare<lanes::logarithm>(0x1p-126, 0x1p127, false, [](long double a) { return std::log2(a); });
  compare<lanes::logarithm>(0.5, 2, false, [](long double a) { return std::log2(a); });
  compare<lanes::sine>(0x1p-30, 1.5, true, [](long double a) { return std::sin(a); });
  compare<lanes::cosine>(0x1p-30, 1.5, true, [](long double a) { return std::cos(a); });
  compare<lanes::hyperbolic_tangent>(0x1p-30, 25, true, [](long double a) { return std::tanh(a); });
}

TEST(functions, of_special_numbers_are_their_limits) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  EXPECT_EQ(lanes::power_of_two::of(0), 1);
  EXPECT_EQ(static_cast<float>(lanes::power_of_two::of(infinity)), infinity);
  EXPECT_EQ(static_cast<float>(lanes::power_of_two::of(-infinity)), 0);
  EXPECT_TRUE(std::isnan(lanes::power_of_two::of(nan)));
  EXPECT_EQ(lanes::logarithm::of(0), -infinity);
  EXPECT_EQ(lanes::logarithm::of(-0.0), -infinity);
  EXPECT_EQ(lanes::logarithm::of(infinity), infinity);
  EXPECT_EQ(lanes::logarithm::of(1), 0);
  EXPECT_TRUE(std::isnan(lanes::logarithm::of(-1)));
  EXPECT_TRUE(std::isnan(lanes::logarithm::of(nan)));
  EXPECT_EQ(lanes::hyperbolic_tangent::of(infinity), 1);
  EXPECT_EQ(lanes::hyperbolic_tangent::of(-infinity), -1);
  EXPECT_TRUE(std::signbit(lanes::hyperbolic_tangent::of(-0.0)));
  EXPECT_TRUE(std::isnan(lanes::hyperbolic_tangent::of(nan)));
}

}  // namespace
}  // namespace halfwarp::tests

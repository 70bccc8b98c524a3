// SPDX-License-Identifier: Apache-2.0
// Tests the elements and weights of an axis by the formulas of the CUDA programming guide.
#include "emulator/texture/axis.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace halfwarp::emulator::texture {
namespace {

constexpr std::int64_t extent = 4;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

axis axis_with(CUaddress_mode mode, bool is_normalized, std::int64_t elements = extent,
               int number = 0) {
  binding source;
  for (CUaddress_mode& each : source.descriptor.addressMode) each = CU_TR_ADDRESS_MODE_CLAMP;
  source.descriptor.addressMode[number] = mode;
  source.descriptor.flags = is_normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0;
  return {source, number, elements};
}

TEST(texture_axis, rounds_down) {
  EXPECT_EQ(floor_of(-2.0), -2);
  EXPECT_EQ(floor_of(-1.5), -2);
  EXPECT_EQ(floor_of(-0.25), -1);
  EXPECT_EQ(floor_of(0.0), 0);
  EXPECT_EQ(floor_of(1.75), 1);
  EXPECT_EQ(floor_of(3.0), 3);
}

TEST(texture_axis, bounds_coordinates) {
  EXPECT_EQ(bounded(std::numeric_limits<double>::quiet_NaN()), 0.0);
  EXPECT_EQ(bounded(1e300), 0x1p30);
  EXPECT_EQ(bounded(-1e300), -0x1p30);
  EXPECT_EQ(bounded(-12.5), -12.5);
}

TEST(texture_axis, rounds_weights_to_nearest) {
  EXPECT_EQ(fixed_point(0.5), 128);
  EXPECT_EQ(fixed_point(1.0 / 512), 1);
  EXPECT_EQ(fixed_point(0.99 / 512), 0);
  EXPECT_EQ(fixed_point(-1.25), -320);
  EXPECT_EQ(share_of(256, 77), 77);
  EXPECT_EQ(share_of(128, 1), 1);
  EXPECT_EQ(share_of(127, 1), 0);
  EXPECT_EQ(share_of(64, 128), 32);
}

TEST(texture_axis, clamps_indices) {
  const axis of_cube{extent};
  for (const bool is_normalized : {false, true}) {
    const axis clamped = axis_with(CU_TR_ADDRESS_MODE_CLAMP, is_normalized);
    for (int index = -9; index <= 12; ++index) {
      EXPECT_EQ(clamped.element_at(index), index < 0 ? 0 : index > 3 ? 3 : index) << index;
      EXPECT_EQ(of_cube.element_at(index), clamped.element_at(index)) << index;
    }
  }
}

TEST(texture_axis, has_a_border_outside) {
  for (const bool is_normalized : {false, true}) {
    const axis bordered = axis_with(CU_TR_ADDRESS_MODE_BORDER, is_normalized);
    for (int index = -9; index <= 12; ++index)
      EXPECT_EQ(bordered.element_at(index), index < 0 || index > 3 ? outside : index) << index;
  }
}

TEST(texture_axis, repeats_normalized_indices) {
  constexpr int mirrored[] = {0, 1, 2, 3, 3, 2, 1, 0};
  const axis wrap = axis_with(CU_TR_ADDRESS_MODE_WRAP, true);
  const axis mirror = axis_with(CU_TR_ADDRESS_MODE_MIRROR, true);
  for (int index = -16; index < 16; ++index) {
    EXPECT_EQ(wrap.element_at(index), (index + 16) % 4) << index;
    EXPECT_EQ(mirror.element_at(index), mirrored[(index + 16) % 8]) << index;
  }
}

TEST(texture_axis, repeats_no_other_indices) {
  for (const CUaddress_mode mode : {CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_MIRROR}) {
    const axis along = axis_with(mode, false);
    EXPECT_EQ(along.element_at(-2), 0);
    EXPECT_EQ(along.element_at(5), 3);
  }
}

TEST(texture_axis, takes_the_address_mode_of_its_number) {
  for (int number = 0; number < 3; ++number)
    EXPECT_EQ(axis_with(CU_TR_ADDRESS_MODE_BORDER, false, extent, number).element_at(9), outside);
}

TEST(texture_axis, mixes_two_elements) {
  const axis along = axis_with(CU_TR_ADDRESS_MODE_BORDER, false);
  const auto expect = [&](double place, std::int64_t first, std::int64_t second, int weight) {
    const taps mixed = along.taps_at(place);
    EXPECT_EQ(mixed.first, first) << place;
    EXPECT_EQ(mixed.second, second) << place;
    EXPECT_EQ(mixed.weight, weight) << place;
  };
  expect(0.0, outside, 0, 128);
  expect(0.5, 0, 1, 0);
  expect(1.25, 0, 1, 192);
  expect(1.25 + 1.0 / 256, 0, 1, 193);
  expect(2.75, 2, 3, 64);
  expect(4.0, 3, outside, 128);
}

TEST(texture_axis, keeps_coordinates_in_elements) {
  for (const CUaddress_mode mode :
       {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_WRAP, CU_TR_ADDRESS_MODE_MIRROR}) {
    const axis along = axis_with(mode, false);
    EXPECT_EQ(along.place(-2.75f), -2.75);
    EXPECT_EQ(along.place(0.2f), static_cast<double>(0.2f));
    EXPECT_EQ(along.place(not_a_number), 0.0);
    EXPECT_EQ(along.place(infinity), 0x1p30);
  }
}

TEST(texture_axis, scales_normalized_coordinates) {
  for (const CUaddress_mode mode : {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER}) {
    const axis along = axis_with(mode, true);
    EXPECT_EQ(along.place(0.75f), 3.0);
    EXPECT_EQ(along.place(-1.5f), -6.0);
    EXPECT_EQ(along.place(not_a_number), 0.0);
    EXPECT_GT(along.place(infinity), 1e9);
    EXPECT_LT(along.place(-infinity), -1e9);
    EXPECT_EQ(along.element_at(along.place(infinity)), mode == CU_TR_ADDRESS_MODE_CLAMP ? 3 : -1);
  }
}

// The guide replaces x by frac(x), and by 1 - frac(x) in every second period of a mirror.
TEST(texture_axis, reduces_repeated_coordinates) {
  const axis wrap = axis_with(CU_TR_ADDRESS_MODE_WRAP, true);
  const axis mirror = axis_with(CU_TR_ADDRESS_MODE_MIRROR, true);
  for (int quarters = -16; quarters <= 16; ++quarters) {
    const double x = quarters / 4.0, fraction = x - std::floor(x);
    const bool is_odd = std::fmod(std::floor(x), 2) != 0;
    EXPECT_EQ(wrap.place(static_cast<float>(x)), 4 * fraction) << x;
    EXPECT_EQ(mirror.place(static_cast<float>(x)), 4 * (is_odd ? 1 - fraction : fraction)) << x;
  }
  for (const axis& along : {wrap, mirror}) {
    EXPECT_EQ(along.place(16777218.0f), 0.0);
    EXPECT_EQ(along.place(-3e38f), 0.0);
    EXPECT_EQ(along.place(infinity), 0.0);
    EXPECT_EQ(along.place(not_a_number), 0.0);
  }
}

// The float next to 0.2 is above it, but a device has only 23 fractional bits.
TEST(texture_axis, truncates_normalized_coordinates_to_23_bits) {
  const axis along = axis_with(CU_TR_ADDRESS_MODE_CLAMP, true, 5);
  EXPECT_EQ(along.element_at(along.place(0.2f)), 0);
  EXPECT_EQ(along.place(0.2f), 5 * std::floor(0.2 * 0x1p23) / 0x1p23);
  EXPECT_EQ(along.place(0x1p-23f), 5 * 0x1p-23);
  EXPECT_EQ(along.place(0x1.8p-23f), 5 * 0x1p-23);
  EXPECT_EQ(along.place(0x1p-24f), 0.0);
}

}  // namespace
}  // namespace halfwarp::emulator::texture

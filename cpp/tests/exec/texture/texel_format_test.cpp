// SPDX-License-Identifier: Apache-2.0
// Tests the formats of array elements, and the conversion of their components to numbers.
#include "emulator/texture/texel_format.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace halfwarp::emulator::texture {
namespace {

struct format_facts {
  CUarray_format type;
  unsigned bytes;
  bool is_floating, is_signed, is_normalizable;
  std::uint32_t of_high_bytes;  // a component whose bytes are all 0x80
};

constexpr format_facts all_facts[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 1, false, false, true, 0x80},
    {CU_AD_FORMAT_SIGNED_INT8, 1, false, true, true, 0xffffff80},
    {CU_AD_FORMAT_UNSIGNED_INT16, 2, false, false, true, 0x8080},
    {CU_AD_FORMAT_SIGNED_INT16, 2, false, true, true, 0xffff8080},
    {CU_AD_FORMAT_UNSIGNED_INT32, 4, false, false, false, 0x80808080},
    {CU_AD_FORMAT_SIGNED_INT32, 4, false, true, false, 0x80808080},
    {CU_AD_FORMAT_HALF, 2, true, false, false, 0},  // each half is tested below
    {CU_AD_FORMAT_FLOAT, 4, true, false, false, 0x80808080},
};

TEST(texel_format, has_the_properties_of_its_type) {
  for (const format_facts& facts : all_facts) {
    for (unsigned channels = 1; channels <= 4; ++channels) {
      const texel_format format{facts.type, channels};
      SCOPED_TRACE(testing::Message() << "format " << facts.type << ", channels " << channels);
      EXPECT_EQ(format.component_bytes(), facts.bytes);
      EXPECT_EQ(format.bytes(), facts.bytes * channels);
      EXPECT_EQ(format.is_floating(), facts.is_floating);
      EXPECT_EQ(format.is_signed(), facts.is_signed);
      EXPECT_EQ(format.is_normalizable(), facts.is_normalizable);
    }
  }
  EXPECT_EQ((texel_format{CU_AD_FORMAT_NV12, 1}.component_bytes()), 0u);
}

TEST(texel_format, loads_its_channels_and_leaves_the_others_zero) {
  for (const format_facts& facts : all_facts) {
    if (facts.type == CU_AD_FORMAT_HALF) continue;
    for (unsigned channels = 1; channels <= 4; ++channels) {
      SCOPED_TRACE(testing::Message() << "format " << facts.type << ", channels " << channels);
      std::byte bytes[16];
      std::memset(bytes, 0x80, sizeof bytes);
      const texel loaded = load_texel({facts.type, channels}, bytes);
      for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(loaded[i], i < channels ? facts.of_high_bytes : 0);
    }
  }
}

TEST(texel_format, loads_each_channel_from_its_place) {
  const std::uint16_t stored[] = {1, 0x203, 0x405, 0x607};
  const texel loaded =
      load_texel({CU_AD_FORMAT_UNSIGNED_INT16, 4}, reinterpret_cast<const std::byte*>(stored));
  EXPECT_EQ(loaded, (texel{1, 0x203, 0x405, 0x607}));
}

// The compiler's half-precision type is an independent conversion.
TEST(texel_format, converts_every_half) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const auto stored = static_cast<std::uint16_t>(bits);
    const texel loaded =
        load_texel({CU_AD_FORMAT_HALF, 1}, reinterpret_cast<const std::byte*>(&stored));
    const auto expected = static_cast<float>(std::bit_cast<_Float16>(stored));
    const auto actual = std::bit_cast<float>(loaded[0]);
    ASSERT_EQ(std::isnan(actual), std::isnan(expected)) << bits;
    ASSERT_EQ(std::signbit(actual), std::signbit(expected)) << bits;
    if (std::isnan(expected)) continue;
    ASSERT_EQ(actual, expected) << bits;
  }
}

TEST(texel_format, keeps_numbers_that_are_not_normalized) {
  const auto number = [](CUarray_format type, std::uint32_t component, bool is_normalized) {
    return as_number({type, 1}, component, is_normalized);
  };
  EXPECT_EQ(number(CU_AD_FORMAT_UNSIGNED_INT8, 200, false), 200.0f);
  EXPECT_EQ(number(CU_AD_FORMAT_SIGNED_INT8, 0xffffff80, false), -128.0f);
  EXPECT_EQ(number(CU_AD_FORMAT_UNSIGNED_INT32, 0x80000000, true), 2147483648.0f);
  EXPECT_EQ(number(CU_AD_FORMAT_SIGNED_INT32, 0x80000000, true), -2147483648.0f);
  EXPECT_EQ(number(CU_AD_FORMAT_FLOAT, std::bit_cast<std::uint32_t>(-2.5f), true), -2.5f);
  EXPECT_EQ(number(CU_AD_FORMAT_HALF, std::bit_cast<std::uint32_t>(1.5f), true), 1.5f);
}

TEST(texel_format, divides_normalized_integers_by_the_largest) {
  const texel_format u8{CU_AD_FORMAT_UNSIGNED_INT8, 1}, s8{CU_AD_FORMAT_SIGNED_INT8, 1};
  const texel_format u16{CU_AD_FORMAT_UNSIGNED_INT16, 1}, s16{CU_AD_FORMAT_SIGNED_INT16, 1};
  EXPECT_EQ(as_number(u8, 255, true), 1.0f);
  EXPECT_EQ(as_number(u8, 51, true), 0.2f);
  EXPECT_EQ(as_number(u16, 65535, true), 1.0f);
  EXPECT_EQ(as_number(u16, 13107, true), 0.2f);
  EXPECT_EQ(as_number(s8, 127, true), 1.0f);
  EXPECT_EQ(as_number(s8, static_cast<std::uint32_t>(-127), true), -1.0f);
  EXPECT_EQ(as_number(s8, static_cast<std::uint32_t>(-128), true), -1.0f);
  EXPECT_EQ(as_number(s16, 32767, true), 1.0f);
  EXPECT_EQ(as_number(s16, static_cast<std::uint32_t>(-32768), true), -1.0f);
  EXPECT_EQ(as_number(s16, static_cast<std::uint32_t>(-1), true), -1.0f / 32767);
}

// IEC 61966-2-1 is linear up to 0.04045, and a power of 2.4 above.
TEST(texel_format, decodes_srgb) {
  EXPECT_EQ(from_srgb(0), 0.0f);
  EXPECT_EQ(from_srgb(1), 1.0f);
  EXPECT_FLOAT_EQ(from_srgb(0.02f), 0.02f / 12.92f);
  EXPECT_EQ(from_srgb(0.04045f), 0.04045f / 12.92f);
  for (const float encoded : {0.05f, 0.25f, 0.5f, 0.75f})
    EXPECT_FLOAT_EQ(from_srgb(encoded),
                    static_cast<float>(std::pow((encoded + 0.055) / 1.055, 2.4)));
}

}  // namespace
}  // namespace halfwarp::emulator::texture

// SPDX-License-Identifier: Apache-2.0
// Surface accesses and queries of textures and surfaces, lane by lane.
#include "emulator/texture/binding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "../machine.hpp"

namespace halfwarp::tests {
namespace {

namespace texture = emulator::texture;
using words = std::vector<std::uint32_t>;
using report::fault_kind;

constexpr std::uint64_t handle = 7, texture_handle = 8;

struct extents {
  std::uint32_t width = 1, height = 1, depth = 1;
};

// A launch has 32 lanes: `x` is 4 times the lane, and `at` addresses a word of each lane.
class surfaces : public testing::Test {
 protected:
  surfaces() { m.options.textures = &table; }

  // Binds new memory of elements of 4 bytes as a surface, and as a texture with `levels` levels.
  void bind(extents of, int dimensions, bool is_layered = false, unsigned channels = 1,
            std::size_t levels = 1) {
    const std::uint32_t bytes = 4 * channels, count = of.width * of.height * of.depth * channels;
    words content(count);
    std::iota(content.begin(), content.end(), 100u);
    base = m.upload(content);
    auto surface = std::make_shared<texture::binding>();
    surface->is_surface = true;
    surface->image.format = {CU_AD_FORMAT_UNSIGNED_INT32, channels};
    surface->image.dimensions = dimensions;
    surface->image.is_layered = is_layered;
    surface->image.base = base;
    surface->image.bytes = std::uint64_t{4} * count;
    const std::uint64_t row = std::uint64_t{bytes} * of.width;
    surface->image.levels.assign(levels, {0, of.width, of.height, of.depth, row, row * of.height});
    table.insert(handle, surface);
    auto sampled = std::make_shared<texture::binding>(*surface);
    sampled->is_surface = false;
    table.insert(texture_handle, sampled);
  }

  exec::outcome launch(const std::string& body, const words& input = words(64)) {
    m.load(
        ".visible .entry k(.param .u64 io) { .reg .b64 s, t, at, V; .reg .pred p;\n"
        ".reg .b32 lane, x, y, z, v, r, q, d; .reg .b16 h, g; mov.u64 s, 7; mov.u64 t, 8;\n"
        "ld.param.u64 at, [io]; mov.u32 lane, %laneid; shl.b32 x, lane, 2; cvt.u64.u32 V, x;\n"
        "add.u64 at, at, V; ld.global.u32 v, [at]; mov.u32 r, 0;\n" +
        body + "\nst.global.u32 [at], r; ret; }");
    io = m.upload(input);
    return m.run("k", {1}, {32}, io);
  }
  words results(const std::string& body, const words& input = words(64)) {
    const auto result = launch(body, input);
    EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
    return m.download<std::uint32_t>(io, 32);
  }
  words content(std::size_t count) { return m.download<std::uint32_t>(base, count); }

  texture::binding_table table;
  machine m;
  memory::address base = 0, io = 0;
};

// All lanes combine their value with one element.
TEST_F(surfaces, reductions_combine_the_values_of_all_lanes) {
  const auto reduced = [&](const std::string& operation, const words& values) {
    bind({4}, 1);
    words input = values;
    input.resize(64, values.back());
    results("mov.u32 x, 4; sured.b." + operation + ".trap [s, {x}], v;", input);
    EXPECT_EQ(content(1)[0], 100u) << "the element before it";
    EXPECT_EQ(content(3)[2], 102u) << "the element after it";
    return content(2)[1];
  };
  EXPECT_EQ(reduced("add.1d.u32", {5}), 101 + 32 * 5u);
  EXPECT_EQ(reduced("add.1d.s32", {~0u}), 101 - 32u);
  EXPECT_EQ(reduced("min.1d.u32", {7, 3, 90}), 3u);
  EXPECT_EQ(reduced("min.1d.u32", {~0u}), 101u);
  EXPECT_EQ(reduced("min.1d.s32", {7, ~0u, 90}), ~0u);
  EXPECT_EQ(reduced("max.1d.u32", {7, ~0u, 90}), ~0u);
  EXPECT_EQ(reduced("max.1d.s32", {7, ~0u, 190}), 190u);
  EXPECT_EQ(reduced("and.1d.b32", {~1u, ~4u}), 101u & ~5u);
  EXPECT_EQ(reduced("or.1d.b32", {16, 2}), 101u | 18u);
}

TEST_F(surfaces, reductions_of_64_bits_use_both_words) {
  const auto reduced = [&](const std::string& operation, std::uint64_t before) {
    bind({4}, 1);
    std::memcpy(m.view<char>(base), &before, 8);
    results("mov.b64 V, {v, v}; mov.u32 x, 0; sured.b." + operation + ".trap [s, {x}], V;",
            words(64, 0x8000'0000));
    return m.download<std::uint64_t>(base, 1)[0];
  };
  constexpr std::uint64_t value = 0x8000'0000'8000'0000;
  EXPECT_EQ(reduced("add.1d.u64", 1), 32 * value + 1);
  EXPECT_EQ(reduced("min.1d.s64", 5), value);
  EXPECT_EQ(reduced("min.1d.u64", 5), 5u);
  EXPECT_EQ(reduced("max.1d.s64", 5), 5u);
  EXPECT_EQ(reduced("max.1d.u64", 5), value);
}

TEST_F(surfaces, coordinates_outside_are_clamped) {
  bind({4, 2, 3}, 3);
  const auto clamped = [&](const std::string& at) {
    return results(at + " suld.b.3d.b32.clamp r, [s, {x, y, z, z}];")[0];
  };
  EXPECT_EQ(clamped("mov.u32 x, 4; mov.u32 y, 1; mov.u32 z, 1;"), 100 + 8 + 4 + 1u);
  EXPECT_EQ(clamped("mov.u32 x, -9; mov.u32 y, -1; mov.u32 z, -1;"), 100u);
  EXPECT_EQ(clamped("mov.u32 x, 16; mov.u32 y, 0; mov.u32 z, 0;"), 103u);
  EXPECT_EQ(clamped("mov.u32 x, 0; mov.u32 y, 2; mov.u32 z, 0;"), 104u);
  EXPECT_EQ(clamped("mov.u32 x, 0; mov.u32 y, 0; mov.u32 z, 3;"), 116u);
}

TEST_F(surfaces, loads_outside_return_zero_and_stores_have_no_effect) {
  bind({8}, 1);
  const words loaded = results("mov.u32 r, 5; suld.b.1d.b32.zero r, [s, {x}];");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(loaded[i], i < 8 ? 100 + i : 0) << i;
  results("sust.b.1d.b32.zero [s, {x}], lane;");
  words expected(8);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(content(8), expected);
  const auto fault = launch("sust.b.1d.b32.trap [s, {x}], lane;").fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::out_of_bounds);
  EXPECT_EQ(fault->thread[0], 8u);
  EXPECT_NE(fault->detail.find("an access of 4 bytes outside of the surface"), std::string::npos);
}

TEST_F(surfaces, the_last_layer_takes_the_numbers_above) {
  bind({2, 1, 3}, 1, true);
  const words loaded = results("mov.u32 x, 4; suld.b.a1d.b32.trap r, [s, {lane, x}];");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(loaded[i], 101 + 2 * std::min(i, 2u)) << i;
  bind({2, 2, 3}, 2, true);
  const words planes =
      results("mov.u32 x, 0; mov.u32 y, 1; suld.b.a2d.b32.trap r, [s, {lane, x, y, y}];");
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(planes[i], 102 + 4 * std::min(i, 2u)) << i;
}

TEST_F(surfaces, vectors_have_each_of_their_elements) {
  bind({16}, 1, false, 4);
  const words second = results(
      "and.b32 x, x, 12; shl.b32 x, x, 2; suld.b.1d.v4.b32.trap "
      "{y, z, v, d}, [s, {x}]; mul.lo.u32 r, z, 1000; add.u32 r, r, d;");
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t first = 100 + 4 * (i % 4);
    EXPECT_EQ(second[i], (first + 1) * 1000 + first + 3) << i;
  }
  results(
      "setp.ne.u32 p, lane, 3; @p bra out; mov.u32 x, 16; mov.u32 y, 1; mov.u32 z, 2;\n"
      "sust.b.1d.v2.b32.trap [s, {x}], {y, z}; out:");
  EXPECT_EQ(content(8), (words{100, 101, 102, 103, 1, 2, 106, 107}));
}

TEST_F(surfaces, narrow_elements_are_extended_with_zeros) {
  bind({8}, 1);
  m.view<std::uint8_t>(base)[5] = 0xfe;
  results("mov.u32 x, 5; suld.b.1d.b8.trap h, [s, {x}]; cvt.u32.u16 r, h;");
  EXPECT_EQ(m.download<std::uint32_t>(io, 1)[0], 0xfeu);
  results("mov.u32 x, 6; mov.b16 h, 0x1234; sust.b.1d.b8.trap [s, {x}], h;");
  EXPECT_EQ(content(2)[1], 0x0034'fe65u);
}

TEST_F(surfaces, queries_return_what_the_image_has) {
  const auto answer = [&](const std::string& query) { return results(query)[31]; };
  bind({6, 5, 4}, 3, false, 2, 3);
  EXPECT_EQ(answer("suq.width.b32 r, [s];"), 6u);
  EXPECT_EQ(answer("suq.height.b32 r, [s];"), 5u);
  EXPECT_EQ(answer("suq.depth.b32 r, [s];"), 4u);
  EXPECT_EQ(answer("suq.array_size.b32 r, [s];"), 0u);
  EXPECT_EQ(answer("suq.channel_data_type.b32 r, [s];"), unsigned{CU_AD_FORMAT_UNSIGNED_INT32});
  EXPECT_EQ(answer("suq.channel_order.b32 r, [s];"), 0x10B2u);
  EXPECT_EQ(answer("txq.num_mipmap_levels.b32 r, [t];"), 3u);
  EXPECT_EQ(answer("txq.normalized_coords.b32 r, [t];"), 1u) << "as for all with several levels";
  EXPECT_EQ(answer("mov.u32 d, 2; txq.level.width.b32 r, [t], d;"), 6u);
  EXPECT_EQ(answer("mov.u32 d, 3; txq.level.width.b32 r, [t], d;"), 0u);
  bind({6, 1, 4}, 1, true);
  EXPECT_EQ(answer("txq.height.b32 r, [t];"), 0u);
  EXPECT_EQ(answer("txq.depth.b32 r, [t];"), 0u);
  EXPECT_EQ(answer("txq.array_size.b32 r, [t];"), 4u);
  EXPECT_EQ(answer("txq.channel_order.b32 r, [t];"), 0x10B0u);
  EXPECT_EQ(answer("txq.normalized_coords.b32 r, [t];"), 0u);
  bind({6}, 1, false, 4);
  EXPECT_EQ(answer("txq.channel_order.b32 r, [t];"), 0x10B5u);
}

TEST_F(surfaces, a_handle_of_the_other_kind_is_refused) {
  bind({32}, 1);
  EXPECT_EQ(results("suld.b.1d.b32.trap r, [s, {x}];")[9], 109u);
  for (const char* const body : {"suld.b.1d.b32.trap r, [t, {x}];", "txq.width.b32 r, [s];",
                                 "mov.u64 s, 9; suq.width.b32 r, [s];"}) {
    const auto fault = launch(body).fault;
    ASSERT_TRUE(fault) << body;
    EXPECT_EQ(fault->kind, fault_kind::unmapped) << body;
    EXPECT_NE(fault->detail.find("is the handle of no"), std::string::npos) << body;
  }
}

TEST_F(surfaces, memory_that_was_freed_is_named) {
  bind({32}, 1);
  m.space.release(base);
  const auto fault = launch("suld.b.1d.b32.trap r, [s, {x}];").fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::use_after_free);
  EXPECT_EQ(fault->detail, "the memory of the surface object was freed");
}

}  // namespace
}  // namespace halfwarp::tests

// SPDX-License-Identifier: Apache-2.0
// Shared memory of other blocks of a cluster, and the barrier between them.
#include <gtest/gtest.h>

#include "../machine.hpp"

namespace halfwarp::tests {
namespace {

constexpr std::uint32_t threads = 64, blocks = 4;

// Each thread writes a byte of its block, and reads one of the next block behind the barrier.
TEST(cluster, reads_each_byte_of_another_block) {
  machine m;
  m.cluster = {blocks};
  m.load(
      ".shared .b8 s[64];\n"
      ".visible .entry k(.param .u64 out) { .reg .b64 o, a; .reg .b32 t, r, n, v, w;\n"
      "ld.param.u64 o, [out]; mov.u32 t, %tid.x; mov.u32 r, %cluster_ctarank;\n"
      "mad.lo.u32 v, r, 64, t; xor.b32 v, v, 0x55; mov.u32 w, s; add.u32 w, w, t;\n"
      "st.shared.u8 [w], v; barrier.cluster.arrive; barrier.cluster.wait;\n"
      "add.u32 n, r, 1; and.b32 n, n, 3; mapa.shared::cluster.u32 w, w, n;\n"
      "ld.shared::cluster.u8 v, [w]; mad.lo.u32 r, r, 64, t; cvt.u64.u32 a, r;\n"
      "add.u64 o, o, a; st.global.u8 [o], v; barrier.cluster.arrive; barrier.cluster.wait; ret; }");
  const memory::address out = m.allocate(threads * blocks);
  const auto result = m.run("k", {blocks}, {threads}, out);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  const auto bytes = m.download<std::uint8_t>(out, threads * blocks);
  for (std::uint32_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(bytes[i], ((i + threads) % bytes.size()) ^ 0x55u) << i;
  }
}

// The last byte of another block is accessible, and the byte behind it is not.
TEST(cluster, ends_the_memory_of_each_block) {
  machine m;
  m.cluster = {blocks};
  m.load(
      ".shared .b8 s[64];\n"
      ".visible .entry k(.param .u32 at) { .reg .b32 t, v, w; ld.param.u32 t, [at];\n"
      "mov.u32 w, s; add.u32 w, w, t; mapa.shared::cluster.u32 w, w, 3;\n"
      "ld.shared::cluster.u8 v, [w]; ret; }");
  EXPECT_FALSE(m.run("k", {blocks}, {1}, 63u).fault);
  const auto result = m.run("k", {blocks}, {1}, 64u);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, report::fault_kind::out_of_bounds);
}

// All lanes arrive together, and each part of the warp waits for itself.
TEST(cluster, passes_the_parts_of_a_warp_that_wait_apart) {
  for (std::uint32_t first = 1; first < 32; ++first) {
    machine m;
    m.cluster = {2};
    m.load(
        ".visible .entry k(.param .u64 out, .param .u32 first) { .reg .b64 o; .reg .pred p;\n"
        ".reg .b32 t, v, f, r; ld.param.u64 o, [out]; ld.param.u32 f, [first];\n"
        "mov.u32 t, %tid.x; mov.u32 r, %cluster_ctarank; mad.lo.u32 v, r, 32, t;\n"
        "mad.wide.u32 o, v, 4, o; setp.lt.u32 p, t, f;\n"
        "barrier.cluster.arrive; @p bra low;\n"
        "barrier.cluster.wait; atom.global.add.u32 v, [o], 1; bra end;\n"
        "low: barrier.cluster.wait; atom.global.add.u32 v, [o], 16;\n"
        "end: barrier.cluster.arrive; barrier.cluster.wait; atom.global.add.u32 v, [o], 256;\n"
        "ret; }");
    const memory::address out = m.upload(std::vector<std::uint32_t>(64));
    const auto result = m.run("k", {2}, {32}, out, first);
    ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
    const auto sums = m.download<std::uint32_t>(out, 64);
    for (std::uint32_t i = 0; i < 64; ++i) {
      EXPECT_EQ(sums[i], i % 32 < first ? 272u : 257u) << first << " " << i;
    }
  }
}

}  // namespace
}  // namespace halfwarp::tests

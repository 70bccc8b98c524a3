// SPDX-License-Identifier: Apache-2.0
// The recorded ranges of global memory against the addresses of the lanes.
#include <algorithm>
#include <map>
#include <random>

#include "checked.hpp"

namespace halfwarp::tests {
namespace {

using exec::range_use;
using range = std::array<std::uint64_t, 3>;  // first, bytes, use

class recorded : public testing::Test {
 protected:
  recorded() { m.options.records_accesses = true; }

  // Runs an instruction at [a] for the lanes of a mask; each has an offset.
  std::vector<range> run(const std::string& instruction, const std::vector<std::uint64_t>& offsets,
                         std::uint32_t mask = ~0u) {
    m.load(
        head +
        ".visible .entry k(.param .u64 io, .param .u64 from, .param .u32 mask) {\n"
        ".shared .align 16 .b8 s[256]; .reg .b64 a, o, v, w; .reg .b32 t, n, at; .reg .pred p;"
        "ld.param.u64 a, [io]; ld.param.u64 o, [from]; ld.param.u32 n, [mask];\n"
        "mov.u32 t, %laneid; shr.u32 n, n, t; and.b32 n, n, 1; setp.ne.u32 p, n, 0; mov.u32 at, s;"
        "mul.wide.u32 v, t, 8; add.u64 o, o, v; ld.param.u64 v, [from]; ld.global.u64 o, [o];"
        "add.u64 a, a, o; mov.u64 v, 0; @!p bra E;\n" +
        instruction + "\nE: ret; }");
    const memory::address from = m.upload(offsets);
    const auto result = m.run("k", {1}, {32}, io, from, mask);
    EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
    std::vector<range> all;
    for (const exec::accessed_range& each : result.accesses) {
      const bool is_table = each.first - from < 256;
      if (!is_table) all.push_back({each.first - io, each.bytes, std::uint64_t(each.use)});
    }
    return all;
  }
  static std::vector<range> expected(const std::vector<std::uint64_t>& offsets, std::uint32_t mask,
                                     std::uint64_t bytes, range_use use) {
    std::map<std::uint64_t, bool> accessed;
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if (!(mask >> lane & 1)) continue;
      for (std::uint64_t n = 0; n < bytes; ++n) accessed[offsets[lane] + n] = true;
    }
    std::vector<range> all;
    for (const auto& [at, unused] : accessed) {
      if (!all.empty() && all.back()[0] + all.back()[1] == at) {
        ++all.back()[1];
      } else {
        all.push_back({at, 1, std::uint64_t(use)});
      }
    }
    return all;
  }

  machine m;
  memory::address io = m.allocate(1 << 15);
};

struct form {
  const char* instruction;
  std::uint64_t bytes;
  range_use use;
};

TEST_F(recorded, ranges_are_those_of_the_lanes) {
  std::mt19937 random(3);
  std::vector<std::vector<std::uint64_t>> patterns(6, std::vector<std::uint64_t>(32));
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    patterns[0][lane] = 16 * lane;              // neighbors
    patterns[1][lane] = 4096 - 64 + 16 * lane;  // over the end of a page
    patterns[2][lane] = 64;
    patterns[3][lane] = 48 * (31 - lane);
    patterns[4][lane] = random() % 64 * 16;
    patterns[5][lane] = random() % 1024 * 16;
  }
  for (const form f : {form{"ld.global.u32 n, [a];", 4, range_use::read},
                       form{"ld.global.u8 n, [a];", 1, range_use::read},
                       form{"ld.global.v2.u64 {v, w}, [a];", 16, range_use::read},
                       form{"st.global.u64 [a], v;", 8, range_use::write},
                       form{"st.u32 [a], n;", 4, range_use::write},
                       form{"st.global.v4.u32 [a], {n, n, n, n};", 16, range_use::write},
                       form{"atom.global.add.u32 n, [a], 1;", 4, range_use::update},
                       form{"red.global.add.u64 [a], 1;", 8, range_use::update},
                       form{"st.relaxed.gpu.global.u32 [a], n;", 4, range_use::update},
                       form{"cp.async.ca.shared.global [at], [a], 8;", 8, range_use::read}}) {
    for (const auto& offsets : patterns) {
      for (const std::uint32_t mask : {~0u, 1u, 0x0f0f'0000u, 0xffff'0000u, 0x8000'0001u}) {
        EXPECT_EQ(run(f.instruction, offsets, mask), expected(offsets, mask, f.bytes, f.use))
            << f.instruction << " " << offsets[1] << " " << mask;
      }
    }
  }
}

TEST_F(recorded, neighboring_lanes_have_one_range) {
  std::vector<std::uint64_t> offsets(32);
  for (std::uint64_t lane = 0; lane < 32; ++lane) offsets[lane] = 4 * lane;
  EXPECT_EQ(run("ld.global.u32 n, [a];", offsets), (std::vector<range>{{0, 128, 0}}));
  EXPECT_EQ(run("ld.global.u32 n, [a+60];", offsets), (std::vector<range>{{60, 128, 0}}));
  for (auto& each : offsets) each += 4096 - 60;
  EXPECT_EQ(run("ld.global.u32 n, [a];", offsets), (std::vector<range>{{4036, 128, 0}}));
}

TEST_F(recorded, uses_are_apart) {
  const std::vector<std::uint64_t> offsets(32, 8);
  EXPECT_EQ(run("ld.global.u32 n, [a]; st.global.u32 [a+4], n; red.global.add.u32 [a], 1;"
                "st.global.u32 [a], 1;",
                offsets),
            (std::vector<range>{{8, 4, 0}, {8, 8, 1}, {8, 4, 2}}));
}

// A strong load expects the writes of others.
TEST_F(recorded, strong_loads_and_other_memory_are_left_out) {
  const std::vector<std::uint64_t> offsets(32, 8);
  EXPECT_EQ(run("ld.relaxed.gpu.global.u32 n, [a]; st.shared.u32 [at], n; cvt.u64.u32 v, at;"
                "cvta.shared.u64 v, v; st.u32 [v], n; atom.add.u32 n, [v], 1;",
                offsets),
            std::vector<range>{});
}

TEST_F(recorded, too_many_ranges_are_none) {
  m.load(head +
         ".visible .entry k(.param .u64 io, .param .u32 count) { .reg .b64 a, v; .reg .b32 t, n; "
         ".reg .pred p; ld.param.u64 a, [io]; ld.param.u32 n, [count]; mov.u32 t, 0;"
         "A: st.global.u8 [a], 1; add.u64 a, a, 2; add.u32 t, t, 1; setp.lt.u32 p, t, n;"
         "@p bra A; ret; }");
  const memory::address wide = m.allocate(1 << 18);
  EXPECT_EQ(m.run("k", {1}, {1}, wide, 1u << 16).accesses.size(), 1u << 16);
  EXPECT_EQ(m.run("k", {1}, {1}, wide, (1u << 16) + 1).accesses.size(), 0u);
}

}  // namespace
}  // namespace halfwarp::tests

// SPDX-License-Identifier: Apache-2.0
// The counters of accesses against their definitions in docs/guide/profile.rst.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "machine.hpp"

namespace halfwarp::tests {
namespace {

using enum exec::access_counter;
using counters = std::map<std::string_view, std::uint64_t>;
using lane_addresses = std::map<std::uint32_t, std::uint64_t>;  // by lane

// Returns the counters that are not 0.
counters counters_of(const exec::access_counts& counts) {
  counters result;
  for (std::size_t n = 0; n < counts.values.size(); ++n) {
    if (counts.values[n]) result[exec::access_counter_names[n]] = counts.values[n];
  }
  return result;
}

std::uint64_t different(const lane_addresses& lanes, std::uint64_t unit) {
  std::set<std::uint64_t> units;
  for (const auto& [lane, at] : lanes) units.insert(at / unit);
  return units.size();
}

counters global_counters(const lane_addresses& lanes, std::uint64_t bytes) {
  return {{"global_requests", 1},
          {"global_bytes", bytes * lanes.size()},
          {"global_sectors", different(lanes, 32)},
          {"global_lines", different(lanes, 128)}};
}

// Each turn of an atomic operation updates every address once.
counters atomic_counters(const lane_addresses& lanes) {
  std::map<std::uint64_t, std::uint64_t> turns;  // by address
  for (const auto& [lane, at] : lanes) ++turns[at];
  std::map<std::uint64_t, std::uint64_t> sectors;
  std::uint64_t most = 0, sum = 0;
  for (const auto& [at, count] : turns) {
    sectors[at / 32] = std::max(sectors[at / 32], count);
    most = std::max(most, count);
  }
  for (const auto& [sector, count] : sectors) sum += count;
  counters result{{"atomic_addresses", turns.size()}};
  if (most > 1) result["atomic_repeats"] = most - 1;
  result["sectors"] = sum;
  return result;
}

// A wavefront has one word of each bank. 8 bytes of 16 lanes, or 16 bytes of 8, are one access.
counters shared_counters(const lane_addresses& lanes, std::uint64_t bytes, bool is_atomic = false) {
  const std::uint64_t words = std::max<std::uint64_t>(1, bytes / 4);
  std::uint64_t wavefronts = 0, conflicts = 0;
  for (std::uint32_t first = 0; first < 32; first += static_cast<std::uint32_t>(32 / words)) {
    std::map<std::uint64_t, std::multiset<std::uint64_t>> banks;
    for (const auto& [lane, at] : lanes) {
      if (lane < first || lane >= first + 32 / words) continue;
      for (std::uint64_t word = at / 4; word < at / 4 + words; ++word) {
        auto& bank = banks[word % 32];
        if (is_atomic || !bank.count(word)) bank.insert(word);
      }
    }
    std::uint64_t most = 0;
    for (const auto& [number, bank] : banks) most = std::max<std::uint64_t>(most, bank.size());
    wavefronts += most;
    if (most) conflicts += most - 1;
  }
  counters result{{"shared_requests", 1},
                  {"shared_bytes", bytes * lanes.size()},
                  {"shared_wavefronts", wavefronts}};
  if (conflicts) result["shared_conflicts"] = conflicts;
  return result;
}

// A word of local memory lies beside the same word of the other lanes.
counters local_counters(const lane_addresses& lanes, std::uint64_t bytes) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> sectors;
  for (const auto& [lane, at] : lanes) {
    for (std::uint64_t word = at / 4; word < at / 4 + std::max<std::uint64_t>(1, bytes / 4);
         ++word) {
      sectors.insert({word, lane * 4 / 32});
    }
  }
  return {{"local_requests", 1},
          {"local_bytes", bytes * lanes.size()},
          {"local_sectors", sectors.size()}};
}

struct pattern {
  std::string name;
  std::array<std::uint64_t, 32> offsets;
};

std::vector<pattern> patterns(std::uint64_t bytes) {
  std::vector<pattern> all;
  const auto add = [&](const std::string& name, auto&& offset) {
    pattern each{name, {}};
    for (std::uint64_t lane = 0; lane < 32; ++lane) each.offsets[lane] = offset(lane) * bytes;
    all.push_back(each);
  };
  std::mt19937 random(7);
  add("same", [](std::uint64_t) { return 3; });
  add("neighbors", [](std::uint64_t lane) { return lane; });
  add("neighbors from an odd place", [](std::uint64_t lane) { return lane + 3; });
  add("pairs", [](std::uint64_t lane) { return lane / 2; });
  add("stride of 2", [](std::uint64_t lane) { return 2 * lane; });
  add("stride of 32", [](std::uint64_t lane) { return 32 * lane; });
  add("backward", [](std::uint64_t lane) { return 31 - lane; });
  add("two rows", [](std::uint64_t lane) { return lane % 2 * 32 + lane / 2; });
  for (const unsigned most : {4, 40, 300, 1000}) {
    add("random below " + std::to_string(most), [&](std::uint64_t) { return random() % most; });
  }
  return all;
}

const std::vector<std::uint32_t> masks{~0u, 1, 0x8000'0000, 0x5555'5555, 0x0000'ffff, 0x00f0'0f00};

struct form {
  const char* instruction;
  std::uint64_t bytes;
};

class profiled : public testing::Test {
 protected:
  static constexpr std::uint64_t size = 1 << 16;

  profiled() { m.options.profile = exec::profile_detail::accesses; }

  // Loads a kernel whose lanes execute an instruction at base + offset, both from parameters.
  void load(const std::string& instruction, const std::string& base) {
    m.load(
        ".version 8.8\n.target sm_100\n.address_size 64\n"
        ".visible .entry k(.param .u64 io, .param .u64 offsets, .param .u32 mask) {\n"
        ".shared .align 1024 .b8 s[65536]; .local .align 16 .b8 l[65536];\n"
        ".reg .b64 g, a, o, v, w; .reg .b32 t, n, n1, n2, n3, n4, n5, n6, n7, at; .reg .pred p;"
        ".reg .b16 h; .reg .b8 c;\n"
        "ld.param.u64 g, [io]; ld.param.u64 o, [offsets]; ld.param.u32 n, [mask];\n"
        "mov.u32 t, %laneid; shr.u32 n, n, t; and.b32 n, n, 1; setp.ne.u32 p, n, 0;\n"
        "mul.wide.u32 v, t, 8; add.u64 o, o, v; ld.global.u64 o, [o];\n" +
        base +
        "add.u64 a, a, o; cvt.u32.u64 at, a; mov.u64 v, 0; mov.u64 w, 0; mov.u32 n1, 0; mov.u16 h, "
        "0;\n@!p bra E;\n" +
        instruction + "\nE: ret; }");
  }
  exec::access_counts counts(const pattern& each, std::uint32_t mask) {
    const memory::address offsets =
        m.upload(std::vector<std::uint64_t>(each.offsets.begin(), each.offsets.end()));
    const auto result = m.run("k", {1}, {32}, io, offsets, mask);
    EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
    const auto& instructions = result.profiles.at(0).functions.at(0).instructions;
    return instructions[instructions.size() - 2].accesses;
  }
  static lane_addresses addresses(const pattern& each, std::uint32_t mask, std::uint64_t base = 0) {
    lane_addresses lanes;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (mask >> lane & 1) lanes[lane] = base + each.offsets[lane];
    }
    return lanes;
  }
  // Compares all patterns with a model.
  template <class Model>
  void compare(const form& f, const std::string& base, Model&& model) {
    load(f.instruction, base);
    for (const pattern& each : patterns(f.bytes)) {
      for (const std::uint32_t mask : masks) {
        EXPECT_EQ(counters_of(counts(each, mask)), model(each, mask))
            << f.instruction << ", " << each.name << ", lanes " << report::hexadecimal(mask);
      }
    }
  }

  machine m;
  memory::address io = m.allocate(size);
  const std::string global_base = "mov.u64 a, g;";
  const std::string shared_base = "mov.u64 a, s;";
  const std::string generic_shared_base = "mov.u64 a, s; cvta.shared.u64 a, a;";
  const std::string local_base = "mov.u64 a, l;";
  const std::string generic_local_base = "mov.u64 a, l; cvta.local.u64 a, a;";
};

TEST_F(profiled, accesses_of_global_memory) {
  for (const form f : {form{"ld.global.u8 n, [a];", 1}, form{"ld.global.u16 h, [a];", 2},
                       form{"ld.global.u32 n, [a];", 4}, form{"st.global.u32 [a], n;", 4},
                       form{"ld.global.u64 v, [a];", 8}, form{"ld.global.v2.u32 {n, t}, [a];", 8},
                       form{"st.global.v4.u32 [a], {n, n, n, n};", 16}, form{"ld.u32 n, [a];", 4},
                       form{"ld.global.v2.u64 {v, w}, [a];", 16}}) {
    compare(f, global_base, [&](const pattern& each, std::uint32_t mask) {
      return global_counters(addresses(each, mask, io), f.bytes);
    });
  }
}

TEST_F(profiled, accesses_with_a_displacement) {
  load("ld.global.u32 n, [a+28];", global_base);
  const pattern each = patterns(4)[1];
  EXPECT_EQ(counters_of(counts(each, ~0u)), global_counters(addresses(each, ~0u, io + 28), 4));
  load("ld.shared.v2.u32 {n, t}, [at+8];", shared_base);
  EXPECT_EQ(counters_of(counts(patterns(8)[1], ~0u)),
            shared_counters(addresses(patterns(8)[1], ~0u, 8), 8));
}

TEST_F(profiled, atomic_operations) {
  for (const form f :
       {form{"atom.global.add.u32 n, [a], 1;", 4}, form{"red.global.add.u32 [a], 1;", 4},
        form{"atom.add.u32 n, [a], 1;", 4}, form{"atom.global.cas.b64 v, [a], v, w;", 8}}) {
    compare(f, global_base, [&](const pattern& each, std::uint32_t mask) {
      const lane_addresses lanes = addresses(each, mask, io);
      counters expected = global_counters(lanes, f.bytes), atomic = atomic_counters(lanes);
      expected["global_sectors"] = atomic["sectors"];
      atomic.erase("sectors");
      expected.merge(atomic);
      return expected;
    });
  }
}

TEST_F(profiled, accesses_of_shared_memory) {
  for (const form f : {form{"ld.shared.u8 n, [at];", 1}, form{"st.shared.u32 [at], n;", 4},
                       form{"ld.shared.u32 n, [a];", 4}, form{"ld.shared.u64 v, [at];", 8},
                       form{"st.shared.v4.u32 [at], {n, n, n, n};", 16}}) {
    compare(f, shared_base, [&](const pattern& each, std::uint32_t mask) {
      return shared_counters(addresses(each, mask), f.bytes);
    });
  }
  compare({"ld.u64 v, [a];", 8}, generic_shared_base, [&](const pattern& each, std::uint32_t mask) {
    return shared_counters(addresses(each, mask), 8);
  });
  compare({"atom.shared.add.u32 n, [at], 1;", 4}, shared_base,
          [&](const pattern& each, std::uint32_t mask) {
            const lane_addresses lanes = addresses(each, mask);
            counters expected = shared_counters(lanes, 4, true), atomic = atomic_counters(lanes);
            atomic.erase("sectors");
            expected.merge(atomic);
            return expected;
          });
}

TEST_F(profiled, accesses_of_local_memory) {
  m.options.stack_bytes = 1 << 17;
  for (const form f :
       {form{"ld.local.u8 n, [a];", 1}, form{"st.local.u32 [a], n;", 4},
        form{"ld.local.u64 v, [a];", 8}, form{"st.local.v4.u32 [a], {n, n, n, n};", 16}}) {
    compare(f, local_base, [&](const pattern& each, std::uint32_t mask) {
      return local_counters(addresses(each, mask), f.bytes);
    });
  }
  compare({"st.u32 [a], n;", 4}, generic_local_base, [&](const pattern& each, std::uint32_t mask) {
    return local_counters(addresses(each, mask), 4);
  });
}

// Lanes of one instruction may access several spaces.
TEST_F(profiled, accesses_of_several_spaces) {
  load("ld.u32 n, [a];",
       "mov.u64 a, g; mov.u64 w, s; cvta.shared.u64 w, w; setp.gt.u32 p, t, 9; @p mov.u64 a, w;"
       "mov.u64 w, l; cvta.local.u64 w, w; setp.gt.u32 p, t, 24; @p mov.u64 a, w;"
       "setp.ge.u32 p, t, 0;");
  const pattern each = patterns(4)[1];
  counters expected = global_counters(addresses(each, 0x3ff, io), 4);
  expected.merge(shared_counters(addresses(each, 0x1ff'fc00), 4));
  expected.merge(local_counters(addresses(each, 0xfe00'0000), 4));
  EXPECT_EQ(counters_of(counts(each, ~0u)), expected);
}

TEST_F(profiled, copies_to_shared_memory) {
  const std::string base = "mov.u64 a, g; mov.u32 n2, s; mul.lo.u32 n3, t, 16; add.u32 n2, n2, n3;";
  for (const form f : {form{"cp.async.ca.shared.global [n2], [a], 4;", 4},
                       form{"cp.async.ca.shared.global [n2], [a], 8;", 8},
                       form{"cp.async.cg.shared.global [n2], [a], 16;", 16}}) {
    compare(f, base, [&](const pattern& each, std::uint32_t mask) {
      lane_addresses targets = addresses(each, mask);
      for (auto& [lane, at] : targets) at = 16 * lane;
      counters expected = shared_counters(targets, f.bytes);
      expected.merge(global_counters(addresses(each, mask, io), f.bytes));
      return expected;
    });
  }
}

// Lanes that write zeros read nothing.
TEST_F(profiled, copies_of_a_part) {
  const std::string base = "mov.u64 a, g; mov.u32 n2, s; mul.lo.u32 n3, t, 16; add.u32 n2, n2, n3;";
  const pattern each = patterns(16)[1];
  lane_addresses targets = addresses(each, ~0u);
  const auto expected_of = [&](std::uint32_t readers) {
    counters expected = shared_counters(targets, 16);
    if (readers) expected.merge(global_counters(addresses(each, readers, io), 16));
    return expected;
  };
  load("cp.async.cg.shared.global [n2], [a], 16, n4;", base + "and.b32 n4, t, 1;");
  EXPECT_EQ(counters_of(counts(each, ~0u)), expected_of(0xaaaa'aaaa));
  load("cp.async.cg.shared.global [n2], [a], 16, n4;", base + "mov.u32 n4, 0;");
  EXPECT_EQ(counters_of(counts(each, ~0u)), expected_of(0));
  load("cp.async.cg.shared.global [n2], [a], 16, q;",
       ".reg .pred q;" + base + "setp.gt.u32 q, t, 20;");
  EXPECT_EQ(counters_of(counts(each, ~0u)), expected_of(0x1f'ffff));
}

// The lanes of each matrix have the addresses of its rows of 16 bytes.
TEST_F(profiled, loads_of_matrices) {
  const pattern each = patterns(16)[1];
  const std::pair<const char*, std::uint32_t> forms[] = {
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {n}, [at];", 0xff},
      {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {n, n1}, [at];", 0xffff},
      {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {n, n1, n2, n3}, [at];", ~0u},
      {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [at], {n1, n1};", 0xffff}};
  for (const auto& [instruction, lanes] : forms) {
    load(instruction, shared_base);
    EXPECT_EQ(counters_of(counts(each, ~0u)), shared_counters(addresses(each, lanes), 16))
        << instruction;
  }
}

TEST_F(profiled, vectors_of_atomic_operations_once) {
  load("{ .reg .f32 f; mov.f32 f, 0f00000000; red.global.v4.f32.add [a], {f, f, f, f}; }",
       global_base);
  const pattern each = patterns(16)[1];
  const auto result = counters_of(counts(each, ~0u));
  EXPECT_EQ(result.at("global_requests"), 1u);
  EXPECT_EQ(result.at("global_bytes"), 512u);
}

TEST_F(profiled, nothing_of_constants_and_parameters) {
  load("ld.param.u32 n, [mask];", global_base);
  EXPECT_EQ(counters_of(counts(patterns(4)[0], ~0u)), counters{});
  load("ld.const.u32 n, [a];", ".const .align 16 .b8 c16[16]; mov.u64 a, c16;");
  EXPECT_EQ(counters_of(counts(patterns(4)[0], ~0u)), counters{});
}

TEST_F(profiled, the_step_between_neighbors) {
  using state = exec::lane_step::state;
  load("ld.global.u32 n, [a];", global_base);
  const auto step = [&](std::size_t number, std::uint32_t mask = ~0u) {
    return counts(patterns(4)[number], mask).step;
  };
  EXPECT_EQ(step(0).kind, state::equal);
  EXPECT_EQ(step(0).bytes, 0);
  EXPECT_EQ(step(1).bytes, 4);
  EXPECT_EQ(step(4).bytes, 8);
  EXPECT_EQ(step(5).bytes, 128);
  EXPECT_EQ(step(6).bytes, -4);
  EXPECT_EQ(step(6).kind, state::equal);
  EXPECT_EQ(step(3).kind, state::different);
  EXPECT_EQ(step(1, 0x5555'5555).kind, state::unknown);
  EXPECT_EQ(step(1, 0x11).kind, state::unknown);
  EXPECT_EQ(step(1, 0x13).kind, state::equal);
  EXPECT_EQ(step(3, 0x3).bytes, 0);
  EXPECT_EQ(step(3, 0x6).bytes, 4);
}

TEST_F(profiled, the_sum_of_steps) {
  using exec::lane_step;
  using state = lane_step::state;
  const lane_step unknown{}, four{state::equal, 4}, eight{state::equal, 8},
      mixed{state::different, 4};
  const auto sum = [](lane_step a, const lane_step& b) {
    a.add(b);
    return std::pair{a.kind, a.bytes};
  };
  EXPECT_EQ(sum(unknown, unknown).first, state::unknown);
  EXPECT_EQ(sum(unknown, four), (std::pair{state::equal, std::int64_t{4}}));
  EXPECT_EQ(sum(four, unknown), (std::pair{state::equal, std::int64_t{4}}));
  EXPECT_EQ(sum(four, four), (std::pair{state::equal, std::int64_t{4}}));
  EXPECT_EQ(sum(four, eight).first, state::different);
  EXPECT_EQ(sum(four, mixed).first, state::different);
  EXPECT_EQ(sum(mixed, four).first, state::different);
  EXPECT_EQ(sum(unknown, mixed).first, state::different);
}

}  // namespace
}  // namespace halfwarp::tests

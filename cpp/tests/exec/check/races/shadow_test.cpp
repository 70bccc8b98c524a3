// SPDX-License-Identifier: Apache-2.0
// Compares the cells of the race check with a list of all accesses, and tests their short paths.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "emulator/exec/check/shadow.hpp"

namespace halfwarp::tests {
namespace {

using namespace emulator::exec;
using namespace emulator::exec::race;

constexpr std::uint32_t half_lanes = 16, line_bytes = line_words * 4;
constexpr std::uint64_t base = 0x7000'0000'0000;

// A shadow with blocks of some warps, and the words whose accesses raced.
class memory_cells : private conflict_listener {
 public:
  memory_cells(std::uint32_t block_count, std::uint32_t warps, bool is_shared)
      : order{warps, false}, is_shared_{is_shared}, blocks_(block_count) {
    for (std::uint32_t i = 0; i < block_count; ++i) order.begin(blocks_[i], i, warps);
  }
  memory_cells(const memory_cells&) = delete;  // the shadow refers to it

  accessor by(std::uint32_t block, std::uint32_t warp, bool is_write, std::uint32_t site = 1) {
    const cell mine{blocks_[block].warps[warp].segment, cell_kind::one, scope::weak, 0, site};
    return {order, blocks_[block], warp, is_shared_, is_write, mine};
  }
  void join_block(std::uint32_t block = 0) { order.synchronize(blocks_[block]); }
  void join_warp(std::uint32_t block, std::uint32_t warp) {
    order.synchronize(blocks_[block], warp, all_lanes, all_lanes);
  }
  // An access of half a warp as the checker makes it: by the short path if that is possible.
  void access_run(const accessor& a, std::uint64_t address, std::uint32_t lane) {
    if (!cells.pass_line(a, address, lane)) cells.access_half(a, address, lane);
  }
  void read_one(const accessor& a, std::uint64_t address, std::uint32_t lane) {
    if (!cells.pass_uniform(a, address, lane)) cells.read_uniform(a, address, lane);
  }

  launch_order order;
  shadow cells{*this};
  std::set<std::pair<conflict, std::uint64_t>> conflicts;  // with the address of the word

 private:
  bool has_other_width(cell) const override { return false; }
  void on_conflict(conflict kind, cell, const accessor&, std::uint32_t,
                   std::uint64_t address) override {
    conflicts.insert({kind, address / 4 * 4});
  }

  bool is_shared_;
  std::vector<block_order> blocks_;
};

// ---- the model

struct thread_access {
  std::uint32_t block = 0, warp = 0, lane = 0;
  bool is_write = false;
  std::uint32_t phase = 0, part = 0;  // barriers of the block and of the warp before it
};

class random_accesses {
 public:
  random_accesses(std::uint32_t seed, bool is_shared)
      : random_{seed}, is_shared_{is_shared}, memory_{is_shared ? 1u : 2u, warps, is_shared} {}

  // Accesses memory until two accesses race. Both sides must have found that one.
  void run() {
    for (int n = 0; n < 200; ++n) {
      step();
      std::set<std::uint64_t> words;
      for (const auto& [kind, word] : memory_.conflicts) {
        EXPECT_TRUE(expected_.contains({kind, word})) << trace_;
        words.insert(word);
      }
      for (const auto& [kind, word] : expected_) EXPECT_TRUE(words.contains(word)) << trace_;
      if (!expected_.empty() || testing::Test::HasFailure()) return;
    }
  }

 private:
  static constexpr std::uint32_t warps = 3;

  std::uint32_t choose(std::uint32_t count) {
    return static_cast<std::uint32_t>(random_() % count);
  }

  void step() {
    const std::uint32_t block = is_shared_ ? 0 : choose(2), warp = choose(warps);
    const std::uint32_t lane = half_lanes * choose(2), kind = choose(10);
    // Lines around the end of a page, or in a page that lies 256 pages behind it.
    const std::uint64_t start =
        base + page_bytes - 2 * line_bytes + (choose(8) ? 0 : 256 * page_bytes);
    const std::uint64_t line = start + choose(4) * line_bytes, word = line + choose(16) * 4;
    trace_ += std::to_string(kind) + ": block " + std::to_string(block) + " warp " +
              std::to_string(warp) + " lane " + std::to_string(lane) + " word " +
              std::to_string(word - base) + "\n";
    const accessor a = memory_.by(block, warp, choose(3) == 0, 1 + choose(9));
    const accessor reader = memory_.by(block, warp, false, a.mine.site());
    switch (kind) {
      case 0:
        memory_.join_warp(block, warp);
        ++parts_[block][warp];
        return;
      case 1:
      case 2:
        memory_.join_block(block);
        ++phases_[block];
        return;
      case 3:
        for (std::uint32_t i = 0; i < half_lanes; ++i) add(a, line + i * 4, 4, lane + i);
        return memory_.access_run(a, line, lane);
      case 4:
        for (std::uint32_t i = 0; i < half_lanes; ++i) add(a, word + i * 4, 4, lane + i);
        return memory_.cells.access_half(a, word, lane);
      case 5:
        for (std::uint32_t i = 0; i < half_lanes; ++i) add(reader, word, 4, lane + i);
        return choose(2) ? memory_.read_one(reader, word, lane)
                         : memory_.cells.read_uniform(reader, word, lane);
      case 6:
        return read_group_of_words(reader, word, line + line_bytes);
      case 7:
        return read_group_of_lines(reader, choose(4) ? line : word);
      default:
        return access_part(a, word, lane + choose(half_lanes));
    }
  }

  void access_part(const accessor& a, std::uint64_t word, std::uint32_t lane) {
    const std::uint32_t bytes = std::array{1u, 2u, 4u, 4u, 4u}[choose(5)];
    const std::uint64_t address = word + (bytes == 4 ? 0 : bytes * choose(4 / bytes));
    add(a, address, bytes, lane);
    memory_.cells.access(a, address, bytes, lane);
  }

  load_group group_from(std::uint32_t step) {
    load_group group{.nearest = 100, .extent = 4};
    const std::uint32_t count = 1 + choose(3);
    for (std::uint32_t i = 0; i < count; ++i) {
      group.loads.push_back({20 + i, group.nearest + i * step});
      group.extent = i * step + 4;
    }
    return group;
  }

  // Each half reads words of its own line.
  void read_group_of_words(const accessor& a, std::uint64_t low, std::uint64_t high) {
    const load_group group = group_from(4 + 4 * choose(2));
    const bool is_passed = memory_.cells.read_words(a, low, 0, group) &&
                           memory_.cells.read_words(a, high, half_lanes, group);
    for (const auto& [half, first] : {std::pair{low, 0u}, {high, half_lanes}}) {
      for (const following_load& load : group.loads) {
        const std::uint64_t at = half + load.distance - group.nearest;
        for (std::uint32_t i = 0; i < half_lanes; ++i) add(a, at, 4, first + i);
        if (!is_passed) memory_.read_one(a, at, first);
      }
    }
  }

  // Both halves read the same lines.
  void read_group_of_lines(const accessor& a, std::uint64_t start) {
    const load_group group = group_from(line_bytes);
    const bool is_passed = is_shared_ && memory_.cells.read_lines(a, start, group);
    for (const following_load& load : group.loads) {
      const std::uint64_t at = start + load.distance - group.nearest;
      for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
        add(a, at + lane % half_lanes * 4, 4, lane);
      }
      if (is_passed) continue;
      memory_.access_run(a, at, 0);
      memory_.access_run(a, at, half_lanes);
    }
  }

  // Adds the access of a lane, and the races with earlier ones.
  void add(const accessor& a, std::uint64_t address, std::uint32_t bytes, std::uint32_t lane) {
    const std::uint32_t block = a.block.number;
    const thread_access mine{block,      a.warp,         lane,
                             a.is_write, phases_[block], parts_[block][a.warp]};
    for (std::uint64_t byte = address; byte < address + bytes; ++byte) {
      for (const thread_access& each : accesses_[byte]) {
        if (is_ordered_before(each, mine) || (!each.is_write && !mine.is_write)) continue;
        const conflict kind = !each.is_write  ? conflict::read_write
                              : mine.is_write ? conflict::write_write
                                              : conflict::write_read;
        expected_.insert({kind, byte / 4 * 4});
      }
    }
    for (std::uint64_t byte = address; byte < address + bytes; ++byte) {
      accesses_[byte].push_back(mine);
    }
  }

  static bool is_ordered_before(const thread_access& a, const thread_access& b) {
    if (a.block != b.block) return false;
    const bool is_same_warp = a.warp == b.warp;
    return a.phase < b.phase || (is_same_warp && (a.part < b.part || a.lane == b.lane));
  }

  std::mt19937 random_;
  bool is_shared_;
  memory_cells memory_;
  std::array<std::uint32_t, 2> phases_{};
  std::array<std::array<std::uint32_t, warps>, 2> parts_{};
  std::map<std::uint64_t, std::vector<thread_access>> accesses_;  // by byte
  std::set<std::pair<conflict, std::uint64_t>> expected_;
  std::string trace_;
};

TEST(shadows, find_the_first_race_of_random_accesses) {
  for (const bool is_shared : {false, true}) {
    for (std::uint32_t seed = 0; seed < 400; ++seed) {
      random_accesses{seed, is_shared}.run();
      ASSERT_FALSE(HasFailure()) << (is_shared ? "shared " : "global ") << seed;
    }
  }
}

// ---- short paths

TEST(shadows, pass_lines_that_others_accessed_before_the_barrier) {
  for (const bool is_write : {false, true}) {
    for (const bool was_write : {false, true}) {
      memory_cells memory{1, 2, true};
      const auto mine = [&](std::uint64_t at, std::uint32_t lane = 0) {
        return memory.cells.pass_line(memory.by(0, 0, is_write), at, lane);
      };
      const auto theirs = [&](std::uint64_t at) {
        return memory.cells.pass_line(memory.by(0, 1, was_write), at, 0);
      };
      EXPECT_TRUE(mine(base));
      EXPECT_TRUE(mine(base)) << "the same lanes";
      EXPECT_FALSE(mine(base + 4)) << "parts of two lines";
      EXPECT_EQ(mine(base, half_lanes), !is_write) << "other lanes";
      EXPECT_TRUE(theirs(base + line_bytes));
      EXPECT_EQ(mine(base + line_bytes), !is_write && !was_write);
      memory.join_block();
      EXPECT_TRUE(mine(base + line_bytes)) << is_write << was_write;
    }
  }
}

TEST(shadows, pass_words_that_others_wrote_before_the_barrier) {
  memory_cells memory{1, 3, true};
  const auto read = [&](std::uint32_t warp, std::uint64_t at) {
    return memory.cells.pass_uniform(memory.by(0, warp, false), at, 0);
  };
  EXPECT_TRUE(read(0, base + 8));
  EXPECT_TRUE(read(0, base + 8)) << "the same lanes";
  EXPECT_FALSE(read(1, base + 8)) << "a second warp";
  const std::uint64_t line = base + 2 * line_bytes;
  for (const std::uint32_t warp : {0u, 1u}) {
    EXPECT_TRUE(memory.cells.pass_line(memory.by(0, warp, false), line, 0));
  }
  EXPECT_TRUE(read(2, line + 8)) << "of several warps";
  memory.cells.access(memory.by(0, 1, true), base + 12, 4, 0);
  EXPECT_FALSE(read(0, base + 12));
  EXPECT_FALSE(read(0, base + 16)) << "the line has a new writer";
  memory.join_block();
  EXPECT_TRUE(read(0, base + line_bytes)) << "nobody accessed the line";
  EXPECT_TRUE(memory.conflicts.empty());
}

TEST(shadows, count_the_changes_of_cells) {
  memory_cells memory{1, 3, true};
  const auto changes_by = [&](auto&& access) {
    const std::uint64_t before = memory.cells.changes();
    access();
    return memory.cells.changes() - before;
  };
  const auto line = [&] { memory.cells.pass_line(memory.by(0, 0, false), base, 0); };
  const auto word = [&] { memory.cells.pass_uniform(memory.by(0, 0, false), base + 128, 0); };
  const auto half = [&] { memory.cells.access_half(memory.by(0, 0, false), base + 256, 0); };
  const auto uniform = [&] { memory.cells.read_uniform(memory.by(0, 0, false), base + 512, 0); };
  EXPECT_EQ(changes_by(line), 1u);
  EXPECT_EQ(changes_by(word), 1u);
  EXPECT_EQ(changes_by(word), 0u) << "the same reader";
  EXPECT_EQ(changes_by(half), 1u);
  EXPECT_EQ(changes_by(uniform), 1u);
  const auto other = [&] { memory.cells.pass_line(memory.by(0, 1, false), base, 0); };
  EXPECT_EQ(changes_by(other), 1u);
  EXPECT_EQ(changes_by(other), 0u) << "one of several readers";
}

// An access of all words after a barrier gives them one cell again.
TEST(shadows, join_the_words_of_a_line) {
  for (const bool is_write : {false, true}) {
    memory_cells memory{1, 2, true};
    const auto pass = [&](std::uint32_t warp, bool writes) {
      return memory.cells.pass_line(memory.by(0, warp, writes), base, 0);
    };
    for (const bool writes : {false, true}) {
      memory.cells.access(memory.by(0, 1, writes), base + 20, 4, 3);
    }
    EXPECT_FALSE(pass(0, is_write)) << "a word has its own writer";
    memory.join_block();
    EXPECT_FALSE(pass(0, is_write)) << "it still has";
    memory.cells.access_half(memory.by(0, 0, is_write), base, 0);
    EXPECT_EQ(pass(0, is_write), is_write) << "a read keeps the writers";
    memory.join_block();
    memory.cells.access_half(memory.by(0, 0, true), base, 0);
    EXPECT_TRUE(pass(0, true));
    memory.join_block();
    EXPECT_TRUE(pass(1, is_write));
    EXPECT_TRUE(memory.conflicts.empty());
  }
}

// A store by all lanes passes words of readers before the barrier, and joins them.
TEST(shadows, pass_stores_to_words_that_were_read_before_the_barrier) {
  memory_cells memory{1, 2, true};
  const auto store = [&] { return memory.cells.pass_line(memory.by(0, 0, true), base, 0); };
  memory.cells.access(memory.by(0, 1, false), base + 60, 4, 0);
  EXPECT_FALSE(store());
  memory.join_block();
  EXPECT_TRUE(store());
  memory.cells.access_half(memory.by(0, 1, true), base, 0);
  EXPECT_EQ(memory.conflicts.size(), line_words);
  for (const auto& [kind, word] : memory.conflicts) EXPECT_EQ(kind, conflict::write_write);
}

load_group group_of(std::initializer_list<std::uint32_t> distances) {
  load_group group{.nearest = std::min(distances), .extent = 0};
  std::uint32_t site = 30;
  for (const std::uint32_t each : distances) {
    group.extent = std::max(group.extent, each + 4 - group.nearest);
    group.loads.push_back({site++, each});
  }
  return group;
}

TEST(shadows, read_groups_of_words_in_one_line) {
  memory_cells memory{1, 3, true};
  const auto read = [&](std::uint64_t at, std::initializer_list<std::uint32_t> distances) {
    return memory.cells.read_words(memory.by(0, 0, false), at, 0, group_of(distances));
  };
  EXPECT_FALSE(read(base, {8, 12})) << "the line has one cell";
  for (std::uint32_t line = 0; line < 2; ++line) {
    memory.cells.read_uniform(memory.by(0, 1, false), base + line * line_bytes, 0);
  }
  EXPECT_FALSE(read(base, {8, 12})) << "of another warp";
  memory.join_block();
  EXPECT_TRUE(read(base, {8, 12, 16}));
  EXPECT_TRUE(read(base + 56, {8, 12})) << "up to the end of the line";
  EXPECT_FALSE(read(base + 60, {8, 12})) << "behind its end";
  EXPECT_FALSE(read(base + 56, {12, 8, 16})) << "behind its end";
  EXPECT_TRUE(read(base + 56, {8, 12})) << "the same reads";
  EXPECT_FALSE(read(base + 56, {12, 8})) << "by other instructions";
  memory.join_block();
  memory.cells.access(memory.by(0, 1, true), base + 32, 4, 0);
  EXPECT_FALSE(read(base, {4})) << "a writer";
}

TEST(shadows, find_races_with_groups) {
  memory_cells memory{1, 2, true};
  memory.cells.read_uniform(memory.by(0, 0, false), base + 60, 0);
  memory.join_block();
  EXPECT_TRUE(memory.cells.read_words(memory.by(0, 0, false), base, 0, group_of({100, 104, 140})));
  memory.cells.access_half(memory.by(0, 1, true), base, 0);
  const std::set<std::pair<conflict, std::uint64_t>> all{{conflict::read_write, base},
                                                         {conflict::read_write, base + 4},
                                                         {conflict::read_write, base + 40}};
  EXPECT_EQ(memory.conflicts, all);
}

TEST(shadows, read_groups_of_lines) {
  memory_cells memory{1, 3, true};
  const auto read = [&](std::uint32_t warp, std::uint64_t at,
                        std::initializer_list<std::uint32_t> distances) {
    return memory.cells.read_lines(memory.by(0, warp, false), at, group_of(distances));
  };
  EXPECT_TRUE(read(0, base, {16, 80, 144}));
  EXPECT_TRUE(read(1, base, {16, 80, 144})) << "by a second warp";
  EXPECT_TRUE(read(2, base, {16, 80, 144})) << "by a third one";
  EXPECT_FALSE(read(0, base + 32, {16, 80})) << "parts of lines";
  EXPECT_FALSE(read(0, base, {16, 84})) << "parts of a line";
  memory.cells.access(memory.by(0, 1, false), base + 512, 4, 0);
  EXPECT_FALSE(read(0, base + 512, {0})) << "words";
  memory.cells.access(memory.by(0, 1, true), base + 1024 + 64, 4, 0);
  EXPECT_FALSE(read(0, base + 1024, {0, 64})) << "a writer";
}

// ---- the last writers

TEST(shadows, visit_the_last_writers_in_ascending_order) {
  memory_cells memory{1, 2, true};
  memory.cells.access(memory.by(0, 0, true, 5), base + 3 * page_bytes + 9, 1, 2);
  memory.cells.access_half(memory.by(0, 1, true, 6), base + page_bytes + 64, 0);
  memory.cells.access_half(memory.by(0, 1, false, 7), base + page_bytes + 128, 0);
  memory.cells.access(memory.by(0, 0, true, 8), base + 4, 4, 1);
  memory.cells.access(memory.by(0, 0, true, 9), base + page_bytes - 4, 4, 1);
  struct visit {
    std::uint64_t offset;
    std::uint32_t bytes, site;
    bool operator==(const visit&) const = default;
  };
  std::vector<visit> visits;
  memory.cells.each_writer([&](std::uint64_t address, std::uint32_t bytes, cell writer) {
    visits.push_back({address - base, bytes, writer.site()});
  });
  EXPECT_EQ(visits, (std::vector<visit>{{4, 4, 8},
                                        {page_bytes - 4, 4, 9},
                                        {page_bytes + 64, 64, 6},
                                        {3 * page_bytes + 9, 1, 5}}));
  EXPECT_EQ(memory.cells.writer_of(base + 4).site(), 8u);
  EXPECT_EQ(memory.cells.writer_of(base + page_bytes + 100).site(), 6u);
  EXPECT_EQ(memory.cells.writer_of(base + page_bytes + 100).lane(), 9u);
  EXPECT_EQ(memory.cells.writer_of(base + 8), cell{});
}

}  // namespace
}  // namespace halfwarp::tests

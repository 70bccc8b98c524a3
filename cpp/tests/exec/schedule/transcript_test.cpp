// SPDX-License-Identifier: Apache-2.0
// Selection of the kernels whose blocks repeat the calls of a recorded block.
#include "emulator/exec/schedule/transcript.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "../machine.hpp"
#include "emulator/exec/decode/kernel_decoder.hpp"
#include "emulator/exec/schedule/block.hpp"
#include "emulator/exec/schedule/cluster.hpp"

namespace halfwarp::tests {
namespace {

struct blocks_run {
  std::string ready;                  // for each block: whether a transcript is ready behind it
  std::size_t calls = 0;              // of each warp in a repeated block
  std::vector<std::uint32_t> values;  // that the kernel wrote
};

// Runs the first blocks of a kernel, each whole. Block 0 is recorded, later ones are repeated.
blocks_run run_blocks(const std::string& body, std::uint32_t blocks = 16,
                      const exec::run_options& options = {}, std::uint64_t count = 3) {
  machine m;
  exec::executable& loaded = m.load(
      ".visible .entry k(.param .u64 io) { .reg .b64 a, o; .reg .b32 i, n, r, t; .reg .pred p;\n"
      ".shared .align 4 .b8 s[2048];\n"
      "ld.param.u64 a, [io]; mov.u32 i, %tid.x; mul.wide.u32 o, i, 4; add.u64 a, a, o;\n"
      "mov.u32 n, %ctaid.x;\n" +
      body + "\nret; }");
  const exec::kernel& entry = *loaded.find_kernel("k");
  std::vector<std::byte> parameters(8);
  const memory::address io = m.upload(std::vector<std::uint32_t>(256, 5));
  std::memcpy(parameters.data(), &io, sizeof io);
  exec::launch_request request;
  request.entry = &entry;
  request.grid = {blocks};
  request.block = {256};
  request.parameters = parameters;
  const exec::kernel_code& code = exec::code_of(entry.owner(), entry.function());
  exec::launch_state launch{m.space, request, options, code};
  launch.shared_bytes = code.static_shared_bytes;
  launch.warps_per_block = 8;
  std::vector<exec::range_cache> ranges(code.range_caches + 1);
  exec::block_state block;
  exec::prepare(block, launch, ranges.data());
  exec::cluster_state cluster;
  cluster.blocks.push_back(&block);
  block.cluster = &cluster;
  blocks_run result;
  for (std::uint64_t number = 0; number < count; ++number) {
    exec::begin(block, number);
    while (exec::run_round(block) != exec::block_progress::finished) {
    }
    EXPECT_EQ(block.live_threads, 0u);
    result.ready += !block.script ? '-' : block.script->is_ready() ? 'y' : 'n';
  }
  if (block.script) result.calls = block.script->calls() / launch.warps_per_block;
  result.values = m.download<std::uint32_t>(io, 256);
  return result;
}

std::string readiness(const std::string& body, std::uint32_t blocks = 16,
                      const exec::run_options& options = {}, std::uint64_t count = 3) {
  return run_blocks(body, blocks, options, count).ready;
}

const std::string loop =
    "mov.u32 r, 0; l: bar.sync 0; ld.global.u32 t, [a]; add.u32 r, r, 1; setp.lt.u32 p, r, 9;\n"
    "@p bra l;";

TEST(transcript, threads_and_blocks_decide_branches) {
  EXPECT_EQ(readiness(loop), "yyy");
  EXPECT_EQ(readiness("setp.gt.u32 p, n, 7; @p bra l; st.global.u32 [a], i; l:"), "yyy");
}

TEST(transcript, memory_decides_no_branch) {
  EXPECT_EQ(readiness("ld.global.u32 r, [a]; setp.gt.u32 p, r, 7; @p bra l; l:"), "---");
  EXPECT_EQ(readiness("atom.global.add.u32 r, [a], 1; setp.gt.u32 p, r, 7; @p bra l; l:"), "---");
  EXPECT_EQ(readiness("mov.u32 r, %clock; st.global.u32 [a], r;"), "---");
  EXPECT_EQ(readiness("nanosleep.u32 9;"), "---");
}

TEST(transcript, a_launch_with_few_blocks_or_another_order_has_none) {
  EXPECT_EQ(readiness(loop, 15), "---");
  exec::run_options options;
  options.seed = 3;
  EXPECT_EQ(readiness(loop, 16, options), "---");
  options.is_shuffled = false;
  EXPECT_EQ(readiness(loop, 16, options), "yyy");
}

TEST(transcript, unlike_barriers_and_members_are_not_recorded) {
  EXPECT_EQ(readiness("bar.sync 0, 256;"), "nnn");
  EXPECT_EQ(readiness("bar.red.popc.u32 r, 0, p;"), "nnn");
  EXPECT_EQ(readiness("shfl.sync.bfly.b32 r, i, 1, 31, -1; st.global.u32 [a], r;"), "yyy");
  EXPECT_EQ(readiness("mov.u32 t, -1; shfl.sync.bfly.b32 r, i, 1, 31, t;"), "nnn");
}

TEST(transcript, a_recording_ends_with_the_round_or_after_many_steps) {
  const auto loads = [](int count, const std::string& barrier) {
    std::string text = "mov.u32 r, 0; l: " + barrier;
    for (int n = 0; n < count; ++n) text += "ld.global.u32 t, [a];\n";
    return readiness(text + "add.u32 r, r, 1; setp.lt.u32 p, r, 50; @p bra l;");
  };
  EXPECT_EQ(loads(160, "bar.sync 0;"), "yyy");
  EXPECT_EQ(loads(165, "bar.sync 0;"), "nnn");
  EXPECT_EQ(loads(9, ""), "nnn");  // uses the budget of a turn
}

// All blocks differ from block 0, and are alike.
TEST(transcript, after_nine_other_ways_a_block_is_recorded_again) {
  const std::string body = "setp.gt.u32 p, n, 0; @p bra l; st.global.u32 [a], i; l:";
  EXPECT_EQ(readiness(body, 16, {}, 16), "yyyyyyyyynyyyyyy");
}

// Two loads of shared memory and what reads them. Word t of the block n is 3 * t + 7 * n.
struct pair_case {
  const char* body;  // sets r
  std::uint32_t (*expected)(std::uint32_t t, std::uint32_t n);
  std::size_t calls;  // of each warp for the body
};

std::uint32_t word(std::uint32_t t, std::uint32_t n) { return 3 * t + 7 * n; }

void expect_pair(const std::string& prologue, const pair_case& each) {
  SCOPED_TRACE(each.body);
  const std::string end = "\nst.global.u32 [a], r;";
  const blocks_run alone = run_blocks(prologue + "mov.u32 r, i;" + end);
  const blocks_run run = run_blocks(prologue + each.body + end);
  ASSERT_EQ(run.ready, "yyy");
  EXPECT_EQ(run.calls - alone.calls, each.calls);
  for (std::uint32_t t = 0; t < 256; ++t) ASSERT_EQ(run.values[t], each.expected(t, 2)) << t;
}

const std::string words =
    ".reg .b32 e, b, c0, c1, c2, q, x, y, z, z1, z2; .reg .f32 f, f0, g, h;\n"
    "shl.b32 b, i, 2; mov.u32 e, s; add.u32 q, b, e; mul.lo.u32 c0, i, 3; mad.lo.u32 c1, n, 7, "
    "c0;\n"
    "st.shared.u32 [q], c1; add.u32 c2, c1, 768; st.shared.u32 [q+1024], c2;\n"
    "bar.sync 0;\n";

TEST(transcript, a_sum_that_alone_reads_two_words_is_one_call_with_its_loads) {
  const pair_case cases[] = {
      {"ld.shared.u32 x, [q]; ld.shared.u32 y, [q+4]; add.u32 r, x, y;",
       [](auto t, auto n) { return word(t, n) + word(t + 1, n); }, 1},
      {"ld.shared.u32 x, [q+80]; ld.shared.u32 y, [q]; add.s32 r, y, x;",
       [](auto t, auto n) { return word(t + 20, n) + word(t, n); }, 1},
      // addresses between them have no call
      {"ld.shared.u32 x, [q]; add.u32 z, q, 8; ld.shared.u32 y, [z]; add.u32 r, x, y;",
       [](auto t, auto n) { return word(t, n) + word(t + 2, n); }, 1},
      // the sum replaces a word
      {"ld.shared.u32 x, [q]; ld.shared.u32 y, [q+4]; add.u32 y, x, y; xor.b32 r, y, 1;",
       [](auto t, auto n) { return (word(t, n) + word(t + 1, n)) ^ 1; }, 2},
  };
  for (const pair_case& each : cases) expect_pair(words, each);
}

TEST(transcript, words_that_others_read_keep_their_calls) {
  const pair_case cases[] = {
      {"ld.shared.u32 x, [q]; ld.shared.u32 y, [q+4]; add.u32 z, x, y; sub.u32 r, z, x;",
       [](auto t, auto n) { return word(t + 1, n); }, 4},
      {"ld.shared.u32 x, [q]; ld.shared.u32 y, [q+4]; add.u32 z, y, y; sub.u32 r, z, x;",
       [](auto t, auto n) { return 2 * word(t + 1, n) - word(t, n); }, 4},
      {"ld.shared.u32 x, [q]; ld.shared.u32 y, [q+4]; add.u32 z, x, 9; add.u32 r, z, y;",
       [](auto t, auto n) { return word(t, n) + word(t + 1, n) + 9; }, 4},
      {"ld.shared.u32 x, [q]; ld.shared.u32 y, [q+4]; sub.u32 r, x, y;",
       [](auto t, auto n) { return word(t, n) - word(t + 1, n); }, 3},
      {"ld.shared.u32 x, [q]; ld.shared.u32 y, [e+12]; add.u32 r, x, y;",
       [](auto t, auto n) { return word(t, n) + word(3, n); }, 3},
      {"shl.b32 z1, i, 3; sub.u32 z, q, z1;\n"
       "ld.shared.u32 x, [q]; ld.shared.u32 y, [z+2040]; add.u32 r, x, y;",
       [](auto t, auto n) { return word(t, n) + word(510 - t, n); }, 3},
      {"ld.shared.u32 x, [q]; ld.shared.u32 x, [q+4]; add.u32 r, x, x;",
       [](auto t, auto n) { return 2 * word(t + 1, n); }, 3},
      // a guard leaves out one lane
      {"and.b32 z, i, 31; setp.ne.u32 p, z, 5; ld.shared.u32 x, [q]; ld.shared.u32 y, [q+4]; "
       "mov.u32 r, 1;\n"
       "@p add.u32 r, x, y;",
       [](auto t, auto n) { return t % 32 == 5 ? 1 : word(t, n) + word(t + 1, n); }, 4},
      {"ld.shared.u32 x, [q]; st.shared.u32 [q], i; ld.shared.u32 y, [q]; add.u32 r, x, y;",
       [](auto t, auto n) { return word(t, n) + t; }, 4},
  };
  for (const pair_case& each : cases) expect_pair(words, each);
}

TEST(transcript, a_product_with_a_word_for_all_lanes_is_one_call_with_its_loads) {
  const std::string floats =
      words + "cvt.rn.f32.u32 f0, c2; st.shared.f32 [q+1024], f0; bar.sync 0;\n";
  static constexpr auto product = [](std::uint32_t t, std::uint32_t n) {
    return word(t + 256, n) * word(259, n);
  };
  const pair_case cases[] = {
      {"ld.shared.f32 f, [q+1024]; ld.shared.f32 g, [e+1036]; fma.rn.f32 h, f, g, 0f40000000;\n"
       "cvt.rzi.u32.f32 r, h;",
       [](auto t, auto n) { return product(t, n) + 2; }, 2},
      {"ld.shared.f32 g, [e+1036]; ld.shared.f32 f, [q+1024]; fma.rn.f32 h, f, g, f0;\n"
       "cvt.rzi.u32.f32 r, h;",
       [](auto t, auto n) { return product(t, n) + word(t + 256, n); }, 2},
      {"ld.shared.f32 f, [q+1024]; ld.shared.f32 g, [e+1036]; fma.rn.f32 h, g, f, f;\n"
       "cvt.rzi.u32.f32 r, h;",
       [](auto t, auto n) { return product(t, n) + word(t + 256, n); }, 4},
      {"ld.shared.f32 f, [q+1024]; ld.shared.f32 g, [e+1036]; fma.rn.f32 h, g, f, g;\n"
       "cvt.rzi.u32.f32 r, h;",
       [](auto t, auto n) { return product(t, n) + word(259, n); }, 4},
      {"ld.shared.f32 f, [q+1024]; ld.shared.f32 g, [q+1024]; fma.rn.f32 h, g, f, f0;\n"
       "cvt.rzi.u32.f32 r, h;",
       [](auto t, auto n) { return word(t + 256, n) * (word(t + 256, n) + 1); }, 4},
  };
  for (const pair_case& each : cases) expect_pair(floats, each);
}

// Loads, sums, products and stores in a random order, and a sum of all registers.
std::string random_body(std::uint32_t seed) {
  std::minstd_rand next{seed};
  const auto choice = [&](auto... each) {
    return std::array<std::string, sizeof...(each)>{each...}[next() % sizeof...(each)];
  };
  const auto any = [&] { return choice("x", "y", "z", "z1", "z2"); };
  const auto real = [&] { return choice("f", "f0", "g", "h"); };
  std::string text = "mov.u32 x, c0; mov.u32 y, c1; mov.u32 z, c2; mov.u32 z1, i; mov.u32 z2, n;\n";
  for (const char* each : {"f", "f0", "g", "h"})
    text += "cvt.rn.f32.u32 " + (each + (", " + any())) + ";\n";
  for (int count = 0; count < 24; ++count) {
    const std::string place = choice("[q]", "[q+4]", "[q+512]", "[e]", "[e+64]");
    const std::string value = any() + ", " + any(), number = real() + ", " + real();
    text +=
        choice("ld.shared.u32 " + any() + ", " + place, "ld.shared.u32 " + any() + ", " + place,
               "ld.shared.f32 " + real() + ", " + place, "ld.shared.f32 " + real() + ", " + place,
               "add.u32 " + any() + ", " + value, "add.u32 " + any() + ", " + value,
               "xor.b32 " + value + ", n", "fma.rn.f32 " + number + ", " + real() + ", " + real(),
               "bar.sync 0; st.shared.u32 [q+4], " + any() + "; bar.sync 0",
               "setp.gt.u32 p, i, 40; @p add.u32 " + any() + ", " + value) +
        ";\n";
  }
  text += "mov.u32 r, 0;";
  for (const char* each : {"x", "y", "z", "z1", "z2"})
    text += std::string{"mad.lo.u32 r, r, 31, "} + each + ";";
  for (const char* each : {"f", "f0", "g", "h"})
    text += std::string{"mov.b32 t, "} + each + "; mad.lo.u32 r, r, 31, t;";
  return words + text + "st.global.u32 [a], r;";
}

TEST(transcript, a_repeated_block_has_the_results_of_one_that_a_scheduler_runs) {
  exec::run_options scheduled;
  scheduled.seed = 3;
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    const std::string body = random_body(seed);
    const blocks_run repeated = run_blocks(body), run = run_blocks(body, 16, scheduled);
    ASSERT_EQ(repeated.ready, "yyy") << body;
    ASSERT_EQ(run.ready, "---");
    ASSERT_EQ(repeated.values, run.values) << body;
  }
}

}  // namespace
}  // namespace halfwarp::tests

// SPDX-License-Identifier: Apache-2.0
// Selection of the kernels whose blocks repeat the calls of a recorded block.
#include "emulator/exec/schedule/transcript.hpp"

#include <gtest/gtest.h>

#include "../machine.hpp"
#include "emulator/exec/decode/kernel_decoder.hpp"
#include "emulator/exec/schedule/block.hpp"
#include "emulator/exec/schedule/cluster.hpp"

namespace halfwarp::tests {
namespace {

// Runs the first blocks of a kernel, each whole. Returns for each whether a transcript is ready
// then.
std::string readiness(const std::string& body, std::uint32_t blocks = 16,
                      const exec::run_options& options = {}, std::uint64_t count = 3) {
  machine m;
  exec::executable& loaded = m.load(
      ".visible .entry k(.param .u64 io) { .reg .b64 a, o; .reg .b32 i, n, r, t; .reg .pred p;\n"
      ".shared .align 4 .b8 s[1024];\n"
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
  std::string ready;
  for (std::uint64_t number = 0; number < count; ++number) {
    exec::begin(block, number);
    while (exec::run_round(block) != exec::block_progress::finished) {
    }
    EXPECT_EQ(block.live_threads, 0u);
    ready += !block.script ? '-' : block.script->is_ready() ? 'y' : 'n';
  }
  return ready;
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

}  // namespace
}  // namespace halfwarp::tests

// SPDX-License-Identifier: Apache-2.0
// Fences with flags, barriers of some warps and masks of lanes order two accesses.
#include "../checked.hpp"

namespace halfwarp::tests {
namespace {

class race_order : public checked {
 protected:
  race_order() { m.options.check_races = true; }
  // Returns the instructions of the later accesses that race.
  strings races_of(const std::string& body, std::uint32_t threads, std::uint32_t blocks) {
    std::memset(m.view<char>(x), 0, 64);
    m.load(
        kernel(".reg .pred q; mov.u32 u, %ctaid.x;\n" + body, ".shared .align 16 .b8 s[1024];\n"));
    const auto result = m.run("k", {blocks, 1, 1}, {threads, 1, 1}, x, y);
    EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
    strings all;
    findings = result.findings;
    for (const report::fault& each : result.findings) {
      EXPECT_EQ(each.kind, report::fault_kind::race);
      all.push_back(each.instruction);
    }
    return all;
  }
  std::vector<report::fault> findings;
};

const std::string load_data = "ld.global.u32 w, [a]";
const strings none, on_data{load_data};
const std::string fence = "fence.acq_rel.gpu; ", cta_fence = "fence.acq_rel.cta; ";
const std::string signal = "st.relaxed.gpu.global.u32 [a+32], 1; ";

// Code of one block.
std::string in_block(int number, const std::string& body) {
  const std::string label = "E" + std::to_string(number);
  return "setp.ne.u32 p, u, " + std::to_string(number) + "; @p bra " + label + "; " + body + label +
         ":\n";
}
std::string wait_for(const std::string& value, const std::string& load = "ld.relaxed.gpu") {
  static int loops = 0;
  const std::string label = "L" + std::to_string(++loops);
  return label + ": " + load + ".global.u32 v, [a+32]; setp.ne.u32 p, v, " + value + "; @p bra " +
         label + "; ";
}
std::string message(const std::string& release, const std::string& acquire) {
  return in_block(0, "st.global.u32 [a], 5; " + release) + in_block(1, acquire + load_data + ";");
}

TEST_F(race_order, of_blocks_needs_fences_at_both_ends) {
  const std::string wait = wait_for("1");
  EXPECT_EQ(races_of(message(fence + signal, wait + fence), 1, 2), none);
  EXPECT_EQ(races_of(message(signal, wait + fence), 1, 2), on_data);
  EXPECT_EQ(races_of(message(fence + signal, wait), 1, 2), on_data);
  EXPECT_EQ(races_of(message(signal, wait), 1, 2), on_data);
  EXPECT_EQ(races_of(message(signal + fence, wait + fence), 1, 2), on_data) << "behind the signal";
  EXPECT_EQ(races_of(message(fence + signal, fence + wait), 1, 2), on_data) << "before the wait";
  EXPECT_EQ(findings.at(0).hint,
            "no order is between the two blocks: atomics with fences, a grid barrier or another "
            "launch would order them");
  EXPECT_EQ(findings[0].earlier->instruction, "st.global.u32 [a], 5");
  EXPECT_EQ(findings[0].detail, "write-read");
  EXPECT_EQ(findings[0].block_index[0], 1u);
  EXPECT_EQ(findings[0].earlier->block_index[0], 0u);
}

TEST_F(race_order, of_blocks_needs_the_scope_of_the_device) {
  const std::string wait = wait_for("1");
  EXPECT_EQ(races_of(message(cta_fence + signal, wait + fence), 1, 2), on_data);
  EXPECT_EQ(races_of(message(fence + signal, wait + cta_fence), 1, 2), on_data);
  EXPECT_EQ(races_of(message("fence.acq_rel.sys; " + signal, wait + "fence.sc.gpu; "), 1, 2), none);
  EXPECT_EQ(races_of(message("membar.gl; " + signal, wait + "membar.sys; "), 1, 2), none);
  EXPECT_EQ(races_of(message("membar.cta; " + signal, wait + "membar.gl; "), 1, 2), on_data);
  const std::string release = "st.release.gpu.global.u32 [a+32], 1; ";
  EXPECT_EQ(races_of(message(release, wait_for("1", "ld.acquire.gpu")), 1, 2), none);
  EXPECT_EQ(races_of(message(release, wait), 1, 2), on_data);
  EXPECT_EQ(races_of(message(signal, wait_for("1", "ld.acquire.gpu")), 1, 2), on_data);
  const std::string cta = "st.release.cta.global.u32 [a+32], 1; ";
  EXPECT_NE(races_of(message(cta, wait_for("1", "ld.acquire.cta")), 1, 2), none);
}

TEST_F(race_order, passes_through_other_blocks) {
  const std::string first = in_block(0, "st.global.u32 [a], 5; " + fence + signal);
  const std::string last = wait_for("2") + fence + load_data + ";";
  const std::string next = "st.relaxed.gpu.global.u32 [a+32], 2; ";
  EXPECT_EQ(races_of(first + in_block(1, wait_for("1") + fence + next) + in_block(2, last), 1, 3),
            none);
  EXPECT_EQ(races_of(first + in_block(1, wait_for("1") + next) + in_block(2, last), 1, 3), on_data);
  // An atomic operation keeps the releases of others; a store replaces them.
  const std::string add = "atom.relaxed.gpu.global.add.u32 v, [a+32], 1; ";
  EXPECT_EQ(races_of(first + in_block(1, wait_for("1") + add) + in_block(2, last), 1, 3), none);
}

TEST_F(race_order, of_warps_needs_the_scope_of_the_block) {
  const auto between_warps = [&](const std::string& release, const std::string& acquire) {
    return "shr.u32 u, t, 5; and.b32 v, t, 31; setp.ne.u32 p, v, 0; @p exit;\n" +
           message(release, acquire);
  };
  const std::string wait = wait_for("1");
  EXPECT_EQ(races_of(between_warps(cta_fence + signal, wait + cta_fence), 64, 1), none);
  EXPECT_EQ(races_of(between_warps(signal, wait + cta_fence), 64, 1), on_data);
  EXPECT_EQ(races_of(between_warps(cta_fence + signal, wait), 64, 1), on_data);
  EXPECT_EQ(races_of(between_warps("st.release.cta.global.u32 [a+32], 1; ",
                                   wait_for("1", "ld.acquire.cta")),
                     64, 1),
            none);
}

// A thread of block 0 signals for its block. A thread of block 1 waits for its own.
TEST_F(race_order, of_blocks_includes_barriers) {
  const auto of_block = [&](const std::string& before, const std::string& signaling,
                            const std::string& waiting, const std::string& after) {
    return in_block(0, "setp.eq.u32 p, t, 40; @p st.global.u32 [a], 5; " + before +
                           "bar.sync 0; setp.ne.u32 p, t, 0; @p exit; " + signaling) +
           in_block(1, "setp.ne.u32 p, t, 0; @p bra W; " + waiting + "W: bar.sync 0; " + after +
                           "setp.ne.u32 p, t, 50; @p exit; " + load_data + ";");
  };
  const std::string wait = wait_for("1");
  EXPECT_EQ(races_of(of_block("", fence + signal, wait + fence, ""), 64, 2), none);
  EXPECT_EQ(races_of(of_block(fence, signal, wait + fence, ""), 64, 2), none);
  EXPECT_EQ(races_of(of_block("", fence + signal, wait, fence), 64, 2), none);
  EXPECT_EQ(races_of(of_block("", signal, wait + fence, ""), 64, 2), on_data);
  EXPECT_EQ(races_of(of_block(cta_fence, signal, wait + fence, ""), 64, 2), on_data);
  EXPECT_EQ(races_of(of_block("", fence + signal, wait, ""), 64, 2), on_data);
  EXPECT_EQ(
      races_of(of_block("setp.lt.u32 p, t, 32; @p fence.acq_rel.gpu; ", signal, wait + fence, ""),
               64, 2),
      on_data)
      << "a fence of another warp";
}

// ---- barriers of some warps

std::string in_warp(int number, const std::string& body) {
  const std::string label = "W" + std::to_string(number);
  return "shr.u32 v, t, 5; setp.ne.u32 q, v, " + std::to_string(number) + "; @q bra " + label +
         "; " + body + label + ":\n";
}
std::string store_by(int thread) {
  return "setp.eq.u32 p, t, " + std::to_string(thread) + "; @p st.shared.u32 [s], 7; ";
}
std::string load_by(int thread) {
  return "setp.eq.u32 p, t, " + std::to_string(thread) + "; @p ld.shared.u32 w, [s]; ";
}
const strings on_load{"@p ld.shared.u32 w, [s]"}, on_store{"@p st.shared.u32 [s], 7"};

TEST_F(race_order, of_some_warps_comes_from_their_barrier) {
  const auto of = [&](const std::string& body) { return races_of(body, 96, 1); };
  const std::string pair = "bar.sync 1, 64; ";
  EXPECT_EQ(of(in_warp(0, store_by(0) + pair) + in_warp(1, pair + load_by(40))), none);
  EXPECT_EQ(of(in_warp(0, store_by(0) + pair) + in_warp(1, pair) + in_warp(2, load_by(70))),
            on_load);
  EXPECT_EQ(of(in_warp(0, pair + store_by(0)) + in_warp(1, pair + load_by(40))), on_store);
  // Two barriers in a row order the first warp before the third.
  const std::string next = "bar.sync 2, 64; ";
  EXPECT_EQ(
      of(in_warp(0, store_by(0) + pair) + in_warp(1, pair + next) + in_warp(2, next + load_by(70))),
      none);
  EXPECT_EQ(
      of(in_warp(0, store_by(0) + pair) + in_warp(1, next + pair) + in_warp(2, next + load_by(70))),
      on_load);
  // The barrier of the block orders all.
  EXPECT_EQ(of(in_warp(0, store_by(0)) + "bar.sync 0; " + in_warp(2, load_by(70))), none);
  EXPECT_EQ(findings.size(), 0u);
}

TEST_F(race_order, of_an_arrival_has_one_direction) {
  const auto of = [&](const std::string& body) { return races_of(body + "bar.sync 0;", 64, 1); };
  const std::string arrive = "bar.arrive 1, 64; ", wait = "bar.sync 1, 64; ";
  EXPECT_EQ(of(in_warp(0, store_by(0) + arrive) + in_warp(1, wait + load_by(40))), none);
  EXPECT_EQ(of(in_warp(0, arrive + store_by(0)) + in_warp(1, wait + load_by(40))), on_load);
  EXPECT_EQ(
      of(in_warp(1, store_by(40) + wait) + in_warp(0, arrive + "nanosleep.u32 5;" + load_by(0)))
          .size(),
      1u);
}

// ---- lanes

TEST_F(race_order, of_lanes_comes_from_masks) {
  const auto of = [&](const std::string& body) { return races_of(body, 32, 1); };
  const std::string two = "setp.lt.u32 q, t, 2; @q bar.warp.sync 3; ";
  EXPECT_EQ(of(store_by(0) + two + load_by(1)), none);
  EXPECT_EQ(of(store_by(0) + two + load_by(2)), on_load);
  EXPECT_EQ(findings.at(0).thread[0], 2u);
  EXPECT_EQ(findings[0].earlier->thread[0], 0u);
  EXPECT_NE(findings[0].hint.find("the lanes of a warp do not run in lock step: __syncwarp() after "
                                  "PTX line "),
            std::string::npos)
      << findings[0].hint;
  // Masks in a row pass the order on.
  const std::string next = "sub.u32 v, t, 1; setp.lt.u32 q, v, 2; @q bar.warp.sync 6; ";
  EXPECT_EQ(of(store_by(0) + two + next + load_by(2)), none);
  EXPECT_EQ(of(store_by(0) + next + two + load_by(2)), on_load);
  EXPECT_EQ(of(store_by(0) + "bar.warp.sync -1; " + load_by(9)), none);
  EXPECT_EQ(of(store_by(0) + two + "bar.warp.sync -1; " + load_by(9)), none);
  EXPECT_EQ(of(store_by(0) + "vote.sync.any.pred q, p, -1; " + load_by(9)), on_load);
  EXPECT_EQ(of(store_by(0) + load_by(0)), none);
}

// ---- the texts

TEST_F(race_order, names_what_is_wrong) {
  EXPECT_EQ(races_of(in_warp(0, store_by(0)) + in_warp(1, load_by(40)), 64, 1), on_load);
  EXPECT_NE(findings.at(0).hint.find(
                "no barrier of the block is between them: __syncthreads() after PTX line "),
            std::string::npos);
  EXPECT_EQ(findings[0].space, report::memory_space::shared);
  EXPECT_EQ(findings[0].bytes, 4u);
  EXPECT_EQ(findings[0].access, report::access_kind::load);
  EXPECT_EQ(findings[0].earlier->access, report::access_kind::store);
  EXPECT_EQ(races_of("red.relaxed.cta.global.add.u32 [a+16], 1;", 1, 2).size(), 1u);
  EXPECT_EQ(findings.at(0).hint.find("the scope .cta of an access"), 0u);
  EXPECT_EQ(findings[0].access, report::access_kind::atomic);
  EXPECT_EQ(findings[0].nearest->base, x);
  races_of(in_block(0, "red.global.add.u64 [a+16], 1; ") + in_block(1,
                                                                    "red.global.add.u32 [a+16], "
                                                                    "1;"),
           1, 2);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].hint,
            "atomic accesses of different widths do not exclude each other: use one width");
  EXPECT_EQ(races_of("st.shared.u32 [s], t;", 32, 1).size(), 1u);
  EXPECT_EQ(findings[0].hint.find("one instruction stores different values to one address"), 0u);
  EXPECT_EQ(findings[0].detail, "write-write");
  EXPECT_FALSE(findings[0].earlier);
}

TEST_F(race_order, keeps_several_readers) {
  // Warps 0 to 2 read; the store of warp 3 races with each that no barrier orders.
  const auto of = [&](const std::string& body) { return races_of(body + "bar.sync 0;", 128, 1); };
  const std::string all_read = "ld.shared.u32 w, [s]; ";
  const std::string pair = "bar.sync 1, 64; ";
  EXPECT_EQ(of(all_read + "bar.sync 0; " + in_warp(3, store_by(100))), none);
  EXPECT_EQ(of(in_warp(0, all_read) + in_warp(3, store_by(100))), on_store);
  EXPECT_EQ(of(in_warp(0, all_read + pair) + in_warp(3, pair + store_by(100))), none);
  EXPECT_EQ(
      of(in_warp(0, all_read + pair) + in_warp(1, all_read) + in_warp(3, pair + store_by(100))),
      on_store);
  EXPECT_EQ(findings.at(0).detail, "read-write");
}

}  // namespace
}  // namespace halfwarp::tests

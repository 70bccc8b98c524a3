// SPDX-License-Identifier: Apache-2.0
// The counts of an mbarrier: their limits, and the faults at each of them.
#include "copying_kernel.hpp"

namespace halfwarp::tests {
namespace {

const std::string most = "1048575";  // the greatest count of arrivals, and of bytes

class phase_barrier : public copying_kernel {
 protected:
  static std::string init(const std::string& count) {
    return "mbarrier.init.shared.b64 [bar], " + count + ";\n";
  }
  // 1 if the phase of a parity is complete
  static std::string test(const std::string& parity, const std::string& at) {
    return "mbarrier.test_wait.parity.shared.b64 p, [bar], " + parity +
           "; selp.u32 n, 1, 0, p; st.global.u32 [g+" + at + "], n;\n";
  }
};

TEST_F(phase_barrier, counts_1_to_1048575_arrivals) {
  EXPECT_EQ(detail_of(init("1")), "");
  EXPECT_EQ(detail_of(init(most)), "");
  EXPECT_EQ(detail_of(init("0")), "the count of arrivals is 0");
  EXPECT_EQ(detail_of(init("1048576")), "the count of arrivals is 1048576");
}

TEST_F(phase_barrier, accepts_at_most_the_pending_arrivals) {
  EXPECT_EQ(detail_of(init("2") + "mbarrier.arrive.shared.b64 v, [bar], 2;"), "");
  EXPECT_EQ(detail_of(init("2") + "mbarrier.arrive.shared.b64 v, [bar], 1;"), "");
  EXPECT_EQ(detail_of(init("2") + "mbarrier.arrive.shared.b64 v, [bar], 3;"),
            "the pending count is 2, and the arrivals are 3");
  EXPECT_EQ(detail_of(init("2") + "mbarrier.arrive.shared.b64 v, [bar], 0;"),
            "the pending count is 2, and the arrivals are 0");
}

TEST_F(phase_barrier, without_completion_is_not_completed) {
  const std::string arrive = "mbarrier.arrive.noComplete.shared.b64 v, [bar], 2;";
  EXPECT_EQ(detail_of(init("3") + arrive), "");
  EXPECT_EQ(detail_of(init("2") + arrive),
            "an arrival with .noComplete completes the phase, with the count 2");
  EXPECT_EQ(detail_of(init("2") + "mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 8;" + arrive),
            "");
}

TEST_F(phase_barrier, counts_bytes_in_both_directions) {
  const auto change = [](const std::string& word, const std::string& bytes) {
    return "mbarrier." + word + "_tx.relaxed.cta.shared.b64 [bar], " + bytes + ";\n";
  };
  EXPECT_EQ(detail_of(init("1") + change("expect", most)), "");
  EXPECT_EQ(detail_of(init("1") + change("expect", most) + change("expect", "1")),
            "a count of the barrier would be 1048576");
  EXPECT_EQ(detail_of(init("1") + change("complete", most)), "");
  EXPECT_EQ(detail_of(init("1") + change("complete", most) + change("complete", "1")),
            "a count of the barrier would be -1048576");
  EXPECT_EQ(detail_of(init("1") + change("expect", most) +
                      "mbarrier.arrive.expect_tx.shared.b64 v, [bar], 1;"),
            "a count of the barrier would be 1048576");
}

TEST_F(phase_barrier, is_complete_without_pending_bytes) {
  const std::string bytes = "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 16;\n";
  EXPECT_EQ(results(init("1") + "mbarrier.arrive.expect_tx.shared.b64 v, [bar], 32;\n" +
                        test("0", "0") + bytes + test("0", "4") + bytes + test("0", "8") +
                        test("1", "12") + test("3", "16"),
                    5),
            (numbers{0, 0, 1, 0, 0}));
}

// Completed bytes that nobody expects end at the least count, as at the greatest one.
TEST_F(phase_barrier, keeps_a_count_within_its_limits_when_a_copy_ends) {
  EXPECT_EQ(
      results(init("1") + "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], " + most +
                  ";\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], "
                  "[g], 16, [bar];\n" +
                  "mbarrier.arrive.expect_tx.shared.b64 v, [bar], " + most + ";\n" + test("0", "0"),
              1),
      numbers{1});
}

TEST_F(phase_barrier, has_a_token_with_phase_and_pending_count) {
  const std::string arrive = "mbarrier.arrive.shared.b64 v, [bar], 1048574;\n";
  const std::string count = "mbarrier.pending_count.b64 n, v; st.global.u32 [g";
  EXPECT_EQ(
      results(init(most) + arrive + count + "], n;" + "mbarrier.arrive.shared.b64 v, [bar]; " +
                  count + "+4], n;" + "mbarrier.arrive.shared.b64 v, [bar]; " + count + "+8], n;",
              3),
      (numbers{1048575, 1, 1048575}));
}

TEST_F(phase_barrier, has_tokens_of_the_present_and_the_last_phase) {
  const auto test_of = [](const std::string& token, const std::string& at) {
    return "mbarrier.test_wait.shared.b64 p, [bar], " + token +
           "; selp.u32 n, 1, 0, p; st.global.u32 [g+" + at + "], n;\n";
  };
  EXPECT_EQ(
      results(init("1") + "mbarrier.arrive.shared.b64 v, [bar];" + test_of("v", "0") +
                  "mbarrier.arrive.shared.b64 w, [bar];" + test_of("w", "4") + test_of("v", "8") +
                  "mbarrier.arrive.shared.b64 v, [bar];" + test_of("w", "12") + test_of("v", "16"),
              5),
      (numbers{1, 1, 0, 0, 1}));
}

TEST_F(phase_barrier, leaves_zeros_when_it_ends) {
  EXPECT_EQ(
      results(init("3") + "mbarrier.inval.shared.b64 [bar]; ld.shared.v2.u32 {r0, r1}, [bar];"
                          "add.u32 r0, r0, 5; add.u32 r1, r1, 6; st.global.v2.u32 [g], {r0, r1};",
              2),
      (numbers{5, 6}));
}

TEST_F(phase_barrier, loses_the_dropped_arrivals) {
  const std::string count = "mbarrier.pending_count.b64 n, v; st.global.u32 [g";
  EXPECT_EQ(results(init("9") + "mbarrier.arrive_drop.shared.b64 v, [bar], 3;" +
                        "mbarrier.arrive.shared.b64 v, [bar], 6; " + count + "], n;" +
                        "mbarrier.arrive.shared.b64 v, [bar]; " + count + "+4], n;",
                    2),
            (numbers{6, 6}));
}

TEST_F(phase_barrier, needs_an_initialization) {
  EXPECT_EQ(detail_of("mbarrier.arrive.shared.b64 v, [bar+8];"),
            "there is no mbarrier at offset 264 of shared memory");
  EXPECT_EQ(detail_of(init("1") + "st.shared.u32 [bar+4], 0; mbarrier.arrive.shared.b64 v, [bar];"),
            "there is no mbarrier at offset 256 of shared memory");
}

TEST_F(phase_barrier, has_an_aligned_place_in_shared_memory) {
  const auto arrive_at = [&](const std::string& place) {
    return *run("mbarrier.arrive.shared.b64 v, [" + place + "];").fault;
  };
  const report::fault odd = arrive_at("bar+4"), outside = arrive_at("bar+16");
  EXPECT_EQ(odd.kind, fault_kind::misaligned);
  EXPECT_EQ(outside.kind, fault_kind::out_of_bounds);
  EXPECT_EQ(outside.address, 272u);
  for (const report::fault& each : {odd, outside}) {
    EXPECT_EQ(each.access, report::access_kind::atomic);
    EXPECT_EQ(each.bytes, 8u);
    EXPECT_EQ(each.space, report::memory_space::shared);
  }
}

// Each copy raises the pending count until it ends.
TEST_F(phase_barrier, has_at_most_16384_copies_in_flight) {
  m.options.copies_are_late = true;
  const auto copies = [&](const std::string& count) {
    return init("1") +
           "mov.u32 n, 0; A: cp.async.mbarrier.arrive.shared.b64 [bar];"
           "add.u32 n, n, 1; setp.lt.u32 p, n, " +
           count + "; @p bra A;\nmbarrier.arrive.shared.b64 v, [bar];";
  };
  EXPECT_EQ(detail_of(copies("16384")), "");
  EXPECT_EQ(detail_of(copies("16385")), "there is no mbarrier at offset 256 of shared memory");
}

// The arrival of a copy comes when the phase has none left.
TEST_F(phase_barrier, ignores_an_arrival_of_a_copy_too_many) {
  m.options.copies_are_late = true;
  EXPECT_EQ(results(init("1") +
                        "mbarrier.arrive.expect_tx.shared.b64 v, [bar], 16;\n"
                        "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" +
                        test("0", "0") +
                        "mbarrier.complete_tx.relaxed.cta.shared.b64 [bar], 16;\n" + test("0", "4"),
                    2),
            (numbers{0, 1}));
}

TEST_F(phase_barrier, answers_the_lanes_that_ask) {
  const std::string ask =
      "setp.ne.u32 p, t, 99; setp.ne.u32 q, t, 2; @q bra E;\n"
      "mbarrier.test_wait.parity.shared.b64 p, [bar], 0; E: selp.u32 n, 1, 0, p;"
      "mul.wide.u32 w, t, 4; add.u64 w, w, g; st.global.u32 [w], n;";
  EXPECT_EQ(
      results("setp.eq.u32 p, t, 0; @p mbarrier.init.shared.b64 [bar], 1; bar.sync 0;" + ask, 4, 4),
      (numbers{1, 1, 0, 1}));
}

}  // namespace
}  // namespace halfwarp::tests

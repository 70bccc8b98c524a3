// SPDX-License-Identifier: Apache-2.0
// The rules of barriers and masks, each broken once.
#include "checked.hpp"

namespace halfwarp::tests {
namespace {

class barriers : public checked {
 protected:
  barriers() { m.options.check_barriers = true; }
  // Returns the details of the findings.
  strings of(const std::string& body, std::uint32_t threads = 64, std::uint32_t blocks = 1) {
    m.load(kernel(body, ".shared .align 16 .b8 s[1024];\n"));
    const auto result = m.run("k", {blocks, 1, 1}, {threads, 1, 1}, x, y);
    strings all;
    for (const report::fault& each : result.findings) {
      EXPECT_EQ(each.kind, report::fault_kind::barrier);
      all.push_back(each.detail);
    }
    findings = result.findings;
    return all;
  }
  std::vector<report::fault> findings;
};

TEST_F(barriers, count_whole_warps) {
  EXPECT_EQ(of("barrier.sync 1, 64;"), strings{});
  EXPECT_EQ(of("setp.lt.u32 p, t, 48; @p barrier.sync 1, 48;"),
            (strings{"the thread count 48 is no multiple of the warp size"}));
  EXPECT_EQ(findings.at(0).hint, "pass the number of threads of all warps that arrive");
}

TEST_F(barriers, have_one_count) {
  const std::string two = "setp.lt.u32 p, t, 32; @p bra A; bar.sync 1, 64; bra B; A: bar.sync 1";
  EXPECT_EQ(of(two + ", 64; B:"), strings{});
  EXPECT_EQ(of(two + "; B:").at(0), "the threads of one barrier expect 0 and 64 threads");
  EXPECT_EQ(findings.at(0).hint, "pass the same count at each instruction of a barrier");
}

TEST_F(barriers, have_one_instruction) {
  const auto two = [](const std::string& a, const std::string& b) {
    return "setp.lt.u32 p, t, 32; @p bra A; " + a + " bra B; A: " + b + " B:";
  };
  const std::string red = "bar.red.popc.u32 u, 0, p;", wait = "bar.sync 0;";
  EXPECT_EQ(of(two(wait, wait)), strings{});
  EXPECT_EQ(of(two(red, red)), strings{});
  const strings mixed{"some threads reduce at the barrier, and some only wait"};
  EXPECT_EQ(of(two(red, wait)), mixed);
  EXPECT_EQ(of(two(wait, red)), mixed);
  EXPECT_EQ(findings.at(0).hint, "use the same instruction in all threads of a barrier");
}

// ---- threads that exit before a barrier that others wait at

const std::string skip = "threads skip a barrier at which other threads of their block wait";

// Threads with u < limit store, and exit; the others wait first, if they exit later.
std::string early_exit(const std::string& early_store, const std::string& late_store) {
  return "mov.u32 u, s; mad.lo.u32 u, t, 4, u; setp.lt.u32 p, t, 32; @p bra A; bar.sync 0; " +
         late_store + " A: " + early_store + " ret;";
}

TEST_F(barriers, are_skipped_by_threads_that_store_behind_them) {
  EXPECT_EQ(of(early_exit("st.shared.u32 [u], t;", "")), (strings{skip}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].count, 32u);
  EXPECT_EQ(findings[0].instruction, "bar.sync 0");
  ASSERT_TRUE(findings[0].earlier);
  EXPECT_EQ(findings[0].earlier->instruction, "st.shared.u32 [u], t");
  EXPECT_EQ(findings[0].earlier->access, report::access_kind::store);
  EXPECT_EQ(findings[0].thread[0], 0u);
  EXPECT_EQ(of(early_exit("", "st.shared.u32 [u], t;")), strings{});  // returned early
  EXPECT_EQ(of(early_exit("ld.shared.u32 v, [u];", "")), strings{});
}

TEST_F(barriers, are_skipped_by_lanes_of_a_warp) {
  const std::string body =
      "mov.u32 u, s; mad.lo.u32 u, t, 4, u; and.b32 v, t, 1; setp.eq.u32 p, v, 0; @p bra A;"
      "barrier.sync 0; A: st.shared.u32 [u], t; ret;";
  EXPECT_EQ(of(body, 32), (strings{skip}));
  EXPECT_EQ(findings.at(0).count, 16u);
}

TEST_F(barriers, in_loops_are_skipped_in_some_rounds) {
  const auto loop = [](const std::string& rounds) {
    return "mov.u32 u, s; mad.lo.u32 u, t, 4, u; shr.u32 w, t, 5; add.u32 w, w, " + rounds +
           "; A: bar.sync 0; st.shared.u32 [u], t; sub.u32 w, w, 1; setp.ne.u32 p, w, 0; @p bra "
           "A; st.shared.u32 [u+512], t;";
  };
  EXPECT_EQ(of(loop("1")), (strings{skip}));
  EXPECT_EQ(of("setp.lt.u32 p, t, 32; @p bra E; " + loop("1") + " E:"), strings{});
}

// A barrier in a called function counts as the kernel's call.
TEST_F(barriers, in_called_functions_are_skipped) {
  const std::string functions =
      ".func inner() { bar.sync 0; ret; }\n.func middle() { call.uni inner, (); ret; }\n"
      ".func outer() { call.uni middle, (); ret; }\n.shared .align 16 .b8 s[1024];\n";
  for (const std::string name : {"inner", "middle", "outer"}) {
    m.load(kernel("mov.u32 u, s; mad.lo.u32 u, t, 4, u; setp.lt.u32 p, t, 32; @p bra A; call.uni " +
                      name + ", (); A: st.shared.u32 [u], t; ret;",
                  functions));
    const auto result = m.run("k", {1}, {64}, x, y);
    ASSERT_EQ(result.findings.size(), 1u) << name;
    EXPECT_EQ(result.findings[0].detail, skip);
    EXPECT_EQ(result.findings[0].instruction.find("call.uni " + name), 0u)
        << result.findings[0].instruction;
    EXPECT_EQ(result.findings[0].count, 32u);
  }
}

// ---- clusters

TEST_F(barriers, of_a_cluster_are_skipped) {
  m.cluster = {2};
  const auto body = [](const std::string& who) {
    return "mov.u32 u, %ctaid.x; mov.u32 v, s; setp.eq.u32 p, u, " + who +
           "; @p bra A; barrier.cluster.arrive; barrier.cluster.wait; A: st.shared.u32 [v], 1; "
           "ret;";
  };
  EXPECT_EQ(of(body("1"), 1, 2),
            (strings{"threads skip the barrier of their cluster, at which others wait"}));
  EXPECT_EQ(findings.at(0).block_index[0], 1u);
  EXPECT_EQ(of(body("2"), 1, 2), strings{});
}

// A block that stores and returns early skips nothing, whatever the others do.
TEST_F(barriers, of_a_cluster_are_judged_for_each_block) {
  m.cluster = {3};
  for (const std::uint32_t early : {0u, 1u, 2u}) {
    for (const std::uint32_t late : {0u, 1u, 2u}) {
      if (early == late) continue;
      EXPECT_EQ(of("mov.u32 u, %ctaid.x; mov.u32 v, s; setp.eq.u32 p, u, " + std::to_string(early) +
                       "; @p bra B; setp.eq.u32 p, u, " + std::to_string(late) +
                       "; @p bra A; barrier.cluster.arrive; barrier.cluster.wait; "
                       "A: st.shared.u32 [v], 1; ret; B: st.shared.u32 [v], 2; ret;",
                   1, 3),
                (strings{"threads skip the barrier of their cluster, at which others wait"}));
      ASSERT_EQ(findings.size(), 1u);
      EXPECT_EQ(findings[0].count, 1u);
      EXPECT_EQ(findings[0].block_index[0], late);
    }
  }
}

// ---- masks

const std::string unequal =
    "the lanes of one instruction have different masks that name each other";

TEST_F(barriers, of_lanes_have_one_mask) {
  const auto masks = [](const std::string& even, const std::string& odd) {
    return "and.b32 u, t, 1; setp.eq.u32 p, u, 0; selp.u32 u, " + even + ", " + odd +
           ", p; bar.warp.sync u;";
  };
  EXPECT_EQ(of(masks("-1", "-1"), 32), strings{});
  EXPECT_EQ(of(masks("0x55555555", "0xaaaaaaaa"), 32), strings{});
  m.options.check_sync = false;
  EXPECT_EQ(of(masks("0x55555555", "-1"), 32), (strings{unequal}));
  EXPECT_EQ(findings.at(0).thread[0], 1u);
  EXPECT_EQ(of(masks("-1", "0xaaaaaaaa"), 32).size(), 1u);
}

TEST_F(barriers, name_lanes_that_have_exited) {
  const std::string exited = "lanes that the mask names used another mask and exited";
  const auto body = [](const std::string& early, const std::string& late) {
    return "mov.u32 u, s; mad.lo.u32 u, t, 4, u; setp.lt.u32 p, t, 8; @!p bra A; bar.warp.sync " +
           early + "; st.shared.u32 [u], t; exit; A: nanosleep.u32 1; bar.warp.sync " + late +
           "; st.shared.u32 [u], t;";
  };
  EXPECT_EQ(of(body("0xff", "0xffffff00"), 32), strings{});
  EXPECT_EQ(of(body("0xff", "-1"), 32), strings{});
}

}  // namespace
}  // namespace halfwarp::tests

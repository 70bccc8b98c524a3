// SPDX-License-Identifier: Apache-2.0
// Accesses to the bytes of an asynchronous copy before the wait for it.
#include "checked.hpp"

namespace halfwarp::tests {
namespace {

const std::string to_target = "an access before the wait for the asynchronous copy to these bytes";
const std::string to_source = "a store before the wait for the asynchronous copy from these bytes";

class copies : public checked {
 protected:
  copies() { m.options.check_barriers = true; }
  // Returns the details of the findings. The address of the thread's word is in w.
  strings of(const std::string& body, exec::extent block = {32, 1, 1}) {
    m.load(
        kernel(".reg .pred q; mov.u32 w, s; mad.lo.u32 w, t, 4, w; setp.eq.u32 p, t, 0;\n" + body,
               ".shared .align 16 .b8 s[1024];\n"));
    const auto result = m.run("k", {1, 1, 1}, block, x, y);
    EXPECT_FALSE(result.fault) << report::full_text(*result.fault) << body;
    strings all;
    for (const report::fault& each : result.findings) {
      EXPECT_EQ(each.kind, report::fault_kind::async_copy);
      all.push_back(each.detail);
    }
    findings = result.findings;
    return all;
  }
  std::vector<report::fault> findings;
};

const std::string copy = "cp.async.ca.shared.global [w], [b], 4; ";
const std::string next = "cp.async.ca.shared.global [w+128], [b], 4; ";
const std::string commit = "cp.async.commit_group; ", all = "cp.async.wait_all; ";
const std::string load = "ld.shared.u32 u, [w]; ", load_next = "ld.shared.u32 v, [w+128]; ";

TEST_F(copies, end_at_the_wait_for_their_group) {
  const auto wait = [](int groups) {
    return "cp.async.wait_group " + std::to_string(groups) + "; ";
  };
  const strings early{to_target};
  EXPECT_EQ(of(copy + commit + load + all), early);
  EXPECT_EQ(findings.at(0).count, 32u);
  EXPECT_EQ(of(copy + commit + wait(0) + load), strings{});
  EXPECT_EQ(of(copy + commit + wait(1) + load + all), early);
  EXPECT_EQ(of(copy + all + load), strings{}) << "without a commit";
  EXPECT_EQ(of(copy + wait(0) + load + all), early) << "without a commit";
  EXPECT_EQ(of(copy + commit + next + commit + wait(1) + load + all), strings{});
  EXPECT_EQ(of(copy + commit + next + commit + wait(1) + load_next + all), early);
  EXPECT_EQ(of(copy + commit + next + commit + wait(2) + load + all), early);
  EXPECT_EQ(of(copy + next + commit + wait(0) + load + load_next), strings{});
}

// The barrier publishes the copies to the threads that test its phase.
TEST_F(copies, end_at_the_arrival_at_a_barrier_of_phases) {
  const std::string init = "@p mbarrier.init.shared.b64 [s+512], 32; bar.sync 0; ";
  EXPECT_EQ(of(init + copy + "cp.async.mbarrier.arrive.noinc.shared.b64 [s+512]; " + load),
            strings{});
  EXPECT_EQ(of(init + copy + load + "cp.async.mbarrier.arrive.noinc.shared.b64 [s+512];"),
            (strings{to_target}));
}

TEST_F(copies, concern_the_accesses_of_all_threads) {
  const std::string of_one = "@p " + copy + "@p " + commit;
  const std::string read = "setp.eq.u32 q, t, 1; @q ld.shared.u32 v, [s]; ";
  EXPECT_EQ(of(of_one + "bar.sync 0; " + read + all), (strings{to_target}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].count, 1u);
  EXPECT_EQ(findings[0].thread[0], 1u);
  EXPECT_EQ(findings[0].space, report::memory_space::shared);
  EXPECT_EQ(findings[0].address, 0u);
  EXPECT_EQ(findings[0].instruction, "@q ld.shared.u32 v, [s]");
  EXPECT_EQ(findings[0].hint,
            "wait for the group of the copy in the thread that started it, then synchronize the "
            "threads: cp.async.wait_group and __syncthreads()");
  ASSERT_TRUE(findings[0].earlier);
  EXPECT_EQ(findings[0].earlier->access, report::access_kind::store);
  EXPECT_EQ(findings[0].earlier->instruction, "@p cp.async.ca.shared.global [w], [b], 4");
  EXPECT_EQ(findings[0].earlier->thread[0], 0u);
  EXPECT_EQ(of(of_one + "@!p " + all + "bar.sync 0; " + read + all), (strings{to_target}))
      << "the wait of other threads";
  EXPECT_EQ(of(of_one + "@p " + all + "bar.sync 0; " + read), strings{});
}

TEST_F(copies, concern_their_bytes) {
  const std::string of_one = "@p cp.async.ca.shared.global [s+8], [b], 8; @p " + commit;
  for (const std::string access :
       {"ld.shared.u8 u, [s+8];", "ld.shared.u8 u, [s+15];", "ld.shared.u64 c, [s+8];",
        "ld.shared.v4.u32 {t, u, v, w}, [s];", "st.shared.u32 [s+12], 1;"}) {
    EXPECT_EQ(of(of_one + access + all), (strings{to_target})) << access;
  }
  for (const std::string access : {"ld.shared.u8 u, [s+7];", "ld.shared.u8 u, [s+16];",
                                   "ld.shared.u64 c, [s];", "ld.shared.u64 c, [s+16];"}) {
    EXPECT_EQ(of(of_one + access + all), strings{}) << access;
  }
  const std::string from = "@p cp.async.ca.shared.global [s], [b+8], 8; @p " + commit;
  EXPECT_EQ(of(from + "@p st.global.u32 [b+12], 1; " + all), (strings{to_source}));
  EXPECT_EQ(findings.at(0).address, y + 12);
  ASSERT_TRUE(findings[0].earlier);
  EXPECT_EQ(findings[0].earlier->access, report::access_kind::load);
  EXPECT_EQ(of(from + "ld.global.u32 u, [b+8]; " + all), strings{});
  EXPECT_EQ(of(from + "@p st.global.u32 [b+16], 1; " + all), strings{});
  EXPECT_EQ(of(from + "@p st.global.u32 [b+4], 1; " + all), strings{});
  EXPECT_EQ(of(from + all + "@p st.global.u32 [b+8], 1; "), strings{});
}

TEST_F(copies, name_their_thread) {
  const std::string number =
      "mov.u32 u, %tid.y; mov.u32 v, %tid.z; mad.lo.u32 u, v, 3, u; mad.lo.u32 t, u, 4, t; ";
  EXPECT_EQ(of(number +
                   "setp.eq.u32 q, t, 23; @q cp.async.ca.shared.global [s], [b], 4; setp.eq.u32 "
                   "q, t, 6; @q ld.shared.u32 v, [s]; " +
                   all,
               {4, 3, 2}),
            (strings{to_target}));
  EXPECT_EQ(findings.at(0).thread, (std::array{2u, 1u, 0u}));
  ASSERT_TRUE(findings[0].earlier);
  EXPECT_EQ(findings[0].earlier->thread, (std::array{3u, 2u, 1u}));
}

TEST_F(copies, of_bulk_groups_have_their_own_wait) {
  const std::string bulk =
      "@p cp.async.bulk.global.shared::cta.bulk_group [a], [s], 16; @p "
      "cp.async.bulk.commit_group; ";
  const std::string store = "@p st.shared.u32 [s+12], 1; ";
  const std::string wait = "cp.async.bulk.wait_group.read 0; ";
  EXPECT_EQ(of(bulk + store + wait), (strings{to_source}));
  EXPECT_EQ(findings.at(0).hint,
            "wait for the group of the copy in the thread that started it, then synchronize the "
            "threads: cp.async.bulk.wait_group.read and __syncthreads()");
  EXPECT_EQ(of(bulk + wait + store), strings{});
  EXPECT_EQ(of(bulk + "cp.async.bulk.wait_group.read 1; " + store + wait), (strings{to_source}));
  EXPECT_EQ(of(bulk + all + store + wait), (strings{to_source})) << "the wait for other copies";
  EXPECT_EQ(of(bulk + "@p st.shared.u32 [s+16], 1; " + wait), strings{});
}

}  // namespace
}  // namespace halfwarp::tests

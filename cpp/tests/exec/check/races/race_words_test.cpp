// SPDX-License-Identifier: Apache-2.0
// The words of shared memory that matrices, copies and barriers of phases access.
#include "../checked.hpp"

namespace halfwarp::tests {
namespace {

class race_words : public checked {
 protected:
  race_words() { m.options.check_races = true; }
  // Runs one body in warp `first` and one in the other. Returns the findings.
  const std::vector<report::fault>& races_of(const std::string& body, const std::string& other,
                                             std::uint32_t first) {
    m.load(kernel("and.b32 w, t, 31; mov.u32 u, s; shr.u32 v, t, 5; setp.ne.u32 p, v, " +
                      std::to_string(first) + "; @p bra B;\n" + body + "\nbra E; B: " + other +
                      "\nE:",
                  ".shared .align 16 .b8 s[1024];\n"));
    const auto result = m.run("k", {1, 1, 1}, {64, 1, 1}, x, y);
    EXPECT_FALSE(result.fault) << report::full_text(*result.fault) << body;
    findings = result.findings;
    return findings;
  }
  // Expects races of a body with a store of another warp to a word at each of some offsets.
  void expect_words(const std::string& body, std::uint32_t from, std::uint32_t to) {
    for (const std::uint32_t first : {0u, 1u}) {
      for (std::uint32_t offset = 0; offset < 640; offset += 4) {
        const bool is_edge =
            offset + 4 == from || offset == from || offset + 4 == to || offset == to;
        if (!is_edge && offset % 36 != 0) continue;
        const std::string store =
            "setp.ne.u32 p, w, 5; @p bra E; mov.u32 w, 77; st.shared.u32 [s+" +
            std::to_string(offset) + "], w;";
        races_of(body, store, first);
        EXPECT_EQ(!findings.empty(), offset >= from && offset < to) << offset << ": " << body;
        for (const report::fault& each : findings) {
          EXPECT_EQ(each.kind, report::fault_kind::race);
          EXPECT_EQ(each.space, report::memory_space::shared) << body;
          EXPECT_EQ(each.address, offset) << body;
        }
      }
    }
  }
  std::vector<report::fault> findings;
};

// PTX: .x1, .x2 and .x4 take the addresses of 8, 16 and 32 rows of 16 bytes.
TEST_F(race_words, of_matrices_are_their_rows) {
  const std::pair<std::string, std::string> rows[] = {
      {"x1", "{v}"}, {"x2", "{v, v1}"}, {"x4", "{v, v1, v2, v3}"}};
  std::uint32_t bytes = 128;
  for (const auto& [count, list] : rows) {
    const std::string start =
        ".reg .b32 v1, v2, v3; mad.lo.u32 u, w, 16, u; mov.u32 v, 99;"
        "mov.u32 v1, 98; mov.u32 v2, 97; mov.u32 v3, 96;";
    const std::string form = "matrix.sync.aligned.m8n8." + count + ".shared.b16 ";
    expect_words(start + "ld" + form + list + ", [u+16];", 16, 16 + bytes);
    expect_words(start + "st" + form + "[u+16], " + list + ";", 16, 16 + bytes);
    bytes *= 2;
  }
}

TEST_F(race_words, of_copies_are_their_bytes) {
  for (const std::uint32_t bytes : {4u, 8u, 16u}) {
    expect_words("setp.ne.u32 p, w, 3; @p bra E; cp.async.ca.shared.global [s+48], [a], " +
                     std::to_string(bytes) + "; cp.async.wait_all;",
                 48, 48 + bytes);
  }
}

TEST_F(race_words, of_copies_by_another_proxy_are_their_source) {
  for (std::uint32_t offset = 0; offset < 96; offset += 4) {
    const std::string store = "st.shared.u32 [s+" + std::to_string(offset) + "], t;";
    races_of("setp.ne.u32 p, w, 0; @p bra E; " + store +
                 " cp.async.bulk.global.shared::cta.bulk_group [a], [s+32], 32;"
                 "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
             "", 0);
    const bool is_read = offset >= 32 && offset < 64;
    ASSERT_EQ(findings.size(), is_read ? 1u : 0u) << offset;
    if (!is_read) continue;
    EXPECT_EQ(findings[0].space, report::memory_space::shared);
    EXPECT_EQ(findings[0].address, offset);
    EXPECT_EQ(findings[0].access, report::access_kind::load);
  }
}

// The initialization of a barrier needs an order before its uses.
TEST_F(race_words, of_phases_are_their_barrier) {
  const std::string init = "setp.ne.u32 p, w, 0; @p bra E; mbarrier.init.shared.b64 [s+72], 1;";
  for (const std::string use :
       {"mbarrier.arrive.shared.b64 c, [s+72];", "mbarrier.test_wait.shared.b64 p, [s+72], c;",
        "mbarrier.test_wait.parity.shared.b64 p, [s+72], 0;",
        "cp.async.mbarrier.arrive.shared.b64 [s+72];", "mbarrier.init.shared.b64 [s+72], 1;"}) {
    races_of(init, "setp.ne.u32 p, w, 0; @p bra E; mov.u64 c, 0; " + use, 0);
    ASSERT_FALSE(findings.empty()) << use;
    for (const report::fault& each : findings) {
      EXPECT_EQ(each.space, report::memory_space::shared) << use;
      EXPECT_EQ(each.address, 72u) << use;
      EXPECT_EQ(each.bytes, 8u) << use;
    }
  }
}

}  // namespace
}  // namespace halfwarp::tests

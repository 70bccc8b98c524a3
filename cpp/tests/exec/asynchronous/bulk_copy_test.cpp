// SPDX-License-Identifier: Apache-2.0
// Bulk copies: their faults, masks and groups, and what is late.
#include <cstring>

#include "copying_kernel.hpp"

namespace halfwarp::tests {
namespace {

const std::string init = "mbarrier.init.shared.b64 [bar], 1;\n";
const std::string load =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [g], 16, [bar];\n";
const std::string commit = "cp.async.bulk.commit_group;\n";

class bulk_copies : public copying_kernel {
 protected:
  bulk_copies() {
    numbers values(words);
    for (std::uint32_t n = 0; n < words; ++n) values[n] = 100 + n;
    fill(values);
  }
  static std::string store(const std::string& at, const std::string& from) {
    return "cp.async.bulk.global.shared::cta.bulk_group [g+" + at + "], [s+" + from + "], 16;\n";
  }
  static std::string load_of(const std::string& to, const std::string& from,
                             const std::string& bytes) {
    return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [" + to + "], [" +
           from + "], " + bytes + ", [bar];\n";
  }
};

TEST_F(bulk_copies, have_sizes_and_addresses_of_16_bytes) {
  EXPECT_EQ(detail_of(init + load_of("s", "g", "32")), "");
  EXPECT_EQ(detail_of(init + load_of("s", "g", "8")),
            "the size of a bulk copy of 8 bytes is no multiple of 16");
  EXPECT_EQ(detail_of(init + load_of("s", "g+8", "16")),
            "the source of a bulk copy of 16 bytes is no multiple of 16");
  EXPECT_EQ(detail_of(init + load_of("s+8", "g", "16")),
            "the target of a bulk copy of 16 bytes is no multiple of 16");
}

TEST_F(bulk_copies, of_no_bytes_access_nothing) {
  EXPECT_EQ(detail_of("mov.u64 w, 0;" + load_of("s", "w", "0")), "");
}

TEST_F(bulk_copies, stay_within_shared_memory) {
  const auto fault = run(init + load_of("s+272", "g", "32")).fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::out_of_bounds);
  EXPECT_EQ(fault->access, report::access_kind::store);
  EXPECT_EQ(fault->space, report::memory_space::shared);
  EXPECT_EQ(fault->bytes, 32u);
  EXPECT_EQ(fault->address, 272u);
  EXPECT_EQ(fault->detail, "the block has 272 bytes of shared memory");
  EXPECT_EQ(detail_of(init + load_of("s+240", "g", "32")), "");
}

TEST_F(bulk_copies, read_what_exists) {
  const auto source = run("cp.async.bulk.prefetch.L2.global [g+240], 32;").fault;
  ASSERT_TRUE(source);
  EXPECT_EQ(source->kind, fault_kind::out_of_bounds);
  EXPECT_EQ(source->access, report::access_kind::load);
  EXPECT_EQ(source->bytes, 32u);
  EXPECT_EQ(detail_of("cp.async.bulk.prefetch.L2.global [g+240], 16;"), "");
  const auto store_fault = run(store("0", "264")).fault;
  ASSERT_TRUE(store_fault);  // the source is read first
  EXPECT_EQ(store_fault->detail, "the source of a bulk copy of 16 bytes is no multiple of 16");
  const auto shared = run(store("0", "272")).fault;
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->access, report::access_kind::load);
  EXPECT_EQ(shared->address, 272u);
}

TEST_F(bulk_copies, signal_an_aligned_barrier_of_the_block_of_their_target) {
  const std::string text =
      "the mbarrier of the copy is in another block than its target, or not aligned";
  const auto fault = run(
      init +
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [g], 16, [bar+4];");
  ASSERT_TRUE(fault.fault);
  EXPECT_EQ(fault.fault->kind, fault_kind::wrong_space);
  EXPECT_EQ(fault.fault->detail, text);
  m.cluster = {2};
  const std::string remote =
      init +
      "mov.u32 r0, s; mapa.shared::cluster.u32 r1, r0, TO; mov.u32 r0, bar;"
      "mapa.shared::cluster.u32 r2, r0, SIGNAL; barrier.cluster.arrive;"
      "barrier.cluster.wait; mov.u32 n, %cluster_ctarank; setp.eq.u32 p, n, 0; @!p bra E;"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1], [g], 16, "
      "[r2]; E: barrier.cluster.arrive; barrier.cluster.wait;";
  const auto detail = [&](char to, char signal) {
    std::string changed = remote;
    changed.replace(changed.find("TO"), 2, 1, to);
    changed.replace(changed.find("SIGNAL"), 6, 1, signal);
    const auto remote_fault = run(changed, 1, 2).fault;
    return remote_fault ? remote_fault->detail : "";
  };
  EXPECT_EQ(detail('0', '0'), "");
  EXPECT_EQ(detail('1', '1'), "");
  EXPECT_EQ(detail('0', '1'), text);
  EXPECT_EQ(detail('1', '0'), text);
}

TEST_F(bulk_copies, of_a_mask_are_for_the_blocks_of_the_cluster) {
  const auto copy_to = [&](const std::string& mask) {
    return init +
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
           "[s], [g], 16, [bar], " +
           mask + ";";
  };
  EXPECT_EQ(detail_of(copy_to("1")), "");
  EXPECT_EQ(detail_of(copy_to("2")), "the mask of the copy has block 1, and the cluster 1 blocks");
  EXPECT_EQ(detail_of(copy_to("0x8001")),
            "the mask of the copy has block 15, and the cluster 1 blocks");
}

TEST_F(bulk_copies, store_the_bytes_of_a_mask) {
  const std::string words_of_s =
      "mov.u32 n, 0x04030201; st.shared.v4.u32 [s], {n, n, n, n}; st.shared.v4.u32 [s+16], {n, n, "
      "n, n};\n";
  const std::string copy =
      "mov.b16 h, 0x8421; cp.async.bulk.global.shared::cta.bulk_group.cp_mask [g], [s], 32, h;\n" +
      commit + "cp.async.bulk.wait_group 0;";
  numbers expected;
  for (std::uint32_t n = 0; n < 9; ++n) {
    std::uint32_t word = 100 + n, from = 0x04030201;
    // byte k of word k
    if (n < 8)
      std::memcpy(reinterpret_cast<char*>(&word) + n % 4, reinterpret_cast<char*>(&from) + n % 4,
                  1);
    expected.push_back(word);
  }
  for (const bool is_late : {false, true}) {
    m.options.copies_are_late = is_late;
    EXPECT_EQ(results(words_of_s + copy, 9), expected);
  }
}

TEST_F(bulk_copies, of_earlier_groups_are_complete) {
  m.options.copies_are_late = true;
  const auto seen_after = [&](const std::string& wait) {
    std::string body = "st.shared.u32 [s], 7; setp.eq.u32 p, t, 0; @!p bra E;\n" + store("0", "0") +
                       commit + store("16", "0") + commit + store("32", "0") + commit +
                       store("48", "0");
    body += wait;
    for (int n = 0; n < 4; ++n) {
      body += "ld.global.u32 n, [g+" + std::to_string(16 * n) + "]; st.global.u32 [g+" +
              std::to_string(128 + 4 * n) + "], n;\n";
    }
    const numbers all = results(body + "E: ", 36, 2);
    EXPECT_EQ((numbers{all[0], all[4], all[8], all[12]}), (numbers{7, 7, 7, 7})) << "at the end";
    numbers values(words);
    for (std::uint32_t n = 0; n < words; ++n) values[n] = 100 + n;
    std::memcpy(m.view<std::uint32_t>(io), values.data(), 4 * words);
    return numbers{all.begin() + 32, all.end()};
  };
  EXPECT_EQ(seen_after(""), (numbers{100, 104, 108, 112}));
  EXPECT_EQ(seen_after("cp.async.bulk.wait_group 3;"), (numbers{100, 104, 108, 112}));
  EXPECT_EQ(seen_after("cp.async.bulk.wait_group 2;"), (numbers{7, 104, 108, 112}));
  EXPECT_EQ(seen_after("cp.async.bulk.wait_group 1;"), (numbers{7, 7, 108, 112}));
  EXPECT_EQ(seen_after("cp.async.bulk.wait_group 0;"), (numbers{7, 7, 7, 112}));
  EXPECT_EQ(seen_after(commit + "cp.async.bulk.wait_group 0;"), (numbers{7, 7, 7, 7}));
  EXPECT_EQ(seen_after("setp.ne.u32 p, t, 0; @p cp.async.bulk.wait_group 0;"),
            (numbers{100, 104, 108, 112}));
}

TEST_F(bulk_copies, of_a_group_belong_to_one_thread) {
  m.options.copies_are_late = true;
  // Thread 33 copies; thread 1, then thread 33, wait for their own copies.
  const std::string body =
      "st.shared.u32 [s], 7; setp.eq.u32 p, t, 33; @!p bra E;\n" + store("0", "0") + commit +
      "E: bar.sync 0; setp.eq.u32 p, t, WAITS; @p cp.async.bulk.wait_group 0; bar.sync 0;\n"
      "setp.eq.u32 p, t, 0; @!p bra F; ld.global.u32 n, [g]; st.global.u32 [g+128], n; F:";
  const auto seen_after = [&](const std::string& thread) {
    std::string changed = body;
    return results(changed.replace(changed.find("WAITS"), 5, thread), 33, 64)[32];
  };
  EXPECT_EQ(seen_after("1"), 100u);
  *m.view<std::uint32_t>(io) = 100;
  EXPECT_EQ(seen_after("33"), 7u);
}

TEST_F(bulk_copies, clear_words_of_8_bytes) {
  const auto clear = [](const std::string& at, const std::string& bytes) {
    return "mov.u32 n, 7; st.shared.v4.u32 [s], {n, n, n, n}; mov.u64 v, " + bytes +
           "; st.bulk.weak.shared::cta [s+" + at + "], v, 0;\n";
  };
  const std::string words_of_s =
      "ld.shared.v4.u32 {r0, r1, r2, r3}, [s]; st.global.v4.u32 [g], {r0, r1, r2, r3};";
  EXPECT_EQ(results(clear("8", "8") + words_of_s, 4), (numbers{7, 7, 0, 0}));
  EXPECT_EQ(results(clear("0", "8") + words_of_s, 4), (numbers{0, 0, 7, 7}));
  const std::string text = "the address or the size of st.bulk is no multiple of 8";
  EXPECT_EQ(detail_of(clear("4", "8")), text);
  EXPECT_EQ(detail_of(clear("8", "4")), text);
  EXPECT_EQ(detail_of(clear("0", "272")), "");
  const auto fault = run(clear("8", "0x100000000")).fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::out_of_bounds);
  EXPECT_EQ(fault->access, report::access_kind::store);
  EXPECT_EQ(fault->bytes, ~0u);
  EXPECT_EQ(fault->address, 8u);
}

TEST_F(bulk_copies, of_registers_have_aligned_targets) {
  const auto store_at = [](const std::string& at, const std::string& form) {
    return init + "mov.u32 r0, 1; st.async.shared::cluster.mbarrier::complete_tx::bytes." + form +
           " [s+" + at + "], " + (form == "b32" ? "r0" : "{r0, r0}") + ", [bar];";
  };
  const std::string text = "the address of the asynchronous store is no multiple of its size";
  EXPECT_EQ(detail_of(store_at("4", "b32")), "");
  EXPECT_EQ(detail_of(store_at("6", "b32")), text);
  EXPECT_EQ(detail_of(store_at("8", "v2.b32")), "");
  EXPECT_EQ(detail_of(store_at("4", "v2.b32")), text);
  const auto fault = run(store_at("272", "v2.b32")).fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->bytes, 8u);
  EXPECT_EQ(fault->access, report::access_kind::store);
}

// ---- cp.async

TEST_F(bulk_copies, of_a_part_read_this_part) {
  const auto copy = [](const std::string& from, const std::string& bytes) {
    return "mov.u32 n, " + bytes + "; cp.async.ca.shared.global [s], [" + from + "], 8, n;\n";
  };
  EXPECT_EQ(detail_of(copy("g+248", "5")), "");
  const auto odd = run(copy("g+4", "5")).fault;
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->kind, fault_kind::misaligned);
  EXPECT_EQ(odd->bytes, 8u);
  const auto outside = run(copy("g+256", "5")).fault;
  ASSERT_TRUE(outside);
  EXPECT_EQ(outside->kind, fault_kind::out_of_bounds);
  EXPECT_EQ(outside->address, io + 260);
  EXPECT_EQ(outside->bytes, 1u);
}

TEST_F(bulk_copies, of_16_bytes_at_most_have_groups) {
  m.options.copies_are_late = true;
  const auto seen_after = [&](const std::string& wait) {
    std::string body =
        "setp.eq.u32 p, t, 0; @!p bra E; mov.u32 n, 7; st.shared.v4.u32 [s], {n, n, n, n};\n";
    for (int n = 0; n < 4; ++n) {
      const std::string at = std::to_string(4 * n);
      body += "cp.async.ca.shared.global [s+" + at + "], [g+" + at + "], 4;\n";
      if (n < 3) body += "cp.async.commit_group;\n";
    }
    body += "E: " + wait + "bar.sync 0; setp.eq.u32 p, t, 0; @!p bra F;\n";
    return results(body +
                       "ld.shared.v4.u32 {r0, r1, r2, r3}, [s]; st.global.v4.u32 [g+16], {r0, "
                       "r1, r2, r3}; F:",
                   8, 64);
  };
  const auto expected = [](numbers seen) {
    numbers all{100, 101, 102, 103};
    all.insert(all.end(), seen.begin(), seen.end());
    return all;
  };
  EXPECT_EQ(seen_after(""), expected({7, 7, 7, 7}));
  EXPECT_EQ(seen_after("cp.async.wait_group 3;"), expected({7, 7, 7, 7}));
  EXPECT_EQ(seen_after("cp.async.wait_group 2;"), expected({100, 7, 7, 7}));
  EXPECT_EQ(seen_after("cp.async.wait_group 1;"), expected({100, 101, 7, 7}));
  EXPECT_EQ(seen_after("cp.async.wait_group 0;"), expected({100, 101, 102, 7}));
  EXPECT_EQ(seen_after("cp.async.wait_all;"), expected({100, 101, 102, 103}));
  EXPECT_EQ(seen_after("@!p cp.async.wait_all;"), expected({7, 7, 7, 7})) << "of other threads";
}

TEST_F(bulk_copies, left_to_a_barrier_end_at_a_test_or_a_wait) {
  m.options.copies_are_late = true;
  const auto seen_after = [&](const std::string& wait) {
    const std::string body =
        init +
        "mov.u32 n, 7; st.shared.v4.u32 [s], {n, n, n, n}; mov.u32 n, 5;\n"
        "cp.async.ca.shared.global [s], [g], 8, n; cp.async.ca.shared.global [s+8], [g+8], 4;\n"
        "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n" +
        wait +
        "ld.shared.v4.u32 {r0, r1, r2, r3}, [s]; st.global.v4.u32 [g+16], {r0, r1, r2, r3};\n"
        "mbarrier.test_wait.parity.shared.b64 p, [bar], 0; selp.u32 n, 1, 0, p;"
        "st.global.u32 [g+32], n;";
    const numbers all = results(body, 9);
    EXPECT_EQ(all[8], 1u) << "the copies arrived";
    return numbers{all.begin() + 4, all.begin() + 8};
  };
  const numbers before{7, 7, 7, 7}, after{100, 101, 102, 7};
  EXPECT_EQ(seen_after(""), before);
  EXPECT_EQ(seen_after("cp.async.wait_all;"), after);
  EXPECT_EQ(seen_after("cp.async.wait_group 0;"), after);
  EXPECT_EQ(seen_after("mbarrier.test_wait.parity.shared.b64 p, [bar], 0;"), after);
  EXPECT_EQ(seen_after("mbarrier.init.shared.b64 [bar+8], 1;"
                       "mbarrier.test_wait.parity.shared.b64 p, [bar+8], 0;"),
            before)
      << "another barrier";
}

// ---- clusterlaunchcontrol

TEST_F(bulk_copies, of_a_response_are_aligned) {
  EXPECT_EQ(detail_of(init + "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_"
                             "tx::bytes.b128 [s+8], [bar];"),
            "the address of the response is no multiple of 16 bytes");
}

TEST_F(bulk_copies, of_a_response_are_read_by_each_lane) {
  const std::string body =
      "mul.lo.u32 n, t, 16; mov.u32 r0, s; add.u32 r0, r0, n; and.b32 r1, t, 1;"
      "st.shared.v4.u32 [r0], {t, t, t, r1}; ld.shared.b128 x, [r0]; setp.lt.u32 p, t, 2;"
      "setp.eq.u32 q, t, 3; @q bra E; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, "
      "x; E: selp.u32 n, 1, 0, p; mul.wide.u32 w, t, 4; add.u64 w, w, g; st.global.u32 [w], n;";
  EXPECT_EQ(results(body, 4, 4), (numbers{0, 1, 0, 0}));
}

}  // namespace
}  // namespace halfwarp::tests

// SPDX-License-Identifier: Apache-2.0
// The checks of a launch report neighbors, races and wrong barriers.
#include "checked.hpp"

namespace halfwarp::tests {
namespace {

// ---- neighbors

class neighbors : public checked {
 protected:
  neighbors() { m.options.check_neighbors = true; }
};

TEST_F(neighbors, of_an_allocation_are_reported_with_their_distance) {
  const auto distance = static_cast<std::int64_t>(y - x);
  const auto text_at = [&](std::int64_t offset) {
    return kernel("st.global.u32 [a+" + std::to_string(offset) + "], t;");
  };
  EXPECT_EQ(run(text_at(0)), strings{});
  EXPECT_EQ(run(text_at(60)), strings{});
  const std::string instruction = ": st.global.u32 [a+" + std::to_string(distance) + "], t";
  EXPECT_EQ(run(text_at(distance)),
            (strings{"an address based on the allocation of 64 bytes lies " +
                     std::to_string(distance - 64) + " bytes past its end" + instruction}));
  const std::string back = "[b-" + std::to_string(distance) + "]";
  EXPECT_EQ(
      run(kernel("ld.global.u32 t, " + back + ";")),
      (strings{"an address based on the allocation of 64 bytes lies " + std::to_string(distance) +
               " bytes before its start: ld.global.u32 t, " + back}));
}

TEST_F(neighbors, of_a_shared_variable_are_reported) {
  const std::string two = ".shared .align 16 .b8 s[16]; .shared .align 16 .b8 r[16];\n";
  const std::string both = "st.shared.u32 [r], t; st.shared.u32 [s], t; ";
  EXPECT_EQ(run(kernel(both + "st.shared.u32 [r+12], t;", two)), strings{});
  EXPECT_EQ(run(kernel(both + "st.shared.u32 [r+16], t;", two)),
            (strings{"an address based on the variable 'r' lies 0 bytes past its end: "
                     "st.shared.u32 [r+16], t"}));
  EXPECT_EQ(run(kernel(both + "mov.u32 u, r; sub.u32 u, u, 0; ld.shared.u32 v, [u+28];", two)),
            (strings{"an address based on the variable 'r' lies 12 bytes past its end: "
                     "ld.shared.u32 v, [u+28]"}));
}

// A local address that another thread reads, by a store to shared memory.
TEST_F(neighbors, that_are_local_memory_of_another_thread_are_reported) {
  const std::string text = kernel(
      ".local .align 8 .b8 l[8]; .shared .align 8 .b8 s[256]; mov.u64 c, l; cvta.local.u64 c, c;"
      "st.local.u32 [l], t; mov.u32 u, s; mad.lo.u32 v, t, 8, u; st.shared.u64 [v], c;"
      "bar.sync 0; xor.b32 w, t, CHANGE; mad.lo.u32 v, w, 8, u; ld.shared.u64 d, [v];");
  const auto with = [&](const std::string& change) {
    std::string changed = text;
    return changed.replace(changed.find("CHANGE"), 6, change);
  };
  EXPECT_EQ(run(with("0"), {1, 1, 1}, {32, 1, 1}), strings{});
  EXPECT_EQ(run(with("1"), {1, 1, 1}, {32, 1, 1}),
            (strings{"a thread reads the address of a local variable of another: "
                     "ld.shared.u64 d, [v]"}));
}

TEST_F(neighbors, of_a_function_that_has_returned_are_reported) {
  const std::string f =
      ".func (.reg .b64 z) f() { .local .align 8 .b8 l[64]; .reg .b32 q; mov.u32 q, 3;"
      " st.local.u32 [l+8], q; mov.u64 z, l; cvta.local.u64 z, z; ret; }\n";
  EXPECT_EQ(run(kernel("call (c), f; ld.u32 u, [c+8];", f)),
            (strings{"fault: the thread has 0 bytes of local memory in use",
                     "an address of the local memory of a function that has returned: "
                     "ld.u32 u, [c+8]"}));
}

// The pointers of a launch have bits of a word, so the last ones are not compared.
TEST_F(neighbors, are_known_for_the_first_63_pointers) {
  for (const int count : {62, 63, 64, 65}) {
    std::string loads, parameters;
    for (int n = 0; n < count; ++n) {
      const std::string number = std::to_string(n);
      parameters += (n ? ", .param .u64 p" : ".param .u64 p") + number;
      loads +=
          "ld.param.u64 a" + number + ", [p" + number + "]; st.global.u32 [a" + number + "], 1;\n";
    }
    const std::string last = std::to_string(count - 1);
    m.load(head + ".visible .entry k(" + parameters + ") { .reg .b64 a<70>;\n" + loads +
           "st.global.u32 [a" + last + "+" + std::to_string(y - x) + "], 1; ret; }");
    std::vector<std::byte> values(8 * static_cast<std::size_t>(count));
    for (int n = 0; n < count; ++n) std::memcpy(values.data() + 8 * n, &x, 8);
    const strings findings = texts_of(m.run_with("k", {1, 1, 1}, {1, 1, 1}, values));
    EXPECT_EQ(findings.size(), count <= 63 ? 1u : 0u) << count;
  }
}

// ---- races

class races : public checked {
 protected:
  races() { m.options.check_races = true; }
  strings of(const std::string& body, std::uint32_t threads = 64, std::uint32_t blocks = 1) {
    return run(kernel(body, ".shared .align 16 .b8 s[1024];\n"), {blocks, 1, 1}, {threads, 1, 1});
  }
};

TEST_F(races, are_between_warps_without_a_barrier) {
  const std::string store = "mov.u32 u, s; mad.lo.u32 u, t, 4, u; st.shared.u32 [u], t; ";
  const std::string other =
      "xor.b32 w, t, 32; mov.u32 v, s; mad.lo.u32 w, w, 4, v; ld.shared.u32 v, [w];";
  EXPECT_EQ(of(store + "bar.sync 0; " + other), strings{});
  EXPECT_EQ(of(store + "bar.sync 1; " + other), strings{});
  EXPECT_EQ(of(store + "bar.sync 3, 64; " + other), strings{});
  const strings both{"write-read: ld.shared.u32 v, [w] after st.shared.u32 [u], t",
                     "read-write: st.shared.u32 [u], t after ld.shared.u32 v, [w]"};
  EXPECT_EQ(of(store + "bar.warp.sync -1; " + other), both);
  EXPECT_EQ(of(store + other), both);
}

TEST_F(races, are_between_lanes_without_a_barrier_of_the_warp) {
  const std::string store = "mov.u32 u, s; mad.lo.u32 u, t, 4, u; st.shared.u32 [u], t; ";
  const std::string other =
      "xor.b32 w, t, 1; mov.u32 v, s; mad.lo.u32 w, w, 4, v; ld.shared.u32 v, [w];";
  EXPECT_EQ(of(store + "bar.warp.sync -1; " + other, 32), strings{});
  EXPECT_EQ(of(store + other, 32).size(), 1u);
  EXPECT_EQ(of(store + "bar.warp.sync 0x55555555; " + other, 1), strings{});
}

TEST_F(races, are_between_blocks) {
  const std::string name = "mov.u32 u, %ctaid.x; mul.wide.u32 c, u, 4; add.u64 c, c, a; ";
  EXPECT_EQ(of(name + "st.global.u32 [c], u;", 1, 4), strings{});
  EXPECT_EQ(of("mov.u32 u, %ctaid.x; st.global.u32 [a], u;", 1, 4).size(), 1u);
  EXPECT_EQ(of("red.global.add.u32 [a], 1;", 1, 4), strings{});
  EXPECT_EQ(of("red.relaxed.cta.global.add.u32 [a], 1;", 1, 4).size(), 1u);
  EXPECT_EQ(of("st.global.u32 [a], 1;", 1, 4), strings{});  // any order has one result
  EXPECT_EQ(of("red.global.add.u32 [a], 1; st.global.u32 [a], 1;", 1, 4).size(), 1u);
}

TEST_F(races, are_of_stores_of_different_values_by_one_instruction) {
  EXPECT_EQ(of("st.shared.u32 [s], 1;", 32), strings{});
  EXPECT_EQ(of("st.shared.u32 [s], t;", 32).size(), 1u);
  EXPECT_EQ(of("st.shared.u32 [s], t;", 1), strings{});
}

// A bulk copy reads shared memory by another proxy than a store.
TEST_F(races, are_between_a_store_and_a_copy_without_a_fence) {
  const std::string store = "mov.u32 u, s; mad.lo.u32 v, t, 4, u; st.shared.u32 [v], t; ";
  const std::string fence = "fence.proxy.async; ", barrier = "bar.sync 0; ";
  const auto copy_of = [](const std::string& thread) {
    return "setp.ne.u32 p, t, " + thread +
           "; @p bra E; cp.async.bulk.global.shared::cta.bulk_group [a], [s], 16;"
           "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; E:";
  };
  const strings conflict{
      "store and asynchronous copy: cp.async.bulk.global.shared::cta.bulk_group [a], [s], 16 after "
      "st.shared.u32 [v], t"};
  for (const std::string thread : {"0", "40"}) {  // in the warp of the stores, and in another
    EXPECT_EQ(of(store + fence + barrier + copy_of(thread)), strings{}) << thread;
    EXPECT_EQ(of(store + barrier + copy_of(thread)), conflict) << thread;
    EXPECT_EQ(of(store + barrier + fence + copy_of(thread)), strings{}) << thread;
    EXPECT_EQ(of(store + fence + barrier + store + barrier + copy_of(thread)), conflict) << thread;
    const std::string mine = "setp.lt.u32 p, t, 32; @p fence.proxy.async; ";
    EXPECT_EQ(of(store + mine + barrier + copy_of(thread)), strings{}) << thread;
    EXPECT_EQ(of(store + barrier + fence + barrier + copy_of(thread)), strings{}) << thread;
  }
}

// Both halves of each warp load the same lines of shared memory, by instructions in a row.
TEST_F(races, are_found_behind_loads_of_whole_lines) {
  const std::string address = "mov.u32 u, s; and.b32 v, t, 15; mad.lo.u32 v, v, 4, u; ";
  const std::string fill = "mad.lo.u32 w, t, 4, u; st.shared.u32 [w], t; ";
  const std::string loads =
      "ld.shared.u32 w, [v]; ld.shared.u32 w, [v+64]; ld.shared.u32 w, [v+128]; ";
  const std::string late = "setp.ne.u32 p, t, 40; @p bra E; st.shared.u32 [s+LAST], t; E:";
  const auto store_to = [&](const std::string& place) {
    std::string changed = late;
    return changed.replace(changed.find("LAST"), 4, place);
  };
  const auto found_at = [&](const std::string& place, const std::string& load) {
    return "read-write: st.shared.u32 [s+" + place + "], t after ld.shared.u32 w, [v" + load + "]";
  };
  const std::string start = address + fill + "bar.sync 0; " + loads;
  EXPECT_EQ(of(start), strings{});
  EXPECT_EQ(of(start + "bar.sync 0; " + store_to("128")), strings{});
  EXPECT_EQ(of(start + store_to("64")).back(), found_at("64", "+64"));
  EXPECT_EQ(of(start + store_to("188")).back(), found_at("188", "+128"));
  EXPECT_EQ(of(start + store_to("192")), strings{});
  EXPECT_EQ(of(start + loads + store_to("124")).back(), found_at("124", "+64"));
}

// ---- barriers, and addresses without an access

TEST_F(checked, barriers_of_one_number_have_one_count) {
  m.options.check_barriers = true;
  const std::string text =
      kernel("setp.lt.u32 p, t, 32; @p bra A; bar.sync 1, FIRST; bra B; A: bar.sync 1, 64; B:");
  const auto with = [&](const std::string& count) {
    std::string changed = text;
    return changed.replace(changed.find("FIRST"), 5, count);
  };
  EXPECT_EQ(run(with("64"), {1, 1, 1}, {64, 1, 1}), strings{});
  EXPECT_EQ(run(with("96"), {1, 1, 1}, {64, 1, 1}),
            (strings{"fault: warp 0 lanes 0xffffffff waits at the barrier on PTX line 6; "
                     "warp 1 lanes 0xffffffff waits at the barrier on PTX line 6",
                     "the threads of one barrier expect 64 and 96 threads: bar.sync 1, 96"}));
}

TEST_F(checked, a_discard_needs_an_address_of_its_allocation) {
  EXPECT_EQ(run(kernel("discard.global.L2 [a], 128;")), strings{});
  EXPECT_EQ(run(kernel("discard.global.L2 [a+64], 128;")).size(), 1u);
}

}  // namespace
}  // namespace halfwarp::tests

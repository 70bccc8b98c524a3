// SPDX-License-Identifier: Apache-2.0
// Deadlocks of threads that wait for each other's locks are reported; other waits are not.
#include <gtest/gtest.h>

#include <string>

#include "../machine.hpp"

namespace halfwarp::tests {
namespace {

using report::fault_kind;

std::string repeat_while(const std::string& label, const std::string& body) {
  return label + ": " + body + " @p bra " + label + ";\n";
}
std::string take_by_cas(const std::string& at, const std::string& label) {
  return repeat_while(label, "atom.cas.b32 v, [" + at + "], 0, 1; setp.ne.u32 p, v, 0;");
}
std::string take_by_exch(const std::string& at, const std::string& label) {
  return repeat_while(label, "atom.exch.b32 v, [" + at + "], 1; setp.ne.u32 p, v, 0;");
}
// Reads until the lock looks free.
std::string take_after_test(const std::string& at, const std::string& label) {
  std::string test = "ld.volatile.u32 v, [" + at + "]; setp.ne.u32 p, v, 0; @p bra " + label + ";";
  return repeat_while(label, test + " atom.cas.b32 v, [" + at + "], 0, 1; setp.ne.u32 p, v, 0;");
}
std::string take_and_sleep(const std::string& at, const std::string& label) {
  return label + ": atom.cas.b32 v, [" + at + "], 0, 1; setp.eq.u32 p, v, 0; @p bra " + label +
         "_end; nanosleep.u32 100; bra " + label + "; " + label + "_end:\n";
}
std::string release_by_exch(const std::string& at) { return "atom.exch.b32 v, [" + at + "], 0;\n"; }
std::string release_by_store(const std::string& at) { return "st.volatile.u32 [" + at + "], 0;\n"; }

// All threads wait here until `n` have arrived.
const char* const meet =
    "atom.add.u32 v, [arrived], 1;\n"
    "meet: ld.volatile.u32 v, [arrived]; setp.lt.u32 p, v, n; @p bra meet;\n";

// Every `spread`-th thread of the grid has a number i and two locks: its own and the next one.
std::string kernel(const std::string& body) {
  return ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 s, .param .u32 c) {\n"
         ".reg .b64 locks, arrived, own, next, t; .reg .b32 v, w, n, i, spread; .reg .pred p, q;\n"
         "ld.param.u64 locks, [a]; ld.param.u64 arrived, [b]; ld.param.u32 spread, [s];\n"
         "ld.param.u32 n, [c]; mov.u32 v, %ctaid.x; mov.u32 w, %ntid.x; mov.u32 i, %tid.x;\n"
         "mad.lo.u32 i, v, w, i; rem.u32 w, i, spread; setp.ne.u32 p, w, 0; @p exit;\n"
         "div.u32 i, i, spread; mul.wide.u32 t, i, 4; add.u64 own, locks, t;\n"
         "add.u32 w, i, 1; rem.u32 w, w, n; mul.wide.u32 t, w, 4; add.u64 next, locks, t;\n" +
         body + "ret; }\n";
}

using take = std::string (*)(const std::string&, const std::string&);
using give = std::string (*)(const std::string&);

std::string cycle(take acquire_form, give release_form) {
  return kernel(acquire_form("own", "first") + meet + acquire_form("next", "second") +
                release_form("next") + release_form("own"));
}

class lock_cycles : public testing::Test {
 protected:
  lock_cycles() { m.options.step_limit = 1 << 24; }

  exec::outcome run(exec::extent grid, exec::extent block, std::uint32_t spread, std::uint32_t n) {
    locks = m.allocate(4 * std::uint64_t{n} + 8);
    std::memset(m.view<char>(locks), 0, 4 * std::uint64_t{n} + 8);
    arrived = m.upload<std::uint32_t>({0, 0});
    return m.run("k", grid, block, locks, arrived, spread, n);
  }
  report::fault fault(exec::extent grid, exec::extent block, std::uint32_t spread,
                      std::uint32_t n) {
    exec::outcome result = run(grid, block, spread, n);
    EXPECT_TRUE(result.fault);
    executed = result.instructions;
    return result.fault.value_or(report::fault{});
  }
  // A wait that is not a cycle of locks ends normally, however long it is observed.
  void never_ends(exec::extent grid, exec::extent block, std::uint32_t spread, std::uint32_t n) {
    report::fault f = fault(grid, block, spread, n);
    EXPECT_EQ(f.kind, fault_kind::step_limit) << report::full_text(f);
  }

  machine m;
  memory::address locks = 0, arrived = 0;
  std::uint64_t executed = 0;
};

struct lock_form {
  const char* name;
  take taken;
  give release_form;
};

class each_form : public lock_cycles, public testing::WithParamInterface<lock_form> {};

TEST_P(each_form, is_found_between_blocks_warps_and_lanes) {
  m.load(cycle(GetParam().taken, GetParam().release_form));
  m.options.step_limit = 1 << 26;
  struct shape {
    std::uint32_t blocks, threads, spread, n;
  };
  for (shape s : {shape{2, 1, 1, 2},
                  {2, 32, 32, 2},
                  {3, 1, 1, 3},
                  {1, 64, 32, 2},
                  {1, 2, 1, 2},
                  {1, 32, 1, 32},
                  {2, 64, 1, 128},
                  {4, 256, 64, 16}}) {
    auto f = fault({s.blocks}, {s.threads}, s.spread, s.n);
    EXPECT_EQ(f.kind, fault_kind::lock_cycle) << s.blocks << " " << s.threads << " " << s.spread;
    EXPECT_EQ(report::code(f.kind), CUDA_ERROR_LAUNCH_FAILED);
    EXPECT_EQ(f.block_index[0], 0u);
    EXPECT_EQ(f.thread[0], 0u);
    EXPECT_EQ(f.address, locks + 4) << "thread 0 waits for the lock of the next one";
  }
}

INSTANTIATE_TEST_SUITE_P(, each_form,
                         testing::Values(lock_form{"cas", take_by_cas, release_by_exch},
                                         lock_form{"exch", take_by_exch, release_by_store},
                                         lock_form{"test", take_after_test, release_by_store},
                                         lock_form{"sleep", take_and_sleep, release_by_exch}),
                         [](const auto& info) { return info.param.name; });

TEST_F(lock_cycles, both_threads_locks_and_lines_are_named) {
  m.load(cycle(take_by_cas, release_by_exch));
  std::string text = report::full_text(fault({2}, {32}, 32, 2));
  for (const char* part :
       {"lock-cycle atomic of 4 bytes at ", "by kernel 'k' block (0,0,0) thread (0,0,0), PTX line",
        "block (1,0,0) thread (0,0,0) acquired it on PTX line 11",
        "block (1,0,0) thread (0,0,0) waits for the lock at ",
        "block (0,0,0) thread (0,0,0) acquired it on PTX line 11", "0 bytes into the live 16-byte",
        "nearest: 4 bytes into the live 16-byte", "hint: acquire locks in one order"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(lock_cycles, are_found_after_few_instructions_and_always_the_same_ones) {
  m.load(cycle(take_by_cas, release_by_exch));
  for (std::uint64_t seed : {0, 1, 7}) {
    m.options.seed = seed;
    auto first = fault({2}, {32}, 32, 2);
    std::uint64_t needed = executed;
    EXPECT_EQ(first.kind, fault_kind::lock_cycle);
    EXPECT_LT(needed, 4'000'000u);
    auto second = fault({2}, {32}, 32, 2);
    EXPECT_EQ(executed, needed);
    EXPECT_EQ(second.thread, first.thread);
    EXPECT_EQ(second.ptx_line, first.ptx_line);
  }
}

TEST_F(lock_cycles, other_waiters_do_not_hide_a_cycle) {
  m.load(kernel("setp.gt.u32 q, i, 1; @q bra other;\n" + take_by_cas("own", "first") +
                "xor.b32 w, i, 1; mul.wide.u32 t, w, 4; add.u64 next, locks, t; mov.u32 n, 2;\n" +
                meet + take_by_cas("next", "second") + release_by_exch("next") +
                release_by_exch("own") + "exit;\nother: " + take_by_cas("locks", "third") +
                release_by_exch("locks")));
  m.options.step_limit = 1 << 28;
  for (std::uint32_t blocks : {1, 4}) {
    EXPECT_EQ(fault({blocks}, {64}, 1, 64 * blocks).kind, fault_kind::lock_cycle);
  }
}

TEST_F(lock_cycles, include_a_thread_that_acquires_a_lock_twice) {
  m.load(
      kernel(take_by_cas("own", "first") + take_by_cas("own", "second") + release_by_exch("own")));
  auto f = fault({1}, {1}, 1, 1);
  EXPECT_EQ(f.kind, fault_kind::lock_cycle);
  EXPECT_NE(f.hint.find("that it holds"), std::string::npos) << f.hint;
  m.load(kernel(take_after_test("own", "first") + take_after_test("own", "second") +
                release_by_store("own")));
  EXPECT_EQ(fault({1}, {1}, 1, 1).kind, fault_kind::lock_cycle);
}

TEST_F(lock_cycles, include_a_lock_held_at_a_barrier) {
  m.load(kernel(take_by_cas("locks", "first") + "barrier.sync 0;\n" + release_by_exch("locks")));
  auto f = fault({1}, {64}, 1, 64);
  EXPECT_EQ(f.kind, fault_kind::lock_cycle);
  EXPECT_NE(f.detail.find("for block"), std::string::npos) << f.detail;
}

// The lane that holds the lock waits for its warp, and the other lanes wait for the lock.
TEST_F(lock_cycles, include_a_lock_held_at_an_instruction_of_the_warp) {
  const auto held_at = [](const std::string& wait) {
    return kernel(take_by_cas("locks", "first") + wait + release_by_exch("locks"));
  };
  m.load(held_at("bar.warp.sync -1;\n"));
  EXPECT_EQ(fault({1}, {32}, 1, 32).kind, fault_kind::lock_cycle);
  m.load(held_at("bar.sync 0;\n"));
  EXPECT_EQ(fault({1}, {32}, 1, 32).kind, fault_kind::lock_cycle);
  m.load(held_at("mov.u32 w, 1; shl.b32 w, w, i; bar.warp.sync w;\n"));
  EXPECT_FALSE(run({1}, {32}, 1, 32).fault) << "each lane waits for itself";
}

TEST_F(lock_cycles, include_loops_with_a_barrier) {
  m.load(kernel(take_by_cas("own", "first") + meet + "again: barrier.sync 0;\n" +
                "atom.cas.b32 v, [next], 0, 1; setp.ne.u32 p, v, 0; @p bra again;\n" +
                release_by_exch("next") + release_by_exch("own")));
  EXPECT_EQ(fault({2}, {1}, 1, 2).kind, fault_kind::lock_cycle);
  EXPECT_EQ(fault({2}, {2}, 1, 4).kind, fault_kind::lock_cycle);
}

// Lane 0 holds the lock and waits for lane 1, which waits at a barrier for lane 2.
TEST_F(lock_cycles, include_threads_that_wait_for_no_lock) {
  m.load(kernel("setp.ne.u32 q, i, 0; @q bra others;\n" + take_by_cas("locks", "first") +
                "st.volatile.u32 [arrived], 1; bar.warp.sync 3;\n" + release_by_exch("locks") +
                "exit;\nothers: setp.eq.u32 q, i, 2; @q bra last;\n"
                "barrier.sync 0; bar.warp.sync 3; exit;\n"
                "last: ld.volatile.u32 v, [arrived]; setp.eq.u32 p, v, 0; @p bra last;\n" +
                take_by_cas("locks", "third") + "barrier.sync 0;\n"));
  const auto f = fault({1}, {3}, 1, 3);
  EXPECT_EQ(f.kind, fault_kind::lock_cycle);
  const std::string text = report::full_text(f);
  for (const char* const thread : {"thread (0,0,0)", "thread (1,0,0)", "thread (2,0,0)"}) {
    EXPECT_NE(text.find(thread), std::string::npos) << text;
  }
}

// Lanes 0 and 1 wait for each other at two instructions. Two other warps have a cycle of locks.
TEST_F(lock_cycles, are_found_behind_lanes_that_wait_for_each_other_alone) {
  m.load(
      kernel("setp.lt.u32 q, i, 2; @q bra pair; rem.u32 w, i, 32; setp.ne.u32 q, w, 0;\n"
             "@q exit; xor.b32 w, i, 96; mul.wide.u32 t, w, 4; add.u64 next, locks, t;\n" +
             take_by_cas("own", "first") + "mov.u32 n, 2;\n" + meet +
             take_by_cas("next", "second") + release_by_exch("next") + release_by_exch("own") +
             "exit;\npair: setp.eq.u32 q, i, 0; @q bra left;\n"
             "vote.sync.any.pred p, q, 3; exit;\nleft: bar.warp.sync 3;\n"));
  const auto f = fault({1}, {96}, 1, 96);
  EXPECT_EQ(f.kind, fault_kind::lock_cycle) << report::full_text(f);
  EXPECT_EQ(f.thread[0], 32u);
}

// Block 0 holds the lock at the barrier of the cluster. What it waits for is not known.
TEST_F(lock_cycles, exclude_threads_at_the_barrier_of_a_cluster) {
  m.cluster = {2};
  m.load(kernel("setp.eq.u32 q, i, 1; @q bra other;\n" + take_by_cas("locks", "first") +
                "barrier.cluster.arrive; barrier.cluster.wait;\n" + release_by_exch("locks") +
                "exit;\nother:\n" + take_by_cas("locks", "second")));
  never_ends({2}, {1}, 1, 2);
}

TEST_F(lock_cycles, locks_in_shared_memory_count) {
  std::string shared =
      ".shared .align 4 .b32 s[64]; .reg .b32 o; mov.u32 i, %tid.x; mov.u32 n, %ntid.x;\n"
      "add.u32 w, i, 1; rem.u32 w, w, n; mul.lo.u32 o, i, 4; mov.u32 v, s;\n"
      "add.u32 o, o, v; st.shared.u32 [o], 0; bar.sync 0; cvt.u64.u32 own, o;\n"
      "cvta.shared.u64 own, own; mul.lo.u32 o, w, 4; add.u32 o, o, v; cvt.u64.u32 next, o;\n"
      "cvta.shared.u64 next, next;\n";
  m.load(kernel(shared + take_by_exch("own", "first") + "barrier.sync 0;\n" +
                take_by_exch("next", "second") + release_by_store("next") +
                release_by_store("own")));
  for (std::uint32_t n : {2, 32, 64}) {
    auto f = fault({1}, {n}, 1, n);
    EXPECT_EQ(f.kind, fault_kind::lock_cycle) << n;
    EXPECT_EQ(f.space, report::memory_space::shared);
    EXPECT_EQ(f.address, 4u);
  }
  EXPECT_EQ(fault({6}, {2}, 1, 12).kind, fault_kind::lock_cycle) << "of one block among others";
}

TEST_F(lock_cycles, are_found_through_pointers_and_functions) {
  m.load(
      ".func lock(.param .b64 a) { .reg .b64 l; .reg .b32 v; .reg .pred p;\n"
      "ld.param.u64 l, [a]; " +
      take_by_cas("l", "again") + "ret; }\n" +
      ".func unlock(.param .b64 a) { .reg .b64 l; ld.param.u64 l, [a]; "
      "st.volatile.u32 [l], 0; ret; }\n" +
      kernel(".param .b64 x; st.param.b64 [x], own; call lock, (x);\n" + std::string(meet) +
             "st.param.b64 [x], next; call lock, (x); call unlock, (x);\n"
             "st.param.b64 [x], own; call unlock, (x);\n"));
  EXPECT_EQ(fault({2}, {1}, 1, 2).kind, fault_kind::lock_cycle);
  std::string through =
      "again: ld.u64 t, [own]; atom.cas.b32 v, [t], 0, 1; setp.ne.u32 p, v, 0; "
      "@p bra again;\n";
  m.load(kernel(".global .u64 where; mov.u64 own, where; st.u64 [own], locks;\n" +
                take_by_cas("locks", "first") + through +
                "ld.u64 t, [own]; atom.exch.b32 v, [t], 0;\n"));
  EXPECT_EQ(fault({1}, {1}, 1, 1).kind, fault_kind::lock_cycle);
}

// ---- waits that resemble a cycle of locks

TEST_F(lock_cycles, exclude_correct_locks_regardless_of_duration) {
  std::string work =
      "mov.u32 w, 0;\nwork: add.u32 w, w, 1; setp.lt.u32 p, w, 3000; @p bra work;\n"
      "ld.volatile.u32 v, [arrived]; add.u32 v, v, 1; st.volatile.u32 [arrived], v;\n";
  for (take taken : {take_by_cas, take_by_exch, take_after_test, take_and_sleep}) {
    m.load(kernel(taken("locks", "first") + "add.u64 next, locks, 4;\n" + taken("next", "second") +
                  work + release_by_exch("next") + release_by_exch("locks")));
    m.options.step_limit = 1ull << 36;
    EXPECT_FALSE(run({4}, {32}, 8, 16).fault);
    EXPECT_EQ(*m.view<std::uint32_t>(arrived), 16u);
  }
}

TEST_F(lock_cycles, exclude_a_wait_for_a_word_written_elsewhere) {
  std::string flag = "wait: ld.volatile.u32 v, [arrived+4]; setp.eq.u32 p, v, 0; @p bra wait;\n";
  m.load(kernel(take_by_cas("own", "first") + flag + release_by_exch("own")));
  never_ends({2}, {32}, 32, 2);
  m.load(kernel(take_by_cas("locks", "first") + flag + release_by_exch("locks")));
  never_ends({2}, {32}, 32, 2);
  // Another block may request a stop while it waits for a lock.
  std::string with_stop =
      "wait: ld.volatile.u32 v, [arrived+4]; setp.ne.u32 p, v, 0; @p exit;\n"
      "atom.cas.b32 v, [next], 0, 1; setp.ne.u32 p, v, 0; @p bra wait;\n";
  m.load(kernel(take_by_cas("own", "first") + meet + with_stop + release_by_exch("next") +
                release_by_exch("own")));
  never_ends({2}, {1}, 1, 2);
}

TEST_F(lock_cycles, exclude_locks_accessible_to_the_host) {
  m.load(cycle(take_by_cas, release_by_exch));
  for (auto kind : {memory::allocation_kind::pinned, memory::allocation_kind::managed}) {
    memory::address there = m.allocate(8, kind);
    std::memset(m.view<char>(there), 0, 8);
    memory::address met = m.upload<std::uint32_t>({0});
    auto f = m.run("k", {2}, {1}, there, met, 1u, 2u).fault.value();
    EXPECT_EQ(f.kind, fault_kind::step_limit) << report::full_text(f);
  }
}

TEST_F(lock_cycles, exclude_messages_removed_from_words) {
  // Each thread removes a message from its own word, then waits for a message in the next word.
  std::string fill = "st.volatile.u32 [own], 5;\n" + std::string(meet);
  auto take_message = [](const std::string& at, const std::string& label) {
    return repeat_while(label, "atom.exch.b32 v, [" + at + "], 0; setp.eq.u32 p, v, 0;");
  };
  std::string retry = "bra first;\n";
  m.load(kernel(fill + take_message("own", "first") + take_message("next", "second") + retry));
  never_ends({1}, {1}, 1, 1);
  never_ends({2}, {1}, 1, 2);
  never_ends({1}, {2}, 1, 2);
  auto consume = [](const std::string& at, const std::string& label) {
    return repeat_while(label, "atom.cas.b32 v, [" + at + "], 5, 0; setp.ne.u32 p, v, 5;");
  };
  m.load(kernel(fill + consume("own", "first") + consume("next", "second") + retry));
  never_ends({1}, {1}, 1, 1);
  never_ends({2}, {1}, 1, 2);
}

TEST_F(lock_cycles, exclude_a_request_to_the_host) {
  std::string ask = "atom.cas.b32 v, [own], 0, 1;\n";
  std::string answered = "wait: ld.volatile.u32 v, [own]; setp.eq.u32 p, v, 1; @p bra wait;\n";
  for (const std::string& clear : {release_by_store("own"), release_by_exch("own")}) {
    m.load(kernel("first: " + ask + answered + clear + "bra first;\n"));
    never_ends({1}, {1}, 1, 1);
    never_ends({2}, {1}, 1, 2);
  }
  std::string taken = "wait: atom.cas.b32 v, [own], 2, 0; setp.ne.u32 p, v, 2; @p bra wait;\n";
  m.load(kernel("first: " + ask + taken + "bra first;\n"));
  never_ends({1}, {1}, 1, 1);
  // ... a publisher that waits until its last message was removed
  m.load(kernel("first: " + take_by_cas("own", "put") + "bra first;\n"));
  never_ends({1}, {1}, 1, 1);
}

TEST_F(lock_cycles, exclude_a_release_before_a_retry) {
  m.load(kernel("again: " + take_by_cas("own", "first") +
                "atom.cas.b32 v, [next], 0, 1; setp.eq.u32 q, v, 0; @q bra got;\n" +
                release_by_exch("own") + "bra again;\ngot: " + release_by_exch("next") +
                release_by_exch("own")));
  exec::outcome result = run({2}, {1}, 1, 2);
  EXPECT_TRUE(!result.fault || result.fault->kind == fault_kind::step_limit);
}

TEST_F(lock_cycles, exclude_a_loop_that_reads_a_clock) {
  m.load(kernel(take_by_cas("own", "first") + meet +
                "wait: mov.u32 w, %clock; and.b32 w, w, 0; atom.cas.b32 v, [next], 0, 1; "
                "setp.ne.u32 p, v, 0; @p bra wait;\n" +
                release_by_exch("next") + release_by_exch("own")));
  never_ends({2}, {1}, 1, 2);
}

TEST_F(lock_cycles, exclude_a_slow_block_at_a_grid_barrier) {
  std::string work =
      "mov.u32 w, %ctaid.x; setp.ne.u32 p, w, 0; @p bra go;\n"
      "work: add.u32 w, w, 1; setp.lt.u32 p, w, 1200000; @p bra work;\ngo: ";
  // The last thread reverses the sense; the word is changed by exchange.
  std::string barrier =
      "sub.u32 w, n, 1; atom.add.u32 v, [arrived], 1; setp.ne.u32 p, v, w; @p bra wait;\n"
      "atom.exch.b32 v, [locks], 1;\n"
      "wait: ld.volatile.u32 v, [locks]; setp.eq.u32 p, v, 0; @p bra wait;\n";
  m.load(kernel(work + barrier));
  m.options.step_limit = 1ull << 36;
  exec::outcome result = run({4}, {32}, 1, 128);
  EXPECT_FALSE(result.fault);
  EXPECT_GT(result.instructions, 100'000'000u);
}

TEST_F(lock_cycles, are_detected_only_with_the_check_and_one_host_thread) {
  m.load(cycle(take_by_cas, release_by_exch));
  m.options.check_sync = false;
  never_ends({2}, {1}, 1, 2);
  m.options.check_sync = true;
  m.options.threads = 2;
  never_ends({2}, {1}, 1, 2);
}

}  // namespace
}  // namespace halfwarp::tests

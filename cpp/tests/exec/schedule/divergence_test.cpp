// SPDX-License-Identifier: Apache-2.0
// Divergent lanes: results equal sequential execution per thread, and all lanes make progress.
#include <gtest/gtest.h>

#include <algorithm>

#include "../machine.hpp"

namespace halfwarp::tests {
namespace {

// A random structured program over the registers v0 ... v3. The same tree is written as PTX and
// evaluated directly for one thread.
class random_program {
 public:
  explicit random_program(std::uint64_t seed) : state_{seed * 0x9e37'79b9'7f4a'7c15 + 1} {
    root_ = make_block(4);
  }

  std::string ptx() {
    text_.clear();
    labels_ = 0;
    write(root_, "");
    return ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 x; .reg .pred p;\n"
           "ld.param.b32 x, [a]; setp.gt.u32 p, x, 1000; @p bra big; mul.lo.u32 x, x, 3; bra out;\n"
           "big: shr.u32 x, x, 2; out: st.param.b32 [r], x; ret; }\n"
           ".visible .entry k(.param .u64 io) { .reg .b64 p, o; .reg .b32 v<4>, n<16>, t; .reg "
           ".pred q;\n"
           ".param .b32 in; .param .b32 back;\n"
           "mov.u32 v0, %tid.x; ld.param.u64 p, [io]; mul.wide.u32 o, v0, 4; add.u64 p, p, o;\n"
           "mov.u32 v1, 7; mov.u32 v2, 0; mov.u32 v3, 1;\n" +
           text_ +
           "done: xor.b32 v0, v0, v1; xor.b32 v0, v0, v2; xor.b32 v0, v0, v3; st.global.u32 [p], "
           "v0; ret; }\n";
  }

  std::uint32_t evaluate(std::uint32_t thread) {
    std::uint32_t v[4] = {thread, 7, 0, 1};
    run(root_, v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
  }

 private:
  enum class statement_kind { add, multiply, call, branch, loop, leave };
  struct node {
    statement_kind kind;
    int to, from;
    std::uint32_t constant;
    std::vector<node> first, second;
  };
  using block = std::vector<node>;

  std::uint64_t random(std::uint64_t below) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 11) % below;
  }

  block make_block(int depth) {
    block result;
    std::size_t count = 1 + random(4);
    for (std::size_t i = 0; i < count; ++i) {
      node n{static_cast<statement_kind>(random(depth ? 6 : 3)),
             static_cast<int>(random(4)),
             static_cast<int>(random(4)),
             static_cast<std::uint32_t>(1 + random(29)),
             {},
             {}};
      if (n.kind == statement_kind::leave && random(3)) n.kind = statement_kind::add;
      if (n.kind == statement_kind::branch || n.kind == statement_kind::loop)
        n.first = make_block(depth - 1);
      if (n.kind == statement_kind::branch && random(2)) n.second = make_block(depth - 1);
      result.push_back(n);
    }
    return result;
  }

  static std::string v(int i) { return "v" + std::to_string(i); }

  void write(const block& b, const std::string& loop_end, int depth = 0) {
    for (const node& n : b) {
      std::string c = std::to_string(n.constant), label = "L" + std::to_string(labels_++);
      switch (n.kind) {
        case statement_kind::add:
          text_ += "add.u32 " + v(n.to) + ", " + v(n.from) + ", " + c + ";\n";
          break;
        case statement_kind::multiply:
          text_ += "mad.lo.u32 " + v(n.to) + ", " + v(n.from) + ", " + c + ", %laneid;\n";
          break;
        case statement_kind::call:
          text_ += "st.param.b32 [in], " + v(n.from) + "; call (back), f, (in); ld.param.b32 " +
                   v(n.to) + ", [back];\n";
          break;
        case statement_kind::branch:
          write_branch(n, label, loop_end, depth);
          break;
        case statement_kind::loop:
          write_loop(n, label, depth);
          break;
        case statement_kind::leave:
          text_ += "and.b32 t, " + v(n.from) + ", 7; setp.eq.u32 q, t, 3;\n@q bra " +
                   (loop_end.empty() ? "done" : loop_end) + ";\n";
          break;
      }
    }
  }
  void write_branch(const node& n, const std::string& label, const std::string& loop_end,
                    int depth) {
    text_ += "and.b32 t, " + v(n.from) + ", " + std::to_string(n.constant) +
             "; setp.ne.u32 q, t, 0;\n@!q bra " + label + "e;\n";
    write(n.first, loop_end, depth);
    text_ += "bra " + label + "x;\n" + label + "e:\n";
    write(n.second, loop_end, depth);
    text_ += label + "x:\n";
  }
  void write_loop(const node& n, const std::string& label, int depth) {
    std::string counter = "n" + std::to_string(depth);
    text_ += "and.b32 " + counter + ", " + v(n.from) + ", 7;\n" + label + "l:\nsetp.eq.u32 q, " +
             counter + ", 0;\n@q bra " + label + "x;\nsub.u32 " + counter + ", " + counter +
             ", 1;\n";
    write(n.first, label + "x", depth + 1);
    text_ += "bra " + label + "l;\n" + label + "x:\n";
  }

  enum class stop { none, loop };
  static std::uint32_t called(std::uint32_t x) { return x > 1000 ? x >> 2 : x * 3; }

  // stop::loop: a `leave` ends the innermost loop, or the whole program outside of loops.
  stop run(const block& b, std::uint32_t (&v)[4], bool* = nullptr) {
    for (const node& n : b) {
      switch (n.kind) {
        case statement_kind::add:
          v[n.to] = v[n.from] + n.constant;
          break;
        case statement_kind::multiply:
          v[n.to] = v[n.from] * n.constant + lane_;
          break;
        case statement_kind::call:
          v[n.to] = called(v[n.from]);
          break;
        case statement_kind::branch:
          if (run(v[n.from] & n.constant ? n.first : n.second, v) == stop::loop) return stop::loop;
          break;
        case statement_kind::loop:
          for (std::uint32_t count = v[n.from] & 7; count; --count) {
            if (run(n.first, v) == stop::loop) break;
          }
          break;
        case statement_kind::leave:
          if ((v[n.from] & 7) == 3) return stop::loop;
          break;
      }
    }
    return stop::none;
  }

 public:
  std::uint32_t evaluate_lane(std::uint32_t thread) {
    lane_ = thread % 32;
    return evaluate(thread);
  }

 private:
  std::uint64_t state_;
  block root_;
  std::string text_;
  int labels_ = 0;
  std::uint32_t lane_ = 0;
};

TEST(divergence, random_control_flow_equals_one_thread_at_a_time) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    random_program program{seed};
    machine m;
    std::string text = program.ptx();
    m.load(text);
    m.options.seed = seed % 3;
    memory::address io = m.allocate(70 * 4);
    auto result = m.run("k", {1}, {70}, io);
    ASSERT_FALSE(result.fault) << report::full_text(*result.fault) << text;
    auto got = m.download<std::uint32_t>(io, 70);
    for (std::uint32_t i = 0; i < 70; ++i) {
      ASSERT_EQ(got[i], program.evaluate_lane(i)) << "seed " << seed << " thread " << i << "\n"
                                                  << text;
    }
  }
}

TEST(divergence, a_spin_lock_within_a_warp_makes_progress) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 lock) { .reg .b64 a; .reg .b32 r; .reg .pred p;\n"
      "ld.param.u64 a, [lock];\n"
      "spin: atom.global.cas.b32 r, [a], 0, 1; setp.ne.u32 p, r, 0; @p bra spin;\n"
      "ld.volatile.global.u32 r, [a+4]; add.u32 r, r, 1; st.volatile.global.u32 [a+4], r;\n"
      "membar.gl; atom.global.exch.b32 r, [a], 0; ret; }");
  memory::address lock = m.upload<std::uint32_t>({0, 0});
  m.options.step_limit = 1 << 28;
  auto result = m.run("k", {4}, {128}, lock);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  EXPECT_EQ(m.view<std::uint32_t>(lock)[1], 512u);
}

TEST(divergence, lanes_wait_for_a_flag_of_a_later_lane) {
  machine m;
  // The waiting loop has the lower addresses, so it is preferred until fairness lets others run.
  m.load(
      ".visible .entry k(.param .u64 flag) { .reg .b64 a; .reg .b32 i, r; .reg .pred p;\n"
      "ld.param.u64 a, [flag]; mov.u32 i, %tid.x; setp.eq.u32 p, i, 31; @p bra set;\n"
      "wait: ld.volatile.global.u32 r, [a]; setp.eq.u32 p, r, 0; @p bra wait; bra out;\n"
      "set: st.volatile.global.u32 [a], 1;\n"
      "out: red.global.add.u32 [a+4], 1; ret; }");
  memory::address flag = m.upload<std::uint32_t>({0, 0});
  m.options.step_limit = 1 << 24;
  auto result = m.run("k", {1}, {32}, flag);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  EXPECT_EQ(m.view<std::uint32_t>(flag)[1], 32u);
}

TEST(divergence, blocks_that_wait_for_each_other_are_resident_together) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 flag) { .reg .b64 a; .reg .b32 i, r; .reg .pred p;\n"
      "ld.param.u64 a, [flag]; red.global.add.u32 [a], 1;\n"
      "wait: ld.volatile.global.u32 r, [a]; setp.lt.u32 p, r, 64; @p bra wait; ret; }");
  for (bool is_cooperative : {false, true}) {
    memory::address flag = m.upload<std::uint32_t>({0});
    m.options.step_limit = 1 << 26;
    m.is_cooperative = is_cooperative;
    // Two blocks of 32 threads are within the occupancy limit; each waits for the other.
    EXPECT_FALSE(m.run("k", {2}, {32}, flag).fault);
  }
  memory::address flag = m.upload<std::uint32_t>({0});
  m.is_cooperative = true;
  EXPECT_FALSE(m.run("k", {64}, {1}, flag).fault) << "all blocks of a cooperative launch";
}

TEST(divergence, exited_threads_do_not_block_others) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 out) { .reg .b64 a, o; .reg .b32 i; .reg .pred p;\n"
      "ld.param.u64 a, [out]; mov.u32 i, %tid.x; setp.lt.u32 p, i, 20; @p exit;\n"
      "mul.wide.u32 o, i, 4; add.u64 a, a, o; bar.sync 0; st.global.u32 [a], i; ret; }");
  memory::address out = m.upload(std::vector<std::uint32_t>(64, 1000));
  auto result = m.run("k", {1}, {64}, out);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(m.view<std::uint32_t>(out)[i], i < 20 ? 1000 : i);
  }
}

TEST(divergence, an_indexed_branch_takes_the_listed_target) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 out) { .reg .b64 a, o; .reg .b32 i, r;\n"
      "ld.param.u64 a, [out]; mov.u32 i, %tid.x; mul.wide.u32 o, i, 4; add.u64 a, a, o; rem.u32 i, "
      "i, 3;\n"
      "ts: .branchtargets x, y, z;\n"
      "brx.idx i, ts;\n"
      "x: mov.u32 r, 10; bra end; y: mov.u32 r, 20; bra end; z: mov.u32 r, 30;\n"
      "end: st.global.u32 [a], r; ret; }");
  memory::address out = m.allocate(128);
  auto result = m.run("k", {1}, {32}, out);
  ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(m.view<std::uint32_t>(out)[i], 10 + 10 * (i % 3));
}

TEST(divergence, the_order_of_blocks_follows_the_seed_and_repeats) {
  auto order = [](std::uint64_t seed) {
    machine m;
    m.load(
        ".visible .entry k(.param .u64 out) { .reg .b64 a, o; .reg .b32 i, r;\n"
        "ld.param.u64 a, [out]; atom.global.add.u32 r, [a], 1; mul.wide.u32 o, r, 4; add.u64 a, a, "
        "o;\n"
        "mov.u32 i, %ctaid.x; st.global.u32 [a+4], i; ret; }");
    m.options.seed = seed;
    memory::address out = m.upload(std::vector<std::uint32_t>(51, 0));
    EXPECT_FALSE(m.run("k", {50}, {1}, out).fault);
    return m.download<std::uint32_t>(out, 51);
  };
  auto ascending = order(0), drawn = order(5);
  for (std::uint32_t i = 0; i < 50; ++i) EXPECT_EQ(ascending[i + 1], i);
  EXPECT_NE(drawn, ascending);
  EXPECT_EQ(drawn, order(5));
  std::sort(drawn.begin() + 1, drawn.end());
  EXPECT_EQ(drawn, ascending) << "each block once";
}

// Lanes below the first wait for the whole warp. The others exit, before or after they arrive.
TEST(divergence, lanes_that_exit_complete_the_wait_of_others) {
  for (const std::uint32_t steps : {0u, 2000u}) {
    for (const std::uint32_t first : {1u, 16u, 31u}) {
      for (const bool is_reversed : {false, true}) {
        machine m;
        const std::string wait =
            "bar.warp.sync -1; mad.wide.u32 o, t, 4, o;\n"
            "st.global.u32 [o], 1; ret;\n";
        const std::string leave =
            "again: setp.eq.u32 q, n, 0; @q ret; sub.u32 n, n, 1;\n"
            "bra again;\n";
        const std::string parts = is_reversed ? "@p bra low;\n" + leave + "low: " + wait
                                              : "@!p bra high;\n" + wait + "high: " + leave;
        m.load(
            ".visible .entry k(.param .u64 out, .param .u32 first, .param .u32 steps) {\n"
            ".reg .b64 o; .reg .b32 t, f, n; .reg .pred p, q; ld.param.u64 o, [out];\n"
            "ld.param.u32 f, [first]; ld.param.u32 n, [steps]; mov.u32 t, %tid.x;\n"
            "setp.lt.u32 p, t, f;\n" +
            parts + "}");
        const memory::address out = m.upload(std::vector<std::uint32_t>(32));
        const auto result = m.run("k", {1}, {32}, out, first, steps);
        ASSERT_FALSE(result.fault) << report::full_text(*result.fault);
        const auto words = m.download<std::uint32_t>(out, 32);
        for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(words[i], i < first) << i;
      }
    }
  }
}

}  // namespace
}  // namespace halfwarp::tests

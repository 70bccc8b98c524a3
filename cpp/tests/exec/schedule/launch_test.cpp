// SPDX-License-Identifier: Apache-2.0
// Module loads, kernel attributes and launches.
#include <gtest/gtest.h>

#include <cfenv>
#include <thread>

#include "../machine.hpp"

namespace halfwarp::tests {
namespace {

TEST(launch, special_registers_hold_the_position_in_the_grid) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 out) { .reg .b64 a, o; .reg .b32 r<12>;\n"
      "mov.u32 r0, %ctaid.x; mov.u32 r1, %ctaid.y; mov.u32 r2, %ctaid.z; mov.u32 r3, %nctaid.x; "
      "mov.u32 r4, %nctaid.y;\n"
      "mad.lo.u32 r5, r2, r4, r1; mad.lo.u32 r5, r5, r3, r0; mov.u32 r6, %tid.x; mov.u32 r7, "
      "%tid.y; mov.u32 r8, %tid.z;\n"
      "mov.u32 r9, %ntid.x; mov.u32 r10, %ntid.y; mad.lo.u32 r11, r8, r10, r7; mad.lo.u32 r11, "
      "r11, r9, r6;\n"
      "mad.lo.u32 r5, r5, 60, r11; ld.param.u64 a, [out]; mul.wide.u32 o, r5, 4; add.u64 a, a, o;\n"
      "mad.lo.u32 r0, r0, 10, r1; mad.lo.u32 r0, r0, 10, r2; mad.lo.u32 r0, r0, 10, r6; mad.lo.u32 "
      "r0, r0, 10, r7; mad.lo.u32 r0, r0, 10, r8;\n"
      "st.global.u32 [a], r0; ret; }");
  memory::address out = m.allocate(24 * 60 * 4);
  ASSERT_FALSE(m.run("k", {2, 3, 4}, {3, 4, 5}, out).fault);
  for (std::uint32_t block = 0; block < 24; ++block) {
    for (std::uint32_t thread = 0; thread < 60; ++thread) {
      std::uint32_t b[] = {block % 2, block / 2 % 3, block / 6},
                    t[] = {thread % 3, thread / 3 % 4, thread / 12};
      std::uint32_t expected =
          ((((b[0] * 10 + b[1]) * 10 + b[2]) * 10 + t[0]) * 10 + t[1]) * 10 + t[2];
      EXPECT_EQ(m.view<std::uint32_t>(out)[block * 60 + thread], expected);
    }
  }
}

TEST(launch, special_registers_hold_the_sizes_of_shared_memory) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 out) { .reg .b64 a, b; .reg .b32 r<8>;\n"
      ".shared .align 16 .b8 s[16]; mov.u32 r0, s; ld.param.u64 a, [out];\n"
      "mov.u32 r0, %dynamic_smem_size; mov.u32 r1, %total_smem_size;\n"
      "mov.u32 r2, %reserved_smem_offset_begin; mov.u32 r3, %reserved_smem_offset_end;\n"
      "mov.u64 b, %gridid; cvt.u32.u64 r4, b; mov.u32 r5, %clock_hi; mov.u32 r6, %warpid;\n"
      "st.global.v4.u32 [a], {r0, r1, r2, r3}; st.global.v4.u32 [a+16], {r4, r5, r6, r6}; ret; }");
  m.dynamic_shared_bytes = 32;
  const memory::address out = m.allocate(32);
  ASSERT_FALSE(m.run("k", {1, 1, 1}, {1, 1, 1}, out).fault);
  const auto* const words = m.view<std::uint32_t>(out);
  EXPECT_EQ(words[0], 32u);
  EXPECT_EQ(words[1], words[2]);
  EXPECT_GE(words[1], 48u);
  EXPECT_EQ(words[3] - words[2], 1024u);
  EXPECT_EQ(words[4], 0u);
  EXPECT_EQ(words[6], 0u);
}

TEST(launch, a_cooperative_launch_needs_memory_for_its_workspace) {
  machine m;
  m.load(".visible .entry k() { ret; }");
  m.is_cooperative = true;
  EXPECT_FALSE(m.run("k", {2, 1, 1}, {32, 1, 1}).fault);
  for (std::uint64_t bytes = 2ull << 30; bytes >= 1; bytes /= 2) {
    memory::allocation_request request;
    request.size = bytes;
    while (m.space.allocate(request)) continue;
  }
  const auto result = m.run("k", {2, 1, 1}, {32, 1, 1});
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, report::fault_kind::stack_overflow);
  EXPECT_EQ(result.fault->detail, "out of memory for the workspace of a cooperative launch");
  EXPECT_EQ(result.fault->kernel, "k");
  EXPECT_EQ(result.fault->grid[0], 2u);
  EXPECT_EQ(result.fault->block[0], 32u);
}

TEST(launch, kernel_attributes_come_from_the_text) {
  machine m;
  auto& e = m.load(
      ".version 7.8\n.target sm_86\n.address_size 64\n.const .b8 c[40];\n.shared .align 4 .b8 "
      "unused[4000]; .shared .align 4 .b8 s[100];\n"
      ".visible .entry k(.param .u64 a, .param .u8 b, .param .align 16 .b8 c2[20]) .maxntid 64, 2, "
      "1 .minnctapersm 3\n"
      "{ .local .b8 l[24]; .shared .b8 own[8]; .reg .b64 p; mov.u64 p, s; mov.u64 p, own; mov.u64 "
      "p, l; ret; }\n"
      ".visible .entry fixed() .reqntid 32 { ret; }");
  const auto& a = e.find_kernel("k")->attributes();
  ASSERT_EQ(a.parameters.size(), 3u);
  EXPECT_EQ(a.parameters[1].offset, 8u);
  EXPECT_EQ(a.parameters[2].offset, 16u);
  EXPECT_EQ(a.parameters[2].size, 20u);
  EXPECT_EQ(a.parameter_bytes, 36u);
  EXPECT_EQ(a.static_shared_bytes, 108u);
  EXPECT_EQ(a.constant_bytes, 40u);
  EXPECT_EQ(a.local_bytes, 24u);
  EXPECT_EQ(a.max_threads, 128u);
  EXPECT_EQ(a.minimum_blocks, 3u);
  EXPECT_GE(a.registers, 16u);
  EXPECT_EQ(a.ptx_version, 78);
  EXPECT_EQ(a.binary_version, 86);
  EXPECT_EQ(e.find_kernel("fixed")->attributes().required_block[0], 32u);
  EXPECT_EQ(e.find_kernel("fixed")->attributes().max_threads, 32u);
  EXPECT_EQ(e.kernels().size(), 2u);
  EXPECT_EQ(e.find_kernel("nothing"), nullptr);
}

TEST(launch, a_module_releases_its_variables) {
  machine m;
  m.load(".global .b8 g[1000]; .visible .entry k() { ret; }");
  EXPECT_EQ(m.space.live_allocations().size(), 1u);
  m.load(".visible .entry k() { ret; }");
  EXPECT_TRUE(m.space.live_allocations().empty());
}

TEST(launch, an_undefined_variable_fails_the_load) {
  machine m;
  try {
    m.load(".extern .global .b32 missing; .visible .entry k() { ret; }");
    FAIL();
  } catch (const exec::load_error& e) {
    EXPECT_EQ(e.reason, exec::load_failure::unresolved_symbol);
    EXPECT_NE(e.message.find("missing"), std::string::npos);
  }
}

TEST(launch, a_variable_larger_than_the_device_fails_the_load) {
  machine m;
  try {
    m.load(".global .b8 big[3000000000]; .visible .entry k() { ret; }");
    FAIL();
  } catch (const exec::load_error& e) {
    EXPECT_EQ(e.reason, exec::load_failure::out_of_memory);
  }
}

TEST(launch, static_variables_retain_their_value_between_launches) {
  machine m;
  m.load(
      ".global .b32 g = 5; .visible .entry k() { .reg .b64 a; mov.u64 a, g; red.global.add.u32 "
      "[a], 1; ret; }");
  for (int i = 0; i < 3; ++i) ASSERT_FALSE(m.run("k", {2}, {2}).fault);
  auto& e = m.load(
      ".global .b32 g = 5; .visible .entry k() { .reg .b64 a; mov.u64 a, g; red.global.add.u32 "
      "[a], 1; ret; }");
  ASSERT_FALSE(m.run("k", {2}, {2}).fault);
  EXPECT_EQ(*m.view<int>(e.find_variable("g")->base), 9);
}

TEST(launch, the_callers_rounding_mode_has_no_effect_and_is_unchanged) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 out) { .reg .b64 a; .reg .f32 x, y; ld.param.u64 a, [out]; "
      "mov.f32 x, 0f3F800000; mov.f32 y, 0f33000001;\n"
      "add.rn.f32 x, x, y; st.global.f32 [a], x; mul.rn.f32 y, y, 0f00800000; st.global.f32 [a+4], "
      "y; ret; }");
  memory::address out = m.allocate(8);
  fesetround(FE_UPWARD);
  auto result = m.run("k", {1}, {1}, out);
  EXPECT_EQ(fegetround(), FE_UPWARD);
  fesetround(FE_TONEAREST);
  ASSERT_FALSE(result.fault);
  EXPECT_EQ(*m.view<float>(out), 1.0f);
}

TEST(launch, a_launch_can_be_canceled) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 flag) { .reg .b64 a; .reg .b32 r; .reg .pred p; ld.param.u64 "
      "a, [flag]; st.global.u32 [a], 1;\n"
      "l: ld.volatile.global.u32 r, [a]; setp.ne.u32 p, r, 0; @p bra l; ret; }");
  memory::address flag = m.upload<std::uint32_t>({0});
  std::atomic<bool> canceled{false};
  m.options.canceled = &canceled;
  std::thread other([&] {
    while (*const_cast<volatile std::uint32_t*>(m.view<std::uint32_t>(flag)) == 0)
      std::this_thread::yield();
    canceled = true;
  });
  auto result = m.run("k", {1}, {32}, flag);
  other.join();
  EXPECT_TRUE(result.was_canceled);
  EXPECT_FALSE(result.fault);
}

TEST(launch, a_kernel_sees_what_the_host_writes_while_it_runs) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 flag) { .reg .b64 a; .reg .b32 r; .reg .pred p; ld.param.u64 "
      "a, [flag]; st.volatile.u32 [a+4], 1;\n"
      "l: ld.volatile.u32 r, [a]; setp.eq.u32 p, r, 0; @p bra l; st.u32 [a+8], r; ret; }");
  memory::address flag = m.allocate(12, memory::allocation_kind::pinned);
  auto* cells = reinterpret_cast<volatile std::uint32_t*>(flag);
  cells[0] = cells[1] = cells[2] = 0;
  std::thread host([&] {
    while (cells[1] == 0) std::this_thread::yield();
    cells[0] = 77;
  });
  auto result = m.run("k", {1}, {1}, flag);
  host.join();
  EXPECT_FALSE(result.fault);
  EXPECT_EQ(cells[2], 77u);
}

TEST(launch, instructions_are_counted_per_thread) {
  machine m;
  m.load(".visible .entry k() { .reg .b32 r; mov.u32 r, 1; mov.u32 r, 2; ret; }");
  EXPECT_EQ(m.run("k", {3}, {40}).instructions, 3u * 40 * 3);
}

TEST(launch, several_launches_may_run_at_once) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 cell) { .reg .b64 a; ld.param.u64 a, [cell]; "
      "red.global.add.u32 [a], 1; ret; }");
  memory::address cell = m.upload<std::uint32_t>({0});
  auto work = [&] { EXPECT_FALSE(m.run("k", {100}, {64}, cell).fault); };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(*m.view<std::uint32_t>(cell), 12800u);
}

TEST(launch, clocks_are_monotonic) {
  machine m;
  m.load(
      ".visible .entry k(.param .u64 out) { .reg .b64 a, x, y; .reg .pred p; .reg .b32 r; "
      "ld.param.u64 a, [out]; mov.u64 x, %clock64; mov.u64 y, %globaltimer;\n"
      "mov.u64 y, %clock64; setp.ge.u64 p, y, x; selp.u32 r, 1, 0, p; st.global.u32 [a], r; "
      "mov.u32 r, %nsmid; st.global.u32 [a+4], r; mov.u32 r, %nwarpid; st.global.u32 [a+8], r;\n"
      "mov.u32 r, %warpid; st.global.u32 [a+12], r; mov.u32 r, %dynamic_smem_size; st.global.u32 "
      "[a+16], r; ret; }");
  memory::address out = m.allocate(20);
  m.dynamic_shared_bytes = 48;
  ASSERT_FALSE(m.run("k", {1}, {1}, out).fault);
  EXPECT_EQ(m.download<std::uint32_t>(out, 5), (std::vector<std::uint32_t>{1, 4, 1, 0, 48}));
}

}  // namespace
}  // namespace halfwarp::tests

// SPDX-License-Identifier: Apache-2.0
// Each fault is detected, named and located; the same program without it runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "machine.hpp"

namespace halfwarp::tests {
namespace {

using report::fault_kind;

// out[i] for thread i of the grid, written as TYPE, guarded by i < n.
const std::string writer =
    ".visible .entry writer(.param .u64 out, .param .u32 n) { .reg .b64 a, o; .reg .b32 i, t, u; "
    ".reg .pred p;\n"
    "ld.param.u64 a, [out]; mov.u32 i, %ctaid.x; mov.u32 t, %ntid.x; mov.u32 u, %tid.x; mad.lo.u32 "
    "i, i, t, u;\n"
    "ld.param.u32 t, [n]; setp.ge.u32 p, i, t; @p bra done;\n"
    "mul.wide.u32 o, i, 4; add.u64 a, a, o;\n"
    "st.global.u32 [a], i;\n"
    "done: ret; }\n";

class faults : public testing::Test {
 protected:
  report::fault run(std::string_view kernel, exec::extent grid, exec::extent block,
                    auto... values) {
    auto result = m.run(kernel, grid, block, values...);
    EXPECT_TRUE(result.fault.has_value());
    return result.fault.value_or(report::fault{});
  }
  void runs(std::string_view kernel, exec::extent grid, exec::extent block, auto... values) {
    auto result = m.run(kernel, grid, block, values...);
    EXPECT_FALSE(result.fault) << report::full_text(*result.fault);
  }
  machine m{2};
};

using place = std::array<std::uint32_t, 3>;

TEST_F(faults, out_of_bounds_names_the_first_thread_and_the_distance) {
  m.load(writer);
  memory::address out = m.allocate(400);
  runs("writer", {1}, {128}, out, 100u);
  auto f = run("writer", {2}, {64}, out, 104u);
  EXPECT_EQ(f.kind, fault_kind::out_of_bounds);
  EXPECT_EQ(report::code(f.kind), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_TRUE(report::is_sticky(f.kind));
  EXPECT_EQ(f.access, report::access_kind::store);
  EXPECT_EQ(f.bytes, 4u);
  EXPECT_EQ(f.address, out + 400);
  EXPECT_EQ(f.kernel, "writer");
  EXPECT_EQ(f.block_index, (place{1, 0, 0}));
  EXPECT_EQ(f.thread, (place{36, 0, 0}));
  EXPECT_EQ(f.other_threads, 3u);
  EXPECT_EQ(f.ptx_line, 8u);
  EXPECT_EQ(f.nearest->base, out);
  EXPECT_EQ(f.instruction, "st.global.u32 [a], i");
  std::string line = report::first_line(f);
  EXPECT_EQ(line, "out-of-bounds store of 4 bytes at " + report::hexadecimal(out + 400) +
                      " by kernel 'writer' block (1,0,0) thread (36,0,0), PTX line 8: "
                      "0 bytes past the end of the live 400-byte allocation at " +
                      report::hexadecimal(out));
}

TEST_F(faults, several_host_threads_name_the_same_first_block) {
  m.load(writer);
  memory::address out = m.allocate(40000);
  m.options.threads = 2;
  for (int i = 0; i < 5; ++i) {
    auto f = run("writer", {400}, {128}, out, 1000000u);
    EXPECT_EQ(f.block_index, (place{78, 0, 0}));
    EXPECT_EQ(f.thread, (place{16, 0, 0}));
  }
}

TEST_F(faults, memory_before_an_allocation_is_out_of_bounds) {
  m.load(writer);
  memory::address out = m.allocate(400);
  auto f = run("writer", {1}, {32}, out - 4, 1u);
  EXPECT_EQ(f.kind, fault_kind::out_of_bounds);
  EXPECT_NE(report::first_line(f).find("4 bytes before the start of the live"), std::string::npos);
}

TEST_F(faults, freed_memory_is_use_after_free) {
  m.load(writer);
  memory::address out = m.allocate(400);
  runs("writer", {1}, {32}, out, 32u);
  m.space.release(out, {5, ""});
  auto f = run("writer", {1}, {32}, out, 32u);
  EXPECT_EQ(f.kind, fault_kind::use_after_free);
  EXPECT_EQ(f.thread, (place{0, 0, 0}));
  EXPECT_NE(f.hint.find("stream 5"), std::string::npos);
}

TEST_F(faults, null_and_wild_pointers_are_unmapped) {
  m.load(writer);
  auto f = run("writer", {1}, {32}, memory::address{0}, 32u);
  EXPECT_EQ(f.kind, fault_kind::unmapped);
  EXPECT_NE(f.hint.find("null"), std::string::npos);
  EXPECT_EQ(run("writer", {1}, {32}, memory::address{0x1234'5678'9abc}, 32u).kind,
            fault_kind::unmapped);
  EXPECT_EQ(run("writer", {1}, {32}, ~memory::address{3}, 1u).kind, fault_kind::unmapped);
}

TEST_F(faults, host_memory_that_is_not_pinned_is_named_as_such) {
  m.load(writer);
  std::vector<std::uint32_t> values(32);
  auto base = reinterpret_cast<memory::address>(values.data());
  EXPECT_EQ(run("writer", {1}, {32}, base, 32u).kind, fault_kind::host_memory);
  ASSERT_TRUE(m.space.register_host(values.data(), 128, 0, 0));
  runs("writer", {1}, {32}, base, 32u);
  EXPECT_EQ(values[31], 31u);
  m.space.unregister_host(values.data());
  EXPECT_EQ(run("writer", {1}, {32}, base, 32u).kind, fault_kind::host_memory);
}

TEST_F(faults, pinned_and_managed_memory_is_shared_with_the_host) {
  m.load(writer);
  for (auto kind : {memory::allocation_kind::pinned, memory::allocation_kind::managed}) {
    memory::address out = m.allocate(128, kind);
    runs("writer", {1}, {32}, out, 32u);
    EXPECT_EQ(reinterpret_cast<const std::uint32_t*>(out)[31], 31u);
  }
}

TEST_F(faults, memory_of_another_device_needs_peer_access) {
  m.load(writer);
  memory::address out = m.allocate(128, memory::allocation_kind::device, 1);
  auto f = run("writer", {1}, {32}, out, 32u);
  EXPECT_EQ(f.kind, fault_kind::wrong_device);
  m.space.set_peer_access(0, 1, true);
  runs("writer", {1}, {32}, out, 32u);
}

TEST_F(faults, misaligned_accesses_have_their_own_code) {
  m.load(writer);
  memory::address out = m.allocate(400);
  auto f = run("writer", {1}, {32}, out + 2, 32u);
  EXPECT_EQ(f.kind, fault_kind::misaligned);
  EXPECT_EQ(report::code(f.kind), CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_EQ(f.address, out + 2);
}

TEST_F(faults, misalignment_is_found_after_aligned_accesses_of_the_same_instruction) {
  m.load(
      ".visible .entry k(.param .u64 in) { .reg .b64 a; .reg .b32 i, r; .reg .pred p; ld.param.u64 "
      "a, [in]; mov.u32 i, 0;\n"
      "l: ld.global.u32 r, [a]; add.u64 a, a, 5; add.u32 i, i, 1; setp.lt.u32 p, i, 4; @p bra l; "
      "ret; }");
  auto f = run("k", {1}, {32}, m.allocate(400));
  EXPECT_EQ(f.kind, fault_kind::misaligned);
  EXPECT_EQ(f.bytes, 4u);
}

TEST_F(faults, unaligned_registered_memory_is_checked_by_address) {
  m.load(writer);
  std::vector<std::uint32_t> values(64);
  auto* odd = reinterpret_cast<char*>(values.data()) + 4;
  ASSERT_TRUE(m.space.register_host(odd, 100, 0, 0));
  auto base = reinterpret_cast<memory::address>(odd);
  runs("writer", {1}, {25}, base, 25u);
  EXPECT_EQ(values[25], 24u);
  EXPECT_EQ(run("writer", {1}, {25}, base + 1, 2u).kind, fault_kind::misaligned);
  m.space.unregister_host(odd);
}

TEST_F(faults, constant_variables_are_read_only) {
  m.load(
      ".const .b32 c[4]; .visible .entry k(.param .u32 n) { .reg .b64 a; .reg .b32 r; .reg .pred "
      "p;\n"
      "ld.param.u32 r, [n]; setp.eq.u32 p, r, 0; mov.u64 a, c; cvta.const.u64 a, a; ld.u32 r, [a]; "
      "@p bra o; st.u32 [a], r; o: ret; }");
  runs("k", {1}, {1}, 0u);
  EXPECT_EQ(run("k", {1}, {1}, 1u).kind, fault_kind::read_only);
}

const std::string shared_writer =
    ".extern .shared .align 4 .b8 s[]; .shared .align 4 .b8 fixed[64];\n"
    ".visible .entry k(.param .u32 at) { .reg .b32 i, t; mov.u32 i, s; mov.u32 t, fixed; "
    "ld.param.u32 t, [at]; add.u32 i, i, t;\n"
    "st.shared.u32 [i], t; ret; }";

TEST_F(faults, shared_memory_has_the_size_of_the_launch) {
  m.load(shared_writer);
  m.dynamic_shared_bytes = 1000;
  runs("k", {1}, {1}, 996u);
  auto f = run("k", {1}, {1}, 1000u);
  EXPECT_EQ(f.kind, fault_kind::out_of_bounds);
  EXPECT_EQ(f.space, report::memory_space::shared);
  EXPECT_EQ(f.address, 1064u);
  EXPECT_NE(f.hint.find("dynamic shared memory size 1000"), std::string::npos);
  EXPECT_EQ(run("k", {1}, {1}, 2u).kind, fault_kind::misaligned);
  EXPECT_EQ(run("k", {1}, {1}, ~0u - 67).kind, fault_kind::out_of_bounds) << "before the start";
}

TEST_F(faults, generic_accesses_to_shared_memory_are_bounded_too) {
  m.load(
      ".shared .align 4 .b8 s[64]; .visible .entry k(.param .u64 at) { .reg .b64 a, o; mov.u64 a, "
      "s; cvta.shared.u64 a, a;\n"
      "ld.param.u64 o, [at]; add.u64 a, a, o; st.u32 [a], 1; ret; }");
  runs("k", {1}, {1}, std::uint64_t{60});
  auto f = run("k", {1}, {1}, std::uint64_t{64});
  EXPECT_EQ(f.kind, fault_kind::out_of_bounds);
  EXPECT_EQ(f.space, report::memory_space::shared);
}

TEST_F(faults, local_memory_ends_with_the_frame) {
  m.load(
      ".visible .entry k(.param .u64 at) { .local .align 4 .b8 l[64]; .reg .b64 a, o; mov.u64 a, "
      "l;\n"
      "ld.param.u64 o, [at]; add.u64 a, a, o; st.local.u32 [a], 1; cvta.local.u64 a, a; ld.u32 _, "
      "[a]; ret; }");
  runs("k", {1}, {1}, std::uint64_t{60});
  auto f = run("k", {1}, {1}, std::uint64_t{64});
  EXPECT_EQ(f.kind, fault_kind::out_of_bounds);
  EXPECT_EQ(f.space, report::memory_space::local);
}

TEST_F(faults, addresses_of_one_space_used_in_another_are_wrong_space) {
  m.load(
      ".shared .align 4 .b8 s[64]; .visible .entry shared_as_global() { .reg .b64 a; mov.u64 a, s; "
      "cvta.shared.u64 a, a; st.global.u32 [a], 1; ret; }\n"
      ".visible .entry generic_as_shared() { .reg .b64 a; mov.u64 a, s; cvta.shared.u64 a, a; "
      "st.shared.u32 [a], 1; ret; }\n"
      ".visible .entry right() { .reg .b64 a; mov.u64 a, s; cvta.shared.u64 a, a; st.u32 [a], 1; "
      "ret; }");
  runs("right", {1}, {1});
  auto f = run("shared_as_global", {1}, {1});
  EXPECT_EQ(f.kind, fault_kind::wrong_space);
  EXPECT_EQ(report::code(f.kind), CUDA_ERROR_INVALID_ADDRESS_SPACE);
  EXPECT_EQ(run("generic_as_shared", {1}, {1}).kind, fault_kind::wrong_space);
}

TEST_F(faults, trap_names_the_thread) {
  m.load(
      ".visible .entry k(.param .u32 n) { .reg .b32 i, t; .reg .pred p; ld.param.u32 t, [n]; "
      "mov.u32 i, %tid.x; setp.eq.u32 p, i, t; @p trap; ret; }");
  runs("k", {1}, {32}, 32u);
  auto f = run("k", {3}, {32}, 9u);
  EXPECT_EQ(f.kind, fault_kind::trap);
  EXPECT_EQ(report::code(f.kind), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(f.thread, (place{9, 0, 0}));
  EXPECT_EQ(f.block_index, (place{0, 0, 0}));
}

TEST_F(faults, a_failed_assertion_gives_file_line_function_and_expression) {
  m.load(
      ".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, "
      ".param .b64 c);\n"
      ".global .align 1 .b8 e[6] = {105, 32, 60, 32, 55, 0}; .global .align 1 .b8 f[5] = {97, 46, "
      "99, 117, 0}; .global .align 1 .b8 g[2] = {107, 0};\n"
      ".visible .entry k(.param .u32 n) { .reg .b32 i, t; .reg .b64 a; .reg .pred p; .param .b64 "
      "p0; .param .b64 p1; .param .b32 p2; .param .b64 p3; .param .b64 p4;\n"
      "ld.param.u32 t, [n]; mov.u32 i, %tid.x; setp.lt.u32 p, i, t; @p bra fine;\n"
      "mov.u64 a, e; st.param.b64 [p0], a; mov.u64 a, f; st.param.b64 [p1], a; st.param.b32 [p2], "
      "12; mov.u64 a, g; st.param.b64 [p3], a; st.param.b64 [p4], 1;\n"
      "call __assertfail, (p0, p1, p2, p3, p4);\nfine: ret; }");
  runs("k", {1}, {7}, 7u);
  auto f = run("k", {1}, {32}, 7u);
  EXPECT_EQ(f.kind, fault_kind::device_assert);
  EXPECT_EQ(report::code(f.kind), CUDA_ERROR_ASSERT);
  EXPECT_EQ(f.detail, "a.cu:12: k: Assertion `i < 7` failed");
  EXPECT_EQ(f.thread, (place{7, 0, 0}));
  EXPECT_EQ(f.other_threads, 24u);
  testing::internal::CaptureStderr();
  run("k", {1}, {2, 2, 3}, 0u);
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_NE(lines.find("a.cu:12: k: block: [0,0,0], thread: [1,0,2] Assertion `i < 7` failed.\n"),
            std::string::npos)
      << lines;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 12);
}

TEST_F(faults, endless_recursion_overflows_the_stack) {
  m.load(
      ".func f(.param .b32 n) { .local .b8 l[64]; .reg .b32 x; .reg .pred p; .param .b32 in; "
      "ld.param.b32 x, [n]; setp.eq.u32 p, x, 0; @p ret;\n"
      "sub.u32 x, x, 1; st.param.b32 [in], x; call f, (in); ret; }\n"
      ".visible .entry k(.param .u32 n) { .reg .b32 x; .param .b32 in; ld.param.u32 x, [n]; "
      "st.param.b32 [in], x; call f, (in); ret; }");
  runs("k", {1}, {32}, 5u);
  auto f = run("k", {1}, {32}, ~0u);
  EXPECT_EQ(f.kind, fault_kind::stack_overflow);
  EXPECT_EQ(report::code(f.kind), CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_EQ(f.other_threads, 31u);
  // A call takes 96 bytes: 72 of the frame, and the return address, in units of 16.
  EXPECT_EQ(f.detail, "call depth 11 needs more than the 1024 bytes of stack of a thread");
  m.options.stack_bytes = 1 << 16;
  runs("k", {1}, {32}, 200u);
}

TEST_F(faults, an_aligned_barrier_in_divergent_code_is_reported_with_both_places) {
  m.load(
      ".visible .entry k(.param .u32 n) { .reg .b32 i, t; .reg .pred p; ld.param.u32 t, [n]; "
      "mov.u32 i, %tid.x; setp.lt.u32 p, i, t; @!p bra other;\n"
      "bar.sync 0;\nbra done;\nother:\nbar.sync 0;\ndone: ret; }");
  runs("k", {1}, {64}, 64u);
  runs("k", {1}, {64}, 32u);
  auto f = run("k", {1}, {64}, 16u);
  EXPECT_EQ(f.kind, fault_kind::divergent_barrier);
  EXPECT_EQ(report::code(f.kind), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(f.detail.find("PTX line 5"), std::string::npos) << f.detail;
  EXPECT_NE(f.detail.find("PTX line 8"), std::string::npos) << f.detail;
}

TEST_F(faults, a_barrier_that_too_few_threads_reach_is_a_deadlock) {
  m.load(
      ".visible .entry k(.param .u32 n) { .reg .b32 t; ld.param.u32 t, [n]; bar.sync 1, t; ret; }");
  runs("k", {1}, {64}, 64u);
  auto f = run("k", {1}, {64}, 96u);
  EXPECT_EQ(f.kind, fault_kind::deadlock);
  EXPECT_NE(f.detail.find("waits at the barrier"), std::string::npos);
}

TEST_F(faults, barrier_numbers_end_at_15) {
  m.load(".visible .entry k(.param .u32 n) { .reg .b32 t; ld.param.u32 t, [n]; bar.sync t; ret; }");
  runs("k", {1}, {64}, 15u);
  EXPECT_EQ(run("k", {1}, {64}, 16u).kind, fault_kind::divergent_barrier);
}

TEST_F(faults, a_missing_member_is_named) {
  m.load(
      ".visible .entry k(.param .u32 n, .param .u32 members) { .reg .b32 i, t, u, r; .reg .pred p; "
      "ld.param.u32 t, [n]; ld.param.u32 u, [members];\n"
      "mov.u32 i, %laneid; setp.ge.u32 p, i, t; @p exit; redux.sync.add.u32 r, i, u; ret; }\n"
      ".visible .entry apart() { .reg .b32 i, r; .reg .pred p; mov.u32 i, %laneid; setp.ge.u32 p, "
      "i, 8; @p bra other;\n"
      "redux.sync.add.u32 r, i, -1; other: bar.sync 0; ret; }");
  runs("k", {1}, {32}, 32u, ~0u);
  runs("k", {1}, {32}, 16u, 0xffffu);
  runs("k", {1}, {32}, 16u, ~0u);  // exited lanes need not arrive
  auto f = run("k", {1}, {32}, 32u, 0xffff'fffeu);
  EXPECT_EQ(f.kind, fault_kind::member_mask);
  EXPECT_EQ(f.thread, (place{0, 0, 0})) << "lane 0 is not in the mask it names";
  EXPECT_EQ(run("apart", {1}, {32}).kind, fault_kind::member_mask);
}

TEST_F(faults, an_endless_loop_reaches_the_step_limit) {
  m.load(
      ".visible .entry k(.param .u32 n) { .reg .b32 t; .reg .pred p; ld.param.u32 t, [n]; l: "
      "sub.u32 t, t, 1; setp.ne.u32 p, t, 0; @p bra l; ret; }");
  m.options.step_limit = 1 << 22;
  runs("k", {1}, {32}, 1000u);
  auto f = run("k", {1}, {32}, 0u);
  EXPECT_EQ(f.kind, fault_kind::step_limit);
  EXPECT_EQ(report::code(f.kind), CUDA_ERROR_LAUNCH_TIMEOUT);
}

TEST_F(faults,
       instructions_that_are_not_emulated_are_refused_at_the_launch_of_kernels_that_reach_them) {
  m.load(
      ".func bad() { .reg .b64 a; .reg .b32 r; multimem.red.relaxed.sys.global.add.u32 [a], r; "
      "ret; }\n"
      ".visible .entry k() { call bad, (); ret; }\n.visible .entry fine() { ret; }");
  runs("fine", {1}, {1});
  auto f = run("k", {1}, {1});
  EXPECT_EQ(f.kind, fault_kind::not_supported);
  EXPECT_EQ(report::code(f.kind), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_FALSE(report::is_sticky(f.kind));
  EXPECT_EQ(f.ptx_line, 4u);
  EXPECT_NE(f.instruction.find("multimem"), std::string::npos);
  EXPECT_EQ(f.kernel, "k");
}

TEST_F(faults, source_lines_are_named_and_shown_if_the_file_exists) {
  std::string path = testing::TempDir() + "halfwarp_fault_test.cu";
  std::ofstream{path} << "first\nsecond\n  *p = 1;\n";
  auto fault_of = [&](const std::string& file) {
    m.load(
        ".visible .entry k(.param .u64 a) { .reg .b64 p; .loc 1 2 7\nld.param.u64 p, [a]; .loc 1 3 "
        "3\nst.global.u32 [p], 1; ret; }\n.file 1 \"" +
        file + "\"");
    return run("k", {1}, {1}, memory::address{0});
  };
  auto f = fault_of(path);
  EXPECT_EQ(f.source_file, path);
  EXPECT_EQ(f.source_line, 3u);
  EXPECT_NE(report::first_line(f).find(path + ":3, PTX line"), std::string::npos);
  EXPECT_NE(report::full_text(f).find("source: *p = 1;"), std::string::npos);
  f = fault_of("default_program");
  EXPECT_EQ(f.source_file, "") << "no such file";
  EXPECT_NE(report::first_line(f).find("source line 3, PTX line"), std::string::npos);
  EXPECT_EQ(report::full_text(f).find("default_program"), std::string::npos);
  std::remove(path.c_str());
}

TEST_F(faults, a_null_pointer_belongs_to_no_allocation) {
  m.load(writer);
  memory::allocation_request request;
  request.size = 64;
  request.stream = 3;
  m.space.allocate(request).value();
  std::string text = report::full_text(run("writer", {1}, {1}, memory::address{0}, 1u));
  EXPECT_NE(text.find("no allocation is near"), std::string::npos) << text;
  EXPECT_EQ(text.find("allocated on stream"), std::string::npos) << text;
  EXPECT_EQ(text.find("no allocation is near"), text.rfind("no allocation is near")) << text;
}

TEST_F(faults, an_invalid_pointer_is_described_once) {
  m.load(writer);
  std::string text = report::full_text(run("writer", {1}, {1}, memory::address{1} << 40, 1u));
  EXPECT_NE(text.find("no allocation is near"), std::string::npos) << text;
  EXPECT_EQ(text.find("no allocation is near"), text.rfind("no allocation is near")) << text;
}

TEST_F(faults, without_the_memory_check_red_zones_are_ordinary_memory) {
  m.load(writer);
  m.options.check_memory = false;
  memory::address out = m.allocate(400);
  runs("writer", {1}, {128}, out, 128u);
  EXPECT_EQ(run("writer", {1}, {1}, memory::address{0}, 1u).kind, fault_kind::unmapped);
}

TEST_F(faults, names_are_shown_as_in_the_source) {
  EXPECT_EQ(report::demangled("_Z5saxpyifPKfPf"), "saxpy(int, float, float const*, float*)");
  for (const char* name : {"saxpy", "f", "rd", "i"}) EXPECT_EQ(report::demangled(name), name);
  EXPECT_EQ(report::hexadecimal(0x7f8675bd0b00), "0x7f8675bd0b00");
  EXPECT_EQ(report::hexadecimal(0), "0x0");
}

TEST_F(faults, the_full_text_has_launch_instruction_and_hint) {
  m.load(writer);
  memory::address out = m.allocate(400);
  std::string text = report::full_text(run("writer", {2}, {64}, out, 104u));
  for (const char* part : {"grid (2,1,1), block (64,1,1)", "3 of the same warp",
                           "st.global.u32 [a], i", "hint: compare the index", "seed: 0"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace halfwarp::tests

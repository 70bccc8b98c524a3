// SPDX-License-Identifier: Apache-2.0
// The codes and the texts of faults, letter by letter.
#include "emulator/report/fault.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace halfwarp::emulator::report {
namespace {

struct kind_row {
  fault_kind kind;
  std::string_view name;
  CUresult code;
  bool is_sticky, is_of_lifetime, is_finding;
};

constexpr kind_row kinds[] = {
    {fault_kind::out_of_bounds, "out-of-bounds", CUDA_ERROR_ILLEGAL_ADDRESS, true, false, false},
    {fault_kind::use_after_free, "use-after-free", CUDA_ERROR_ILLEGAL_ADDRESS, true, false, false},
    {fault_kind::unmapped, "unmapped", CUDA_ERROR_ILLEGAL_ADDRESS, true, false, false},
    {fault_kind::wrong_device, "wrong-device", CUDA_ERROR_ILLEGAL_ADDRESS, true, false, false},
    {fault_kind::host_memory, "host-memory", CUDA_ERROR_ILLEGAL_ADDRESS, true, false, false},
    {fault_kind::stream_order, "stream-order", CUDA_ERROR_ILLEGAL_ADDRESS, true, false, false},
    {fault_kind::read_only, "read-only", CUDA_ERROR_ILLEGAL_ADDRESS, true, false, false},
    {fault_kind::misaligned, "misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, true, false, false},
    {fault_kind::wrong_space, "wrong-space", CUDA_ERROR_INVALID_ADDRESS_SPACE, true, false, false},
    {fault_kind::stack_overflow, "stack-overflow", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, true, false,
     false},
    {fault_kind::device_assert, "device-assert", CUDA_ERROR_ASSERT, true, false, false},
    {fault_kind::trap, "trap", CUDA_ERROR_LAUNCH_FAILED, true, false, false},
    {fault_kind::bad_call_target, "bad-call-target", CUDA_ERROR_INVALID_PC, true, false, false},
    {fault_kind::divergent_barrier, "divergent-barrier", CUDA_ERROR_LAUNCH_FAILED, true, false,
     false},
    {fault_kind::member_mask, "member-mask", CUDA_ERROR_LAUNCH_FAILED, true, false, false},
    {fault_kind::invalid_operand, "invalid-operand", CUDA_ERROR_LAUNCH_FAILED, true, false, false},
    {fault_kind::tensor_memory, "tensor-memory", CUDA_ERROR_LAUNCH_FAILED, true, false, false},
    {fault_kind::deadlock, "deadlock", CUDA_ERROR_LAUNCH_FAILED, true, false, false},
    {fault_kind::lock_cycle, "lock-cycle", CUDA_ERROR_LAUNCH_FAILED, true, false, false},
    {fault_kind::step_limit, "step-limit", CUDA_ERROR_LAUNCH_TIMEOUT, true, false, false},
    {fault_kind::destroyed_handle, "destroyed-handle", CUDA_ERROR_INVALID_HANDLE, false, true,
     false},
    {fault_kind::destroyed_in_use, "destroyed-in-use", CUDA_ERROR_INVALID_HANDLE, false, true,
     false},
    {fault_kind::double_free, "double-free", CUDA_ERROR_INVALID_VALUE, false, true, false},
    {fault_kind::freed_memory, "freed-memory", CUDA_ERROR_INVALID_VALUE, false, true, false},
    {fault_kind::not_supported, "not-supported", CUDA_ERROR_NOT_SUPPORTED, false, false, false},
    {fault_kind::interrupted, "interrupted", CUDA_ERROR_LAUNCH_TIMEOUT, true, false, false},
    {fault_kind::invalid_free, "invalid-free", CUDA_ERROR_LAUNCH_FAILED, true, false, false},
    {fault_kind::race, "race", CUDA_SUCCESS, false, false, true},
    {fault_kind::uninitialized, "uninitialized", CUDA_SUCCESS, false, false, true},
    {fault_kind::async_copy, "async-copy", CUDA_SUCCESS, false, false, true},
    {fault_kind::barrier, "barrier", CUDA_SUCCESS, false, false, true},
    {fault_kind::hazard, "hazard", CUDA_SUCCESS, false, false, true},
    {fault_kind::neighbor, "neighbor", CUDA_SUCCESS, false, false, true},
};

TEST(fault_kinds, have_a_name_a_code_and_a_class) {
  for (const auto& [kind, expected, number, is_lasting, is_lifetime, is_found] : kinds) {
    EXPECT_EQ(name(kind), expected);
    EXPECT_EQ(code(kind), number) << expected;
    EXPECT_EQ(is_sticky(kind), is_lasting) << expected;
    EXPECT_EQ(is_of_lifetime(kind), is_lifetime) << expected;
    EXPECT_EQ(is_finding(kind), is_found) << expected;
  }
}

TEST(accesses, have_names) {
  EXPECT_EQ(name(access_kind::load), "load");
  EXPECT_EQ(name(access_kind::store), "store");
  EXPECT_EQ(name(access_kind::atomic), "atomic");
  EXPECT_EQ(name(access_kind::none), "");
}

// An access of 4 bytes at 0x1040 by a thread of a launch.
fault access(fault_kind kind = fault_kind::out_of_bounds) {
  fault f;
  f.kind = kind;
  f.access = access_kind::store;
  f.space = memory_space::global;
  f.bytes = 4;
  f.address = 0x1040;
  f.kernel = "_Z1kPf";
  f.device = 1;
  f.stream = 5;
  f.grid = {2, 3, 4};
  f.block = {32, 6, 7};
  f.block_index = {1, 2, 3};
  f.thread = {9, 4, 5};
  f.ptx_line = 17;
  f.instruction = "st.global.u32 [%rd1], %r1";
  f.seed = 12;
  return f;
}

memory::allocation allocation(memory::address base, std::uint64_t size) {
  memory::allocation a{};
  a.base = base;
  a.size = size;
  a.is_live = true;
  return a;
}

constexpr std::string_view by_thread =
    " by kernel 'k(float*)' block (1,2,3) thread (9,4,5), PTX line 17";

TEST(first_line, describes_the_distance_to_the_nearest_allocation) {
  const std::string start = "out-of-bounds store of 4 bytes at 0x1040" + std::string{by_thread};
  fault f = access();
  EXPECT_EQ(first_line(f), start + ": no allocation is near");
  f.nearest = allocation(0x1000, 0x38);
  EXPECT_EQ(first_line(f),
            start + ": 8 bytes past the end of the live 56-byte allocation at 0x1000");
  f.nearest = allocation(0x1000, 0x40);
  EXPECT_EQ(first_line(f),
            start + ": 0 bytes past the end of the live 64-byte allocation at 0x1000");
  f.nearest = allocation(0x1000, 0x41);
  f.nearest->is_live = false;
  EXPECT_EQ(first_line(f), start + ": 64 bytes into the freed 65-byte allocation at 0x1000");
  f.nearest->is_reserved = true;
  EXPECT_EQ(first_line(f), start + ": 64 bytes into the absent 65-byte allocation at 0x1000");
  f.nearest = allocation(0x1042, 0x40);
  f.nearest->name = "counter";
  EXPECT_EQ(first_line(f),
            start + ": 2 bytes before the start of the live 64-byte variable 'counter' at 0x1042");
  f.detail = "a phrase";
  EXPECT_EQ(first_line(f), start + ": a phrase");
}

TEST(first_line, a_megabyte_away_is_not_near) {
  constexpr std::uint64_t megabyte = 1 << 20;
  fault f = access();
  f.address = 16 * megabyte;
  f.nearest = allocation(f.address + megabyte, 1);
  EXPECT_NE(allocation_text(f), "no allocation is near");
  f.nearest = allocation(f.address + megabyte + 1, 1);
  EXPECT_EQ(allocation_text(f), "no allocation is near");
  f.nearest = allocation(f.address - megabyte - 64, 64);
  EXPECT_NE(allocation_text(f), "no allocation is near");
  f.nearest = allocation(f.address - megabyte - 65, 64);
  EXPECT_EQ(allocation_text(f), "no allocation is near");
}

TEST(first_line, of_other_kinds) {
  fault f = access(fault_kind::trap);
  f.access = access_kind::none;
  EXPECT_EQ(first_line(f), "trap" + std::string{by_thread});
  f.detail = "why";
  EXPECT_EQ(first_line(f), "trap" + std::string{by_thread} + ": why");
  f = access(fault_kind::misaligned);
  f.nearest = allocation(0x1000, 0x40);
  EXPECT_EQ(first_line(f), "misaligned store of 4 bytes at 0x1040" + std::string{by_thread});
  f = access(fault_kind::double_free);
  f.detail = "cuMemFree on thread 1: 0x7 was already freed";
  EXPECT_EQ(first_line(f), "double-free: " + f.detail);
  f = access(fault_kind::not_supported);
  f.detail = "a reason";
  EXPECT_EQ(first_line(f),
            "kernel 'k(float*)' needs an instruction that is not emulated, PTX line 17: "
            "st.global.u32 [%rd1], %r1 (a reason)");
  for (const auto kind : {fault_kind::deadlock, fault_kind::interrupted, fault_kind::hazard}) {
    f = access(kind);
    f.detail = "waits";
    EXPECT_NE(first_line(f), std::string{name(kind)} + ": waits");
    f.kernel = "";
    EXPECT_EQ(first_line(f), std::string{name(kind)} + ": waits");
  }
}

TEST(first_line, of_findings) {
  fault f = access(fault_kind::race);
  f.detail = "a write and a write";
  EXPECT_EQ(first_line(f), "race: a write and a write of 4 bytes at 0x1040 in kernel 'k(float*)'");
  f.space = memory_space::shared;
  EXPECT_EQ(first_line(f),
            "race: a write and a write of 4 bytes at byte 4160 of shared memory in kernel "
            "'k(float*)'");
  f.kind = fault_kind::uninitialized;
  f.space = memory_space::local;
  f.detail = "nobody wrote it";
  EXPECT_EQ(first_line(f),
            "uninitialized: nobody wrote it, byte 4160 of local memory, in kernel 'k(float*)'");
  f.space = memory_space::global;
  EXPECT_EQ(first_line(f), "uninitialized: nobody wrote it, in kernel 'k(float*)'");
}

TEST(places, name_the_file_or_only_the_line) {
  fault f = access();
  EXPECT_EQ(place_text(f), "PTX line 17");
  f.source_line = 3;
  EXPECT_EQ(place_text(f), "source line 3, PTX line 17");
  f.source_file = "a.cu";
  EXPECT_EQ(place_text(f), "a.cu:3, PTX line 17");
}

constexpr std::string_view launch = "  launch: device 1, stream 5, grid (2,3,4), block (32,6,7)\n";

TEST(full_text, of_an_access_lists_what_is_known) {
  fault f = access();
  const std::string end =
      std::string{launch} + "  instruction: st.global.u32 [%rd1], %r1\n  seed: 12\n";
  EXPECT_EQ(full_text(f), first_line(f) + "\n" + end);
  f.other_threads = 15;
  f.hint = "some advice";
  f.nearest = allocation(0x1000, 0x38);
  f.nearest->stream = 7;
  f.nearest->created_at = "a.py:1";
  f.nearest->freed_at = "a.py:2";
  EXPECT_EQ(full_text(f), first_line(f) + "\n" + std::string{launch} +
                              "  other threads: 15 of the same warp with the same fault\n"
                              "  instruction: st.global.u32 [%rd1], %r1\n"
                              "  allocated on stream: 7\n  allocated at: a.py:1\n"
                              "  freed at: a.py:2\n  hint: some advice\n  seed: 12\n");
}

TEST(full_text, names_the_nearest_allocation_if_the_first_line_does_not) {
  fault f = access(fault_kind::misaligned);
  const std::string nearest = "  nearest: no allocation is near\n";
  EXPECT_NE(full_text(f).find(nearest), std::string::npos);
  for (const auto space : {memory_space::shared, memory_space::local}) {
    f.space = space;
    EXPECT_EQ(full_text(f).find(nearest), std::string::npos);
  }
  f = access();
  EXPECT_EQ(full_text(f).find(nearest), std::string::npos);
  f.detail = "a phrase";
  EXPECT_NE(full_text(f).find(nearest), std::string::npos);
  f.access = access_kind::none;
  EXPECT_EQ(full_text(f).find(nearest), std::string::npos);
  f = access(fault_kind::not_supported);
  EXPECT_EQ(full_text(f), first_line(f) + "\n  instruction: " + f.instruction + "\n  seed: 12\n");
}

TEST(full_text, of_the_host_has_no_launch) {
  fault f = access(fault_kind::destroyed_handle);
  f.detail = "a detail";
  f.hint = "some advice";
  f.history = "  a line\n";
  f.nearest = allocation(0x1000, 0x38);
  EXPECT_EQ(full_text(f), "destroyed-handle: a detail\n  a line\n  hint: some advice\n");
  f.kind = fault_kind::hazard;
  f.kernel = "";
  f.nearest->created_at = "a.py:1";
  EXPECT_EQ(full_text(f),
            "hazard: a detail\n"
            "  memory: 8 bytes past the end of the live 56-byte allocation at 0x1000\n"
            "  allocated at: a.py:1\n  a line\n  hint: some advice\n");
}

TEST(full_text, of_a_finding_names_its_threads) {
  fault f = access(fault_kind::race);
  f.detail = "two accesses";
  f.count = 3;
  earlier_access earlier;
  earlier.access = access_kind::load;
  earlier.block_index = {7, 0, 0};
  earlier.thread = {8, 0, 0};
  earlier.ptx_line = 11;
  earlier.instruction = "ld.global.u32 %r2, [%rd1]";
  f.earlier = earlier;
  const std::string end = std::string{launch} + "  count: 3 times\n  seed: 12\n";
  EXPECT_EQ(full_text(f), first_line(f) +
                              "\n  thread (9,4,5) of block (1,2,3) stores at PTX line 17: "
                              "st.global.u32 [%rd1], %r1\n"
                              "  thread (8,0,0) of block (7,0,0) read at PTX line 11: "
                              "ld.global.u32 %r2, [%rd1]\n" +
                              end);
  f.nearest = allocation(0x1000, 0x38);
  f.nearest->created_at = "a.py:1";
  f.history = "  a line\n";
  f.hint = "some advice";
  EXPECT_NE(full_text(f).find("  memory: 8 bytes past the end of the live 56-byte allocation at "
                              "0x1000\n  allocated at: a.py:1\n  a line\n  hint: some advice\n" +
                              end),
            std::string::npos);
  f.count = 1;
  EXPECT_NE(full_text(f).find("  count: once\n"), std::string::npos);
}

struct verb_row {
  fault_kind kind;
  access_kind access;
  std::string_view now, past;
};

TEST(full_text, of_a_finding_has_the_verb_of_each_access) {
  constexpr verb_row rows[] = {
      {fault_kind::race, access_kind::load, "reads", "read"},
      {fault_kind::race, access_kind::store, "stores", "stored"},
      {fault_kind::race, access_kind::atomic, "updates", "updated"},
      {fault_kind::uninitialized, access_kind::none, "uses the value", "uses the value"},
      {fault_kind::async_copy, access_kind::none, "accesses the bytes", "accesses the bytes"},
      {fault_kind::barrier, access_kind::none, "executes or skips the barrier",
       "executes or skips the barrier"},
  };
  for (const auto& [kind, how, now, past] : rows) {
    fault f = access(kind);
    f.access = how;
    f.earlier = earlier_access{};
    f.earlier->access = how;
    const std::string text = full_text(f);
    EXPECT_NE(text.find("block (1,2,3) " + std::string{now} + " at "), std::string::npos) << text;
    EXPECT_NE(text.find("block (0,0,0) " + std::string{past} + " at "), std::string::npos) << text;
  }
}

TEST(full_text, quotes_the_line_of_the_source) {
  const auto path = std::filesystem::temp_directory_path() / "halfwarp_fault_text.cu";
  std::ofstream{path} << "first\n \t second  \n\n";
  fault f = access();
  f.source_file = path;
  f.source_line = 2;
  EXPECT_NE(full_text(f).find("  source: second  \n"), std::string::npos);
  f.source_line = 1;
  EXPECT_NE(full_text(f).find("  source: first\n"), std::string::npos);
  for (const std::uint32_t line : {0u, 3u, 4u, 9u}) {
    f.source_line = line;
    EXPECT_EQ(full_text(f).find("source:"), std::string::npos) << line;
  }
  f.kind = fault_kind::race;
  f.source_line = 2;
  EXPECT_NE(full_text(f).find(":2, PTX line 17: second  \n"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(writers, are_a_title_a_thread_or_both) {
  earlier_access by;
  by.block_index = {1, 0, 0};
  by.thread = {2, 0, 0};
  EXPECT_EQ(writer_text("a copy", by, "copied"), "a copy copied");
  by.ptx_line = 4;
  EXPECT_EQ(writer_text("kernel k", by, "stored"),
            "kernel k, thread (2,0,0) of block (1,0,0), stored at PTX line 4");
  by.source_file = "a.cu";
  by.source_line = 6;
  EXPECT_EQ(writer_text("", by, "stored"),
            "thread (2,0,0) of block (1,0,0) stored at a.cu:6, PTX line 4");
}

TEST(origins, name_the_memory_and_its_writer) {
  fault f = access();
  f.nearest = allocation(0x1000, 0x80);
  f.nearest->created_at = "a.py:1";
  EXPECT_EQ(origin_lines(f, "a copy copied"),
            "  came from: 64 bytes into the live 128-byte allocation at 0x1000, which a copy "
            "copied\n  allocated at: a.py:1\n");
  f.nearest.reset();
  for (const auto& [space, text] :
       {std::pair{memory_space::shared, "shared"}, {memory_space::local, "local"}}) {
    f.space = space;
    EXPECT_EQ(origin_lines(f, "it"),
              "  came from: byte 4160 of " + std::string{text} + " memory, which it\n");
  }
}

TEST(names, are_demangled_if_they_are_mangled) {
  EXPECT_EQ(demangled("_Z5saxpyfPf"), "saxpy(float, float*)");
  EXPECT_EQ(demangled("f"), "f");
  EXPECT_EQ(demangled("_Znonsense"), "_Znonsense");
  EXPECT_EQ(hexadecimal(0), "0x0");
  EXPECT_EQ(hexadecimal(~std::uint64_t{0}), "0xffffffffffffffff");
}

}  // namespace
}  // namespace halfwarp::emulator::report

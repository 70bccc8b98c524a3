// SPDX-License-Identifier: Apache-2.0
// The columns of tensor memory, unfinished accesses, and the faults of instructions that use it.
#include <gtest/gtest.h>

#include "../machine.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/tensor/tensor_memory.hpp"
#include "emulator/exec/tensor/tensor_work.hpp"

namespace halfwarp::tests {
namespace {

using exec::tensor_issuer;
using exec::tensor_memory;
using exec::tensor_pipeline;
using exec::tensor_range;
using exec::tensor_use;

TEST(tensor_columns, are_allocated_at_the_lowest_place) {
  tensor_memory memory{0};
  EXPECT_EQ(memory.free_columns(), 512);
  EXPECT_EQ(memory.unreleased(), nullptr);
  EXPECT_EQ(memory.allocate(64, {}), 0);
  EXPECT_EQ(memory.allocate(32, {}), 64);
  EXPECT_EQ(memory.allocate(128, {}), 96);
  EXPECT_EQ(memory.allocate(256, {}), 224);
  EXPECT_EQ(memory.free_columns(), 32);
  EXPECT_FALSE(memory.allocate(64, {}));
  EXPECT_EQ(memory.allocate(32, {}), 480);
  EXPECT_FALSE(memory.allocate(32, {}));
  EXPECT_NE(memory.unreleased(), nullptr);
  EXPECT_FALSE(memory.release(64, 64));
  EXPECT_FALSE(memory.release(32, 32));
  EXPECT_TRUE(memory.release(64, 32));
  EXPECT_FALSE(memory.release(64, 32));
  EXPECT_FALSE(memory.allocate(64, {}));
  EXPECT_TRUE(memory.release(0, 64));
  EXPECT_EQ(memory.allocate(64, {}), 0);
  EXPECT_EQ(memory.allocate(32, {}), 64);
  EXPECT_EQ(memory.free_columns(), 0);
}

TEST(tensor_columns, are_accessed_where_they_are_allocated) {
  tensor_memory memory{0};
  memory.allocate(64, {});   // 0 to 63
  memory.allocate(32, {});   // 64 to 95
  memory.allocate(128, {});  // 96 to 223
  memory.release(64, 32);
  const auto problem = [&](int lane, int lanes, int column, int columns) {
    return memory.problem_of({lane, lanes, column, columns}, {}, 0);
  };
  EXPECT_EQ(problem(0, 128, 0, 64), "");
  EXPECT_EQ(problem(0, 128, 63, 1), "");
  EXPECT_EQ(problem(0, 128, 64, 1), "columns 64 to 64 are not allocated");
  EXPECT_EQ(problem(0, 128, 95, 1), "columns 95 to 95 are not allocated");
  EXPECT_EQ(problem(0, 128, 60, 8), "columns 60 to 67 are not allocated");
  EXPECT_EQ(problem(0, 128, 90, 8), "columns 90 to 97 are not allocated");
  EXPECT_EQ(problem(0, 128, 96, 128), "");
  EXPECT_EQ(problem(0, 128, 223, 2), "columns 223 to 224 are not allocated");
  EXPECT_EQ(problem(112, 32, 0, 1),
            "lanes 112 to 143 and columns 0 to 0 exceed the 128 lanes and 512 columns of tensor "
            "memory");
  EXPECT_EQ(problem(0, 32, 511, 2),
            "lanes 0 to 31 and columns 511 to 512 exceed the 128 lanes and 512 columns of tensor "
            "memory");
  memory.allocate(32, {});   // 64 to 95 again
  memory.allocate(256, {});  // 224 to 479
  memory.allocate(32, {});
  EXPECT_EQ(problem(0, 128, 0, 512), "");
  EXPECT_EQ(problem(96, 32, 511, 1), "");
}

TEST(tensor_columns, meet_unfinished_accesses) {
  tensor_memory memory{0};
  memory.allocate(64, {});
  const auto problem = [&](const tensor_range& range, tensor_use meets, std::uint32_t warp) {
    return memory.problem_of(range, {meets}, warp);
  };
  const std::string load =
      "columns 4 to 7 are read by a tcgen05.ld of a warp that has not executed tcgen05.wait::ld";
  memory.start({32, 32, 4, 4}, tensor_use::load, 1);
  EXPECT_EQ(problem({32, 32, 4, 4}, tensor_use::load, 0), load);
  EXPECT_EQ(problem({32, 32, 4, 4}, tensor_use::load, 1), "") << "of the own warp";
  EXPECT_EQ(problem({32, 32, 4, 4}, tensor_use::store, 0), "") << "another use";
  EXPECT_EQ(problem({0, 32, 4, 4}, tensor_use::load, 0), "") << "other lanes";
  EXPECT_EQ(problem({64, 32, 4, 4}, tensor_use::load, 0), "") << "other lanes";
  EXPECT_EQ(problem({32, 32, 8, 4}, tensor_use::load, 0), "") << "other columns";
  EXPECT_EQ(problem({32, 32, 0, 4}, tensor_use::load, 0), "") << "other columns";
  EXPECT_NE(problem({32, 32, 7, 4}, tensor_use::load, 0), "");
  EXPECT_NE(problem({32, 32, 1, 4}, tensor_use::load, 0), "");
  EXPECT_NE(problem({0, 33, 4, 1}, tensor_use::load, 0), "");
  memory.finish(tensor_use::store, 1);
  memory.finish(tensor_use::load, 0);
  EXPECT_EQ(problem({32, 32, 4, 4}, tensor_use::load, 0), load);
  memory.finish(tensor_use::load, 1);
  EXPECT_EQ(problem({32, 32, 4, 4}, tensor_use::load, 0), "");
  memory.start({32, 32, 4, 4}, tensor_use::store, 1);
  EXPECT_EQ(problem({32, 32, 4, 4}, tensor_use::store, 0),
            "columns 4 to 7 are written by a tcgen05.st of a warp that has not executed "
            "tcgen05.wait::st");
}

TEST(tensor_columns, meet_work_up_to_a_commit_of_its_thread) {
  tensor_memory memory{0};
  memory.allocate(64, {});
  const tensor_range range{0, 128, 8, 8}, other{0, 128, 16, 8};
  const tensor_issuer first{0, 5}, second{1, 5}, third{0, 6};
  const auto is_met = [&](const tensor_range& each) {
    return memory.problem_of(each, {tensor_use::work}, 0) != "";
  };
  memory.start_work(range, first, 3);
  EXPECT_EQ(memory.problem_of(range, {tensor_use::work}, 0),
            "columns 8 to 15 are accessed by a tcgen05.mma, cp or shift, and no thread has waited "
            "for an mbarrier of a later tcgen05.commit of its thread");
  EXPECT_FALSE(is_met(other));
  memory.finish_work(first, 2);
  memory.finish_work(second, 3);
  memory.finish_work(third, 3);
  EXPECT_TRUE(is_met(range));
  memory.finish_work(first, 3);
  EXPECT_FALSE(is_met(range));
  // Work of one thread on one range is one entry, with its last number.
  memory.start_work(range, first, 4);
  memory.start_work(range, first, 6);
  memory.start_work(other, first, 5);
  memory.start_work({0, 64, 8, 8}, second, 5);
  memory.finish_work(first, 5);
  EXPECT_FALSE(is_met(other));
  EXPECT_TRUE(is_met(range));
  memory.finish_work(first, 6);
  EXPECT_TRUE(is_met(range)) << "of the other block";
  memory.finish_work(second, 9);
  EXPECT_FALSE(is_met(range));
}

TEST(tensor_pipeline, runs_work_at_once_or_when_a_thread_waits) {
  int first = 0, second = 0;
  tensor_pipeline pipeline;
  EXPECT_TRUE(pipeline.is_empty());
  EXPECT_EQ(pipeline.add({.run = [&] { ++first; }}, false), 1u);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(pipeline.add({.run = [&] { ++second; }}, true), 2u);
  EXPECT_EQ(second, 0);
  EXPECT_FALSE(pipeline.is_empty());
  pipeline.complete_all();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_TRUE(pipeline.is_empty());
}

TEST(tensor_pipeline, completes_the_work_of_the_thread_of_a_commit) {
  std::vector<int> order;
  std::byte barrier[2];
  tensor_pipeline pipeline;
  exec::cluster_state cluster;
  const auto add = [&](tensor_issuer issuer, int number, std::vector<std::byte*> barriers = {}) {
    pipeline.add({issuer, [&order, number] { order.push_back(number); }, barriers}, true);
  };
  const tensor_issuer issuer{0, 5};
  add(issuer, 1);
  add({0, 6}, 2);
  add({1, 5}, 3);
  add(issuer, 4, {&barrier[0]});
  add(issuer, 5);
  add(issuer, 6, {&barrier[1]});
  pipeline.complete_for(&barrier[0], cluster);
  EXPECT_EQ(order, (std::vector{1, 4}));
  pipeline.complete_for(&barrier[0], cluster);
  EXPECT_EQ(order, (std::vector{1, 4}));
  pipeline.complete_for(&barrier[1], cluster);
  EXPECT_EQ(order, (std::vector{1, 4, 5, 6}));
  pipeline.complete_all();
  EXPECT_EQ(order, (std::vector{1, 4, 5, 6, 2, 3}));
}

// ---- instructions

class tensor_faults : public testing::Test {
 protected:
  // Warp 0 executes the body; [bar] is an mbarrier, and c0 a descriptor of rows of 16 bytes.
  std::string detail_of(const std::string& body, bool allocates = true) {
    const std::string alloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [cell], 64;";
    const std::string free = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 taddr, 64;";
    m.load(
        ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n"
        ".shared .align 1024 .b8 memory[4096]; .shared .align 8 .b64 bar[2];\n"
        ".shared .align 4 .b32 cell; .reg .b64 c0, c1; .reg .b32 i, t, taddr, r0, r1;\n"
        ".reg .pred q, first, adds; .reg .b16 h; mov.u32 i, %tid.x; setp.eq.u32 first, i, 0;\n"
        "mov.u32 t, memory; mov.u32 taddr, 0; mov.b64 c0, 0x400000000000; mov.b64 c1, c0;\n"
        "mov.b32 r1, " +
        std::to_string(1 << 4 | 1 << 17 | 8 << 24) +
        "; setp.ne.u32 adds, 0, 0;\n"
        "@first mbarrier.init.shared.b64 [bar], 1;\n" +
        (allocates ? alloc + "ld.shared.b32 taddr, [cell];\n" : "") + body + "\n" +
        (allocates ? free : "") + "ret; }");
    const auto fault = m.run("k", {1}, {32}).fault;
    if (!fault) return "";
    EXPECT_EQ(fault->kind, report::fault_kind::tensor_memory) << fault->detail;
    return fault->detail;
  }
  machine m;
};

const std::string wait =
    "@first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n"
    "A: mbarrier.try_wait.parity.shared::cta.b64 q, [bar], 0; @!q bra A;\n";
const std::string product =
    "@first tcgen05.mma.cta_group::1.kind::f16 [taddr], c0, c1, r1, adds;\n";
const std::string copy = "@first tcgen05.cp.cta_group::1.128x128b [taddr], c0;\n";
const std::string shift = "@first tcgen05.shift.cta_group::1.down [taddr];\n";

TEST_F(tensor_faults, of_memory_that_is_not_allocated) {
  EXPECT_EQ(detail_of(product + wait), "");
  EXPECT_EQ(detail_of(copy + wait), "");
  EXPECT_EQ(detail_of(shift + wait), "");
  for (const std::string& each : {product, copy, shift}) {
    EXPECT_EQ(detail_of(each, false), "the block has allocated no tensor memory") << each;
  }
  EXPECT_EQ(detail_of("add.u32 taddr, taddr, 61;" + copy), "columns 61 to 64 are not allocated");
  EXPECT_EQ(detail_of("add.u32 taddr, taddr, 57;" + shift), "columns 57 to 64 are not allocated");
  EXPECT_EQ(detail_of("add.u32 taddr, taddr, 57;" + product), "columns 57 to 64 are not allocated");
}

TEST_F(tensor_faults, of_allocations) {
  const auto alloc = [](const std::string& to, const std::string& columns) {
    return "mov.u32 r0, " + columns +
           "; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [" + to + "], r0;";
  };
  EXPECT_EQ(detail_of(alloc("t+2", "32")), "the address is not stored in aligned shared memory");
  EXPECT_EQ(detail_of(alloc("t+65536", "32")),
            "the address is not stored in aligned shared memory");
  EXPECT_EQ(detail_of(alloc("t", "16")), "the number of columns is 16");
  EXPECT_EQ(detail_of(alloc("t", "96")), "the number of columns is 96");
  EXPECT_EQ(detail_of(alloc("t", "0")), "the number of columns is 0");
  EXPECT_EQ(detail_of(alloc("t", "1024")), "the number of columns is 1024");
  EXPECT_EQ(detail_of(alloc("t", "512")), "512 columns do not fit: 448 of 512 are free");
  EXPECT_EQ(detail_of(alloc("t", "256")),
            "the block ended without tcgen05.dealloc of these columns");
  EXPECT_EQ(detail_of("tcgen05.dealloc.cta_group::1.sync.aligned.b32 taddr, 32;"),
            "no allocation of 32 columns begins at 0x0");
  EXPECT_EQ(detail_of("add.u32 taddr, taddr, 0x10000;"),
            "no allocation of 64 columns begins at 0x10000");
}

TEST_F(tensor_faults, of_addresses_of_a_shift) {
  EXPECT_EQ(
      detail_of("add.u32 r0, taddr, 0x200000; @first tcgen05.shift.cta_group::1.down [r0];" + wait),
      "");
  EXPECT_EQ(detail_of("add.u32 r0, taddr, 0x100000; @first tcgen05.shift.cta_group::1.down [r0];"),
            "the lane of the address is no multiple of 32");
}

TEST_F(tensor_faults, of_descriptors) {
  EXPECT_EQ(detail_of("mov.b64 c0, 0;" + copy),
            "the descriptor of the matrix is invalid: bits 46 to 48 are not 0b001");
  EXPECT_EQ(detail_of("mov.b64 c1, 0;" + product),
            "the descriptor of B: bits 46 to 48 are not 0b001");
  EXPECT_EQ(detail_of("mov.b64 c0, 0;" + product),
            "the descriptor of A: bits 46 to 48 are not 0b001");
  EXPECT_EQ(detail_of("mov.b64 c0, 0x400000000100;" + copy),
            "the matrix exceeds the shared memory of the block");
  EXPECT_EQ(detail_of("mov.b64 c1, 0x400000000100;" + product),
            "a matrix exceeds the shared memory of the block");
}

TEST_F(tensor_faults, of_barriers_of_a_commit) {
  const auto commit = [](const std::string& at) {
    return "mov.u32 r0, bar; add.u32 r0, r0, " + at +
           "; @first tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [r0];";
  };
  const std::string text = "the mbarrier is not aligned, or outside of shared memory";
  EXPECT_EQ(detail_of(commit("0")), "");
  EXPECT_EQ(detail_of(commit("4")), text);
  EXPECT_EQ(detail_of(commit("4096")), text);
}

TEST_F(tensor_faults, of_lanes_of_another_warp) {
  const auto load = [&](int lane, const std::string& shape, const std::string& list) {
    return detail_of("add.u32 t, taddr, " + std::to_string(lane << 16) +
                     "; tcgen05.ld.sync.aligned." + shape + ".b32 " + list + ", [t];\n" +
                     "tcgen05.wait::ld.sync.aligned;");
  };
  EXPECT_EQ(load(0, "32x32b.x1", "{r0}"), "");
  EXPECT_EQ(load(1, "32x32b.x1", "{r0}"), "lanes 1 to 32 by warp 0, which accesses lanes 0 to 31");
  EXPECT_EQ(load(16, "16x64b.x1", "{r0}"), "");
  EXPECT_EQ(load(17, "16x64b.x1", "{r0}"),
            "lanes 17 to 32 by warp 0, which accesses lanes 0 to 31");
  EXPECT_EQ(load(32, "16x128b.x1", "{r0, r1}"),
            "lanes 32 to 47 by warp 0, which accesses lanes 0 to 31");
}

// The descriptor has a distance of 4096 bytes between the units of a row.
TEST_F(tensor_faults, of_units_that_a_copy_reads) {
  const std::string start = "mov.b64 c0, 0x400001000000; mov.b32 r0, memory;";
  EXPECT_EQ(detail_of(start + copy + wait), "");
  EXPECT_EQ(detail_of(start + "@first tcgen05.cp.cta_group::1.128x256b [taddr], c0;"),
            "the matrix exceeds the shared memory of the block");
}

TEST_F(tensor_faults, of_instructions_that_read_before_the_wait) {
  const auto reads_early = [&](const std::string& between) {
    const std::string detail = detail_of("tcgen05.ld.sync.aligned.32x32b.x1.b32 {r0}, [taddr]; " +
                                         between + " tcgen05.wait::ld.sync.aligned;");
    EXPECT_TRUE(detail.empty() || detail.find("reads a result before tcgen05.wait::ld") > 0);
    return !detail.empty();
  };
  EXPECT_TRUE(reads_early("add.u32 t, r0, 1;"));
  EXPECT_FALSE(reads_early("add.u32 t, r1, 1;"));
  EXPECT_FALSE(reads_early("mov.u32 t, r0;")) << "a copy is no use";
  EXPECT_TRUE(reads_early("mov.u32 t, r0; add.u32 i, t, 1;")) << "of the copy";
  EXPECT_TRUE(reads_early("mov.u32 t, r0; mov.u32 i, t; add.u32 i, i, 1;"));
  EXPECT_FALSE(reads_early("mov.u32 r0, 5; add.u32 t, r0, 1;")) << "overwritten";
  EXPECT_TRUE(reads_early("@first mov.u32 r0, 5; add.u32 t, r0, 1;")) << "by some lanes";
  EXPECT_TRUE(reads_early("tcgen05.wait::st.sync.aligned; add.u32 t, r0, 1;"));
  EXPECT_FALSE(reads_early("bra B; B: add.u32 t, r0, 1;")) << "the search ends at a branch";
}

TEST_F(tensor_faults, of_blocks_without_a_neighbor) {
  EXPECT_EQ(detail_of("@first tcgen05.shift.cta_group::2.down [taddr];"),
            "the block has no running neighbor for .cta_group::2");
}

// ---- matrices in registers

TEST(matrix_faults, need_whole_warps) {
  machine m;
  m.load(
      ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k() { .reg .b32 r<8>; "
      ".reg .pred p; mov.u32 r0, %tid.x; mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 "
      "{r4, r5}, {r0, r1}, {r2}, {r0, r1}; ret; }");
  EXPECT_FALSE(m.run("k", {1}, {32}).fault);
  const auto fault = m.run("k", {1}, {48}).fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, report::fault_kind::member_mask);
  EXPECT_EQ(fault->detail, "only the lanes 0xffff execute the instruction");
  EXPECT_EQ(fault->hint,
            "launch whole warps, and let all 32 threads of a warp reach the instruction");
  EXPECT_EQ(fault->thread[0], 32u);
  m.options.check_sync = false;
  EXPECT_FALSE(m.run("k", {1}, {48}).fault);
}

TEST(matrix_faults, rows_are_aligned_and_inside) {
  machine m;
  const auto fault_at = [&](const std::string& form, const std::string& list, std::uint32_t lane,
                            std::uint32_t at) {
    const bool is_store = form.starts_with("st");
    m.load(
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 lane, .param "
        ".u32 at) { .shared .align 16 .b8 s[512]; .reg .b32 r<4>, t, n, a, l; .reg .pred p; "
        "mov.u32 t, %tid.x; ld.param.u32 l, [lane]; ld.param.u32 n, [at]; mul.lo.u32 a, t, 16; "
        "setp.eq.u32 p, t, l; @p mov.u32 a, n; mov.u32 n, s; add.u32 a, a, n;" +
        form + ".sync.aligned.m8n8." + list.substr(0, 3) + "shared.b16 " +
        (is_store ? "[a], " + list.substr(3) : list.substr(3) + ", [a]") + "; ret; }");
    return m.run("k", {1}, {32}, lane, at).fault;
  };
  for (const std::string form : {"ldmatrix", "stmatrix"}) {
    const auto access = form == "ldmatrix" ? report::access_kind::load : report::access_kind::store;
    EXPECT_FALSE(fault_at(form, "x4.{r0, r1, r2, r3}", 31, 496));
    auto fault = fault_at(form, "x4.{r0, r1, r2, r3}", 31, 512);
    ASSERT_TRUE(fault) << form;
    EXPECT_EQ(fault->kind, report::fault_kind::out_of_bounds);
    EXPECT_EQ(fault->access, access);
    EXPECT_EQ(fault->bytes, 16u);
    EXPECT_EQ(fault->address, 512u);
    EXPECT_EQ(fault->thread[0], 31u);
    fault = fault_at(form, "x4.{r0, r1, r2, r3}", 9, 8);
    ASSERT_TRUE(fault) << form;
    EXPECT_EQ(fault->kind, report::fault_kind::misaligned);
    EXPECT_EQ(fault->thread[0], 9u);
    // Lanes behind the matrices have no rows.
    EXPECT_FALSE(fault_at(form, "x1.{r0}", 8, 8)) << form;
    EXPECT_TRUE(fault_at(form, "x1.{r0}", 7, 8)) << form;
    EXPECT_FALSE(fault_at(form, "x2.{r0, r1}", 16, 8)) << form;
    EXPECT_TRUE(fault_at(form, "x2.{r0, r1}", 15, 8)) << form;
  }
}

}  // namespace
}  // namespace halfwarp::tests

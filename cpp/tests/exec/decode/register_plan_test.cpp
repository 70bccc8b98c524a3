// SPDX-License-Identifier: Apache-2.0
// The instructions of a kernel that have the same results in all blocks, and places of registers.
#include "emulator/exec/decode/register_plan.hpp"

#include <gtest/gtest.h>

#include "../machine.hpp"
#include "emulator/exec/program.hpp"

namespace halfwarp::tests {
namespace {

class register_plan : public testing::Test {
 protected:
  void load(const std::string& body) {
    const auto& kernel =
        *m_.load(
               ".version 8.8\n.target sm_100a\n.address_size 64\n.func f() { ret; }\n"
               ".visible .entry k(.param .b32 n, .param .b64 to) {\n"
               ".reg .b32 a, b, c, d; .reg .b64 x, y, z; .reg .pred p, q; .reg .b16 h;\n" +
               body + "\nret; }")
             .find_kernel("k");
    owner_ = kernel.owner().source.get();
    kernel_ = &owner_->functions[kernel.function()];
  }
  std::vector<bool> fixed(bool parameters_in_frame = false) const {
    return exec::find_fixed(*owner_, *kernel_, {*owner_, *kernel_}, parameters_in_frame);
  }
  // Returns whether the last instruction before ret is fixed.
  bool is_fixed(const std::string& body, bool parameters_in_frame = false) {
    load(body);
    const auto all = fixed(parameters_in_frame);
    EXPECT_FALSE(all.back());  // ret
    return all.at(all.size() - 2);
  }

  machine m_;
  const ptx::module* owner_ = nullptr;
  const ptx::function* kernel_ = nullptr;
};

TEST_F(register_plan, values_of_the_thread_index_and_of_parameters_are_fixed) {
  for (const std::string special : {"%tid.x", "%ntid.y", "%nctaid.z", "%laneid"})
    EXPECT_TRUE(is_fixed("mov.u32 a, " + special + ";")) << special;
  for (const std::string special : {"%ctaid.x", "%clock", "%smid", "%warpid", "%lanemask_lt"})
    EXPECT_FALSE(is_fixed("mov.u32 a, " + special + ";")) << special;
  EXPECT_TRUE(is_fixed("ld.param.b32 a, [n];"));
  EXPECT_FALSE(is_fixed("ld.param.b32 a, [n];", true));
  EXPECT_FALSE(is_fixed("ld.global.b32 a, [x];"));
}

TEST_F(register_plan, results_of_fixed_operands_are_fixed) {
  const std::string start = "mov.u32 a, %tid.x; ";
  EXPECT_TRUE(is_fixed(start + "add.u32 b, a, 1;"));
  EXPECT_TRUE(is_fixed(start + "add.u32 b, a, 1; mul.lo.u32 c, a, b;"));
  EXPECT_TRUE(is_fixed(start + "setp.lt.u32 p, a, 3; selp.b32 b, a, 7, p;"));
  EXPECT_TRUE(is_fixed(start + "mov.b64 x, {a, a};"));
  EXPECT_FALSE(is_fixed("mov.u32 a, %ctaid.x; add.u32 b, a, 1;"));
  EXPECT_FALSE(is_fixed(start + "mov.u32 b, %ctaid.x; add.u32 c, a, b;"));
  EXPECT_FALSE(is_fixed(start + "add.cc.u32 b, a, 1;")) << "writes the carry";
  EXPECT_FALSE(is_fixed(start + "setp.lt.u32 p, a, 3; @p add.u32 b, a, 1;")) << "guarded";
  EXPECT_FALSE(is_fixed(start + "add.u32 b, a, 1; add.u32 b, a, 2;")) << "written twice";
  EXPECT_FALSE(is_fixed(start + "add.u32 a, a, 1; add.u32 b, a, 1;")) << "reads one of two";
  EXPECT_FALSE(is_fixed(start + "st.shared.u32 [64], a;"));
  EXPECT_FALSE(is_fixed(start + "bar.sync 0;"));
}

// Instructions of arithmetic that depend on their operands alone.
TEST_F(register_plan, arithmetic_is_fixed) {
  const std::string start = "mov.u32 a, %tid.x; mov.u64 x, 5; mov.pred p, 1; ";
  for (const std::string statement : {"abs.s32 b, a;",
                                      "add.u32 b, a, a;",
                                      "and.b32 b, a, a;",
                                      "bfe.u32 b, a, 1, 2;",
                                      "bfi.b32 b, a, a, 1, 2;",
                                      "bfind.u32 b, a;",
                                      "bmsk.clamp.b32 b, a, a;",
                                      "brev.b32 b, a;",
                                      "clz.b32 b, a;",
                                      "cnot.b32 b, a;",
                                      "cvt.u64.u32 y, a;",
                                      "cvta.global.u64 y, x;",
                                      "div.u32 b, a, a;",
                                      "lop3.b32 b, a, a, a, 7;",
                                      "mad.lo.u32 b, a, a, a;",
                                      "max.u32 b, a, a;",
                                      "min.u32 b, a, a;",
                                      "mov.u32 b, a;",
                                      "mul.lo.u32 b, a, a;",
                                      "neg.s32 b, a;",
                                      "not.b32 b, a;",
                                      "or.b32 b, a, a;",
                                      "popc.b32 b, a;",
                                      "prmt.b32 b, a, a, a;",
                                      "rem.u32 b, a, a;",
                                      "sad.u32 b, a, a, a;",
                                      "selp.b32 b, a, a, p;",
                                      "set.eq.u32.u32 b, a, a;",
                                      "setp.eq.u32 q, a, a;",
                                      "shf.l.wrap.b32 b, a, a, a;",
                                      "shl.b32 b, a, a;",
                                      "shr.u32 b, a, a;",
                                      "slct.b32.s32 b, a, a, a;",
                                      "sub.u32 b, a, a;",
                                      "szext.clamp.u32 b, a, a;",
                                      "xor.b32 b, a, a;"})
    EXPECT_TRUE(is_fixed(start + statement)) << statement;
  for (const std::string statement :
       {"activemask.b32 b;", "atom.global.add.u32 b, [x], a;", "shfl.sync.idx.b32 b, a, 0, 31, -1;",
        "vote.sync.ballot.b32 b, p, -1;", "ld.shared.b32 b, [64];"})
    EXPECT_FALSE(is_fixed(start + statement)) << statement;
}

TEST_F(register_plan, registers_of_one_block_share_places) {
  const auto slots = [&](const std::string& body, std::uint32_t& bytes) {
    load(body);
    bytes = 0;
    const exec::register_uses uses{*owner_, *kernel_};
    const std::vector<bool> none(kernel_->instructions.size());
    return exec::share_slots(*owner_, *kernel_, uses, none, bytes);
  };
  std::uint32_t bytes = 0;
  // b and d follow each other in one place, since c is the last reader of b.
  auto all = slots(
      "mov.u32 a, %ctaid.x; add.u32 b, a, a; add.u32 c, b, a; add.u32 d, c, a; "
      "st.shared.u32 [64], d;",
      bytes);
  EXPECT_EQ(bytes, 3u * 128);
  const auto slot = [&](const char* name) {
    for (std::size_t i = 0; i < kernel_->registers.size(); ++i)
      if (kernel_->registers[i].name == name) return all.at(i);
    ADD_FAILURE() << name;
    return std::int64_t{-1};
  };
  EXPECT_EQ(slot("b"), slot("d"));
  EXPECT_NE(slot("a"), slot("b"));
  EXPECT_NE(slot("c"), slot("b"));
  // A register of 64 bits has another place.
  all = slots("mov.u32 a, %ctaid.x; cvt.u64.u32 x, a; st.shared.u64 [64], x;", bytes);
  EXPECT_EQ(bytes, 128u + 256u);
  // A register shares none if another block reads it, or if it is written twice or with a guard.
  all = slots("mov.u32 a, %ctaid.x; L: add.u32 b, a, 1; bra L;", bytes);
  EXPECT_EQ(slot("a"), -1);
  all = slots("mov.u32 a, 1; mov.u32 a, 2; st.shared.u32 [64], a;", bytes);
  EXPECT_EQ(slot("a"), -1);
  all = slots("setp.eq.u32 p, 1, 1; @p mov.u32 a, 1; st.shared.u32 [64], a;", bytes);
  EXPECT_EQ(slot("a"), -1);
  EXPECT_EQ(slot("p"), -1);
  EXPECT_EQ(bytes, 0u);
  all = slots("mov.u32 a, 1; st.shared.u32 [64], a; wgmma.fence.sync.aligned;", bytes);
  EXPECT_EQ(slot("a"), -1);
}

}  // namespace
}  // namespace halfwarp::tests

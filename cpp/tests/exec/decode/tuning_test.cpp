// SPDX-License-Identifier: Apache-2.0
// The faster code of runs that nothing follows: which handlers and shapes the decoder chooses.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "../machine.hpp"
#include "emulator/exec/decode/kernel_decoder.hpp"
#include "emulator/exec/decode/tuning.hpp"
#include "emulator/exec/handler_table.hpp"
#include "emulator/exec/warp.hpp"

namespace halfwarp::tests {
namespace {

using exec::instruction;

constexpr std::string_view head =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".func f() { ret; }\n"
    ".visible .entry k(.param .u64 from, .param .u64 to) {\n"
    ".reg .b64 a, b, c, d<20>, e, h; .reg .b32 g, i, j, r<40>; .reg .f32 x<20>; .reg .pred p<8>;\n"
    ".shared .align 8 .b8 s[4096];\n"
    // a, b and i differ between the blocks of a launch
    "ld.param.u64 e, [from]; mov.u32 g, %ctaid.x; cvt.u64.u32 h, g; add.u64 a, e, h;\n"
    "add.u64 b, a, 8; shl.b32 i, g, 3; mov.u32 g, 5;\n";

std::string name_of(exec::handler run) {
  static const auto names = [] {
    std::map<exec::handler, std::string_view> all;
    for (const auto& family : exec::handler_families()) {
      for (const auto& entry : family) all.emplace(entry.run, entry.name);
    }
    return all;
  }();
  const auto match = names.find(run);
  return match == names.end() ? "" : std::string{match->second};
}

bool is_shaped(const std::string& name) {
  return name.ends_with(".first") || name.ends_with(".next") || name.starts_with("fused.");
}

// Returns "NAME SHAPE:DISTANCE/EXTENT" for an access by a shape, and else NAME. "*WIDTH" follows
// if instructions are skipped.
std::string text_of(const instruction& instr) {
  std::string text = name_of(instr.run);
  if (is_shaped(text)) {
    const bool is_vector = (instr.flags & exec::access_flag::count) > 1;
    const std::uint32_t distance = is_vector ? instr.target & 0xffff : instr.target;
    const std::uint32_t extent =
        is_vector ? instr.target >> 16 : static_cast<std::uint32_t>(instr.operand[3]);
    text += " " + std::to_string(instr.shape) + ":" + std::to_string(distance) + "/" +
            std::to_string(extent);
  }
  return text + (instr.width == 1 ? "" : "*" + std::to_string(instr.width));
}

using texts = std::vector<std::string>;

texts texts_of(const std::vector<instruction>& code) {
  texts list;
  for (const instruction& each : code) list.push_back(text_of(each));
  return list;
}

class tuning : public testing::Test {
 protected:
  const exec::function_code& decode_text(const std::string& text) {
    const exec::kernel& entry = *m_.load(text).find_kernel("k");
    return exec::code_of(entry.owner(), entry.function()).functions[0];
  }
  const exec::function_code& decode(const std::string& body, std::string_view before = head) {
    return decode_text(std::string{before} + body + "\nret; }");
  }
  // Returns the tuned code of the body, whose first instruction starts a basic block if the body
  // starts with a label.
  std::vector<std::string> tuned(const std::string& body) {
    const std::size_t before = decode("").code.size() - 2;  // two returns
    const exec::function_code& code = decode(body);
    EXPECT_EQ(code.tuned.size(), code.code.size());
    std::vector<std::string> texts;
    for (std::size_t i = before; i + 2 < code.tuned.size(); ++i) {
      texts.push_back(text_of(code.tuned[i]));
    }
    return texts;
  }
  // Returns the shapes of all shaped accesses of the body.
  std::vector<int> shapes(const std::string& body) {
    std::vector<int> list;
    for (const instruction& each : decode(body).tuned) {
      if (is_shaped(name_of(each.run))) list.push_back(each.shape);
    }
    return list;
  }

 private:
  machine m_;
};

TEST_F(tuning, accesses_of_one_address_share_a_shape) {
  EXPECT_EQ(tuned("ld.global.u32 r1, [a+8]; ld.global.u32 r2, [a-4]; st.global.u32 [a+128], r1;"
                  "ld.global.u64 d1, [a+8]; ld.global.u64 d2, [a+16]; st.global.u64 [a], d1;"
                  "ld.shared.u32 r3, [i]; st.shared.u32 [i+4], r3; ld.shared.u64 d3, [i];"
                  "st.shared.u64 [i+24], d3;"),
            (texts{"ld.global.u32.b32.first 0:12/132", "ld.global.u32.b32.next 0:0/132",
                   "st.global.u32.b32.next 0:132/132", "ld.global.u64.b64.first 1:8/16",
                   "ld.global.u64.b64.next 1:16/16", "st.global.u64.b64.next 1:0/16",
                   "ld.shared32.u32.b32.first 2:0/4", "st.shared32.u32.b32.next 2:4/4",
                   "ld.shared32.u64.b64.first 3:0/24", "st.shared32.u64.b64.next 3:24/24"}));
}

TEST_F(tuning, vectors_of_one_address_share_a_shape) {
  EXPECT_EQ(tuned("ld.global.v2.u32 {r1, r2}, [a]; st.global.v2.u32 [a+24], {r1, r2};"
                  "ld.global.v4.u32 {r3, r4, r5, r6}, [a+32];"
                  "st.global.v4.u32 [a], {r3, r4, r5, r6}; ld.shared.v2.u32 {r7, r8}, [i];"
                  "ld.global.v2.u64 {d1, d2}, [a];"),
            (texts{"ld.global.u32.b32.v2.first 0:0/24", "st.global.u32.b32.v2.next 0:24/24",
                   "ld.global.u32.b32.v4.first 1:32/32", "st.global.u32.b32.v4.next 1:0/32",
                   "ld.shared32.u32.b32", "ld.global.u64.b64"}));
}

TEST_F(tuning, a_shape_has_accesses_of_few_bytes) {
  // less than 2^15 from the first access, at a multiple of the size
  EXPECT_EQ(shapes("ld.global.u32 r1, [a]; ld.global.u32 r2, [a+32764]; ld.global.u32 r3, "
                   "[a-32764]; ld.global.u32 r4, [a+32768]; ld.global.u32 r5, [a-32768];"
                   "ld.global.u64 d1, [a]; ld.global.u64 d2, [a+4]; ld.global.u64 d3, [a+12];"),
            (std::vector{0, 0, 0, 1, 2, 3, 4, 4}));
  EXPECT_EQ(tuned("ld.global.u32 r1, [a]; ld.global.u32 r2, [a+32764]; ld.global.u32 r3, "
                  "[a-32764];")[1],
            "ld.global.u32.b32.next 0:65528/65528");
}

TEST_F(tuning, other_accesses_have_no_shape) {
  EXPECT_EQ(
      tuned("ld.global.u16 r1, [a]; ld.local.u32 r2, [a]; ld.global.u8 r3, [a];"
            "mov.u64 c, s; ld.shared.u32 r4, [c]; setp.eq.u32 p1, i, 1;"
            "@p1 ld.global.u32 r5, [a]; ld.global.u32 r6, [a]; ld.shared::cluster.u32 r7, [i];"
            "atom.global.add.u32 r8, [a], i;"),
      (texts{"ld.global.u16.b32", "ld.local.u32.b32", "ld.global.u8.b32*2", "nothing",
             "ld.shared64.u32.b32", "setp.eq.b32", "ld.global.u32.b32",
             "ld.global.u32.b32.first 0:0/0", "extend.u32.b64", "add.b64", "ld.global.u32.b32",
             "atom.global.add.b32"}));
}

TEST_F(tuning, a_shape_ends_with_the_value_of_its_address) {
  EXPECT_EQ(tuned("ld.global.u32 r1, [a]; ld.global.u32 r2, [b]; add.u64 a, a, 8;"
                  "ld.global.u32 r3, [a]; ld.global.u32 r4, [b];"),
            (texts{"ld.global.u32.b32.first 0:0/0", "ld.global.u32.b32.first 1:0/0", "add.b64",
                   "ld.global.u32.b32.first 2:0/0", "ld.global.u32.b32.next 1:0/0"}));
  // a load into the register of the address ends the shape behind it
  EXPECT_EQ(shapes("ld.shared.u32 i, [i]; ld.shared.u32 i, [i]; ld.shared.u32 r1, [i];"
                   "ld.shared.u32 r2, [i];"),
            (std::vector{0, 1, 2, 2}));
}

TEST_F(tuning, a_state_space_that_is_named_has_its_own_shape) {
  EXPECT_EQ(shapes("ld.u32 r1, [a]; ld.global.u32 r2, [a]; ld.u32 r3, [a+4];"),
            (std::vector{0, 1, 0}));
}

TEST_F(tuning, constant_addresses_share_a_shape) {
  EXPECT_EQ(shapes("ld.shared.u32 r1, [s]; ld.shared.u32 r2, [s+64]; ld.global.u32 r3, [4096];"
                   "ld.global.u32 r4, [4100];"),
            (std::vector<int>{0, 0}));  // those of shared memory have 64 bits
}

TEST_F(tuning, the_first_and_the_last_instruction_have_a_shape) {
  const auto& code = decode_text(
      ".visible .entry k() { .reg .b32 r<9>; ld.global.u32 r1, [4096]; st.global.u32 [4100], r1; "
      "}");
  EXPECT_EQ(texts_of(code.tuned),
            (texts{"ld.global.u32.b32.first 0:0/4", "st.global.u32.b32.next 0:4/4", ""}));
}

TEST_F(tuning, the_address_may_be_the_first_register) {
  const auto shape = [&](const std::string& statement) {
    const auto& code =
        decode(statement +
                   "again: st.global.u32 [a], r2; add.u32 r2, r2, 1; setp.ne.u32 p1, r2, 9;"
                   "@p1 bra again;",
               ".visible .entry k(.param .u64 to) { .reg .b64 a; .reg .b32 r<9>; .reg .pred p<9>;"
               "ld.param.u64 a, [to];");
    EXPECT_EQ(code.code[0].operand[0], 0);
    return code.tuned.at(statement.empty() ? 1 : 2).shape;
  };
  EXPECT_EQ(shape(""), 8);
  EXPECT_EQ(shape("add.u64 a, a, 4;"), 0);
}

TEST_F(tuning, a_basic_block_has_up_to_eight_shapes) {
  std::string body;
  for (int n = 0; n < 9; ++n) body += "add.u64 d" + std::to_string(n) + ", a, " + "16;";
  for (int n = 0; n < 9; ++n) body += "ld.global.u32 r1, [d" + std::to_string(n) + "];";
  body += "ld.global.u32 r2, [d8]; ld.global.u32 r3, [d0];";
  EXPECT_EQ(shapes(body), (std::vector{0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 1}));
  // another block starts with the shape that follows
  EXPECT_EQ(shapes("setp.eq.u32 p1, i, 1; ld.global.u32 r1, [a]; ld.global.u32 r2, [b];"
                   "@p1 bra m; ld.global.u32 r3, [a]; m: ld.global.u32 r4, [b];"),
            (std::vector{0, 1, 2, 3}));
}

// Shapes from 8 on last for a round of the block.
TEST_F(tuning, addresses_that_a_loop_keeps_have_a_lasting_shape) {
  const std::string loop = "again: ld.global.u32 r1, [c]; ld.global.u32 r2, [b];";
  const std::string end = "add.u32 j, j, 1; setp.lt.u32 p1, j, 9; @p1 bra again;";
  const std::string start = "add.u64 c, b, 8; mov.u32 j, 0;";
  EXPECT_EQ(shapes(start + loop + end), (std::vector{8, 9}));
  // A write in the loop or before it changes the address.
  EXPECT_EQ(shapes(start + loop + "add.u64 c, c, 4;" + end), (std::vector{0, 8}));
  EXPECT_EQ(shapes("mov.u64 c, a;" + start + loop + end), (std::vector{0, 8}));
  // outside of a loop no shape lasts, except one that a loop has
  EXPECT_EQ(shapes("ld.global.u32 r5, [b];" + start + loop + end + "ld.global.u32 r3, [c];" +
                   "ld.global.u32 r4, [a];"),
            (std::vector{0, 8, 9, 8, 4}));
  // another extent is another shape
  EXPECT_EQ(shapes(start + loop + end + "ld.global.u32 r3, [c]; ld.global.u32 r4, [c+4];"),
            (std::vector{8, 9, 2, 2}));
  // a call may release memory
  EXPECT_EQ(shapes(start + loop + "call f;" + end), (std::vector{0, 1}));
}

TEST_F(tuning, all_blocks_of_a_loop_are_repeated) {
  const std::string body =
      "add.u64 c, b, 8; mov.u32 j, 0; outer: ld.global.u32 r1, [c]; inner: ld.global.u32 r2, [b];"
      "add.u32 j, j, 1; setp.lt.u32 p1, j, 9; @p1 bra inner; ld.global.u32 r3, [c+4];"
      "setp.lt.u32 p2, j, 99; @p2 bra outer; ld.global.u32 r4, [c+8];";
  EXPECT_EQ(shapes(body), (std::vector{8, 9, 10, 3}));
  // an address that a block of the loop writes is another one in the next iteration
  EXPECT_EQ(shapes("mov.u32 j, 0; outer: add.u64 c, b, 8; l: ld.global.u32 r1, [c];"
                   "add.u32 j, j, 1; setp.lt.u32 p1, j, 9; @p1 bra outer;"),
            (std::vector{0}));
  EXPECT_EQ(shapes("mov.u32 j, 0; bra m; outer: ld.global.u32 r1, [c]; add.u32 j, j, 1;"
                   "setp.lt.u32 p1, j, 9; @p1 bra outer; bra end; m: add.u64 c, b, 8; bra outer;"
                   "end:"),
            (std::vector{0}));
}

TEST_F(tuning, the_first_block_may_be_repeated) {
  const auto shape = [&](const std::string& jump) {
    return decode_text(
               ".visible .entry k() { .reg .b32 r; .reg .pred p; l: ld.global.u32 r, [4096];" +
               jump + "}")
        .tuned.at(0)
        .shape;
  };
  EXPECT_EQ(shape("setp.eq.u32 p, r, 0; @p bra l;"), 8);
  EXPECT_EQ(shape("setp.eq.u32 p, r, 0; @p bra m; m:"), 0);
}

TEST_F(tuning, up_to_eight_shapes_last) {
  std::string body = "mov.u32 j, 0;", loop = "again:";
  for (int n = 0; n < 9; ++n) {
    const std::string d = "d" + std::to_string(n);
    body += "add.u64 " + d + ", b, " + std::to_string(n) + ";";
    loop += "ld.global.u32 r" + std::to_string(n) + ", [" + d + "];";
    if (n == 4) loop += "setp.eq.u32 p2, j, 3; @p2 bra l; l:";
  }
  body += loop + "add.u32 j, j, 1; setp.lt.u32 p1, j, 9; @p1 bra again; ld.global.u32 r9, [d8];";
  EXPECT_EQ(shapes(body), (std::vector{8, 9, 10, 11, 12, 13, 14, 15, 0, 1}));
}

// ---- instructions that are the same in all blocks of a launch

TEST_F(tuning, fixed_instructions_are_skipped) {
  const auto& code = decode(
      "mov.u32 r1, %tid.x; shl.b32 r2, r1, 2; add.u32 r3, r2, i; mov.u32 r4, %ntid.y;"
      "setp.eq.u32 p1, r1, 3; @p1 bra l; mov.u32 r5, 7; l: mov.u32 r6, %laneid;");
  EXPECT_EQ(texts_of(code.fixed),
            (texts{"ld.param.u64.b64", "special.tid", "shl.b32", "special.uniform.b32",
                   "setp.eq.b32", "mov.b32", "special.laneid"}));
  EXPECT_EQ(texts_of(code.tuned),
            (texts{"nothing", "special.uniform.b32", "extend.u32.b64", "add.b64", "add.b64",
                   "shl.b32", "mov.b32*3", "nothing*2", "nothing", "add.b32*3", "nothing*2",
                   "nothing", "", "nothing", "nothing", "", ""}));
  for (const instruction& each : code.tuned) {
    const bool is_nothing = text_of(each).starts_with("nothing");
    EXPECT_EQ(each.shape, is_nothing ? exec::fixed_shape : 0) << text_of(each);
  }
}

TEST_F(tuning, up_to_254_instructions_are_skipped) {
  const auto width_before = [&](int count) {
    std::string body;
    for (int n = 0; n < count; ++n) body += "mov.u32 q" + std::to_string(n) + ", 1;";
    return decode(".reg .b32 q<999>; add.u32 r3, i, 1;" + body).tuned[7].width;
  };
  EXPECT_EQ(width_before(0), 1);
  EXPECT_EQ(width_before(254), 255);
  EXPECT_EQ(width_before(255), 1);
}

struct fixed_case {
  const char* statement;
  bool is_fixed;
};
constexpr fixed_case fixed_cases[] = {
    {"abs.s32 r3, r1;", true},
    {"add.u32 r3, r1, r2;", true},
    {"and.b32 r3, r1, r2;", true},
    {"bfe.u32 r3, r1, 1, 2;", true},
    {"bfi.b32 r3, r1, r2, 1, 2;", true},
    {"bfind.u32 r3, r1;", true},
    {"bmsk.clamp.b32 r3, r1, r2;", true},
    {"brev.b32 r3, r1;", true},
    {"clz.b32 r3, r1;", true},
    {"cnot.b32 r3, r1;", true},
    {"cvt.u64.u32 d1, r1;", true},
    {"cvta.to.global.u64 d1, e;", true},
    {"div.u32 r3, r1, r2;", true},
    {"lop3.b32 r3, r1, r2, r1, 7;", true},
    {"mad.lo.u32 r3, r1, r2, r1;", true},
    {"max.u32 r3, r1, r2;", true},
    {"min.u32 r3, r1, r2;", true},
    {"mov.u32 r3, r1;", true},
    {"mul.lo.u32 r3, r1, r2;", true},
    {"neg.s32 r3, r1;", true},
    {"not.b32 r3, r1;", true},
    {"or.b32 r3, r1, r2;", true},
    {"popc.b32 r3, r1;", true},
    {"prmt.b32 r3, r1, r2, 7;", true},
    {"rem.u32 r3, r1, r2;", true},
    {"sad.u32 r3, r1, r2, r1;", true},
    {"selp.u32 r3, r1, r2, p1;", true},
    {"set.eq.u32.u32 r3, r1, r2;", true},
    {"setp.eq.u32 p3, r1, r2;", true},
    {"shf.l.wrap.b32 r3, r1, r2, 3;", true},
    {"shl.b32 r3, r1, r2;", true},
    {"shr.u32 r3, r1, r2;", true},
    {"slct.u32.s32 r3, r1, r2, r1;", true},
    {"sub.u32 r3, r1, r2;", true},
    {"szext.clamp.u32 r3, r1, r2;", true},
    {"xor.b32 r3, r1, r2;", true},
    {"mov.b64 d1, {r1, r2};", true},
    {"mov.b64 {r3, r4}, e;", true},
    {"mov.u32 r3, %ntid.z;", true},
    {"mov.u32 r3, %nctaid.x;", true},
    {"mov.u32 r3, %laneid;", true},
    {"mov.u32 r3, s;", true},
    {"ld.param.u64 d1, [to];", true},
    {"mov.u32 r3, %ctaid.y;", false},
    {"mov.u32 r3, %smid;", false},
    {"mov.u32 r3, %clock;", false},
    {"mov.b64 d1, {r1, i};", false},
    {"mov.b64 d1, {r1, %smid};", false},
    {"add.u32 r3, r1, i;", false},
    {"add.cc.u32 r3, r1, r2;", false},
    {"@p1 add.u32 r3, r1, r2;", false},
    {"mov.u32 g, r1;", false},                 // written before
    {"mov.u32 r3, g;", false},                 // read from a register with two values
    {"mov.u32 r3, 1; mov.u32 r3, 2;", false},  // written twice
    {"mov.b32 halfwarp_mark3, 1;", false},     // counts executions
    {"setp.ne.b32 halfwarp_mark4, r1, 0;", false},
    {"ld.global.u32 r3, [e];", false},
    {"{ .param .b32 z; st.param.b32 [z], r1; ld.param.b32 r3, [z]; }", false},
    {"activemask.b32 r3;", false},
};

TEST_F(tuning, fixed_instructions_are_pure) {
  const std::string before = std::string{head} +
                             ".reg .b32 halfwarp_mark3; .reg .pred halfwarp_mark4;"
                             "mov.u32 r1, %tid.x; mov.u32 r2, %ntid.x; setp.eq.u32 p1, r1, r2;";
  const std::size_t first = decode("", before).fixed.size();
  EXPECT_EQ(first, 4u);
  for (const fixed_case& each : fixed_cases) {
    const auto& code = decode(each.statement, before);
    EXPECT_EQ(code.fixed.size() > first, each.is_fixed) << each.statement;
  }
}

TEST_F(tuning, parameters_with_an_address_are_not_fixed) {
  const auto& code = decode("mov.u64 d1, to; ld.param.u64 d2, [to];");
  EXPECT_EQ(texts_of(code.fixed), texts{"mov.b64"});  // of the address
}

TEST_F(tuning, functions_have_no_fixed_instructions) {
  machine m;
  const exec::kernel& entry =
      *m.load(
            ".func f() { .reg .b32 r<9>; mov.u32 r1, %tid.x; add.u32 r2, r1, 1;"
            "add.u32 r3, r2, 1; add.u32 r4, r3, 1; ret; }\n.visible .entry k() { call f; ret; }")
           .find_kernel("k");
  const auto& code = exec::code_of(entry.owner(), entry.function()).functions.at(1);
  EXPECT_TRUE(code.fixed.empty());
  EXPECT_EQ(code.register_bytes, 4 * 128u);
}

// ---- two loads and the fma that reads them

TEST_F(tuning, loads_of_a_product_are_fused) {
  const std::string first = "ld.global.f32 x0, [a+8];";
  const std::string loads = "ld.global.f32 x1, [a]; ld.global.f32 x2, [a+4];";
  const auto third = [&](const std::string& body) { return tuned(body).at(1); };
  const std::string fused = "fused.ld.ld.fma.f32 0:0/8*3", plain = "ld.global.u32.b32.next 0:0/8";
  EXPECT_EQ(third(first + loads + "fma.rn.f32 x3, x1, x2, x4;"), fused);
  EXPECT_EQ(third(first + loads + "fma.rn.f32 x3, x2, x1, x4;"), fused);
  EXPECT_EQ(third(first + loads + "fma.rn.f32 x3, x1, x2, x4; mov.u32 r1, %tid.x;"),
            "fused.ld.ld.fma.f32 0:0/8*4");
  for (const char* const other : {"fma.rn.f32 x3, x1, x2, x1;",
                                  "fma.rn.f32 x3, x1, x2, x2;",
                                  "fma.rn.f32 x3, x1, x4, x5;",
                                  "fma.rn.f32 x3, x4, x2, x5;",
                                  "fma.rn.f32 x3, x2, x4, x5;",
                                  "fma.rn.f32 x3, x4, x1, x5;",
                                  "fma.rn.f32 x3, x1, x4, x5; mov.f32 x6, x2;",
                                  "fma.rn.f32 x3, x4, x2, x5; mov.f32 x6, x1;",
                                  "fma.rn.f32 x3, x2, x4, x5; mov.f32 x6, x1;",
                                  "fma.rn.f32 x3, x4, x1, x5; mov.f32 x6, x2;",
                                  "fma.rn.f32 x3, x1, x1, x2;",
                                  "fma.rz.f32 x3, x1, x2, x4;",
                                  "fma.rn.ftz.f32 x3, x1, x2, x4;",
                                  "@p1 fma.rn.f32 x3, x1, x2, x4;",
                                  "add.f32 x3, x1, x2;",
                                  "fma.rn.f32 x3, x1, x2, x4; mov.f32 x5, x1;",
                                  "fma.rn.f32 x3, x1, x2, x4; mov.f32 x5, x2;",
                                  "fma.rn.f32 x3, x1, x2, x4; mov.f32 x1, x5;",
                                  "fma.rn.f32 x3, x1, x2, x4; mov.f32 x2, x5;",
                                  "mov.f32 x5, x6; fma.rn.f32 x3, x1, x2, x4;",
                                  "bra l; l: fma.rn.f32 x3, x1, x2, x4;"}) {
    EXPECT_EQ(third(first + loads + other), plain) << other;
  }
  EXPECT_EQ(third(first + "ld.global.f32 x1, [a]; ld.global.f32 x1, [a+4];"
                          "fma.rn.f32 x3, x1, x1, x4;"),
            plain);
  EXPECT_EQ(third(first + "st.global.f32 [a], x1; st.global.f32 [a+4], x2;"
                          "fma.rn.f32 x3, x1, x2, x4;"),
            "st.global.u32.b32.next 0:0/8");
  EXPECT_EQ(tuned("ld.shared.f32 x0, [i+8]; ld.shared.f32 x1, [i]; ld.shared.f32 x2, [i+4];"
                  "fma.rn.f32 x3, x1, x2, x4;")
                .at(1),
            "fused.ld.ld.fma.f32 0:0/8*3");
  EXPECT_EQ(tuned("ld.shared.f32 x0, [i+8]; ld.global.f32 x5, [a]; ld.shared.f32 x1, [i];"
                  "ld.global.f32 x2, [a+4]; fma.rn.f32 x3, x1, x2, x4;")
                .at(2),
            "ld.shared32.u32.b32.next 0:0/8");
  // the load that finds the addresses
  EXPECT_EQ(tuned(loads + "fma.rn.f32 x3, x1, x2, x4;").at(0), "ld.global.u32.b32.first 0:0/4");
}

TEST_F(tuning, fused_instructions_skip_up_to_255) {
  const auto width = [&](int count) {
    std::string body;
    for (int n = 0; n < count; ++n) body += "mov.u32 q" + std::to_string(n) + ", 1;";
    const auto& code = decode(
        ".reg .b32 q<999>; ld.shared.f32 x0, [i+8]; ld.shared.f32 x1, [i];"
        "ld.shared.f32 x2, [i+4]; fma.rn.f32 x3, x1, x2, x4;" +
        body);
    return code.tuned.at(8).width;
  };
  EXPECT_EQ(width(252), 255);
  EXPECT_EQ(width(253), 1);
}

TEST_F(tuning, checks_see_each_fused_load) {
  const auto& code = decode(
      "ld.shared.f32 x0, [i+8]; ld.shared.f32 x1, [i]; ld.shared.f32 x2, [i+4];"
      "fma.rn.f32 x3, x1, x2, x4; ld.global.v2.u32 {r1, r2}, [a];"
      "ld.global.v2.u32 {r3, r4}, [a+8];");
  std::vector<bool> is_next;
  texts list = texts_of(exec::unfused(code, is_next));
  list.erase(list.begin(), list.begin() + 7);
  EXPECT_EQ(list,
            (texts{"ld.shared32.u32.b32.first 0:8/8", "ld.shared32.u32.b32.next 0:0/8",
                   "ld.shared32.u32.b32.next 0:4/8", "fma.f32", "ld.global.u32.b32.v2.first 1:0/8",
                   "ld.global.u32.b32.v2.next 1:8/8", "", ""}));
  is_next.erase(is_next.begin(), is_next.begin() + 7);
  EXPECT_EQ(is_next, (std::vector{false, true, true, false, false, false, false, false}));
}

// ---- branches that fixed values decide

TEST_F(tuning, the_first_instruction_may_be_a_barrier) {
  const auto& code =
      decode_text(".visible .entry k() { .reg .b32 r; bar.sync 0; bra l; l: mov.u32 r, %tid.x; }");
  EXPECT_EQ(code.tuned[0].kind, exec::flow::barrier);
  EXPECT_EQ(code.tuned[0].cache, 1u);
  EXPECT_EQ(code.passages, 1u);
}

TEST_F(tuning, barriers_before_a_decided_branch_have_numbers) {
  const auto& code = decode(
      "mov.u32 r1, %tid.x; setp.lt.u32 p1, r1, 5; setp.lt.u32 p2, i, 5;"
      "bar.sync 0; @p1 bra l; bar.sync 1; l: bar.sync 2; mov.u32 r2, %laneid; @p1 bra m; m:"
      "bar.sync 3; @p2 bra n; n: bar.sync 4; add.u32 r3, i, 1; @p1 bra o; o: bar.sync 5; bra q; "
      "q:");
  std::vector<std::uint32_t> barriers, branches;
  for (const instruction& each : code.tuned) {
    if (each.kind == exec::flow::barrier) barriers.push_back(each.cache);
    if (each.kind == exec::flow::branch) branches.push_back(each.cache);
  }
  EXPECT_EQ(barriers, (std::vector{3u, 0u, 2u, 0u, 0u, 1u}));
  EXPECT_EQ(branches, (std::vector{1u, 1u, 0u, 1u, 1u}));
  EXPECT_EQ(code.passages, 3u);
}

// ---- places of registers

class places : public tuning {
 protected:
  // Returns a number for the place of each result, in the order of first use.
  std::vector<std::size_t> of(const std::string& body) {
    const auto& code = decode(body);
    std::vector<exec::operand_slot> seen;
    std::vector<std::size_t> numbers;
    for (std::size_t i = 7; i < code.code.size(); ++i) {
      const bool is_sum = name_of(code.code[i].run).starts_with("add.");
      if (!is_sum) continue;
      const auto match = std::ranges::find(seen, code.code[i].operand[0]);
      numbers.push_back(static_cast<std::size_t>(match - seen.begin()));
      if (match == seen.end()) seen.push_back(code.code[i].operand[0]);
    }
    return numbers;
  }
  using numbers = std::vector<std::size_t>;
};

TEST_F(places, registers_of_one_block_share_places) {
  // no result takes the place of an operand
  EXPECT_EQ(of("add.u32 r1, i, 1; add.u32 r2, r1, 1; add.u32 r3, r2, 1; add.u32 r4, r3, 1;"),
            (numbers{0, 1, 0, 1}));
  EXPECT_EQ(of("add.u64 d1, a, 1; add.u64 d2, d1, 1; add.u64 d3, d2, 1;"), (numbers{0, 1, 0}));
  EXPECT_EQ(of("add.u32 r1, i, 1; add.u32 r2, i, 2; add.u32 r3, r1, r2; add.u32 r4, r3, 1;"),
            (numbers{0, 1, 2, 1}));
  // a value that nothing reads
  EXPECT_EQ(of("add.u32 r1, i, 1; add.u32 r2, i, 2;"), (numbers{0, 0}));
}

TEST_F(places, other_registers_have_their_own_place) {
  const std::string end = "add.u32 r2, r1, 1; add.u32 r3, r2, 1; add.u32 r4, r3, 1;";
  // r1 is read in another block, written under a guard, written twice, or read before.
  EXPECT_EQ(of("add.u32 r1, i, 1; setp.eq.u32 p1, i, 1; @p1 bra l; l:" + end),
            (numbers{0, 1, 2, 1}));
  EXPECT_EQ(of("@p1 add.u32 r1, i, 1;" + end), (numbers{0, 1, 2, 1}));
  EXPECT_EQ(of("add.u32 r1, i, 1; add.u32 r1, i, 2;" + end), (numbers{0, 0, 1, 2, 1}));
  EXPECT_EQ(of("add.u32 r5, r1, 1; add.u32 r1, i, 1;" + end), (numbers{0, 1, 2, 0, 2}));
  // r1 is the same in all blocks of a launch.
  EXPECT_EQ(of("mov.u32 r6, %tid.x; add.u32 r1, r6, 1;" + end + "add.u32 r7, i, 1;"),
            (numbers{0, 1, 2, 3, 4}));
  // The sizes differ.
  EXPECT_EQ(of("add.u32 r1, i, 1; add.u64 d1, a, 1; add.u32 r2, i, 1;"), (numbers{0, 1, 0}));
  EXPECT_EQ(of(".reg .b16 h1, h2; add.u16 h1, 1, 2; cvt.u16.u32 h1, i; add.u16 h2, h1, 1;"
               "add.u32 r1, i, 1;"),
            (numbers{0, 1, 2}));
}

TEST_F(places, each_result_of_an_instruction_has_a_place) {
  // r1 has its own place, r2 and r4 share one
  const std::string body = "mov.b64 {r1, r2}, a; add.u32 r3, r2, 1; add.u32 r4, r3, 1;";
  const std::string end = "setp.eq.u32 p1, i, 1; @p1 bra l; l: add.u32 r5, r1, 1;";
  EXPECT_EQ(decode(body + end).register_bytes, decode(end).register_bytes + 2 * 128);
}

TEST_F(places, results_of_asynchronous_products_have_their_own_place) {
  const std::string sums = "add.u32 r1, i, 1; add.u32 r2, r1, 1; add.u32 r3, r2, 1;";
  EXPECT_EQ(of(sums + "wgmma.fence.sync.aligned;"), (numbers{0, 1, 2}));
  EXPECT_EQ(of(sums + "tcgen05.wait::ld.sync.aligned;"), (numbers{0, 1, 2}));
}

}  // namespace
}  // namespace halfwarp::tests

// SPDX-License-Identifier: Apache-2.0
// The printer: canonical text, which parses to the same module.
#include "emulator/ptx/printer.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "compare.hpp"
#include "sample.hpp"

namespace {

using namespace halfwarp::emulator::ptx;
using halfwarp::tests::first_difference;
using halfwarp::tests::kernel_with;
using halfwarp::tests::parsed;
using halfwarp::tests::parsed_body;

std::string printed_instruction(const std::string& text) {
  const auto m = parsed_body(text);
  const function& f = m->functions.at(0);
  return print(*m, f, f.instructions.back());
}

TEST(Printer, WritesOneInstructionOnALine) {
  EXPECT_EQ(printed_instruction("@!%p1  add.s32\n%r1 , %r2,// sum\n -0x10;"),
            "@!%p1 add.s32 %r1, %r2, -16");
  EXPECT_EQ(printed_instruction("ld.global.v2.f32 {%f1,_},[%rd1 + 8 - 4];"),
            "ld.global.v2.f32 {%f1, _}, [%rd1+4]");
  EXPECT_EQ(printed_instruction("setp.eq.and.f32 %p1 | %p2, %f1, 1.0, ! %p3;"),
            "setp.eq.and.f32 %p1|%p2, %f1, 0d3FF0000000000000, !%p3");
  EXPECT_EQ(printed_instruction("mov.f32 %f1, 0f3f800000;"), "mov.f32 %f1, 0f3F800000");
  EXPECT_EQ(printed_instruction("frob.x  %r1,  [ ? ] ;"), "frob.x  %r1,  [ ? ]");
}

TEST(Printer, EvaluatesConstants) {
  EXPECT_EQ(printed_instruction("mov.u32 %r1, (3 << 4) | 1;"), "mov.u32 %r1, 49");
  EXPECT_EQ(printed_instruction("mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF;"),
            "mov.u64 %rd1, 18446744073709551615");
}

TEST(Printer, WritesTextThatParsesToTheSameModule) {
  const auto m = parsed(
      ".extern .func (.param .b32 r) f(.param .b32 x, .param .align 8 .b8 rest[]);\n"
      ".global .align 8 .f32 x[3] = {1.0, -2.5};\n" +
      kernel_with("{ .param .b32 a; call (a), f, (a, 1); }\nL: @%p1 bra L;"));
  const std::string text = print(*m);
  const auto reparsed = parse(text);
  ASSERT_TRUE(reparsed) << reparsed.log << text;
  EXPECT_EQ(first_difference(*m, *reparsed.value), "");
  EXPECT_EQ(print(*reparsed.value), text);
}

// Each operand, declaration, directive and scope in the form that the printer writes.
TEST(Printer, RepeatsTextOfItsForm) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{HALFWARP_PRINTED}) {
    std::ifstream file{entry.path()};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const auto result = parse(text);
    ASSERT_TRUE(result) << entry.path() << result.log;
    EXPECT_EQ(print(*result.value), text) << entry.path();
    ++count;
  }
  EXPECT_EQ(count, 6);
}

TEST(Compare, FindsDifferences) {
  const auto a = parsed_body("add.s32 %r1, %r2, 1;");
  EXPECT_EQ(first_difference(*a, *parsed_body("add.s32 %r1 , %r2, 0x1 ;")), "");
  EXPECT_EQ(first_difference(*a, *parsed_body("add.s32 %r1, %r2, 2;")), "function 0: operand 2");
  EXPECT_EQ(first_difference(*a, *parsed_body("add.u32 %r1, %r2, 1;")), "mnemonic 0");
  EXPECT_EQ(first_difference(*a, *parsed_body("add.s32 %r1, %r3, 1;")), "function 0: register 1");
}

}  // namespace

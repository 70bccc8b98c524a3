// SPDX-License-Identifier: Apache-2.0
// Functions: heads, parameters, directives, scopes, labels, source lines.
#include <gtest/gtest.h>

#include "sample.hpp"

namespace {

using namespace halfwarp::emulator::ptx;
using halfwarp::tests::error_of;
using halfwarp::tests::kernel_with;
using halfwarp::tests::parsed;
using halfwarp::tests::parsed_body;

TEST(Function, LaysParametersOutLikeACStruct) {
  const auto m = parsed(
      ".entry k(.param .u8 a, .param .u32 b, .param .align 16 .b8 c[20], .param .u16 d,\n"
      ".param .u64 .ptr .global .align 32 e) { ret; }");
  const function& f = m->functions[0];
  const std::vector<std::uint64_t> offsets = {0, 4, 16, 36, 40};
  ASSERT_EQ(f.parameters.size(), offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    EXPECT_EQ(f.parameters[i].offset, offsets[i]) << i;
  }
  EXPECT_EQ(f.parameter_bytes, 48u);
  EXPECT_EQ(f.parameter_alignment, 16u);
  EXPECT_TRUE(f.parameters[4].is_pointer);
  EXPECT_EQ(f.parameters[4].pointer_space, state_space::global);
  EXPECT_EQ(f.parameters[4].pointer_alignment, 32u);
  EXPECT_EQ(f.parameters[4].alignment, 8u);
}

TEST(Function, ReadsPerformanceDirectives) {
  const auto m = parsed(
      ".entry k .maxntid 256, 2 .minnctapersm 3 .maxnreg 64 .reqnctapercluster 2\n"
      ".maxclusterrank 8 .explicitcluster .pragma \"a\"; .unheard_of 1, 2 { ret; }\n"
      ".entry l() .reqntid 8, 4, 2 { ret; }\n.func n .noreturn;");
  const auto& d = m->functions[0].directives;
  EXPECT_EQ(d.maxntid.value, (std::array<std::uint32_t, 3>{256, 2, 1}));
  EXPECT_EQ(d.reqnctapercluster.value, (std::array<std::uint32_t, 3>{2, 1, 1}));
  EXPECT_FALSE(d.reqntid.is_present());
  EXPECT_EQ(d.minnctapersm, 3u);
  EXPECT_EQ(d.maxnreg, 64u);
  EXPECT_EQ(d.maxclusterrank, 8u);
  EXPECT_TRUE(d.explicitcluster);
  ASSERT_EQ(d.unknown.size(), 1u);
  EXPECT_EQ(d.unknown[0], ".unheard_of 1, 2");
  EXPECT_EQ(m->functions[1].directives.reqntid.value, (std::array<std::uint32_t, 3>{8, 4, 2}));
  EXPECT_TRUE(m->functions[2].directives.noreturn);
}

TEST(Function, NamesLeadToTheDefinition) {
  const auto m = parsed(".func (.param .b32 r) f(.param .b32 x);\n" +
                        kernel_with(".param .b32 a, b; call (a), f, (b);") +
                        ".visible .func (.param .b32 r) f(.param .b32 x) { ret; }\n");
  ASSERT_EQ(m->functions.size(), 3u);
  EXPECT_EQ(m->find_function("f"), &m->functions[2]);
  EXPECT_EQ(m->find_function("g"), nullptr);
  const function& k = m->functions[1];
  const auto operands = k.operands_of(k.instructions[0]);
  ASSERT_EQ(operands.size(), 3u);
  EXPECT_EQ(operands[0].kind, operand_kind::list);
  EXPECT_EQ(operands[1].symbol, symbol_kind::function);
  EXPECT_EQ(operands[1].index, 2u);
  EXPECT_EQ(k.elements_of(operands[2])[0].symbol, symbol_kind::local_variable);
}

TEST(Function, ParametersMayBeRegisters) {
  const auto m = parsed(".func (.reg .b32 %o) f(.reg .b32 %i) { add.s32 %o, %i, 1; ret; }");
  const function& f = m->functions[0];
  ASSERT_NE(f.parameters[0].register_index, no_index);
  EXPECT_EQ(f.registers[f.parameters[0].register_index].name, "%i");
  EXPECT_EQ(f.operands_of(f.instructions[0])[0].index, f.return_parameters[0].register_index);
}

TEST(Body, CountsOnlyRegistersInUse) {
  const auto m = parsed(
      ".entry k { .reg .b32 %r<4000000000>; mov.u32 %r3999999999, 1; mov.u32 %r7, 2;\n"
      "mov.u32 %r7, 3; }");
  const function& f = m->functions[0];
  ASSERT_EQ(f.registers.size(), 2u);
  EXPECT_EQ(f.registers[0].name, "%r3999999999");
  EXPECT_EQ(f.registers[1].number, 7u);
  EXPECT_EQ(f.operands_of(f.instructions[2])[0].index, 1u);
}

TEST(Body, InnerDeclarationsHideOuterOnes) {
  const auto m = parsed(
      ".entry k { .reg .b32 %r<8>; .reg .b64 x; {\n"
      ".reg .f32 %r<3>; .reg .f64 %r5; .reg .b16 x;\n"
      "mov.f32 %r1, 0f00000000; mov.b32 %r7, 0; mov.f64 %r5, 0.0; mov.b16 x, 0; }\n"
      "mov.b32 %r1, 0; mov.b64 x, 0; }");
  const function& f = m->functions[0];
  const auto type_of = [&](std::size_t i) {
    return f.registers[f.operands_of(f.instructions[i])[0].index].type;
  };
  EXPECT_EQ(type_of(0), scalar_type::f32);
  EXPECT_EQ(type_of(1), scalar_type::b32);
  EXPECT_EQ(type_of(2), scalar_type::f64);
  EXPECT_EQ(type_of(3), scalar_type::b16);
  EXPECT_EQ(type_of(4), scalar_type::b32);
  EXPECT_EQ(type_of(5), scalar_type::b64);
}

TEST(Body, LabelsBelongToTheirScope) {
  const auto m = parsed_body(
      "bra out; { bra again; again: bra again; bra out; } { again: bra again; } out: ret;");
  const function& f = m->functions[0];
  const auto target = [&](std::size_t i) {
    const operand& o = f.operands_of(f.instructions[i])[0];
    EXPECT_EQ(o.symbol, symbol_kind::label) << i;
    return f.labels[o.index].instruction;
  };
  EXPECT_EQ(target(0), 5u);
  EXPECT_EQ(target(1), 2u);
  EXPECT_EQ(target(2), 2u);
  EXPECT_EQ(target(3), 5u);
  EXPECT_EQ(target(4), 4u);
}

TEST(Body, MarksReferencedLabels) {
  const auto m = parsed_body("$L__debug: used: bra used;");
  EXPECT_FALSE(m->functions[0].labels[0].is_referenced);
  EXPECT_TRUE(m->functions[0].labels[1].is_referenced);
}

TEST(Body, ReadsListsOfTargets) {
  const auto m = parsed(
      ".func f { ret; }\n" +
      kernel_with("t: .branchtargets a, b; brx.idx %r1, t; a: ret; b: ret;\n"
                  "c: .calltargets f;\n"
                  "q: .callprototype (.param .b32 _) _ (.param .b64 _, .param .align 4 .b8 _[8]);\n"
                  "{ .param .b32 x; call (x), %rd1, (1, 2), q; }"));
  const function& f = m->functions[1];
  ASSERT_EQ(f.target_lists.size(), 2u);
  EXPECT_EQ(f.target_lists[0].indices, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(f.labels[0].is_referenced);
  EXPECT_TRUE(f.target_lists[1].is_call);
  EXPECT_EQ(f.target_lists[1].indices, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(f.operands_of(f.instructions[0])[1].symbol, symbol_kind::target_list);
  ASSERT_EQ(f.prototypes.size(), 1u);
  EXPECT_EQ(f.prototypes[0].parameters[1].offset, 8u);
  EXPECT_EQ(f.operands_of(f.instructions[3])[3].symbol, symbol_kind::prototype);
}

TEST(Body, KeepsSourceLines) {
  const auto m = parsed_body(
      "mov.u32 %r1, 1;\n.loc 1 12 5\nmov.u32 %r2, 2;\n"
      ".loc 2 300 9, function_name $L__info0+8, inlined_at 1 13 7\nmov.u32 %r3, 3;");
  const function& f = m->functions[0];
  EXPECT_EQ(f.instructions[0].location, no_index);
  ASSERT_NE(f.instructions[1].location, no_index);
  EXPECT_EQ(f.locations[f.instructions[1].location].line, 12u);
  const source_location& inlined = f.locations[f.instructions[2].location];
  EXPECT_EQ(inlined.file, 2u);
  EXPECT_EQ(inlined.function_name, "$L__info0");
  EXPECT_EQ(inlined.inlined_line, 13u);
  EXPECT_EQ(f.instructions[1].line, f.instructions[0].line + 2);
}

TEST(Body, RecordsUnknownInstructionsAsText) {
  const auto m = parsed_body(
      "frobnicate.rn %r1, [{%r2 => 3}], {nested; list};\n"
      "add.novel.s32 %r1, %r2, %r3;\nld.hyperspace.u32 %r1, [[%r2]];\n.newdirective 1 2\nret;");
  const function& f = m->functions[0];
  ASSERT_EQ(f.instructions.size(), 5u);
  EXPECT_EQ(f.instructions[0].opcode, opcode::unknown);
  EXPECT_EQ(f.instructions[0].text, "frobnicate.rn %r1, [{%r2 => 3}], {nested; list}");
  EXPECT_EQ(f.instructions[1].opcode, opcode::add);
  EXPECT_TRUE(m->mnemonic_of(f.instructions[1]).has_unknown_word);
  EXPECT_EQ(f.instructions[1].operand_count, 3u);
  EXPECT_EQ(f.instructions[2].operand_count, 0u);
  EXPECT_EQ(f.instructions[3].opcode, opcode::unknown);
  EXPECT_EQ(f.instructions[3].text, ".newdirective 1 2");
  EXPECT_EQ(f.instructions[4].opcode, opcode::ret);
}

TEST(Body, RefusesMalformedText) {
  EXPECT_EQ(error_of(".entry k { add.s32 }"), "4:20 expected an operand, found '}'");
  EXPECT_EQ(error_of(".entry k { ret"), "4:15 expected an operand, found the end of the text");
  EXPECT_EQ(error_of(".entry k { bra x }"), "4:18 expected ';' after an instruction, found '}'");
  EXPECT_EQ(error_of(".entry k { ret;"), "4:10 the body of 'k' has no closing brace");
  EXPECT_EQ(error_of(".entry k { @%p1 ret; }"), "4:13 predicate '%p1' is not declared");
  EXPECT_EQ(error_of(".entry k { .reg .b32 a; .reg .b64 a; }"),
            "4:35 'a' is declared twice in the same scope");
  EXPECT_EQ(error_of(".entry k { .reg .b32 %r<2>; .reg .b64 %r<3>; }"),
            "4:39 '%r' is declared twice in the same scope");
  EXPECT_EQ(error_of(".entry k { a: a: ret; }"), "4:15 'a' is declared twice in the same scope");
  EXPECT_EQ(error_of(".entry k { .branchtargets a; }"),
            "4:12 '.branchtargets' needs a label before it");
  EXPECT_EQ(error_of(".entry k .maxntid x { ret; }"), "4:19 expected a size, found 'x'");
  EXPECT_EQ(error_of(".entry k { %r1; }"), "4:12 '%r1' is not an instruction");
}

TEST(Body, RefusesDeepNestingWithoutUsingTheStack) {
  EXPECT_NE(error_of(".entry k " + std::string(100000, '{')), "");
  EXPECT_NE(error_of(".entry k { mov.b64 " + std::string(100000, '{')), "");
  EXPECT_NE(error_of(".entry k { mov.b64 " + std::string(100000, '[')), "");
  EXPECT_NE(error_of(".global .b8 x[4] = " + std::string(100000, '{')), "");
}

}  // namespace

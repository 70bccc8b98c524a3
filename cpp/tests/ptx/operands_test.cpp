// SPDX-License-Identifier: Apache-2.0
// Operands, one form per test.
#include <gtest/gtest.h>

#include <bit>

#include "sample.hpp"

namespace {

using namespace halfwarp::emulator::ptx;
using halfwarp::tests::error_of;
using halfwarp::tests::kernel_with;
using halfwarp::tests::parsed;

// Returns the operands of the last instruction of a body.
struct last_instruction {
  explicit last_instruction(const std::string& body)
      : owner{parsed(".global .u32 table[8];\n.global .texref t;\n" + kernel_with(body))},
        f{owner->functions.at(0)},
        i{f.instructions.back()},
        operands{f.operands_of(i)} {}

  std::shared_ptr<module> owner;
  const function& f;
  const instruction& i;
  std::span<const operand> operands;

  std::span<const operand> elements(std::size_t n) const { return f.elements_of(operands[n]); }
};

TEST(Operand, Register) {
  const last_instruction x{"add.s32 %r1, %r2, %r1;"};
  ASSERT_EQ(x.operands.size(), 3u);
  EXPECT_EQ(x.operands[0].kind, operand_kind::register_);
  EXPECT_EQ(x.operands[0].index, x.operands[2].index);
  EXPECT_NE(x.operands[0].index, x.operands[1].index);
  EXPECT_EQ(x.f.registers[x.operands[1].index].name, "%r2");
  EXPECT_EQ(x.f.registers[x.operands[1].index].type, scalar_type::b32);
}

TEST(Operand, SpecialRegister) {
  const last_instruction x{"mov.u32 %r1, %ctaid.y;"};
  EXPECT_EQ(x.operands[1].kind, operand_kind::special_register);
  EXPECT_EQ(x.operands[1].special, special_register::ctaid);
  EXPECT_EQ(x.operands[1].component, component::y);
  const last_instruction numbered{"mov.b32 %r1, %envreg12;"};
  EXPECT_EQ(numbered.operands[1].special, special_register::envreg);
  EXPECT_EQ(numbered.operands[1].value, 12);
  const last_instruction wide{"mov.u64 %rd1, %pm3_64;"};
  EXPECT_EQ(wide.operands[1].special, special_register::pm_64);
  EXPECT_EQ(wide.operands[1].value, 3);
}

TEST(Operand, Integer) {
  const last_instruction negative{"mov.u32 %r1, -1;"};
  EXPECT_EQ(negative.operands[1].kind, operand_kind::integer);
  EXPECT_EQ(negative.operands[1].value, -1);
  EXPECT_TRUE(negative.operands[1].is_negative);
  const last_instruction all_bits{"mov.u64 %rd1, 0xFFFFFFFFFFFFFFFF;"};
  EXPECT_EQ(all_bits.operands[1].value, -1);
  EXPECT_FALSE(all_bits.operands[1].is_negative);
  const last_instruction computed{"mov.u32 %r1, (WARP_SZ - 1) << 2;"};
  EXPECT_EQ(computed.operands[1].value, 124);
}

TEST(Operand, Real) {
  const last_instruction bits{"mov.f32 %f1, 0f3F800000;"};
  EXPECT_EQ(bits.operands[1].kind, operand_kind::float_bits);
  EXPECT_EQ(bits.operands[1].value, 0x3f800000);
  const last_instruction decimal{"mov.f64 %fd1, -1.5;"};
  EXPECT_EQ(decimal.operands[1].kind, operand_kind::double_bits);
  EXPECT_EQ(std::bit_cast<double>(decimal.operands[1].value), -1.5);
}

TEST(Operand, SymbolWithOffset) {
  const last_instruction x{"mov.u64 %rd1, table+8;"};
  EXPECT_EQ(x.operands[1].kind, operand_kind::symbol);
  EXPECT_EQ(x.operands[1].symbol, symbol_kind::module_variable);
  EXPECT_EQ(x.operands[1].index, 0u);
  EXPECT_EQ(x.operands[1].value, 8);
  EXPECT_EQ(last_instruction{"mov.u64 %rd1, table[3];"}.operands[1].value, 12);
  EXPECT_EQ(last_instruction{"mov.u64 %rd1, q;"}.operands[1].symbol, symbol_kind::parameter);
}

TEST(Operand, Address) {
  const last_instruction with_register{"ld.global.u32 %r1, [%rd2+-4];"};
  EXPECT_EQ(with_register.operands[1].kind, operand_kind::address);
  EXPECT_EQ(with_register.operands[1].base, address_base::register_);
  EXPECT_EQ(with_register.operands[1].value, -4);
  EXPECT_EQ(last_instruction{"ld.global.u32 %r1, [%rd2-4];"}.operands[1].value, -4);
  const last_instruction with_symbol{"ld.param.u32 %r1, [q+12];"};
  EXPECT_EQ(with_symbol.operands[1].base, address_base::symbol);
  EXPECT_EQ(with_symbol.operands[1].symbol, symbol_kind::parameter);
  EXPECT_EQ(with_symbol.operands[1].index, 1u);
  EXPECT_EQ(with_symbol.operands[1].value, 12);
  const last_instruction absolute{"ld.global.u32 %r1, [4096];"};
  EXPECT_EQ(absolute.operands[1].base, address_base::none);
  EXPECT_EQ(absolute.operands[1].value, 4096);
}

TEST(Operand, GroupOfAddresses) {
  const last_instruction x{"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];"};
  ASSERT_EQ(x.operands.size(), 2u);
  EXPECT_EQ(x.operands[1].kind, operand_kind::address_group);
  const auto group = x.elements(1);
  ASSERT_EQ(group.size(), 2u);
  EXPECT_EQ(group[0].kind, operand_kind::address);
  EXPECT_EQ(group[0].symbol, symbol_kind::module_variable);
  EXPECT_EQ(group[1].kind, operand_kind::vector);
  EXPECT_EQ(x.f.elements_of(group[1]).size(), 2u);
}

TEST(Operand, VectorWithSink) {
  const last_instruction x{"mov.b64 {%r1, _}, %rd1;"};
  EXPECT_EQ(x.operands[0].kind, operand_kind::vector);
  ASSERT_EQ(x.operands[0].count, 2u);
  EXPECT_EQ(x.elements(0)[0].kind, operand_kind::register_);
  EXPECT_EQ(x.elements(0)[1].kind, operand_kind::sink);
}

TEST(Operand, PairAndNegatedPredicate) {
  const last_instruction x{"setp.lt.and.s32 %p1|%p2, %r1, 7, !%p3;"};
  ASSERT_EQ(x.operands.size(), 4u);
  EXPECT_EQ(x.operands[0].kind, operand_kind::pair);
  EXPECT_EQ(x.elements(0).size(), 2u);
  EXPECT_TRUE(x.operands[3].is_negated);
  EXPECT_EQ(x.f.registers[x.operands[3].index].type, scalar_type::pred);
}

TEST(Operand, Components) {
  const last_instruction x{".reg .v4 .f32 v; mov.f32 %f1, v.z;"};
  EXPECT_EQ(x.operands[1].component, component::z);
  EXPECT_EQ(x.f.registers[x.operands[1].index].vector_width, 4);
  const last_instruction video{"vadd.s32.u32.s32 %r1, %r2.b3, -%r3.h1;"};
  EXPECT_EQ(video.operands[1].component, component::b3);
  EXPECT_EQ(video.operands[2].component, component::h1);
  EXPECT_TRUE(video.operands[2].is_negated);
}

TEST(Operand, Guard) {
  const last_instruction x{"@!%p2 mov.u32 %r1, 1;"};
  EXPECT_TRUE(x.i.is_guard_negated);
  EXPECT_EQ(x.f.registers[x.i.guard].name, "%p2");
  EXPECT_EQ(x.i.text, "@!%p2 mov.u32 %r1, 1");
}

TEST(Operand, WordsMayBeSeparated) {
  const last_instruction x{"ld\n.global .u32 %r1, [%rd1];"};
  EXPECT_EQ(x.owner->mnemonic_of(x.i).text, "ld.global.u32");
  EXPECT_EQ(x.owner->mnemonic_of(x.i).space(), state_space::global);
}

TEST(Operand, NamesThatAreNotDeclaredStayUnresolved) {
  const last_instruction x{"mov.u32 %r1, %r99; "};
  EXPECT_EQ(x.operands[1].kind, operand_kind::symbol);
  EXPECT_EQ(x.operands[1].symbol, symbol_kind::unresolved);
  EXPECT_EQ(x.operands[1].name, "%r99");
}

TEST(Operand, RefusesMalformedOperands) {
  const auto error = [](const std::string& body) {
    const std::string text = error_of(kernel_with(body));
    return text.substr(text.find(' ') + 1);
  };
  EXPECT_EQ(error("ld.u32 %r1, [%rd1;"), "expected ']' after an address, found ';'");
  EXPECT_EQ(error("mov.u32 %r1, ;"), "expected an operand, found ';'");
  EXPECT_EQ(error("mov.u32 %r1 %r2;"), "expected ';' after an instruction, found '%r2'");
  EXPECT_EQ(error("mov.u32 %r1.q, 1;"), "expected a component such as .x, found '.q'");
  EXPECT_EQ(error("ld.u32 %r1, [1.5];"), "an address is not a real number");
  EXPECT_EQ(error("mov.u64 %rd1, k[1];"), "'k' is not an array");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Spellings of types, spaces, instructions and qualifiers, and the parts of instructions.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "emulator/ptx/mnemonic.hpp"
#include "emulator/ptx/vocabulary/special_register.hpp"

namespace {

using namespace halfwarp::emulator::ptx;

template <class Enum, class Find>
void expect_every_spelling_found(Enum end, Find find) {
  for (unsigned i = 0; i < static_cast<unsigned>(end); ++i) {
    const Enum value = static_cast<Enum>(i);
    EXPECT_EQ(find(spelling(value)), value) << spelling(value);
  }
}

TEST(Vocabulary, FindsEverySpelling) {
  expect_every_spelling_found(opcode::unknown, find_opcode);
  expect_every_spelling_found(qualifier::unknown, find_qualifier);
  expect_every_spelling_found(special_register::unknown, find_special_register);
  expect_every_spelling_found(scalar_type::count_, find_type);
  expect_every_spelling_found(state_space::count_, find_space);
}

TEST(Vocabulary, HasNoWordInTwoTables) {
  for (unsigned i = 0; i < static_cast<unsigned>(qualifier::unknown); ++i) {
    const auto word = spelling(static_cast<qualifier>(i));
    EXPECT_EQ(find_type(word), scalar_type::none) << word;
    EXPECT_EQ(find_space(word), state_space::generic) << word;
  }
}

TEST(Vocabulary, KnowsSizes) {
  EXPECT_EQ(size_in_bytes(scalar_type::u8), 1u);
  EXPECT_EQ(size_in_bytes(scalar_type::f16x2), 4u);
  EXPECT_EQ(size_in_bytes(scalar_type::b128), 16u);
  EXPECT_EQ(size_in_bytes(scalar_type::e2m1), 1u);
  EXPECT_EQ(size_in_bytes(scalar_type::pred), 0u);
  EXPECT_TRUE(is_signed(scalar_type::s64));
  EXPECT_TRUE(is_floating(scalar_type::bf16));
}

TEST(Vocabulary, PacksElementsOfSixBitsIntoBytesAndOthersClosely) {
  int packed = 0;
  for (unsigned i = 0; i < static_cast<unsigned>(scalar_type::count_); ++i) {
    const auto word = spelling(static_cast<scalar_type>(i));
    const auto cross = std::min(word.find('x'), word.size());
    const scalar_type element = find_type(word.substr(0, cross));
    if (cross == word.size() || element == scalar_type::none) continue;
    const int count = std::stoi(std::string{word.substr(cross + 1)}), bits = info(element).bits;
    EXPECT_EQ(info(static_cast<scalar_type>(i)).bits, count * (bits == 6 ? 8 : bits)) << word;
    ++packed;
  }
  EXPECT_EQ(packed, 19);
}

TEST(Mnemonic, SeparatesTypesSpacesWidthAndQualifiers) {
  const mnemonic m = make_mnemonic("ld.global.nc.L2::128B.v4.f32");
  EXPECT_EQ(m.opcode, opcode::ld);
  EXPECT_EQ(m.space(), state_space::global);
  EXPECT_EQ(m.type(), scalar_type::f32);
  EXPECT_EQ(m.vector_width, 4);
  EXPECT_TRUE(m.has(qualifier::nc));
  EXPECT_TRUE(m.has(qualifier::L2_128B));
  EXPECT_FALSE(m.has(qualifier::volatile_));
  EXPECT_FALSE(m.has_unknown_word);
}

TEST(Mnemonic, KeepsTypesInTheOrderOfWriting) {
  const mnemonic m = make_mnemonic("cvt.rni.ftz.s32.f32");
  ASSERT_EQ(m.types().size(), 2u);
  EXPECT_EQ(m.type(0), scalar_type::s32);
  EXPECT_EQ(m.type(1), scalar_type::f32);
  EXPECT_EQ(m.type(2), scalar_type::none);
  ASSERT_EQ(m.qualifiers().size(), 2u);
  EXPECT_EQ(m.qualifiers()[0], qualifier::rni);
}

TEST(Mnemonic, KeepsSeveralSpaces) {
  const mnemonic m =
      make_mnemonic("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes");
  EXPECT_EQ(m.space(0), state_space::shared_cluster);
  EXPECT_EQ(m.space(1), state_space::global);
  EXPECT_EQ(without_sub_space(m.space(0)), state_space::shared);
}

TEST(Mnemonic, MarksUnknownWords) {
  EXPECT_TRUE(make_mnemonic("frobnicate.f32").has_unknown_word);
  EXPECT_EQ(make_mnemonic("frobnicate.f32").opcode, opcode::unknown);
  EXPECT_TRUE(make_mnemonic("add.novel.s32").has_unknown_word);
  EXPECT_EQ(make_mnemonic("add.novel.s32").opcode, opcode::add);
  EXPECT_TRUE(make_mnemonic("add.").has_unknown_word);
  std::string many = "mma";
  for (int i = 0; i < 50; ++i) many += ".f32.sync.global";
  EXPECT_TRUE(make_mnemonic(many).has_unknown_word);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Spellings of types, spaces, instructions and qualifiers, and the parts of instructions.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

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

// By the manual, the name of a type has its kind and its bits, and of a small float the parts.
TEST(Vocabulary, HasTheKindAndTheBitsOfTheNames) {
  const std::map<char, type_class> kinds{{'b', type_class::bits},
                                         {'u', type_class::unsigned_},
                                         {'s', type_class::signed_},
                                         {'f', type_class::floating}};
  int checked = 0;
  for (unsigned i = 1; i < static_cast<unsigned>(scalar_type::count_); ++i) {
    const auto type = static_cast<scalar_type>(i);
    const std::string word{spelling(type)};
    const auto digits = word.find_first_of("0123456789");
    if (digits == word.npos || word.find('x') != word.npos) continue;  // see the test of pairs
    const auto mantissa = word.find('m');
    const bool is_small = mantissa != word.npos;
    const bool is_scale = word[0] == 'u' && is_small;
    const int bits = is_small ? (is_scale ? 0 : 1) + word[digits] - '0' + word[mantissa + 1] - '0'
                              : std::stoi(word.substr(digits));
    EXPECT_EQ(info(type).bits, word == "ue4m3" ? 8 : bits) << word;
    const bool is_float = is_small || word[digits - 1] == 'f';
    EXPECT_EQ(info(type).kind, is_float ? type_class::floating : kinds.at(word[0])) << word;
    EXPECT_EQ(is_floating(type), is_float) << word;
    EXPECT_EQ(is_signed(type), word[0] == 's' && !is_float) << word;
    EXPECT_EQ(size_in_bytes(type), static_cast<unsigned>(info(type).bits + 7) / 8) << word;
    ++checked;
  }
  EXPECT_EQ(checked, 30);
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

TEST(Vocabulary, PadsMatricesOfFewBits) {
  EXPECT_EQ(info(find_type("b4x16")).bits, 4 * 16);
  EXPECT_EQ(info(find_type("b4x16_p64")).bits, 4 * 16 + 64);
  EXPECT_EQ(info(find_type("b6x16_p32")).bits, 6 * 16 + 32);
  EXPECT_EQ(info(find_type("b6p2x16")).bits, (6 + 2) * 16);
}

TEST(Vocabulary, NamesTheSpaceOfEachSubSpace) {
  for (unsigned i = 0; i < static_cast<unsigned>(state_space::count_); ++i) {
    const auto space = static_cast<state_space>(i);
    const auto word = spelling(space);
    EXPECT_EQ(spelling(without_sub_space(space)), word.substr(0, word.find(':'))) << word;
  }
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

TEST(Mnemonic, HasAsManyWordsAsItsListsHold) {
  const auto repeated = [](const std::string& word, std::size_t count) {
    std::string text = "mma";
    for (std::size_t i = 0; i < count; ++i) text += word;
    return text;
  };
  for (const auto& [word, most] : {std::pair{".f32", mnemonic::max_types},
                                   {".global", mnemonic::max_spaces},
                                   {".sync", mnemonic::max_qualifiers}}) {
    const std::string full = repeated(word, most), longer = repeated(word, most + 1);
    EXPECT_FALSE(make_mnemonic(full).has_unknown_word) << word;
    EXPECT_TRUE(make_mnemonic(longer).has_unknown_word) << word;
  }
}

TEST(Mnemonic, ReadsTheShapeOfAWarpgroup) {
  const mnemonic m = make_mnemonic("wgmma.mma_async.sync.aligned.m64n248k16.f32.f16.f16");
  EXPECT_EQ(m.columns, 248);
  EXPECT_EQ(m.depth, 16);
  EXPECT_EQ(m.vector_width, 1);
  EXPECT_FALSE(m.has_unknown_word);
  for (const char* const word :
       {"m64n8", "m64n", "m64nk16", "m64n8x16", "m64n8k", "m64n8kx", "m64n8k16x", "m64n8k16k8",
        "m64n70000k16", "m64n8k70000", "m32n8k24", "n8k16"}) {
    const std::string text = std::string{"wgmma.mma_async."} + word + ".f32";
    EXPECT_TRUE(make_mnemonic(text).has_unknown_word) << word;
  }
}

TEST(Mnemonic, HasVectorsOfTwoFourAndEight) {
  for (const auto& [word, width] : {std::pair{".v2", 2},
                                    {".v4", 4},
                                    {".v8", 8},
                                    {".v1", 0},
                                    {".v3", 0},
                                    {".v16", 0},
                                    {".v", 0},
                                    {".v22", 0}}) {
    const std::string text = std::string{"ld"} + word + ".f32";
    const mnemonic m = make_mnemonic(text);
    EXPECT_EQ(m.vector_width, width ? width : 1) << word;
    EXPECT_EQ(m.has_unknown_word, width == 0) << word;
  }
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// LZ4 blocks: literals, matches, long lengths and damage.
#include "emulator/image/lz4.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace halfwarp::emulator::image;

std::optional<std::string> unpack(const std::string& block, std::uint64_t size) {
  return decompress_lz4(std::as_bytes(std::span{block}), size);
}

TEST(Lz4, CopiesLiterals) {
  EXPECT_EQ(unpack("\x30"
                   "abc",
                   3),
            "abc");
}

TEST(Lz4, RepeatsEarlierOutput) {
  // "abc", then 4 + 5 bytes from 3 back, then "x".
  EXPECT_EQ(unpack(std::string{"\x35"
                               "abc\x03\x00\x10x",
                               8},
                   13),
            "abcabcabcabcx");
}

TEST(Lz4, MayEndWithAMatch) {
  const std::string block{
      "\x11"
      "a\x01\x00\x00",
      5};
  EXPECT_EQ(unpack(block, 6), "aaaaaa");
  for (const std::uint64_t size : {5, 7}) EXPECT_EQ(unpack(block, size), std::nullopt) << size;
}

TEST(Lz4, ReadsLongLengths) {
  const std::string literals(300, 'q');
  // 15 + 255 + 30 literals.
  EXPECT_EQ(unpack("\xf0\xff\x1e" + literals, 300), literals);
  // A literal, then 4 + 15 + 255 + 0 bytes from 1 back, then one more.
  const std::string block{
      "\x1f"
      "a\x01\x00\xff\x00\x10"
      "b",
      8};
  EXPECT_EQ(unpack(block, 276), std::string(275, 'a') + "b");
}

TEST(Lz4, RefusesDamage) {
  EXPECT_EQ(unpack("\x30"
                   "ab",
                   3),
            std::nullopt);  // literals cut off
  EXPECT_EQ(unpack(std::string{"\x10"
                               "a\x02\x00",
                               4},
                   5),
            std::nullopt);  // before the start
  EXPECT_EQ(unpack(std::string{"\x10"
                               "a\x00\x00",
                               4},
                   5),
            std::nullopt);  // distance of zero
  EXPECT_EQ(unpack("\x10"
                   "a\x01",
                   5),
            std::nullopt);                                // distance cut off
  EXPECT_EQ(unpack("\xf0\xff\xff", 1000), std::nullopt);  // length cut off
  EXPECT_EQ(unpack("\x30"
                   "abc",
                   2),
            std::nullopt);  // too much
  EXPECT_EQ(unpack("\x30"
                   "abc",
                   4),
            std::nullopt);  // too little
  EXPECT_EQ(unpack("\x30"
                   "abc",
                   ~std::uint64_t{0}),
            std::nullopt);  // absurd size
}

}  // namespace

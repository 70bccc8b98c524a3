// SPDX-License-Identifier: Apache-2.0
// zstd frames: blocks of each type, tables, repeated offsets and damage. The frames are the output
// of the reference implementation for the text below.
#include "emulator/image/zstd/zstd.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

using namespace halfwarp::emulator::image;

// Level 1: tables of the format itself. Level 19: described tables and a checksum.
const char* const fast =
    "28b52ffd608b0d2d1200c6912a198037c51c8068310c95412203bf9696966cd95b5080c48813022a001e001f0097"
    "4d4d6b7fb07777732f91b989b8d464f5c03810894261c0b9c0301008201c2e0c3250283a04c67100042238e53d7f"
    "599ce67effb4e7569db39de9ddd0cf2daa61d224fd57cdfc02df52d68a2433c9c5c9ab341bf58af48ac69a5b2b9a"
    "d542d335f1eed6356c0684c38171201285c24072abf2caeaf33d93da47d734af38f5217d36d35a5f13c1c91e0c81"
    "11a8915ddc1edb015105c5c8906e1120084142800455c4a6b403c82980fe7965c03fcde29732705065107a56a74f"
    "8bf4c74bb34930ecc9ee8b4a9090599b3b2d8d999324938a0e0066059ee968c07a653f2d6dcacb4f9d50521f2717"
    "e8ae0c16d334074cd7f047d50685138417285c24d5e03153804c8108baa5fb4bad419a5f1cbac1f5144a40fd2745"
    "fae3b200cb9ae26b65f2a25a20c4accb9feef6d74b02ee6a128b9585832a23616639ff748aff5d9a4c123da7b149"
    "2c8a4a9950b3987e5a04a327e5921e18508c0b3cd35180ffdafd38da6837a3da39096670b028b8a0d21024ccfffe"
    "691613c03589e32d01c3b44091060102c82ad9ffa75586074701b29760c4a9a3e84c21ca29ffbd4020bd26b1c4b2"
    "385025144696e7cbfac3cb037c6b767f2c83035542616479fc3429e6a324562a14b2bc4ad49184969994d32a1841"
    "9963e28f590b1610103c39ee9c7f4d0a3aa312e045cd3448cc1570a8a2041fb37f273565c2528a0cf231a89811d0"
    "4ea90cc2650127aa34005e128ea21ac01470c6f247e05f1918a99c8103c6259748b9513d2b5705";
const char* const dense =
    "28b52ffd0410f50b0026d9351790195473807d454d157217d6bbbb7b4bd91b0a876a4d4139002a002c00754ffe9a"
    "2aef962a7b480b8f62c86f5904aba6aa73f844749e991dd31b2e301c0620200c0ad613181414200020c083421820"
    "0cd80386c34140934c787188dd72aca5934f5dcc1bbba4e4f43a2eb9dd413335f9584e659fadaac9f4d44f384292"
    "9d4c124fb90a12692271ec5211a475ee1ab22393046f19168c92119b6dda49c8c91a91cd75906c22259dd525366f"
    "0e12cfe12d7373a45caa2f8b265834659e8a2ebc9a619da1cb2acf97bd39239bb34d428a63bbe5e86bd30580b5a8"
    "21385eefb11df05e4907112404230408415598ec033e1ed9c0dda2fafe9e0a64fa01d4fb21f1cf27fa00a66f6b9e"
    "77513820192aac987d8076ffd8bc0bbf3a6f65a3daf3e6443a217d566fc1eef866a9c9bad1e54fbf8030d745f211"
    "24f31d90177c62a09afdb6f5a6b3b3c2b1ac0db4bcfd904e489fd51bbd1fb4486a926e749fb94fb40cbba47eaab6"
    "e4bf62c4d21584438840ca38205749564489a51e80540162ea4a0a";

std::string text() {
  std::string lines;
  for (int i = 0; i < 180; ++i) {
    lines += i % 3 ? "mov.u32 %r" + std::to_string(i * 7919 % 251) + ", %tid.x;\n"
                   : "add.s32 %r" + std::to_string(i * 31 % 97) + ", 1;\n";
  }
  return lines;
}

std::string from_hex(const std::string& digits) {
  std::string result;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    result += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return result;
}

std::optional<std::string> unpack(const std::string& frame, std::uint64_t size) {
  return decompress_zstd(std::as_bytes(std::span{frame}), size);
}

// A frame of one segment of `size` bytes.
std::string frame_of(const std::string& blocks, char size) {
  return from_hex("28b52ffd20") + size + blocks;
}

std::string little_endian(std::uint64_t value, int bytes) {
  std::string result;
  for (int i = 0; i < bytes; ++i) result += static_cast<char>(value >> 8 * i);
  return result;
}

// A compressed block, and a frame of such blocks whose text has `size` bytes.
std::string block_of(const std::string& content, bool is_last = true) {
  return little_endian(content.size() << 3 | 2 << 1 | is_last, 3) + content;
}
std::string long_frame_of(const std::string& blocks, std::uint64_t size) {
  return from_hex("28b52ffda0") + little_endian(size, 4) + blocks;
}

// Bits from the first one that a decoder reads to the last, behind the bit that marks the start.
std::string stream_of(std::string bits) {
  bits.insert(0, 1, '1');
  bits.insert(0, (8 - bits.size() % 8) % 8, '0');
  std::string result;
  for (std::size_t at = bits.size(); at > 0; at -= 8) {
    result += static_cast<char>(std::stoi(bits.substr(at - 8, 8), nullptr, 2));
  }
  return result;
}

// Codes for the bytes 0 and 1, which have one bit each.
const std::string one_bit_codes = "\x80\x10";

// Literals of coded bits: one stream, or four with the sizes of the first three.
std::string coded_literals(const std::string& bits, unsigned format, const std::string& codes) {
  constexpr unsigned size_bits[] = {10, 10, 14, 18}, header_bytes[] = {3, 3, 4, 5};
  std::string data = codes;
  if (format == 0) {
    data += stream_of(bits);
  } else {
    const std::size_t part = (bits.size() + 3) / 4;
    std::string sizes, streams;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string stream = stream_of(bits.substr(i * part, part));
      if (i < 3) sizes += little_endian(stream.size(), 2);
      streams += stream;
    }
    data += sizes + streams;
  }
  const std::uint64_t type = codes.empty() ? 3 : 2;
  const std::uint64_t header = type | format << 2 | bits.size() << 4 |
                               static_cast<std::uint64_t>(data.size()) << (4 + size_bits[format]);
  return little_endian(header, static_cast<int>(header_bytes[format])) + data;
}

std::string random_bits(std::size_t count) {
  std::string bits;
  for (std::uint32_t random = 7; bits.size() < count;) {
    random = random * 1103515245 + 12345;
    bits += random >> 30 & 1 ? '1' : '0';
  }
  return bits;
}
std::string bytes_of(std::string bits) {
  for (char& each : bits) each = static_cast<char>(each - '0');
  return bits;
}

TEST(Zstd, ReadsFramesOfTheReferenceImplementation) {
  EXPECT_EQ(unpack(from_hex(fast), text().size()), text());
  EXPECT_EQ(unpack(from_hex(dense), text().size()), text());
}

TEST(Zstd, ReadsFramesInOrderAndSkipsForeignOnes) {
  const std::string foreign = from_hex("5a2a4d1803000000616263");
  const std::string both = from_hex(fast) + foreign + from_hex(dense);
  EXPECT_EQ(unpack(both, 2 * text().size()), text() + text());
}

TEST(Zstd, ReadsPlainAndRepeatedBlocks) {
  EXPECT_EQ(unpack(frame_of(from_hex("190000") + "abc", 3), 3), "abc");
  EXPECT_EQ(unpack(frame_of(from_hex("100000") + "ab" + from_hex("2b0000") + "x", 7), 7),
            "abxxxxx");
}

TEST(Zstd, ReadsLiteralsWithoutSequences) {
  // plain literals; one repeated literal
  EXPECT_EQ(unpack(frame_of(from_hex("2d000018") + "abc" + from_hex("00"), 3), 3), "abc");
  EXPECT_EQ(unpack(frame_of(from_hex("1d000029") + "x" + from_hex("00"), 5), 5), "xxxxx");
}

// Runs of 140 and 300 literals, and matches of 138 and 300 bytes behind them.
TEST(Zstd, ReadsLongRunsAndMatches) {
  std::string literals;
  for (std::uint32_t i = 0, random = 1; i < 440; ++i) {
    random = (random * 1103515245 + 12345) & 0x7fff'ffff;
    literals += static_cast<char>(random >> 16);
  }
  const std::string text = literals.substr(0, 140) + literals.substr(0, 138) +
                           literals.substr(140) + literals.substr(100, 300);
  const std::string frame =
      from_hex("28b52ffd606e024d0e00841b") + literals + from_hex("03000157ab022cc3b79c8cc3833252");
  EXPECT_EQ(unpack(frame, text.size()), text);
}

TEST(Zstd, ReadsCodedLiteralsOfEachFormat) {
  constexpr struct {
    unsigned format;
    std::size_t size;
  } cases[] = {{0, 1},    {0, 1023},  {1, 6},     {1, 1023},
               {2, 1024}, {2, 16383}, {3, 16384}, {3, 131072}};
  for (const auto& [format, size] : cases) {
    const std::string bits = random_bits(size);
    const std::string block = block_of(coded_literals(bits, format, one_bit_codes) + '\0');
    EXPECT_EQ(unpack(long_frame_of(block, size), size), bytes_of(bits)) << format << " " << size;
  }
}

TEST(Zstd, RefusesMoreLiteralsThanABlockHas) {
  const std::string coded = coded_literals(random_bits(131073), 3, one_bit_codes) + '\0';
  EXPECT_EQ(unpack(long_frame_of(block_of(coded), 131073), 131073), std::nullopt);
  const auto repeated = [](std::uint64_t size) {
    return long_frame_of(block_of(little_endian(size << 4 | 3 << 2 | 1, 3) + "x" + '\0'), size);
  };
  EXPECT_EQ(unpack(repeated(131072), 131072), std::string(131072, 'x'));
  EXPECT_EQ(unpack(repeated(131073), 131073), std::nullopt);
}

TEST(Zstd, ReadsPlainWeightsOfCodes) {
  // the bytes 0, 1 and 2 have the codes 00, 01 and 1
  const std::string codes = "\x81\x11", bits = "000111001";
  const std::string data = codes + stream_of(bits);
  const std::string literals = little_endian(2 | 6 << 4 | data.size() << 14, 3) + data;
  EXPECT_EQ(unpack(frame_of(block_of(literals + '\0'), 6), 6), (std::string{0, 1, 2, 2, 0, 2}));
}

// Literals of coded bits in one stream.
std::string literals_of(const std::string& codes, const std::string& bits, std::size_t count) {
  const std::string data = codes + stream_of(bits);
  return little_endian(2 | count << 4 | data.size() << 14, 3) + data;
}

TEST(Zstd, ReadsCodesOfSeveralLengths) {
  // The weights 1, 2 and 3, and 1 for the last byte: codes of 3, 2, 1 and 3 bits.
  const std::string codes = "\x82\x12\x30", bits[] = {"000", "01", "1", "001"};
  std::string all, expected;
  for (std::uint32_t i = 0; i < 40; ++i) {
    const auto symbol = i * i * 7 / 3 % 4;
    all += bits[symbol];
    expected += static_cast<char>(symbol);
  }
  const std::string block = block_of(literals_of(codes, all, 40) + '\0');
  EXPECT_EQ(unpack(frame_of(block, 40), 40), expected);
}

// Two weights, whose first byte has a code of zeros.
TEST(Zstd, RefusesCodesThatAreTooLongOrDoNotFillTheTable) {
  const auto unpacked = [](char weights, const std::string& code) {
    const std::string codes{'\x81', weights};
    const std::string block = block_of(literals_of(codes, code, 1) + '\0');
    return unpack(frame_of(block, 1), 1);
  };
  EXPECT_EQ(unpacked('\xaa', "00"), (std::string{0}));        // 11 bits
  EXPECT_EQ(unpacked('\x12', "00"), (std::string{0}));        // 1 + 2 of 4
  EXPECT_EQ(unpacked('\x22', "00"), (std::string{0}));        // 2 + 2 of 8
  EXPECT_EQ(unpacked('\xbb', "00"), std::nullopt);            // 12 bits
  EXPECT_EQ(unpacked('\xc1', "000000000000"), std::nullopt);  // 13 bits
  EXPECT_EQ(unpacked('\x13', "000"), std::nullopt);           // 1 + 4, and 3 of 8 are missing
  EXPECT_EQ(unpacked('\x00', ""), std::nullopt);              // no code at all
}

TEST(Zstd, TakesCodesOfTheLastBlockAgain) {
  const std::string first = coded_literals("0110", 0, one_bit_codes) + '\0',
                    second = coded_literals("10", 0, "") + '\0';
  EXPECT_EQ(unpack(frame_of(block_of(first, false) + block_of(second), 6), 6), bytes_of("011010"));
  EXPECT_EQ(unpack(frame_of(block_of(second), 2), 2), std::nullopt);  // there are none
}

// Three tables of one symbol each: literal lengths, offsets and match lengths.
std::string sequences_of(std::size_t count, const std::string& symbols, const std::string& bits) {
  std::string header = little_endian(count, 1);
  if (count >= 128)
    header = std::string{static_cast<char>(128 + (count >> 8))} + little_endian(count, 1);
  if (count >= 0x7f00) header = '\xff' + little_endian(count - 0x7f00, 2);
  return header + (symbols.empty() ? "\xfc" : "\x54") + symbols + stream_of(bits);
}
std::string plain_literals(const std::string& text) {
  return little_endian(text.size() << 4 | 3 << 2, 3) + text;
}

// Each sequence is one literal, and three bytes from one byte before.
TEST(Zstd, ReadsSequencesOfOneSymbol) {
  const std::string symbols{1, 0, 0};
  for (const std::size_t count : {1, 127, 128, 0x7eff, 0x7f00, 0x7fff}) {
    std::string literals, text;
    for (std::size_t i = 0; i < count; ++i) {
      literals += static_cast<char>('a' + i % 25);
      text.append(4, literals.back());
    }
    const std::string block = block_of(plain_literals(literals) + sequences_of(count, symbols, ""));
    EXPECT_EQ(unpack(long_frame_of(block, text.size()), text.size()), text) << count;
  }
}

TEST(Zstd, TakesTablesOfTheLastBlockAgain) {
  const std::string first = plain_literals("ab") + sequences_of(2, {1, 0, 0}, ""),
                    second = plain_literals("c") + sequences_of(1, "", "");
  EXPECT_EQ(unpack(frame_of(block_of(first, false) + block_of(second), 12), 12), "aaaabbbbcccc");
  EXPECT_EQ(unpack(frame_of(block_of(second), 4), 4), std::nullopt);  // there are none
}

TEST(Zstd, RefusesSymbolsBehindTheLastOfATable) {
  // literal length, offset and match length; the bits of an offset of 1, and of lengths
  const auto unpacked = [](const std::string& symbols, const std::string& bits,
                           std::uint64_t literals, std::uint64_t size) {
    const std::string block =
        block_of(plain_literals(std::string(literals, 'x')) + sequences_of(1, symbols, bits));
    return unpack(long_frame_of(block, size), size);
  };
  EXPECT_EQ(unpacked({35, 0, 0}, std::string(16, '0'), 65536, 65539), std::string(65539, 'x'));
  EXPECT_EQ(unpacked({36, 0, 0}, std::string(16, '0'), 65536, 65539), std::nullopt);
  EXPECT_EQ(unpacked({1, 0, 52}, std::string(16, '0'), 1, 65540), std::string(65540, 'x'));
  EXPECT_EQ(unpacked({1, 0, 53}, std::string(16, '0'), 1, 65540), std::nullopt);
  EXPECT_EQ(unpacked({1, 2, 0}, "00", 1, 4), "xxxx");  // the offset is 4 - 3
  EXPECT_EQ(unpacked({1, 32, 0}, std::string(32, '0'), 1, 4), std::nullopt);
}

TEST(Zstd, RefusesAnotherSize) {
  EXPECT_EQ(unpack(from_hex(fast), text().size() - 1), std::nullopt);
  EXPECT_EQ(unpack(from_hex(fast), text().size() + 1), std::nullopt);
  EXPECT_EQ(unpack("", 1), std::nullopt);
}

TEST(Zstd, RefusesDictionariesAndReservedBits) {
  EXPECT_EQ(unpack(from_hex("28b52ffd210103190000") + "abc", 3), std::nullopt);
  EXPECT_EQ(unpack(from_hex("28b52ffd2803190000") + "abc", 3), std::nullopt);
  EXPECT_EQ(unpack(frame_of(from_hex("1f0000") + "abc", 3), 3), std::nullopt);
}

TEST(Zstd, RefusesEachTruncation) {
  for (const char* const digits : {fast, dense}) {
    const std::string frame = from_hex(digits);
    for (std::size_t size = 1; size < frame.size(); ++size) {
      EXPECT_EQ(unpack(frame.substr(0, size), text().size()), std::nullopt) << size;
    }
  }
}

// A changed bit may give another text, but never more bytes than asked for.
TEST(Zstd, SurvivesChangedBits) {
  for (const char* const digits : {fast, dense}) {
    const std::string frame = from_hex(digits);
    for (std::size_t bit = 0; bit < 8 * frame.size(); bit += 5) {
      std::string damaged = frame;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      const auto result = unpack(damaged, text().size());
      EXPECT_TRUE(!result || result->size() == text().size()) << bit;
    }
  }
}

}  // namespace

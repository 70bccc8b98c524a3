// SPDX-License-Identifier: Apache-2.0
// Images of every kind, built byte by byte, intact and damaged.
#include "emulator/image/image.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "emulator/image/elf/cubin_writer.hpp"
#include "emulator/image/elf/elf.hpp"
#include "emulator/image/host_code.hpp"

namespace {

using namespace halfwarp::emulator::image;

const std::string ptx = ".version 8.0\n.target sm_75\n";

bytes bytes_of(const std::string& text) { return std::as_bytes(std::span{text}); }

image_result find(const std::string& data, std::uint32_t architecture = 90) {
  cubin_registry registry;
  return find_ptx(bytes_of(data), architecture, registry);
}

template <class T>
void put(std::string& out, std::size_t at, T value) {
  if (out.size() < at + sizeof(T)) out.resize(at + sizeof(T));
  std::memcpy(&out[at], &value, sizeof(T));
}

struct section {
  std::string name, content;
};

// Builds a cubin of sm_90 with these sections; the section header table comes last.
std::string make_cubin(std::vector<section> sections) {
  constexpr std::size_t header = 64;
  std::string names{'\0'};
  sections.push_back({".shstrtab", ""});
  std::string out = std::string{
      "\x7f"
      "ELF\x02\x01\x01",
      7};
  put<std::uint16_t>(out, 18, 190);
  put<std::uint32_t>(out, 48, 90);
  out.resize(header);
  std::string table(header, '\0');
  for (section& s : sections) {
    const std::size_t at = table.size();
    put<std::uint32_t>(table, at, static_cast<std::uint32_t>(names.size()));
    names += s.name + '\0';
    if (s.name == ".shstrtab") s.content = names;
    put<std::uint64_t>(table, at + 24, out.size());
    put<std::uint64_t>(table, at + 32, s.content.size());
    table.resize(at + header);
    out += s.content;
  }
  put<std::uint64_t>(out, 40, out.size());
  put<std::uint16_t>(out, 58, header);
  put<std::uint16_t>(out, 60, static_cast<std::uint16_t>(sections.size() + 1));
  put<std::uint16_t>(out, 62, static_cast<std::uint16_t>(sections.size()));
  return out + table;
}

std::string debug_ptx() {
  std::string text = ptx;
  for (char& c : text) c = c == '\n' ? '\0' : c;
  return text;
}

struct entry {
  std::uint16_t kind;  // 1: PTX, 2: cubin, 8: LTO-IR
  std::uint32_t architecture;
  std::string payload;
  std::uint64_t flags = 0x11;
  std::uint64_t unpacked = 0;
};

std::string make_fat_binary(const std::vector<entry>& entries) {
  std::string content;
  for (const entry& e : entries) {
    const std::size_t at = content.size();
    const std::size_t padded = (e.payload.size() + 7) / 8 * 8;
    put<std::uint16_t>(content, at, e.kind);
    put<std::uint32_t>(content, at + 4, 64);
    put<std::uint64_t>(content, at + 8, padded);
    put<std::uint32_t>(content, at + 16,
                       e.unpacked != 0 ? static_cast<std::uint32_t>(e.payload.size()) : 0);
    put<std::uint32_t>(content, at + 28, e.architecture);
    put<std::uint64_t>(content, at + 40, e.flags);
    put<std::uint64_t>(content, at + 56, e.unpacked);
    content += e.payload;
    content.resize(at + 64 + padded);
  }
  std::string out;
  put<std::uint32_t>(out, 0, 0xBA55ED50);
  put<std::uint16_t>(out, 4, 1);
  put<std::uint16_t>(out, 6, 16);
  put<std::uint64_t>(out, 8, content.size());
  return out + content;
}

TEST(Image, MayBePtxText) {
  const std::string text = "\n// comment .x\n/* more */ " + ptx;
  const auto result = find(text + '\0' + "garbage");
  ASSERT_TRUE(result) << result.error.message;
  EXPECT_EQ(result.source->text, text);
  EXPECT_EQ(result.source->from, origin::ptx_text);
}

TEST(Image, MayBeACubinWithItsPtx) {
  const auto result = find(make_cubin({{".text.k", "code"}, {".nv_debug_ptx_txt", debug_ptx()}}));
  ASSERT_TRUE(result) << result.error.message;
  EXPECT_EQ(result.source->text, ptx);
  EXPECT_EQ(result.source->from, origin::debug_section);
}

// The offsets and lengths use all bytes of their fields, since the text is longer than 64 KiB.
TEST(Image, MayBeACubinThatContainsItsPtx) {
  std::string text = ptx;
  while (text.size() < 100'000) text += ".visible .entry k() { ret; }\n";
  const std::string cubin = cubin_of_ptx(90, text);
  auto result = find(cubin);
  ASSERT_TRUE(result) << result.error.message;
  EXPECT_EQ(result.source->text, text + "\n");  // for the NUL that ends the section
  const std::string other = text + ".visible .entry l() { ret; }\n";
  result = find(with_ptx(bytes_of(cubin), other));
  ASSERT_TRUE(result) << result.error.message;
  EXPECT_EQ(result.source->text, other + "\n");
}

TEST(Image, OfPtxAloneIsAnElfFileOfOneNamedSection) {
  const std::string cubin = cubin_of_ptx(90, ptx);
  const bytes file = bytes_of(cubin);
  const auto names = find_section(file, ".shstrtab");
  ASSERT_TRUE(names);
  EXPECT_EQ(as_text(*names).substr(0, 11), (std::string{"\0.shstrtab\0", 11}));
  EXPECT_EQ(cubin.substr(0, 7), "\177ELF\2\1\1");  // 64 bits, little-endian, version 1
  EXPECT_EQ(cubin[8], 8);                          // of the ABI
  constexpr struct {
    std::uint64_t at;
    std::uint16_t value;
  } fields[] = {{16, 2}, {18, 190}, {20, 1}, {49, 90}, {52, 64}, {58, 64}, {62, 1}};
  for (const auto& [at, value] : fields) {
    EXPECT_EQ(number_at<std::uint16_t>(file, at), value) << at;
  }
  const auto header_of_names = number_at<std::uint64_t>(file, 40) + 64;
  EXPECT_EQ(number_at<std::uint32_t>(file, header_of_names), 1u);
  EXPECT_EQ(number_at<std::uint32_t>(file, header_of_names + 4), 3u);  // SHT_STRTAB
}

TEST(Image, MayBeACubinThatIsKnown) {
  const std::string cubin = make_cubin({{".nv_debug_ptx_txt", debug_ptx()}});
  cubin_registry registry;
  registry.add(bytes_of(cubin), "better text");
  const auto result = find_ptx(bytes_of(cubin + "padding"), 90, registry);
  ASSERT_TRUE(result);
  EXPECT_EQ(result.source->text, "better text");
  EXPECT_EQ(result.source->from, origin::registered);
}

TEST(Image, ExplainsMachineCode) {
  const auto result = find(make_cubin({{".text.f", "code"}, {".nv.constant0.k", "bank"}}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error.kernel, "k");
  EXPECT_EQ(result.error.reason, failure::no_binary);
  EXPECT_NE(result.error.message.find("machine code for sm_90"), std::string::npos);
  EXPECT_NE(result.error.message.find("-lineinfo"), std::string::npos);
}

TEST(FatBinary, ReturnsTheNewestPtxThatTheDeviceRuns) {
  const std::string data = make_fat_binary({{1, 75, ptx + "// 75"},
                                            {1, 90, ptx + "// 90"},
                                            {2, 90, make_cubin({})},
                                            {1, 100, ptx + "// 100"}});
  EXPECT_EQ(find(data, 90).source->text, ptx + "// 90");
  EXPECT_EQ(find(data, 86).source->text, ptx + "// 75");
  EXPECT_EQ(find(data, 120).source->text, ptx + "// 100");
  const auto none = find(data, 70);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error.reason, failure::no_binary);
  EXPECT_NE(none.error.message.find("PTX for compute_75, PTX for compute_90, machine code for "
                                    "sm_90, PTX for compute_100"),
            std::string::npos)
      << none.error.message;
}

TEST(FatBinary, NamesTheFirstKernelOfMachineCodeForTheDevice) {
  const std::string older = make_cubin({{".nv.constant0.older", "bank"}});
  const std::string code = make_cubin({{".nv.constant0.k", "bank"}, {".nv.constant0.l", "bank"}});
  const std::string data = make_fat_binary({{2, 80, older}, {2, 90, code}});
  EXPECT_EQ(find(data, 90).error.kernel, "k");
  EXPECT_EQ(find(data, 70).error.kernel, "");
}

TEST(FatBinary, ReturnsThePtxOfACubinIfThereIsNoOther) {
  const std::string cubin = make_cubin({{".nv_debug_ptx_txt", debug_ptx()}});
  const auto result = find(make_fat_binary({{2, 90, cubin}}));
  ASSERT_TRUE(result) << result.error.message;
  EXPECT_EQ(result.source->text, ptx);
}

TEST(FatBinary, UnpacksLz4) {
  // Literals only: 15 and the remainder.
  std::string packed = "\xf0";
  packed += static_cast<char>(ptx.size() - 15);
  packed += ptx;
  const auto result = find(make_fat_binary({{1, 75, packed, 0x2011, ptx.size()}}));
  ASSERT_TRUE(result) << result.error.message;
  EXPECT_EQ(result.source->text, ptx);
  const auto damaged = find(make_fat_binary({{1, 75, packed, 0x2011, ptx.size() + 1}}));
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error.reason, failure::invalid_image);
}

TEST(FatBinary, UnpacksZstd) {
  const std::string frame{
      "\x28\xb5\x2f\xfd\x20\x07\x39\x00\x00"
      ".target",
      16};
  const auto result = find(make_fat_binary({{1, 75, frame, 0x8011, 7}}));
  ASSERT_TRUE(result) << result.error.message;
  EXPECT_EQ(result.source->text, ".target");
  const auto damaged = find(make_fat_binary({{1, 75, frame, 0x8011, 8}}));
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error.reason, failure::invalid_image);
}

TEST(FatBinary, NamesThatACompressionIsUnknown) {
  const auto result = find(make_fat_binary({{1, 75, "packed", 0x11, 100}}));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error.reason, failure::no_decompressor);
  EXPECT_NE(result.error.message.find("--compress-mode=none"), std::string::npos);
}

TEST(FatBinary, SelectsCodeForOneDeviceBeforeCodeForNewerOnes) {
  constexpr std::uint64_t exact = 0x100000, family = 0x200000;
  EXPECT_EQ(find(make_fat_binary({{1, 90, ".a"}, {1, 90, ".b", exact}, {1, 90, ".c", family}}))
                .source->text,
            ".b");
  EXPECT_EQ(find(make_fat_binary({{1, 80, ".a"}, {1, 89, ".b", exact}})).source->text, ".a");
  EXPECT_EQ(find(make_fat_binary({{1, 75, ".a"}, {1, 80, ".b", family}})).source->text, ".a");
}

TEST(FatBinary, NamesADeviceForWhichItHasCode) {
  const auto result = find(make_fat_binary({{1, 120, ".a"}}));
  ASSERT_FALSE(result);
  EXPECT_NE(result.error.message.find("HALFWARP_EMULATOR_CC=12.0"), std::string::npos);
}

TEST(Image, RefusesUnknownFormats) {
  EXPECT_EQ(find("").error.reason, failure::invalid_image);
  EXPECT_EQ(find("hello").error.reason, failure::invalid_image);
  EXPECT_EQ(find("/* never ends").error.reason, failure::invalid_image);
  EXPECT_EQ(find("\x7f"
                 "ELF")
                .error.reason,
            failure::invalid_image);
  EXPECT_EQ(find("\xed"
                 "CN\x7f more")
                .error.reason,
            failure::no_binary);
}

TEST(Image, SurvivesEveryTruncationAndEveryChangedByte) {
  const std::vector<std::string> images = {
      make_cubin({{".text.k", "code"}, {".nv_debug_ptx_txt", debug_ptx()}}),
      make_fat_binary({{1, 75, ptx}, {2, 90, make_cubin({{".nv_debug_ptx_txt", debug_ptx()}})}})};
  for (const std::string& whole : images) {
    for (std::size_t n = 0; n < whole.size(); ++n) {
      // A separate allocation, so that a sanitizer detects reads past the end.
      const std::vector<std::byte> cut{bytes_of(whole).begin(), bytes_of(whole).begin() + n};
      cubin_registry registry;
      const auto result = find_ptx(cut, 90, registry);
      EXPECT_TRUE(result || !result.error.message.empty());
      for (const char value : {'\0', '\1', '\x7f', '\xff'}) {
        std::string changed = whole;
        changed[n] = value;
        find(changed);
      }
    }
  }
}

TEST(Elf, FindsSectionsByTheirWholeName) {
  const std::string cubin = make_cubin({{".text.kernel", "a"}, {".text", "bc"}});
  EXPECT_EQ(find_section(bytes_of(cubin), ".text")->size(), 2u);
  EXPECT_FALSE(find_section(bytes_of(cubin), ".text.k"));
  EXPECT_TRUE(is_cubin(bytes_of(cubin)));
  EXPECT_EQ(cubin_architecture(bytes_of(cubin)), 90u);
}

TEST(Elf, HasNoNamesIfTheirSectionIsNotInTheTable) {
  std::string cubin = make_cubin({{".text", "a"}});
  ASSERT_TRUE(find_section(bytes_of(cubin), ".text"));
  put<std::uint16_t>(cubin, 60, 2);  // section count; the names are in the next section
  EXPECT_FALSE(find_section(bytes_of(cubin), ".text"));
}

TEST(ViewOf, DeterminesTheSizeOfImagesAtPointers) {
  const std::string cubin = make_cubin({{".text.k", "code"}}), padding(100, 'x');
  EXPECT_EQ(view_of((cubin + padding).data()).size(), cubin.size());
  const std::string fat = make_fat_binary({{1, 75, ptx}});
  EXPECT_EQ(view_of((fat + padding).data()).size(), fat.size());
  EXPECT_EQ(view_of(ptx.c_str()).size(), ptx.size());
  EXPECT_EQ(view_of("").size(), 0u);
  EXPECT_EQ(view_of("ab").size(), 2u);
}

TEST(ViewOf, IgnoresTheSizeOfSectionsThatOnlyCudaDefines) {
  std::string cubin = make_cubin({{".nv.info", "info"}, {".text", "code"}});
  const std::size_t size = cubin.size();
  const auto table = find_section_table(bytes_of(cubin));
  for (std::uint64_t at = table.offset; at < table.offset + table.bytes; at += 64) {
    std::string changed = cubin;
    put<std::uint64_t>(changed, at + 32, std::uint64_t{1} << 40);  // sh_size
    put<std::uint32_t>(changed, at + 4, 0x70000000);               // sh_type: SHT_LOPROC
    EXPECT_EQ(view_of((changed + std::string(5000, 'x')).data()).size(), size);
  }
}

TEST(ViewOf, FollowsTheWrapperOfAnEmbeddedFatBinary) {
  const std::string fat = make_fat_binary({{1, 75, ptx}});
  struct {
    std::uint32_t magic = 0x466243b1, version = 1;
    const char* data = nullptr;
    void* unused = nullptr;
  } wrapper;
  wrapper.data = fat.data();
  const bytes result = view_of(&wrapper);
  EXPECT_EQ(as_text(result), fat);
}

std::string member(const std::string& content, const std::string& size) {
  std::string header(60, ' ');
  header.replace(48, size.size(), size);
  return header + content + (content.size() % 2 ? "\n" : "");
}
std::string member(const std::string& content) {
  return member(content, std::to_string(content.size()));
}

std::vector<std::string> found_in(const std::string& data) {
  // A separate allocation, so that a sanitizer detects reads past the end.
  const std::vector<std::byte> exact{bytes_of(data).begin(), bytes_of(data).end()};
  std::vector<std::string> texts;
  for (const bytes each : fat_binaries_in(exact)) texts.emplace_back(as_text(each));
  return texts;
}

TEST(HostCode, HasTheFatBinariesOfItsSections) {
  const std::string one = make_fat_binary({{1, 75, ptx}}), two = make_fat_binary({{1, 80, ptx}});
  const std::string gap(16, '\0'), cut = two.substr(0, two.size() - 1);
  using list = std::vector<std::string>;
  EXPECT_EQ(found_in(make_cubin({{".nv_fatbin", one}})), list{one});
  EXPECT_EQ(found_in(make_cubin({{"__nv_relfatbin", one + two}})), (list{one, two}));
  EXPECT_EQ(found_in(make_cubin({{".nv_fatbin", two}, {"__nv_relfatbin", one}})), (list{one, two}));
  EXPECT_EQ(found_in(make_cubin({{".nv_fatbin", gap + one + gap + two + gap}})), (list{one, two}));
  EXPECT_EQ(found_in(make_cubin({{".nv_fatbin", one + cut}})), list{one}) << "the second is cut";
  EXPECT_EQ(found_in(make_cubin({{".nv_fatbin", gap + "abc"}})), list{});
  EXPECT_EQ(found_in(make_cubin({{".text", one}})), list{});
  EXPECT_EQ(found_in(one), list{}) << "no object";
  EXPECT_EQ(found_in(""), list{});
}

TEST(HostCode, MayBeAnArchive) {
  const std::string one = make_fat_binary({{1, 75, ptx}}), two = make_fat_binary({{1, 80, ptx}});
  const std::string first = make_cubin({{".nv_fatbin", one}});
  const std::string second = make_cubin({{".nv_fatbin", two}}), magic = "!<arch>\n";
  using list = std::vector<std::string>;
  EXPECT_EQ(found_in(magic + member(first) + member(second)), (list{one, two}));
  EXPECT_EQ(found_in(magic + member("names") + member(second)), list{two}) << "padded to 2 bytes";
  EXPECT_EQ(found_in(magic + member(first) + member(second, "x")), list{one});
  EXPECT_EQ(found_in(magic + member(first) + member(second, "99999999")), list{one});
  const std::string whole = magic + member(first) + member(second);
  EXPECT_EQ(found_in(whole.substr(0, whole.size() - 1)), list{one});
  EXPECT_EQ(found_in(whole.substr(0, magic.size() + 59)), list{});
  EXPECT_EQ(found_in(magic), list{});
}

}  // namespace

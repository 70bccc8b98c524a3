// SPDX-License-Identifier: Apache-2.0
// Finds device code in the objects and libraries of a host compiler.
#include "emulator/image/host_code.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "emulator/image/elf/elf.hpp"
#include "emulator/image/fat_binary.hpp"

namespace halfwarp::emulator::image {
namespace {

constexpr std::string_view archive_magic = "!<arch>\n";
constexpr std::size_t member_header_bytes = 60, member_size_at = 48, member_size_bytes = 10;

// Appends the consecutive fat binaries of a section. Each is padded to eight bytes.
void add_from_section(bytes section, std::vector<bytes>& fat_binaries) {
  constexpr std::size_t alignment = 8;
  while (section.size() >= fat_binary_header_bytes) {
    if (!is_fat_binary(section)) {
      section = section.subspan(std::min(alignment, section.size()));
      continue;
    }
    const auto size = fat_binary_bytes(section.first(fat_binary_header_bytes));
    const auto whole = part(section, 0, size);
    if (!whole || size == 0) return;
    fat_binaries.push_back(*whole);
    section = section.subspan(std::min<std::size_t>((size + 7) / 8 * 8, section.size()));
  }
}

void add_from_object(bytes object, std::vector<bytes>& fat_binaries) {
  if (!is_elf(object)) return;
  // The sections of relocatable and of executable device code.
  for (const std::string_view name : {"__nv_relfatbin", ".nv_fatbin"}) {
    if (const auto section = find_section(object, name)) add_from_section(*section, fat_binaries);
  }
}

}  // namespace

std::vector<bytes> fat_binaries_in(bytes data) {
  std::vector<bytes> fat_binaries;
  if (!as_text(data).starts_with(archive_magic)) {
    add_from_object(data, fat_binaries);
    return fat_binaries;
  }
  std::size_t at = archive_magic.size();
  while (const auto header = part(data, at, member_header_bytes)) {
    const std::string_view digits = as_text(header->subspan(member_size_at, member_size_bytes));
    std::size_t size = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), size);
    if (read.ec != std::errc{}) break;
    const auto member = part(data, at + member_header_bytes, size);
    if (!member) break;
    add_from_object(*member, fat_binaries);
    at += member_header_bytes + size + size % 2;
  }
  return fat_binaries;
}

}  // namespace halfwarp::emulator::image

// SPDX-License-Identifier: Apache-2.0
// Reads the headers of ELF files and fat binaries.
#include "core/module/image_check.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>

namespace halfwarp::core {
namespace {

constexpr std::uint32_t fat_binary_magic = 0xBA55ED50, wrapper_magic = 0x466243b1;
constexpr std::string_view elf_magic{ELFMAG, SELFMAG};

struct fat_binary_header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t content_bytes;
};

// The first fields of an entry, whose header has at least 64 bytes.
struct fat_entry_header {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t payload_bytes;
};
constexpr std::size_t smallest_entry = 64;

// The caller checks that the structure lies within the image.
template <class Structure>
Structure read(std::string_view image, std::uint64_t offset) {
  Structure result;
  std::memcpy(&result, image.data() + offset, sizeof result);
  return result;
}

bool contains(std::string_view image, std::uint64_t offset, std::uint64_t size) {
  return offset <= image.size() && size <= image.size() - offset;
}

std::string outside(const std::string& part, std::uint64_t offset, std::uint64_t size,
                    std::string_view image) {
  return part + " has " + std::to_string(size) + " bytes at offset " + std::to_string(offset) +
         ", and the image has " + std::to_string(image.size()) + " bytes";
}

// Some section types of CUDA occupy no bytes of the file, so only standard types are checked.
bool has_bytes(const Elf64_Shdr& section) {
  return section.sh_type != SHT_NOBITS && section.sh_type < SHT_LOPROC;
}

std::string section_problem(std::string_view image, const Elf64_Ehdr& header) {
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read<Elf64_Shdr>(image, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (has_bytes(section) && !contains(image, section.sh_offset, section.sh_size)) {
      return outside("section " + std::to_string(i), section.sh_offset, section.sh_size, image);
    }
    if (section.sh_link >= header.e_shnum && section.sh_type < SHT_LOPROC) {
      return "section " + std::to_string(i) + " is linked to section " +
             std::to_string(section.sh_link) + " of " + std::to_string(header.e_shnum);
    }
  }
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = read<Elf64_Phdr>(image, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (!contains(image, segment.p_offset, segment.p_filesz)) {
      return outside("segment " + std::to_string(i), segment.p_offset, segment.p_filesz, image);
    }
  }
  return {};
}

std::string elf_problem(std::string_view image) {
  if (image.size() < sizeof(Elf64_Ehdr)) return outside("the ELF header", 0, 64, image);
  const auto header = read<Elf64_Ehdr>(image, 0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return "the ELF file is not of 64 bits";
  const bool is_known = (header.e_shnum == 0 || header.e_shentsize == sizeof(Elf64_Shdr)) &&
                        (header.e_phnum == 0 || header.e_phentsize == sizeof(Elf64_Phdr));
  if (!is_known) return "the ELF file has table entries of an unknown size";
  const std::uint64_t sections = std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  const std::uint64_t segments = std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (!contains(image, header.e_shoff, sections)) {
    return outside("the section table", header.e_shoff, sections, image);
  }
  if (!contains(image, header.e_phoff, segments)) {
    return outside("the segment table", header.e_phoff, segments, image);
  }
  if (header.e_shnum != 0 && header.e_shstrndx >= header.e_shnum) {
    return "the names of the sections are in section " + std::to_string(header.e_shstrndx) +
           " of " + std::to_string(header.e_shnum);
  }
  return section_problem(image, header);
}

std::string entry_problem(std::string_view content, std::string_view image) {
  for (int number = 0; content.size() >= smallest_entry; ++number) {
    const auto entry = read<fat_entry_header>(content, 0);
    const std::string part = "entry " + std::to_string(number) + " of the fat binary";
    const auto at = static_cast<std::uint64_t>(content.data() - image.data());
    if (entry.header_bytes < smallest_entry || entry.header_bytes > content.size()) {
      return part + " has a header of " + std::to_string(entry.header_bytes) + " bytes";
    }
    if (!contains(content, entry.header_bytes, entry.payload_bytes)) {
      return outside(part, at + entry.header_bytes, entry.payload_bytes, image);
    }
    content.remove_prefix(entry.header_bytes + entry.payload_bytes);
  }
  return {};
}

std::string fat_binary_problem(std::string_view image) {
  constexpr std::size_t smallest = sizeof(fat_binary_header);
  if (image.size() < smallest) return outside("the header of the fat binary", 0, smallest, image);
  const auto header = read<fat_binary_header>(image, 0);
  if (header.header_bytes < smallest) {
    return "the fat binary has a header of " + std::to_string(header.header_bytes) + " bytes";
  }
  if (!contains(image, header.header_bytes, header.content_bytes)) {
    return outside("the content of the fat binary", header.header_bytes, header.content_bytes,
                   image);
  }
  return entry_problem(image.substr(header.header_bytes, header.content_bytes), image);
}

}  // namespace

std::string image_problem(std::string_view image) {
  if (image.starts_with(elf_magic)) return elf_problem(image);
  if (image.size() < sizeof(std::uint32_t)) return {};
  const auto magic = read<std::uint32_t>(image, 0);
  if (magic == fat_binary_magic) return fat_binary_problem(image);
  if (magic == wrapper_magic) {
    return "it is the wrapper of a fat binary, which holds an address: pass the fat binary itself";
  }
  return {};
}

}  // namespace halfwarp::core

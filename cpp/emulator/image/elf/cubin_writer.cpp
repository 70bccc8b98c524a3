// SPDX-License-Identifier: Apache-2.0
// Appends new section contents and new section tables to an ELF file.
#include "emulator/image/elf/cubin_writer.hpp"

#include <algorithm>

#include "emulator/image/elf/elf.hpp"
#include "emulator/image/elf/elf_layout.hpp"
#include "emulator/image/image.hpp"

namespace halfwarp::emulator::image {
namespace {

using namespace elf_layout;

template <class T>
void put(std::string& file, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    file[at + i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  }
}

std::size_t append(std::string& file, std::string_view content) {
  file.resize((file.size() + 7) / 8 * 8);
  const std::size_t at = file.size();
  file += content;
  return at;
}

void set_location(std::string& header, std::size_t offset, std::size_t size) {
  put<std::uint64_t>(header, offset_at, offset);
  put<std::uint64_t>(header, size_at, size);
}

// Returns the index of a section in the table, or the number of sections if it is missing.
std::size_t find_header(std::string_view table, std::string_view names, std::string_view section) {
  std::size_t i = 0;
  for (; i * header_bytes < table.size(); ++i) {
    const auto header = std::as_bytes(std::span{table}).subspan(i * header_bytes, header_bytes);
    const auto name = number_at<std::uint32_t>(header, name_at);
    if (name < names.size() && names.substr(name, names.find('\0', name) - name) == section) break;
  }
  return i;
}

}  // namespace

std::string with_ptx(bytes cubin, std::string_view ptx) {
  std::string file{as_text(cubin)};
  const section_table location = find_section_table(cubin);
  const auto old_table = part(cubin, location.offset, location.bytes);
  const std::size_t names_index = number_at<std::uint16_t>(cubin, names_at);
  if (!is_cubin(cubin) || !old_table || (names_index + 1) * header_bytes > old_table->size()) {
    return file;
  }
  const auto names_header = old_table->subspan(names_index * header_bytes, header_bytes);
  const auto old_names = part(cubin, number_at<std::uint64_t>(names_header, offset_at),
                              number_at<std::uint64_t>(names_header, size_at));
  if (!old_names) return file;
  std::string table{as_text(*old_table)}, names{as_text(*old_names)}, text{ptx};
  const std::size_t index = find_header(table, names, ptx_section);
  if (index * header_bytes == table.size()) {
    std::string header(header_bytes, '\0');
    put<std::uint32_t>(header, name_at, static_cast<std::uint32_t>(names.size()));
    put<std::uint32_t>(header, type_at, type_progbits);
    put<std::uint64_t>(header, alignment_at, 1);
    names.append(ptx_section).push_back('\0');
    table += header;
  }
  std::ranges::replace(text, '\n', '\0');
  text.push_back('\0');
  const auto write_header = [&table](std::size_t i, std::size_t offset, std::size_t size) {
    std::string header = table.substr(i * header_bytes, header_bytes);
    set_location(header, offset, size);
    table.replace(i * header_bytes, header_bytes, header);
  };
  write_header(index, append(file, text), text.size());
  write_header(names_index, append(file, names), names.size());
  put<std::uint64_t>(file, sections_at, append(file, table));
  put<std::uint16_t>(file, section_count_at,
                     static_cast<std::uint16_t>(table.size() / header_bytes));
  return file;
}

std::string cubin_of_ptx(std::uint32_t architecture, std::string_view ptx) {
  constexpr char class_64_bits = 2, little_endian = 1, version = 1, abi_version = 8;
  constexpr std::uint16_t executable = 2;
  std::string file(elf_header_bytes, '\0');
  file.replace(0, 7, std::string{'\x7f', 'E', 'L', 'F', class_64_bits, little_endian, version});
  file[abi_version_at] = abi_version;
  put<std::uint16_t>(file, kind_at, executable);
  put<std::uint16_t>(file, machine_at, machine_cuda);
  put<std::uint32_t>(file, version_at, version);
  put<std::uint32_t>(file, flags_at, architecture << 8);
  put<std::uint16_t>(file, header_size_at, elf_header_bytes);
  put<std::uint16_t>(file, section_size_at, header_bytes);
  put<std::uint16_t>(file, names_at, 1);
  // An empty section, and the section name table ".shstrtab".
  std::string table(2 * header_bytes, '\0');
  const std::string names{"\0.shstrtab\0", 11};
  const std::size_t names_offset = append(file, names);
  put<std::uint32_t>(table, header_bytes + name_at, 1);
  put<std::uint32_t>(table, header_bytes + type_at, type_strings);
  put<std::uint64_t>(table, header_bytes + offset_at, names_offset);
  put<std::uint64_t>(table, header_bytes + size_at, names.size());
  put<std::uint64_t>(file, sections_at, append(file, table));
  put<std::uint16_t>(file, section_count_at, 2);
  return with_ptx(std::as_bytes(std::span{file}), ptx);
}

}  // namespace halfwarp::emulator::image

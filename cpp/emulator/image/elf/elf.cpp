// SPDX-License-Identifier: Apache-2.0
// Reads ELF headers and sections and checks every offset.
#include "emulator/image/elf/elf.hpp"

#include <algorithm>

#include "emulator/image/elf/elf_layout.hpp"

namespace halfwarp::emulator::image {
namespace {

using namespace elf_layout;
constexpr char class_64_bits = 2;

struct section {
  std::uint64_t offset = 0, size = 0;
  std::uint32_t name = 0;
  bool has_bytes = true;
  bool is_standard = true;  // of a type that all processors have
};

section read_section(bytes header) noexcept {
  return {number_at<std::uint64_t>(header, offset_at), number_at<std::uint64_t>(header, size_at),
          number_at<std::uint32_t>(header, name_at),
          number_at<std::uint32_t>(header, type_at) != type_nobits,
          number_at<std::uint32_t>(header, type_at) < first_processor_type};
}

// Calls `visit(name, content)` for each section that lies within the file.
template <class Visit>
void for_each_section(bytes file, Visit&& visit) {
  if (file.size() < elf_header_bytes) return;
  const section_table location = find_section_table(file);
  const auto table = part(file, location.offset, location.bytes);
  const std::uint64_t names_index = number_at<std::uint16_t>(file, names_at);
  if (!table || names_index * header_bytes >= table->size()) return;
  const section names_header = read_section(table->subspan(names_index * header_bytes));
  const auto names = part(file, names_header.offset, names_header.size);
  if (!names) return;
  for (std::size_t at = 0; at + header_bytes <= table->size(); at += header_bytes) {
    const section s = read_section(table->subspan(at, header_bytes));
    if (s.name >= names->size() || !s.has_bytes) continue;
    const std::string_view name = as_text(names->subspan(s.name));
    if (const auto content = part(file, s.offset, s.size)) {
      visit(name.substr(0, name.find('\0')), *content);
    }
  }
}

}  // namespace

bool is_elf(bytes data) noexcept {
  return as_text(data).starts_with(
      "\x7f"
      "ELF");
}

bool is_cubin(bytes data) noexcept {
  return data.size() >= elf_header_bytes && is_elf(data) &&
         std::to_integer<char>(data[class_at]) == class_64_bits &&
         number_at<std::uint16_t>(data, machine_at) == machine_cuda;
}

section_table find_section_table(bytes header) noexcept {
  if (number_at<std::uint16_t>(header, section_size_at) != header_bytes) return {};
  const std::uint64_t count = number_at<std::uint16_t>(header, section_count_at);
  return {number_at<std::uint64_t>(header, sections_at), count * header_bytes};
}

namespace {

// Returns the largest number if the sum exceeds it.
std::uint64_t end_of(std::uint64_t offset, std::uint64_t size) noexcept {
  return offset + std::min(size, ~std::uint64_t{0} - offset);
}

std::uint64_t end_of_tables(bytes header) noexcept {
  const std::uint64_t segments = std::uint64_t{number_at<std::uint16_t>(header, segment_size_at)} *
                                 number_at<std::uint16_t>(header, segment_count_at);
  const section_table table = find_section_table(header);
  return std::max({std::uint64_t{elf_header_bytes}, end_of(table.offset, table.bytes),
                   end_of(number_at<std::uint64_t>(header, segments_at), segments)});
}

template <class Condition>
std::uint64_t end_of_sections(bytes header, bytes sections, Condition condition) noexcept {
  std::uint64_t end = end_of_tables(header);
  for (std::size_t at = 0; at + header_bytes <= sections.size(); at += header_bytes) {
    const section s = read_section(sections.subspan(at, header_bytes));
    if (s.has_bytes && condition(s)) end = std::max(end, end_of(s.offset, s.size));
  }
  return end;
}

}  // namespace

std::uint64_t end_of_file(bytes header, bytes sections) noexcept {
  return end_of_sections(header, sections, [](const section& s) { return s.is_standard; });
}

bool is_truncated(bytes file) noexcept {
  if (file.size() < elf_header_bytes || end_of_tables(file) > file.size()) return true;
  const section_table location = find_section_table(file);
  const bytes table = file.subspan(location.offset, location.bytes);
  for (std::size_t at = 0; at + header_bytes <= table.size(); at += header_bytes) {
    const section s = read_section(table.subspan(at, header_bytes));
    if (s.has_bytes && s.is_standard && end_of(s.offset, s.size) > file.size()) return true;
  }
  return false;
}

bytes without_padding(bytes file) noexcept {
  if (file.size() < elf_header_bytes) return file;
  const section_table location = find_section_table(file);
  const auto sections = part(file, location.offset, location.bytes);
  if (!sections) return file;
  const auto end =
      end_of_sections(file.first(elf_header_bytes), *sections, [](const section&) { return true; });
  return end < file.size() ? file.first(end) : file;
}

std::vector<named_section> find_sections(bytes cubin, std::string_view prefix) {
  std::vector<named_section> result;
  for_each_section(cubin, [&](std::string_view name, bytes content) {
    if (name.starts_with(prefix)) result.push_back({name, content});
  });
  return result;
}

std::optional<bytes> find_section(bytes cubin, std::string_view section) noexcept {
  std::optional<bytes> result;
  for_each_section(cubin, [&](std::string_view name, bytes content) {
    if (!result && name == section) result = content;
  });
  return result;
}

std::uint32_t cubin_architecture(bytes cubin) noexcept {
  constexpr std::uint8_t abi_of_wide_flags = 8;  // CUDA 13: architecture in bits 8 to 15
  const std::uint32_t flags = number_at<std::uint32_t>(cubin, flags_at);
  const bool is_wide = number_at<std::uint8_t>(cubin, abi_version_at) >= abi_of_wide_flags;
  return is_wide ? flags >> 8 & 0xff : flags & 0xff;
}

}  // namespace halfwarp::emulator::image

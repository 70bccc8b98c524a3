// SPDX-License-Identifier: Apache-2.0
// The parameter layouts of the kernels in a code image: what the null driver knows of code.
#include "emulator/null/image.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "emulator/ptx/parser.hpp"

namespace halfwarp::emulator::null_driver {

namespace {

// One entry of a .nv.info section: a format, an attribute and 16 bits, then that many bytes if the
// format says so.
struct info_entry {
  std::uint8_t format, attribute;
  std::uint16_t value;
};
constexpr std::uint8_t has_payload = 4;
constexpr std::uint8_t kernel_parameter = 0x17;

struct kernel_parameter_payload {
  std::uint32_t index;
  std::uint16_t ordinal, offset;
  std::uint32_t packed;  // size in the upper 14 bits
};

template <class T>
T load(const char* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void add_parameter(kernel_layout& kernel, const kernel_parameter_payload& found) {
  if (kernel.parameters.size() <= found.ordinal) kernel.parameters.resize(found.ordinal + 1u);
  kernel.parameters[found.ordinal] = {found.offset, found.packed >> 18};
}

kernel_layout read_info(std::string_view name, const char* at, const char* end) {
  kernel_layout kernel{std::string(name), {}};
  while (end - at >= static_cast<std::ptrdiff_t>(sizeof(info_entry))) {
    const auto entry = load<info_entry>(at);
    const std::size_t payload = entry.format == has_payload ? entry.value : 0;
    at += sizeof entry;
    if (static_cast<std::size_t>(end - at) < payload) break;
    if (entry.attribute == kernel_parameter && payload == sizeof(kernel_parameter_payload)) {
      add_parameter(kernel, load<kernel_parameter_payload>(at));
    }
    at += payload;
  }
  return kernel;
}

std::vector<kernel_layout> read_cubin(const char* image) {
  const auto header = load<Elf64_Ehdr>(image);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!sections.empty()) {
    std::memcpy(sections.data(), image + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  }
  if (header.e_shstrndx >= sections.size()) return {};
  const char* const names = image + sections[header.e_shstrndx].sh_offset;
  constexpr std::string_view prefix = ".nv.info.";
  std::vector<kernel_layout> kernels;
  for (const auto& section : sections) {
    const std::string_view name = names + section.sh_name;
    if (!name.starts_with(prefix)) continue;
    const char* const begin = image + section.sh_offset;
    kernels.push_back(read_info(name.substr(prefix.size()), begin, begin + section.sh_size));
  }
  return kernels;
}

std::vector<kernel_layout> read_ptx(const char* text) {
  const auto parsed = ptx::parse(text);
  std::vector<kernel_layout> kernels;
  if (!parsed) return kernels;
  for (const auto& function : parsed.value->functions) {
    if (!function.is_entry) continue;
    kernel_layout kernel{std::string(function.name), {}};
    for (const auto& p : function.parameters) {
      kernel.parameters.push_back(
          {static_cast<std::uint32_t>(p.offset), static_cast<std::uint32_t>(p.size)});
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace

std::vector<kernel_layout> read_kernels(const void* image) {
  const auto* const bytes = static_cast<const char*>(image);
  if (std::memcmp(bytes, ELFMAG, SELFMAG) == 0) return read_cubin(bytes);
  return read_ptx(bytes);
}

}  // namespace halfwarp::emulator::null_driver

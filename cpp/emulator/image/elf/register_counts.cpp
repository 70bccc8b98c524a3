// SPDX-License-Identifier: Apache-2.0
// Reads the section .nv.info: attributes of machine code, each with a symbol index.
#include "emulator/image/elf/register_counts.hpp"

#include <string_view>

#include "emulator/image/elf/elf.hpp"

namespace halfwarp::emulator::image {
namespace {

// An attribute is two bytes and a 16-bit value. For `has_payload`, the value is the payload's size.
constexpr std::size_t attribute_bytes = 4;
constexpr std::uint8_t has_payload = 4, registers_of_a_symbol = 0x2f;
constexpr std::size_t symbol_bytes = 24;

std::string_view name_of(bytes symbols, bytes names, std::uint32_t index) noexcept {
  const auto symbol = part(symbols, std::uint64_t{index} * symbol_bytes, symbol_bytes);
  const std::uint32_t at = symbol ? number_at<std::uint32_t>(*symbol, 0) : 0;
  if (at == 0 || at >= names.size()) return {};
  const std::string_view name = as_text(names.subspan(at));
  return name.substr(0, name.find('\0'));
}

}  // namespace

register_counts find_register_counts(bytes cubin) {
  const auto attributes = find_section(cubin, ".nv.info");
  const auto symbols = find_section(cubin, ".symtab");
  const auto names = find_section(cubin, ".strtab");
  if (!attributes || !symbols || !names) return {};
  register_counts result;
  std::uint64_t at = 0;
  while (const auto head = part(*attributes, at, attribute_bytes)) {
    at += attribute_bytes;
    if (number_at<std::uint8_t>(*head, 0) != has_payload) continue;
    const std::uint64_t size = number_at<std::uint16_t>(*head, 2);
    const auto payload = part(*attributes, at, size);
    if (!payload) break;
    at += size;
    if (number_at<std::uint8_t>(*head, 1) != registers_of_a_symbol) continue;
    const auto name = name_of(*symbols, *names, number_at<std::uint32_t>(*payload, 0));
    if (!name.empty()) result.emplace(name, number_at<std::uint32_t>(*payload, 4));
  }
  return result;
}

}  // namespace halfwarp::emulator::image

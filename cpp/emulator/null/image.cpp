// SPDX-License-Identifier: Apache-2.0
// Reads the parameter layouts of the kernels in a code image.
#include "emulator/null/image.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/image/elf/elf.hpp"
#include "emulator/ptx/parser.hpp"

namespace halfwarp::emulator::null_driver {

namespace {

// An entry of a .nv.info section. If the format has a payload, `value` bytes follow.
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

void add_parameter(kernel_layout& kernel, const kernel_parameter_payload& payload) {
  if (kernel.parameters.size() <= payload.ordinal) kernel.parameters.resize(payload.ordinal + 1u);
  kernel.parameters[payload.ordinal] = {payload.offset, payload.packed >> 18};
}

kernel_layout read_info(std::string_view name, const char* position, const char* end) {
  kernel_layout kernel{std::string(name), {}};
  while (end - position >= static_cast<std::ptrdiff_t>(sizeof(info_entry))) {
    const auto entry = load<info_entry>(position);
    const std::size_t payload = entry.format == has_payload ? entry.value : 0;
    position += sizeof entry;
    if (static_cast<std::size_t>(end - position) < payload) break;
    if (entry.attribute == kernel_parameter && payload == sizeof(kernel_parameter_payload)) {
      add_parameter(kernel, load<kernel_parameter_payload>(position));
    }
    position += payload;
  }
  return kernel;
}

std::vector<kernel_layout> read_cubin(image::bytes cubin) {
  constexpr std::string_view prefix = ".nv.info.";
  std::vector<kernel_layout> kernels;
  for (const auto& [name, content] : image::find_sections(cubin, prefix)) {
    const std::string_view info = image::as_text(content);
    kernels.push_back(
        read_info(name.substr(prefix.size()), info.data(), info.data() + info.size()));
  }
  return kernels;
}

std::vector<kernel_layout> read_ptx(std::string_view text) {
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

std::vector<kernel_layout> read_kernels(image::bytes image) {
  if (image::is_elf(image)) return read_cubin(image);
  const std::string_view text = image::as_text(image);
  return read_ptx(text.substr(0, text.find('\0')));
}

}  // namespace halfwarp::emulator::null_driver
